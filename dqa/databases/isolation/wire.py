"""Messages between a process and its workers: a length, then plain data as bytes.

What a worker says is read as plain data and descriptions of schemas, and as nothing else: a worker
whose engine was made to run somebody's code cannot make its parent run it.
"""

from __future__ import annotations

import io
import pickle
import socket
from time import monotonic
from typing import Any, Final

from dqa.core import errors, schema
from dqa.core.database import Rows
from dqa.core.errors import DqaError, UnknownReferenceError
from dqa.core.examination import Advice, Examination

_HEAD: Final = 4
_CHUNK: Final = 1 << 16
MOST: Final = (1 << 32) - 1
"""Bytes of the longest message."""


class ClosedError(Exception):
    """The other side is gone."""


class TooLongError(Exception):
    """A message is longer than it may be."""


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

    def send(self, message: object) -> None:
        """Send a message; `ClosedError` where nobody is there to read it."""
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        self._end.settimeout(None)
        try:
            self._end.sendall(len(data).to_bytes(_HEAD, "big") + data)
        except OSError as error:
            raise ClosedError from error

    def receive(self, until: float | None = None, most: int = MOST) -> Any:  # noqa: ANN401
        """Return the next message.

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
        TooLongError
            It is longer than `most`.
        """
        size = int.from_bytes(self._take(_HEAD, until), "big")
        if size > most:
            raise TooLongError
        data = self._take(size, until)
        if self._trusts:
            return pickle.loads(data)  # noqa: S301  (of the parent)
        try:
            return _Plain(io.BytesIO(data)).load()
        except (pickle.UnpicklingError, EOFError, ValueError, IndexError, TypeError) as error:
            raise ClosedError from error

    def close(self) -> None:
        """Close this end."""
        self._end.close()

    def _take(self, count: int, until: float | None) -> bytes:
        while len(self._left) < count:
            wait = None if until is None else until - monotonic()
            if wait is not None and wait <= 0:
                raise TimeoutError
            self._end.settimeout(wait)
            try:
                got = self._end.recv(max(_CHUNK, min(count - len(self._left), 1 << 24)))
            except TimeoutError:
                raise
            except OSError as error:
                raise ClosedError from error
            if not got:
                raise ClosedError
            self._left += got
        taken = bytes(self._left[:count])
        del self._left[:count]
        return taken


class _Plain(pickle.Unpickler):
    """Reads plain data and what describes a schema."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401
        if module == schema.__name__ and name in _SCHEMA:
            return getattr(schema, name)
        raise pickle.UnpicklingError(f"{module}.{name} is no plain data")


_SCHEMA = frozenset({"DatabaseSchema", "EdgeInfo", "Field", "NodeInfo", "TableInfo"})


def pack_rows(rows: Rows) -> tuple[object, ...]:
    """Return rows as plain data."""
    return tuple(getattr(rows, name) for name in Rows.__slots__)


def unpack_rows(packed: tuple[Any, ...]) -> Rows:
    """Return the rows that `pack_rows` was given."""
    return Rows(*packed)


def pack_examination(seen: Examination) -> tuple[object, ...]:
    """Return an examination as plain data."""
    advice = tuple((one.topic, one.found, one.why, one.mend) for one in seen.advice)
    return seen.version, seen.role, seen.may_write, advice


def unpack_examination(packed: tuple[Any, ...]) -> Examination:
    """Return the examination that `pack_examination` was given."""
    version, role, may_write, advice = packed
    return Examination(version, role, may_write, tuple(Advice(*one) for one in advice))


def pack_error(error: DqaError) -> tuple[str, str, str]:
    """Return an error of this project as plain data: its class, its text, and an unknown name."""
    known = next(
        kind.__name__ for kind in type(error).__mro__ if kind.__module__ == errors.__name__
    )
    if isinstance(error, UnknownReferenceError):
        return known, error.problem, error.name
    return known, str(error), ""


def unpack_error(packed: tuple[str, str, str]) -> DqaError:
    """Return the error that `pack_error` was given, or one of its family."""
    known, text, name = packed
    kind = getattr(errors, known, DqaError)
    if kind is UnknownReferenceError:
        return UnknownReferenceError(text, name)
    # Some say in other words what they are made of; what they said is there already.
    error: DqaError = kind.__new__(kind)
    Exception.__init__(error, text)
    return error
