"""What a process and its workers say to each other."""

from __future__ import annotations

import os
import pickle
import socket
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from dqa.core.database import Rows
from dqa.core.errors import DatabaseUnavailableError
from dqa.core.schema import DatabaseSchema, Field, TableInfo
from dqa.core.summaries import ColumnSummary, Summary
from dqa.databases.isolation import wire
from dqa.databases.isolation.wire import (
    ClosedError,
    TooLongError,
    UnreadError,
    Wire,
    pack_rows,
    unpack_error,
    unpack_rows,
)
from dqa.databases.isolation.workers import OpenWorker
from dqa.guard import GuardedDatabase


@pytest.fixture
def ends() -> Iterator[tuple[Wire, socket.socket]]:
    """Give an end that trusts nobody, and the bare other one."""
    ours, theirs = socket.socketpair()
    with closing(Wire(ours, trusts=False)) as reader, theirs:
        yield reader, theirs


def test_what_a_worker_says_is_plain_data() -> None:
    """No message makes its reader run anything, and none is longer than it may be."""

    class Malicious:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.system, ("true",)

    ours, theirs = socket.socketpair()
    reader, writer = Wire(ours, trusts=False), Wire(theirs, trusts=True)
    with closing(reader), closing(writer):
        writer.send(("done", [1, "a", None, 2.5, True, b"x"]))
        assert reader.receive() == ("done", [1, "a", None, 2.5, True, b"x"])
        writer.send(Malicious())
        with pytest.raises(ClosedError):
            reader.receive()
        writer.send("a" * 1000)
        with pytest.raises(TooLongError):
            reader.receive(most=100)
        with pytest.raises(TimeoutError):
            writer.receive(time.monotonic() + 0.01)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"garbage",
        b"\x80\x05.",
        b"\x80\xff.",
        b"\x80\x05h\x07.",
        b"\x80\x05\x8c\x02\xff\xff.",
        b"\x80\x05]\x94h\x00}b.",
        b"cdqa.core.schema\nTableInfo\n(tR.",
        b"cdqa.core.schema\nDatabaseSchema\n(I1\nI2\nI3\nI4\nI5\nI6\ntR.",
        b"cos\nsystem\n(S'true'\ntR.",
    ],
)
def test_whatever_is_no_message_ends_the_connection(
    ends: tuple[Wire, socket.socket], data: bytes
) -> None:
    """No exception but the one that says so."""
    reader, theirs = ends
    theirs.sendall(len(data).to_bytes(4, "big") + data)
    with pytest.raises(ClosedError):
        reader.receive(time.monotonic() + 5.0)


def test_a_message_that_would_take_all_memory_is_too_long(
    ends: tuple[Wire, socket.socket],
) -> None:
    """However short it is itself."""
    reader, theirs = ends
    data = b"\x80\x05\x8e" + (1 << 62).to_bytes(8, "little") + b"."
    theirs.sendall(len(data).to_bytes(4, "big") + data)
    with pytest.raises((TooLongError, ClosedError)):
        reader.receive(time.monotonic() + 5.0)


def test_what_stands_for_no_rows_and_no_error_is_none() -> None:
    """It is the worker that cannot be trusted any more."""
    for told in (None, 1, (), ("a",), "rows"):
        with pytest.raises(ClosedError):
            unpack_rows(told)
    packed = pack_rows(Rows(("n",), ((1,),), summary=Summary(1, True, (ColumnSummary("n", 1),))))
    assert unpack_rows(packed).summary == Summary(1, True, (ColumnSummary("n", 1),))
    at = Rows.__slots__.index("summary")
    for summary in (1, (), (1, True, 1, 0), (1, True, (1,), 0), (1, True, (("n",),), 0)):
        with pytest.raises(ClosedError):
            unpack_rows((*packed[:at], summary, *packed[at + 1 :]))
    shapes: list[object] = [None, (), ("a", "b"), (1, 2, 3)]
    names = ("annotations", "SystemExit", "__name__", "none")
    for error in (*shapes, *((name, "text", "") for name in names)):
        with pytest.raises(ClosedError):
            unpack_error(error)


_FIELD = Field("name", "TEXT", (1, None))
_TABLE = TableInfo("shop", (_FIELD,), ("name",), (("a", "b", "c"),))
_SCHEMA = DatabaseSchema((_TABLE,))


@pytest.mark.parametrize(
    ("wanted", "right", "wrong"),
    [
        (
            "read_schema",
            (_SCHEMA, "main"),
            [
                None,
                (),
                _SCHEMA,
                (_SCHEMA, 1),
                (_TABLE, None),
                (DatabaseSchema([_TABLE]), None),  # type: ignore[arg-type]
                (DatabaseSchema((_FIELD,)), None),  # type: ignore[arg-type]
                (DatabaseSchema((replace(_TABLE, references=(("a", "b"),)),)), None),  # type: ignore[arg-type]
                (DatabaseSchema((replace(_TABLE, omitted="1"),)), None),  # type: ignore[arg-type]
                (object.__new__(DatabaseSchema), None),
            ],
        ),
        (
            "examine",
            ("SQLite 3", "me", False, (("role", "a", "b", "c"),)),
            [
                None,
                ("SQLite 3", "me", False),
                ("SQLite 3", "me", 0, ()),
                ("SQLite 3", "me", False, (("role", "a", "b"),)),
                ("SQLite 3", "me", False, (("roles", "a", "b", "c"),)),
                ("SQLite 3", "me", False, ([],)),
            ],
        ),
        ("row_order", b"x", ["x", 1, (b"x",)]),
    ],
)
def test_what_has_another_shape_than_was_asked_for_is_no_answer(
    shop: GuardedDatabase,
    monkeypatch: pytest.MonkeyPatch,
    wanted: str,
    right: object,
    wrong: list[object],
) -> None:
    """A worker that says it is left; whatever it says raises nothing but an error of ours."""
    ask = partial(getattr(shop._session, wanted), *(["shop"] if wanted == "row_order" else []))
    for told in wrong:
        with monkeypatch.context() as patch:
            patch.setattr(OpenWorker, "ask", lambda *_, told=told: told)
            with pytest.raises(DatabaseUnavailableError, match="cannot be described"):
                ask()
    monkeypatch.setattr(OpenWorker, "ask", lambda *_: right)
    assert ask() is not None


def test_a_message_that_comes_in_parts_is_waited_for_again(
    ends: tuple[Wire, socket.socket],
) -> None:
    """No part of it is lost over a time that was too short."""
    reader, theirs = ends
    data = pickle.dumps(("done", list(range(1000))))
    framed = len(data).to_bytes(4, "big") + data
    for part in (framed[:2], framed[2:50]):
        theirs.sendall(part)
        with pytest.raises(TimeoutError):
            reader.receive(time.monotonic() + 0.02)
    theirs.sendall(framed[50:])
    assert reader.receive(time.monotonic() + 5.0) == ("done", list(range(1000)))
    assert reader.is_silent()


def test_who_does_not_read_is_not_sent_to_for_ever(ends: tuple[Wire, socket.socket]) -> None:
    """As a worker that was stopped."""
    writer, _ = ends
    with pytest.raises(TimeoutError):
        writer.send("a" * 10_000_000, time.monotonic() + 0.1)


def test_what_was_never_read_is_told_from_what_was() -> None:
    """The system knows, and says so where the other side has gone."""
    for is_read, kind in ((False, UnreadError), (True, ClosedError)):
        ours, theirs = socket.socketpair()
        with (
            closing(Wire(ours, trusts=False)) as asking,
            closing(Wire(theirs, trusts=True)) as other,
        ):
            assert asking.is_silent()
            asking.send(("run", 1.0, "SELECT 1"))
            if is_read:
                other.receive()
            other.close()
            with pytest.raises(ClosedError) as caught:
                asking.receive(time.monotonic() + 5.0)
            assert type(caught.value) is kind


def test_a_closed_end_is_closed_whoever_else_holds_it() -> None:
    """As a fork of this process does, which would keep a worker from ending."""
    ours, theirs = socket.socketpair()
    with ours.dup(), theirs:
        Wire(ours, trusts=False).close()
        theirs.settimeout(5.0)
        assert theirs.recv(1) == b""


def test_a_wait_sleeps_at_once_after_a_long_one(
    ends: tuple[Wire, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    """To ask again and again is for answers that come at once, and where nobody else computes."""
    reader, theirs = ends
    said = pickle.dumps("a")
    message = len(said).to_bytes(4, "big") + said
    asked: list[float] = []
    waited = wire.wait_for

    def wait(*given: Any) -> Any:
        asked.append(given[3])
        return waited(*given)

    def take() -> float:
        asked.clear()
        theirs.sendall(message)
        assert reader.receive(time.monotonic() + 5) == "a"
        return asked[0]

    monkeypatch.setattr(wire, "wait_for", wait)
    monkeypatch.setattr(wire, "_SOON", 0.05)
    monkeypatch.setattr(wire, "_SLEEPS", 2)
    assert [take() for _ in range(3)] == [0.05] * 3
    with pytest.raises(TimeoutError):
        reader.receive(time.monotonic() + 0.1)
    assert [take() for _ in range(4)] == [0.0, 0.0, 0.05, 0.05]
    monkeypatch.setattr(wire, "is_taken", lambda: True)
    assert take() == 0.0
