"""Which processes of this machine are alive, so that a dead one's work is taken over at once."""

from __future__ import annotations

import os
import socket
import uuid
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Process:
    """A process of some machine.

    Attributes
    ----------
    host
        The machine, as long as it is not started again, and the part of it whose numbers of
        processes these are: two containers of one machine have their own.
    pid
        Its number.
    started
        When it started, as its system counts that: numbers are given out again.
    """

    host: str
    pid: int
    started: str | None

    @classmethod
    def current(cls) -> Process:
        """Return this process."""
        pid = os.getpid()
        return cls(_host(), pid, _start(pid))

    def is_alive(self) -> bool | None:
        """Whether it runs; None where only its heartbeat tells, as it is another machine's."""
        if self.host != _host() or self.started is None or not _PROC.is_dir():
            return None
        return _start(self.pid) == self.started


_PROC = Path("/proc/self")
_DEAD = {"Z", "X"}


@cache
def _host() -> str:
    name = socket.gethostname()[:80]
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        space = Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return f"{name} {uuid.getnode():x}"
    return f"{name} {boot} {space}"


def _start(pid: int) -> str | None:
    """Return when a process started; None of one that has ended, or where nobody tells."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    state, *fields = told.rpartition(")")[2].split()  # a name may hold spaces and brackets
    return None if state in _DEAD else fields[18]
