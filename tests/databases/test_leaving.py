"""Whether a server is there, seen by what it says to a greeting."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from threading import Thread

from dqa.core.session import Probe
from dqa.databases.leaving import is_there

GREETING = b"hello"


@contextmanager
def listening(act: Callable[[socket.socket], None]) -> Iterator[Probe]:
    """Give the probe of a server that does something with its socket."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        thread = Thread(target=act, args=(listener,), daemon=True)
        thread.start()
        yield Probe("127.0.0.1", listener.getsockname()[1], GREETING)
        thread.join()


def answer(listener: socket.socket) -> None:
    """Answer the first connection, once it has said what it should."""
    connection, _ = listener.accept()
    with connection:
        if connection.recv(100) == GREETING:
            connection.sendall(b"!")


def test_a_server_that_answers_is_there() -> None:
    """Whatever it says."""
    with listening(answer) as probe:
        assert is_there(probe, 30.0)


def test_a_stopped_server_is_not_there() -> None:
    """Its system takes connections, and it says nothing."""
    with listening(lambda _: None) as probe:
        assert not is_there(probe, 0.3)


def test_a_server_that_has_ended_is_not_there() -> None:
    """Nobody listens any more."""
    with listening(lambda _: None) as probe:
        pass
    assert not is_there(probe, 0.2)
