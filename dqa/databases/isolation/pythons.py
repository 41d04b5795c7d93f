"""What a process and its workers share: how long one has to end, and what it serves by."""

from __future__ import annotations

import os
import socket
import subprocess
from contextlib import suppress
from typing import Protocol

SERVING = "dqa.databases.isolation.serving"
"""What workers serve by that run statements."""
ENDING = 0.5
"""Seconds within which a killed process has to be gone; a statement may wait for that."""
LEAVING = 2.0
"""Seconds within which a process that nobody talks to has to end by itself."""


class Serving(Protocol):
    """A module that workers serve by."""

    def prepare(self, what: str, /) -> None:
        """Import, before workers are forked, what they would each import."""
        ...

    def serve(self, end: socket.socket, /) -> None:
        """Answer the parent, until it goes away."""
        ...


def silence() -> None:
    """Let nothing that an engine prints reach the terminal of whoever asks."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    os.close(nowhere)


def await_end(process: subprocess.Popen[bytes]) -> int | None:
    """Return the exit code of a process that is about to end; None if it takes its time."""
    with suppress(subprocess.TimeoutExpired):
        return process.wait(ENDING)
    return None
