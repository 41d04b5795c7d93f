"""The names of processes in claims, from which other processes see whether they have ended."""

from __future__ import annotations

import hashlib
import os
import secrets
import socket
from pathlib import Path


def _host() -> str:
    """Return a short name for the processes that this one can see, for claims.

    Containers may share a host name; their processes have numbers of their own.
    """
    space = Path("/proc/self/ns/pid")
    name = f"{socket.gethostname()} {space.readlink() if space.is_symlink() else ''}"
    return hashlib.sha256(name.encode()).hexdigest()[:12]


def name_worker() -> str:
    """Return a new name for this process in claims."""
    return f"{_host()}-{os.getpid()}-{secrets.token_hex(4)}"


def is_dead(worker: str) -> bool:
    """Whether the process of a claim ran on this machine and has ended."""
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
