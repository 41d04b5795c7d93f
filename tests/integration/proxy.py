"""A way to a server that can be held up or cut, as a network, or a server that is stopped, does."""

from __future__ import annotations

import socket
from contextlib import suppress
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Self


class Proxy:
    """Passes on what is sent between a server and its clients, until it is told otherwise.

    Parameters
    ----------
    host, port
        Where the server is.
    """

    def __init__(self, host: str, port: int) -> None:
        self.connections = 0
        self._server = (host, port)
        self._flows = Event()
        self._flows.set()
        self._open: list[socket.socket] = []
        self._lock = Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._start()

    def __enter__(self) -> Self:
        """Return the proxy."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it."""
        self._flows.set()
        self.refuse()
        self.cut()

    def stop(self) -> None:
        """Pass nothing on; connections are taken and stay, as those of a stopped server."""
        self._flows.clear()

    def go_on(self) -> None:
        """Pass on what has come meanwhile, and what comes."""
        self._flows.set()

    def cut(self) -> None:
        """Break all connections that there are."""
        with self._lock:
            for end in self._open:
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
                end.close()
            self._open.clear()

    def refuse(self) -> None:
        """Take no connection any more."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def accept(self) -> None:
        """Take connections again."""
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self._start()

    def _start(self) -> None:
        Thread(target=self._serve, args=(self._listener,), daemon=True).start()

    def _serve(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                self._flows.wait()
                server = socket.create_connection(self._server)
                self.connections += 1
                with self._lock:
                    self._open += [client, server]
                for one, other in ((client, server), (server, client)):
                    Thread(target=self._pass_on, args=(one, other), daemon=True).start()

    def _pass_on(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while said := one.recv(1 << 16):
                self._flows.wait()
                other.sendall(said)
        for end in (one, other):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
