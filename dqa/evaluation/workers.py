"""Name the processes that work on a run, and find out which have ended."""

from __future__ import annotations

import hashlib
import os
import secrets
import socket
from pathlib import Path


def _host() -> str:
    """Return a short id of the machine or container of this process.

    The host name is not enough: containers may share it, although their process ids are
    independent.
    """
    space = Path("/proc/self/ns/pid")
    name = f"{socket.gethostname()} {space.readlink() if space.is_symlink() else ''}"
    return hashlib.sha256(name.encode()).hexdigest()[:12]


def name_worker() -> str:
    """Return a new unique name for this process."""
    return f"{_host()}-{os.getpid()}-{secrets.token_hex(4)}"


def is_dead(worker: str) -> bool:
    """Return whether the process with this name ran on this machine and has ended."""
    host, _, rest = worker.partition("-")
    if host != _host() or os.name != "posix":
        return False
    try:
        os.kill(int(rest.partition("-")[0]), 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # the process of another user
        return False
    return False
