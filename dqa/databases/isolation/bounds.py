"""What the operating system limits of a worker process, as far as it can."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from math import ceil
from pathlib import Path
from time import process_time

if sys.platform != "win32":  # which has no such limits: there is the asker's deadline alone
    import resource

MEMORY = 2 << 30
"""Bytes of address space that statements may take beyond what the opened database has (Linux)."""
_STATM = Path("/proc/self/statm")
_PROCESSORS = os.cpu_count() or 1
_LATER = 5.0
"""Seconds after which a worker whose asker is gone ends itself."""


def harden() -> None:
    """Make this process one that dies quietly: no core file, no terminal's signals, first to go."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the asker, who then ends this
    if sys.platform != "win32":
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with suppress(OSError):  # where memory runs out, this is what should go
            Path("/proc/self/oom_score_adj").write_text("1000", "ascii")


def limit_memory(more: int = MEMORY) -> None:
    """Limit the address space to what is taken now, and so many bytes more."""
    if sys.platform == "win32" or not _STATM.exists():
        return
    taken = int(_STATM.read_text("ascii").split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = taken + more
    if hard == resource.RLIM_INFINITY or wanted < hard:
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))


def count_memory_kills() -> int:
    """Return how many processes this system has killed because memory ran out; 0 if unknown."""
    with suppress(OSError):
        lines = Path("/proc/vmstat").read_text("ascii").splitlines()
        return int(dict(map(str.split, lines)).get("oom_kill", 0))
    return 0


def arm(seconds: float) -> None:
    """Let the operating system end this process where a statement goes on far beyond its limit.

    This is for workers whose asker is no more; one that is there has killed the worker before. Both
    are kernel's timers: no thread of this process has to run for them.
    """
    if sys.platform == "win32":
        return
    signal.setitimer(signal.ITIMER_REAL, seconds + _LATER)
    most = ceil(process_time() + (seconds + _LATER) * _PROCESSORS)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_CPU, (most, hard))


def disarm() -> None:
    """Let this process wait for the next statement as long as it takes."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, 0.0)
