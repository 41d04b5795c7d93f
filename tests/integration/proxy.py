"""A way to a server that can be held up or cut, as a network, or a server that is stopped, does."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Lock, Thread
from time import sleep


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
        self._delay = 0.0
        self._flows = Event()
        self._flows.set()
        self._open: set[socket.socket] = set()
        self._threads: list[Thread] = []
        self._lock = Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._start(self._serve, self._listener)

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

    def refuse(self) -> None:
        """Take no connection any more."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def accept(self) -> None:
        """Take connections again."""
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self._start(self._serve, self._listener)

    def close(self) -> None:
        """Take no connection any more, break those that there are, and wait for every thread."""
        self.go_on()
        self.refuse()
        for thread in self._threads:  # those that listen, before what they start
            while thread.is_alive():  # one that was about to connect does so
                self.cut()
                thread.join(0.05)

    def _start(self, act: Callable[..., None], *given: object) -> None:
        thread = Thread(target=act, args=given, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _serve(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                self._start(self._connect, client)

    def _connect(self, client: socket.socket) -> None:
        """Pass on what a client and the server say, and close both ends."""
        with self._keep(client), suppress(OSError):
            self._flows.wait()
            with self._keep(socket.create_connection(self._server)) as server:
                self.connections += 1
                back = Thread(target=self._pass_on, args=(server, client), daemon=True)
                back.start()
                self._pass_on(client, server)
                back.join()

    @contextmanager
    def _keep(self, end: socket.socket) -> Iterator[socket.socket]:
        """Let `cut` break a connection while the context lasts, and close it then."""
        with end:
            with self._lock:
                self._open.add(end)
            try:
                yield end
            finally:
                with self._lock:
                    self._open.remove(end)

    def _pass_on(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while said := one.recv(1 << 16):
                sleep(self._delay)
                self._flows.wait()
                other.sendall(said)
        for end in (one, other):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
