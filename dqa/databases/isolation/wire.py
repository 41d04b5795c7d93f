"""Messages between a process and its workers: a length, then plain data as bytes.

What a worker says is read as plain data and descriptions of schemas, and as nothing else: a worker
whose engine was made to run somebody's code cannot make its parent run it.
"""

from __future__ import annotations

import io
import os
import pickle
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import astuple, replace
from functools import partial
from time import monotonic, perf_counter
from typing import Any, Final, TypeVar

from dqa.core import errors, schema
from dqa.core.database import Rows
from dqa.core.errors import DqaError, UnknownReferenceError
from dqa.core.examination import Examination
from dqa.core.summaries import ColumnSummary, Summary
from dqa.core.turns import is_taken

_Result = TypeVar("_Result")
_HEAD: Final = 4
_CHUNK: Final = 1 << 16
LOOK: Final = 0.2
"""Seconds after which a wait looks whether Ctrl-C came: a signal that comes just before the system
begins to wait ends no wait, nor does one that another thread takes, nor any on Windows."""
_SOON: Final = 300e-6 if (os.cpu_count() or 1) > 1 else 0.0
"""Seconds for which a wait asks again and again before it sleeps: to be woken takes the system
longer than many a small statement takes."""
_SLEEPS: Final = 100
"""Waits that sleep at once after one that was longer than that."""
MOST: Final = (1 << 32) - 1
"""Bytes of the longest message."""


class ClosedError(Exception):
    """The other side is gone."""


class UnreadError(ClosedError):
    """The other side has gone, and has not read all that it was sent."""


class TooLongError(Exception):
    """A message is longer than it may be, or takes more memory than there is."""


class Wire:
    """One end of a connection, for one thread at a time.

    Parameters
    ----------
    end
        A connected socket; it belongs to this object from now on.
    trusts
        Whether messages may hold any object; a worker trusts its parent, not the other way round.
    """

    def __init__(self, end: socket.socket, *, trusts: bool) -> None:
        self._end = end
        self._trusts = trusts
        self._left = bytearray()
        self._owner = os.getpid()
        self._sleeps = 0

    def send(self, message: object, until: float | None = None) -> None:
        """Send a message.

        Raises
        ------
        TimeoutError
            Its end was not read in time; nothing can be sent after that.
        ClosedError
            Nobody is there to read it.
        """
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        left = memoryview(len(data).to_bytes(_HEAD, "big") + data)
        try:
            while left:
                left = left[wait_for(self._end, until, partial(self._end.send, left)) :]
        except TimeoutError:
            raise
        except OSError as error:
            raise ClosedError from error

    def receive(self, until: float | None = None, most: int = MOST) -> Any:  # noqa: ANN401
        """Return the next message; after a `TimeoutError` it can be waited for again.

        Parameters
        ----------
        until
            When to give up, as `time.monotonic` tells it; None for never.
        most
            Bytes of the longest message that is taken.

        Raises
        ------
        TimeoutError
            It was not there in time.
        ClosedError
            The other side has gone, or what it says is no message.
        UnreadError
            It has gone before it had read what it was sent.
        TooLongError
            It is longer than `most`.
        """
        self._fetch_first(until)
        size = int.from_bytes(self._left[:_HEAD], "big")
        if size > most:
            raise TooLongError
        self._fetch(_HEAD + size, until)
        data = bytes(memoryview(self._left)[_HEAD : _HEAD + size])
        del self._left[: _HEAD + size]
        if self._trusts:
            return pickle.loads(data)  # noqa: S301  (of the parent)
        try:
            return _Plain(io.BytesIO(data)).load()
        except MemoryError as error:
            raise TooLongError from error
        except Exception as error:  # bytes can be made to raise anything
            raise ClosedError from error

    def is_silent(self) -> bool:
        """Whether the other side is there and says nothing, as one does that waits to be asked."""
        self._end.settimeout(0.0)
        try:
            self._end.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return not self._left
        except OSError:
            return False
        return False  # it has gone, or says what nobody has asked for

    def fileno(self) -> int:
        """Return the socket's number, to wait for what is said."""
        return self._end.fileno()

    @property
    def has_begun(self) -> bool:
        """Whether more than the last message was fetched, so that the socket may be silent."""
        return bool(self._left)

    def close(self) -> None:
        """Close this end, whoever else holds it; in a fork of its process, close it there alone."""
        if self._owner == os.getpid():
            with suppress(OSError):
                self._end.shutdown(socket.SHUT_RDWR)
        self._end.close()

    def _fetch_first(self, until: float | None) -> None:
        """Have the first bytes of a message."""
        if self._sleeps or is_taken():  # by another thread, which needs the interpreter
            self._sleeps = max(0, self._sleeps - 1)
            self._fetch(_HEAD, until)
            return
        began = perf_counter()
        try:
            self._fetch(_HEAD, until, _SOON)
        finally:
            if perf_counter() - began > _SOON:
                self._sleeps = _SLEEPS

    def _fetch(self, count: int, until: float | None, soon: float = 0.0) -> None:
        """Have that many bytes in `_left`."""
        while len(self._left) < count:
            most = max(_CHUNK, min(count - len(self._left), 1 << 24))
            try:
                got = wait_for(self._end, until, partial(self._end.recv, most), soon)
            except TimeoutError:
                raise
            except ConnectionResetError as error:  # what the system says of bytes that stay unread
                raise UnreadError from error
            except OSError as error:
                raise ClosedError from error
            if not got:
                raise ClosedError
            self._left += got


def wait_for(
    end: socket.socket, until: float | None, act: Callable[[], _Result], soon: float = 0.0
) -> _Result:
    """Return what a call of a socket returns, as soon as it can be made.

    Parameters
    ----------
    end
        The socket.
    until
        When to give up, as `time.monotonic` tells it; None for never, in a process that is not for
        Ctrl-C.
    act
        What to do; it does nothing where it times out.
    soon
        Seconds to try it again and again before the system is asked to wait.

    Raises
    ------
    TimeoutError
        It could not be made in time.
    OSError
        As the call does.
    """
    if soon:
        end.settimeout(0.0)
        last = perf_counter() + soon
        while perf_counter() < last:
            with suppress(BlockingIOError):
                return act()
    if until is None:
        end.settimeout(None)
        return act()
    while (left := until - monotonic()) > 0:
        end.settimeout(min(left, LOOK))
        with suppress(TimeoutError):
            return act()
    raise TimeoutError


class _Plain(pickle.Unpickler):
    """Reads plain data and what describes a schema."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401
        if module == schema.__name__ and name in _SCHEMA:
            return getattr(schema, name)
        raise pickle.UnpicklingError(f"{module}.{name} is no plain data")


_SCHEMA = frozenset({"DatabaseSchema", "EdgeInfo", "Field", "NodeInfo", "TableInfo"})


def pack_rows(rows: Rows) -> tuple[object, ...]:
    """Return rows as plain data."""
    *others, summary, scanned = (getattr(rows, name) for name in Rows.__slots__)
    return *others, None if summary is None else astuple(summary), scanned


def unpack_rows(packed: object) -> Rows:
    """Return the rows that `pack_rows` was given; `ClosedError` where these are none."""
    if not isinstance(packed, tuple) or len(packed) != len(Rows.__slots__):
        raise ClosedError
    rows = Rows(*packed)
    return rows if rows.summary is None else replace(rows, summary=_unpacked(rows.summary))


def _unpacked(packed: object) -> Summary:
    if not isinstance(packed, tuple) or len(packed) != len(Summary.__slots__):
        raise ClosedError
    seen, whole, columns, others = packed
    fields = len(ColumnSummary.__slots__)
    if not isinstance(columns, tuple) or any(
        not isinstance(column, tuple) or len(column) != fields for column in columns
    ):
        raise ClosedError
    return Summary(seen, whole, tuple(ColumnSummary(*column) for column in columns), others)


def pack_examination(seen: Examination) -> tuple[object, ...]:
    """Return an examination as plain data."""
    advice = tuple((one.topic, one.found, one.why, one.mend) for one in seen.advice)
    return seen.version, seen.role, seen.may_write, advice


def pack_error(error: DqaError) -> tuple[str, str, str]:
    """Return an error of this project as plain data: its class, its text, and an unknown name."""
    known = next(
        kind.__name__ for kind in type(error).__mro__ if kind.__module__ == errors.__name__
    )
    if isinstance(error, UnknownReferenceError):
        return known, error.problem, error.name
    return known, str(error), ""


def unpack_error(packed: object) -> DqaError:
    """Return the error that `pack_error` was given; `ClosedError` where this is none."""
    match packed:
        case (str(known), str(text), str(name)):
            kind = getattr(errors, known, None)
        case _:
            raise ClosedError
    if not (isinstance(kind, type) and issubclass(kind, DqaError)):
        raise ClosedError
    if kind is UnknownReferenceError:
        return UnknownReferenceError(text, name)
    # Some say in other words what they are made of; what they said is there already.
    error: DqaError = kind.__new__(kind)
    Exception.__init__(error, text)
    return error
