"""Starts fresh Pythons that run a module of this package, and ends them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from contextlib import suppress
from typing import Protocol

SERVING = "dqa.databases.isolation.serving"
"""What workers serve by that run statements."""
ENDING = 0.5
"""Seconds within which a killed process has to be gone; a statement may wait for that."""
LEAVING = 2.0
"""Seconds within which a process that nobody talks to has to end by itself."""
_KILLED = -9
"""How a process has ended that SIGKILL has, which Windows has no name for."""
_CODE = (
    "import json, sys; sys.path[:] = json.loads(sys.stdin.readline()); "
    "from dqa.databases.isolation.{} import main; main()"
)


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


def start_python(main: str, *lines: str, pass_fds: tuple[int, ...] = ()) -> subprocess.Popen[bytes]:
    """Start a Python that runs `main` of a module of this package, with lines for it to read."""
    process = subprocess.Popen(  # noqa: S603  (this very Python)
        [sys.executable, "-c", _CODE.format(main)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=pass_fds,
        # Linear algebra is not what it does, and its threads would be copied by no fork.
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )
    if process.stdin is not None:
        with process.stdin as said:
            said.write(
                "".join(
                    f"{line}\n" for line in (json.dumps([*map(str, sys.path)]), *lines)
                ).encode()
            )
    return process


def await_end(process: subprocess.Popen[bytes]) -> int:
    """Return how a killed process has ended; one that is not gone yet is about to."""
    with suppress(subprocess.TimeoutExpired):
        return process.wait(ENDING)
    return _KILLED
