"""Workers that are forked, and the server that forks them, as this process sees it.

What runs in the server is `forking`.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from math import inf
from threading import Lock, RLock
from time import monotonic
from typing import Any

from dqa.core.interpreters import describe_exit, start_python
from dqa.databases.isolation.pythons import ENDING, LEAVING, SERVING, await_end
from dqa.databases.isolation.wire import LOOK, ClosedError, Wire, wait_for

HUNG = 15.0
"""Seconds after which a fork server that does not answer is replaced: an engine that it imports for
the first time may take some."""


class _ForkedWorker:
    """A child of the fork server; see `dqa.databases.isolation.processes.Worker`."""

    def __init__(self, wire: Wire, number: int, server: ForkServer) -> None:
        self.wire = wire
        self._number = number
        self._server = server
        self._is_forgotten = False

    def kill(self) -> int | None:
        self.wire.close()
        return self._server.end(self._number)

    def drop(self) -> None:
        if not self._is_forgotten:
            self._server.kill(self._number)
            self._is_forgotten = True  # and its number may soon be another process'
            self._server.forget(self._number)
        self.wire.close()

    def leave(self) -> None:
        self.wire.close()
        self._server.forget(self._number)


class ForkServer:
    """A process from which workers are forked; it lives as long as this one at most.

    Parameters
    ----------
    serving
        The module whose `serve` a worker runs, and whose `prepare` the server before it forks one.
    trusts
        Whether a worker's messages may hold any object; see `Wire`.
    """

    def __init__(self, serving: str = SERVING, *, trusts: bool = False) -> None:
        self._trusts = trusts
        # One message is one packet, which brings the file descriptor that belongs to it.
        self._end, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with theirs:
                number = theirs.fileno()
                forking = ("dqa.databases.isolation.forking", str(number), serving)
                self._process = start_python(*forking, pass_fds=(number,))
        except BaseException:
            self._end.close()
            raise
        self._lock = RLock()
        self._serial = 0
        self._silent_since = inf
        self.owner = os.getpid()

    def fork(self, prepared: str, until: float) -> _ForkedWorker:
        """Fork a worker, `prepared` for what it will do.

        Raises
        ------
        TimeoutError
            The server does not answer in time.
        ClosedError
            It is gone.
        OSError
            The operating system gives no process or connection.
        """
        try:
            ours, theirs = socket.socketpair()
        except OSError as error:  # this process has too many files open: no fault of the server's
            raise _NoProcessError(error.strerror) from error
        try:
            with theirs:
                number, problem = self._ask(["fork", prepared], until, [theirs.fileno()])
        except BaseException as error:
            ours.close()
            if isinstance(error, OSError | ClosedError) and not isinstance(error, TimeoutError):
                raise ClosedError(describe_exit(await_end(self._process))) from error
            raise
        if number is None:
            ours.close()
            raise _NoProcessError(problem)
        return _ForkedWorker(Wire(ours, trusts=self._trusts), number, self)

    def is_hung(self) -> bool:
        """Whether it has not answered for long; it was stopped, or waits for something itself."""
        return monotonic() - self._silent_since >= HUNG

    def end(self, number: int) -> int | None:
        """Kill a child and return how it has ended; None where the server does not tell."""
        self.kill(number)
        with suppress(ClosedError, OSError):
            status: int | None = self._ask(["ended", number], monotonic() + ENDING)
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
        try:
            while not self._lock.acquire(timeout=max(min(until - monotonic(), LOOK), 0.0)):
                if monotonic() >= until:
                    raise TimeoutError
            return self._ask_alone(message, until, descriptors)
        finally:
            # Ctrl-C may come before anybody has noted that the lock is taken; the lock knows.
            try:  # noqa: SIM105  (what it would call is where Ctrl-C may come)
                self._lock.release()
            except RuntimeError:  # it is not this thread's
                pass

    def _ask_alone(self, message: list[object], until: float, descriptors: Sequence[int]) -> Any:  # noqa: ANN401
        self._serial += 1
        self._silent_since = min(self._silent_since, monotonic())
        said = json.dumps([self._serial, *message]).encode()
        wait_for(self._end, until, partial(socket.send_fds, self._end, [said], descriptors))
        while True:
            if not (said := wait_for(self._end, until, partial(self._end.recv, 1 << 16))):
                raise ClosedError
            self._silent_since = monotonic()
            serial, answer = json.loads(said)
            if serial == self._serial:
                self._silent_since = inf
                return answer
            # What was asked before, and not waited for: a time was over, or Ctrl-C came.
            if isinstance(answer, list) and answer[0] is not None:
                self.forget(answer[0])

    def close(self, leaving: float | None = None) -> None:
        """Let it end, and its children; kill it where it has not in `leaving` (LEAVING) seconds."""
        if self.owner != os.getpid():
            return
        with suppress(OSError):
            self._end.shutdown(socket.SHUT_RDWR)  # for whoever of this process waits for it
        self._end.close()
        if not self.is_hung():
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(LEAVING if leaving is None else leaving)
                return
        self._process.kill()
        await_end(self._process)

    def forget_in_child(self) -> None:
        """Leave the server to the process that this one was forked from, and keep nothing open."""
        self._end.close()


_server: ForkServer | None = None
_serving = Lock()


class _NoProcessError(OSError):
    """The operating system gives no process or connection; the fork server is not to blame."""


def fork_worker(namespaces: str, until: float) -> _ForkedWorker:
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
        except ClosedError:
            if is_replaced:
                raise
        is_replaced = True
        _close_fork_server(server)


def _get_fork_server() -> ForkServer:
    global _server  # noqa: PLW0603  (one a process)
    with _serving:
        if _server is None or _server.owner != os.getpid():
            _server = ForkServer()
        return _server


def _close_fork_server(which: ForkServer | None = None) -> None:
    """Close the server, if it is still this one: another thread may have replaced it already."""
    global _server  # noqa: PLW0603
    with _serving:
        closed = _server if which in (None, _server) else None
        if closed is not None:
            _server = None
    if closed is not None:  # which takes its time, and others need not wait for it
        closed.close()


def _forget_in_child() -> None:
    """Take no lock into a fork of this process, and let it start a server of its own."""
    global _server, _serving
    if _server is not None:
        _server.forget_in_child()  # it lives for as long as anybody holds an end
    _server, _serving = None, Lock()


atexit.register(_close_fork_server)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)
