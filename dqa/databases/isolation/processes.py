"""Starts and ends worker processes.

On Linux they are forked from one small process without threads that has the engine imported: some
milliseconds each. Elsewhere, where a fork is not safe or not there, each is a fresh Python. Neither
way imports the user's own main module.
"""

from __future__ import annotations

import atexit
import hmac
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from threading import Lock, Thread
from time import monotonic
from typing import Any, Protocol

from dqa.core.errors import InfrastructureError
from dqa.databases.isolation.wire import ClosedError, Wire

STARTING = 60.0
"""Seconds within which a worker process has to be there."""
HUNG = 15.0
"""Seconds after which a fork server that does not answer is replaced: an engine that it imports for
the first time may take some."""
_LOOK = 0.2
"""Seconds after which a process that has not connected is looked at."""
_GREETING = 1.0
"""Seconds within which whoever has connected has to say the password."""
_ENDING = 0.5
"""Seconds within which a killed process has to be gone; a statement may wait for that."""
_KILLED = -9
"""How a process has ended that SIGKILL has, which Windows has no name for."""
_LEAVING = 2.0
"""Seconds within which a process that nobody talks to has to end by itself."""
_CODE = (
    "import json, sys; sys.path[:] = json.loads(sys.stdin.readline()); "
    "from dqa.databases.isolation.{} import main; main()"
)


class Worker(Protocol):
    """A worker process."""

    wire: Wire

    def kill(self) -> int | None:
        """End it if it still runs, and return how it ended.

        Returns
        -------
        int or None
            A code, or minus a signal's number. None where nobody knows, because what it was forked
            from is gone, and has taken it along.
        """
        ...

    def drop(self) -> None:
        """Kill it and wait for nothing: what has much memory takes its time to go."""
        ...

    def leave(self) -> None:
        """Let it end by itself, which it does where nobody talks to it."""
        ...


def start_worker(namespaces: str, until: float = inf) -> Worker:
    """Start a worker that is to open databases with a class, as `Opening.namespaces` names it.

    Parameters
    ----------
    namespaces
        The class.
    until
        When to give up, as `time.monotonic` tells it; after `STARTING` seconds at the latest.

    Raises
    ------
    TimeoutError
        It was not there by `until`.
    InfrastructureError
        The operating system gives no process, or none that answers.
    """
    latest = min(until, monotonic() + STARTING)
    try:
        is_forked = sys.platform == "linux"
        return _fork_worker(namespaces, latest) if is_forked else _spawn_worker(latest)
    except (OSError, ClosedError) as error:
        if isinstance(error, TimeoutError) and monotonic() >= until:
            raise
        problem = getattr(error, "strerror", None) or str(error) or "it ended at once"
        if isinstance(error, TimeoutError):
            problem = f"it was not there within {STARTING:g} seconds"
        raise InfrastructureError(
            f"A worker process for statements cannot be started: {problem}. Give this process "
            'more memory, processes or open files, or open the database with isolation="none" if '
            "its data and its statements are your own."
        ) from error


# Spawning


@dataclass
class _SpawnedWorker:
    """A fresh Python."""

    wire: Wire
    process: subprocess.Popen[bytes]

    def kill(self) -> int:
        self.wire.close()
        self.process.kill()
        return _wait_for(self.process)

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
                self.process.wait(_LEAVING)
                return
            self.process.kill()
            self.process.wait()

        try:
            Thread(target=wait, name="dqa-worker", daemon=True).start()
        except RuntimeError:  # no thread is to be had
            self.process.kill()
            _wait_for(self.process)


def _wait_for(process: subprocess.Popen[bytes]) -> int:
    """Return how a killed process has ended; one that is not gone yet is about to."""
    with suppress(subprocess.TimeoutExpired):
        return process.wait(_ENDING)
    return _KILLED


def _spawn_worker(until: float) -> _SpawnedWorker:
    password = secrets.token_bytes(32)
    with socket.create_server(("127.0.0.1", 0)) as server:
        process = _start_python("serving", f"{server.getsockname()[1]} {password.hex()}")
        try:
            end = _accept_worker(server, password, process, until)
        except BaseException:
            process.kill()
            _wait_for(process)
            raise
        return _SpawnedWorker(Wire(end, trusts=False), process)


def _accept_worker(
    server: socket.socket, password: bytes, process: subprocess.Popen[bytes], until: float
) -> socket.socket:
    """Return the connection of whoever knows the password; others are turned away."""
    while True:
        server.settimeout(_LOOK)
        try:
            end, _ = server.accept()
        except TimeoutError:
            if process.poll() is not None:
                raise ClosedError from None
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


def _start_python(
    main: str, *lines: str, pass_fds: tuple[int, ...] = ()
) -> subprocess.Popen[bytes]:
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


# Forking


class _ForkedWorker:
    """A child of the fork server."""

    def __init__(self, wire: Wire, number: int, server: _ForkServer) -> None:
        self.wire = wire
        self._number = number
        self._server = server

    def kill(self) -> int | None:
        self.wire.close()
        return self._server.end(self._number)

    def drop(self) -> None:
        self.wire.close()
        self._server.kill(self._number)
        self._server.forget(self._number)

    def leave(self) -> None:
        self.wire.close()
        self._server.forget(self._number)


class _ForkServer:
    """The process from which workers are forked; it lives as long as this one."""

    def __init__(self) -> None:
        # One message is one packet, which brings the file descriptor that belongs to it.
        self._end, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with theirs:
                number = theirs.fileno()
                self._process = _start_python("forking", str(number), pass_fds=(number,))
        except BaseException:
            self._end.close()
            raise
        self._lock = Lock()
        self._serial = 0
        self._silent_since = inf
        self.owner = os.getpid()

    def fork(self, namespaces: str, until: float) -> _ForkedWorker:
        try:
            ours, theirs = socket.socketpair()
        except OSError as error:  # this process has too many files open: no fault of the server's
            raise _NoProcessError(error.strerror) from error
        try:
            with theirs:
                number, problem = self._ask(["fork", namespaces], until, [theirs.fileno()])
        except BaseException:
            ours.close()
            raise
        if number is None:
            ours.close()
            raise _NoProcessError(problem)
        return _ForkedWorker(Wire(ours, trusts=False), number, self)

    def is_hung(self) -> bool:
        """Whether it has not answered for long; it was stopped, or waits for something itself."""
        return monotonic() - self._silent_since >= HUNG

    def end(self, number: int) -> int | None:
        """Kill a child and return how it has ended; None where the server does not tell."""
        self.kill(number)
        with suppress(ClosedError, OSError):
            status: int = self._ask(["ended", number], monotonic() + _ENDING)
            return status
        return None

    def kill(self, number: int) -> None:
        """Kill a child; where the server is gone, the child is."""
        if self._process.poll() is None:
            # Nobody else has its number: the server keeps what is left of it until it is asked.
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)

    def forget(self, number: int) -> None:
        """Let the server clear away what is left of a child, once it has ended.

        Takes no lock and waits for no answer: Python may call it at any moment, to collect garbage.
        """
        with suppress(OSError):
            self._end.send(json.dumps([0, "forget", number]).encode(), socket.MSG_DONTWAIT)

    def _ask(self, message: list[object], until: float, descriptors: Sequence[int] = ()) -> Any:  # noqa: ANN401
        if not self._lock.acquire(timeout=max(until - monotonic(), 0.0)):
            raise TimeoutError
        try:
            self._serial += 1
            self._silent_since = min(self._silent_since, monotonic())
            self._end.settimeout(max(until - monotonic(), 0.001))
            said = json.dumps([self._serial, *message]).encode()
            socket.send_fds(self._end, [said], descriptors)
            while True:
                self._end.settimeout(max(until - monotonic(), 0.001))
                if not (said := self._end.recv(1 << 16)):
                    raise ClosedError
                self._silent_since = monotonic()
                serial, answer = json.loads(said)
                if serial == self._serial:
                    self._silent_since = inf
                    return answer
                # What was asked before, and not waited for: a time was over, or Ctrl-C came.
                if isinstance(answer, list) and answer[0] is not None:
                    self.forget(answer[0])
        finally:
            self._lock.release()

    def close(self) -> None:
        if self.owner != os.getpid():
            return
        with suppress(OSError):
            self._end.shutdown(socket.SHUT_RDWR)  # for whoever of this process waits for it
        self._end.close()
        if not self.is_hung():
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_LEAVING)
                return
        self._process.kill()
        _wait_for(self._process)

    def forget_in_child(self) -> None:
        """Leave the server to the process that this one was forked from, and keep nothing open."""
        self._end.close()


_server: _ForkServer | None = None
_serving = Lock()


class _NoProcessError(OSError):
    """The operating system gives no process or connection; the fork server is not to blame."""


def _fork_worker(namespaces: str, until: float) -> _ForkedWorker:
    """Fork a worker; a server that is gone or hangs is replaced, once."""
    is_replaced = False
    while True:
        server = _get_fork_server()
        try:
            return server.fork(namespaces, min(until, monotonic() + HUNG))
        except _NoProcessError:
            raise  # and the workers that there are go on
        except TimeoutError:
            if is_replaced or not server.is_hung():
                if monotonic() >= until:
                    raise
                continue  # others wait for it too
        except (OSError, ClosedError):
            if is_replaced:
                raise
        is_replaced = True
        _close_fork_server(server)


def _get_fork_server() -> _ForkServer:
    global _server  # noqa: PLW0603  (one a process)
    with _serving:
        if _server is None or _server.owner != os.getpid():
            _server = _ForkServer()
        return _server


def _close_fork_server(which: _ForkServer | None = None) -> None:
    """Close the server, if it is still this one: another thread may have replaced it already."""
    global _server  # noqa: PLW0603
    with _serving:
        if _server is not None and which in (None, _server):
            _server.close()
            _server = None


def _forget_in_child() -> None:
    """Take no lock into a fork of this process, and let it start a server of its own."""
    global _server, _serving
    if _server is not None:
        _server.forget_in_child()  # it lives for as long as anybody holds an end
    _server, _serving = None, Lock()


atexit.register(_close_fork_server)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)
