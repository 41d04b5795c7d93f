"""Whether a server is there, seen by what it says to a greeting."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from threading import Thread

import pytest

from dqa.core.session import Probe
from dqa.databases.leaving import is_there
from dqa.databases.neo4j.server import Address

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


@pytest.mark.parametrize(
    ("location", "greeting"),
    [
        ("bolt://somewhere", b"\x60\x60\xb0\x17"),
        ("bolt+s://me:secret@somewhere:7688/name", b"\x16\x03"),
    ],
)
def test_bolt_is_greeted_as_its_url_says(location: str, greeting: bytes) -> None:
    """In the clear, or by how an encrypted connection begins; with nothing secret."""
    probe = Address.parse(location).probe
    assert probe is not None
    assert probe[:2] == ("somewhere", 7688 if "7688" in location else 7687)
    assert probe.greeting.startswith(greeting)
    assert b"secret" not in probe.greeting
