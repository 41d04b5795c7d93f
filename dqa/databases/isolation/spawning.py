"""Workers that are fresh Pythons, where a fork is not safe or not there."""

from __future__ import annotations

import hmac
import secrets
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from threading import Thread
from time import monotonic

from dqa.core.interpreters import describe_exit, start_python
from dqa.databases.isolation.pythons import LEAVING, SERVING, Serving, await_end, silence
from dqa.databases.isolation.wire import ClosedError, Wire

_LOOK = 0.2
"""Seconds after which a process that has not connected is looked at."""
_GREETING = 1.0
"""Seconds within which whoever has connected has to say the password."""


@dataclass
class _SpawnedWorker:
    """A worker that is a fresh Python; see `dqa.databases.isolation.processes.Worker`."""

    wire: Wire
    process: subprocess.Popen[bytes]

    def kill(self) -> int | None:
        self.wire.close()
        self.process.kill()
        return await_end(self.process)

    def drop(self) -> None:
        self.wire.close()
        self.process.kill()
        self._clear_away()

    def leave(self) -> None:
        self.wire.close()
        self._clear_away()

    def _clear_away(self) -> None:
        """Ask the system how it has ended, which keeps what is left of it until then."""

        def wait() -> None:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(LEAVING)
                return
            self.process.kill()
            self.process.wait()

        try:
            Thread(target=wait, name="dqa-worker", daemon=True).start()
        except RuntimeError:  # no thread is to be had
            self.process.kill()
            await_end(self.process)


def spawn_worker(until: float, serving: str = SERVING, *, trusts: bool = False) -> _SpawnedWorker:
    """Start a worker; `TimeoutError` where it was not there in time.

    Parameters
    ----------
    until
        When to give up, as `time.monotonic` tells it.
    serving
        The module whose `serve` it runs.
    trusts
        Whether its messages may hold any object; see `Wire`.
    """
    password = secrets.token_bytes(32)
    with socket.create_server(("127.0.0.1", 0)) as server:
        process = start_python(__name__, str(server.getsockname()[1]), serving, text=password)
        try:
            end = accept_worker(server, password, process, until)
        except BaseException:
            process.kill()
            await_end(process)
            raise
        return _SpawnedWorker(Wire(end, trusts=trusts), process)


def accept_worker(
    server: socket.socket, password: bytes, process: subprocess.Popen[bytes], until: float
) -> socket.socket:
    """Return the connection of whoever knows the password; others are turned away."""
    while True:
        server.settimeout(_LOOK)
        try:
            end, _ = server.accept()
        except TimeoutError:
            if (code := process.poll()) is not None:
                raise ClosedError(describe_exit(code)) from None
            if monotonic() > until:
                raise
            continue
        with suppress(OSError):
            if hmac.compare_digest(_read_greeting(end, len(password)), password):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return end
        end.close()


def _read_greeting(end: socket.socket, size: int) -> bytes:
    until = monotonic() + _GREETING
    said = b""
    while len(said) < size:
        end.settimeout(max(until - monotonic(), 0.001))
        if not (got := end.recv(size - len(said))):
            break
        said += got
    return said


def main() -> None:
    """Serve a parent that listens on this machine: this is what runs in the fresh Python.

    Its arguments are the port and the module to serve by; standard input has a password.
    """
    port, module = sys.argv[1:]
    end = socket.create_connection(("127.0.0.1", int(port)))
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    end.sendall(sys.stdin.buffer.read())
    silence()
    serving: Serving = import_module(module)
    serving.serve(end)
