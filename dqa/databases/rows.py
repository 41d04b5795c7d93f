"""Convert the rows of a driver to a bounded result, and count the rows that were cut off."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from math import isfinite
from threading import Lock, Timer
from time import perf_counter
from typing import Any, Self, TypeVar

import orjson

from dqa.core.database import Cut, Limits, Rows
from dqa.core.display import Value, dump_row, spelled_number
from dqa.core.errors import StatementError
from dqa.databases.errors import UnreadableError, driver_reads
from dqa.databases.values import CELLS, plain, readable


class Deadline:
    """Call a function from another thread after some seconds, unless the context ends first.

    Attributes
    ----------
    has_fired
        Whether the function was called.
    """

    def __init__(self, seconds: float, act: Callable[[], object]) -> None:
        self.has_fired = False
        self._act: Callable[[], object] | None = act
        self._lock = Lock()
        self._timer = Timer(seconds, self._fire)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:  # wait for the end of the function if it has begun
            self._act = None

    def _fire(self) -> None:
        with self._lock:
            if self._act is not None:
                self.has_fired = True
                self._act()


_CLOSING_LINE = 140
"""The number of bytes reserved for the last line of `Rows.to_text`."""
_CHUNK = 1024
"""The maximum number of rows to measure at a time."""
MOST_COUNTED = 10_000
"""The maximum number of rows to count if a result was cut."""
_COUNTING, _MOST_SECONDS = 0.5, 1.0
"""The share of a statement's time limit that counting may use, and its maximum in seconds."""
_VECTOR = 32
"""A longer list of numbers in a cell is shortened first."""
_SHORT = 1e-4
"""Python writes numbers below this one with an exponent."""
_LEAST_PART = 40
"""The minimum number of characters of a shortened item."""


def no_result() -> StatementError:
    """Return the error of a statement without a result."""
    return StatementError("The statement is not a query that returns rows. Write such a query.")


def columns_of(cursor: Any) -> list[str]:  # noqa: ANN401  (any driver's cursor)
    """Return the column names of a cursor.

    Raise `StatementError` if its statement has no result.
    """
    if cursor.description is None:
        raise no_result()
    return [column[0] for column in cursor.description]


def rows_from(
    cursor: Any,  # noqa: ANN401
    readers: Mapping[int, Callable[[Any], Any]] | None = None,
) -> Iterator[Sequence[Any]]:
    """Yield the rows of a driver's cursor.

    Parameters
    ----------
    cursor
        The cursor, after its statement has run.
    readers
        Functions that convert the values of some columns, by position.
    """
    rows: Iterator[Sequence[Any]] = iter(cursor.fetchone, None)
    if not readers:
        return rows
    return (
        [readers[n](cell) if n in readers else cell for n, cell in enumerate(row)] for row in rows
    )


def collect(  # noqa: PLR0913
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    limits: Limits,
    started: float,
    convert: Callable[[Any], Any] | None = None,
    *,
    total: int | None = None,
    failures: tuple[type[Exception], ...] = (),
    stop: Callable[[], object] | None = None,
) -> Rows:
    """Return the rows of a driver until a limit is reached.

    If a limit on rows or bytes cuts the result, the remaining rows are counted: at most
    `MOST_COUNTED` rows, for at most a second, and within half of the statement's time.

    Parameters
    ----------
    columns
        The column names.
    rows
        The rows of the driver.
    limits
        The maximum number of rows, of bytes of result text, and of characters of a cell.
    started
        When the statement started (`time.perf_counter`).
    convert
        Converts the engine's own kinds of values; applied before `plain`.
    total
        The number of rows; None if the engine does not know it.
    failures
        Exceptions of the driver. If one occurs while rows are counted, only the counting ends.
    stop
        Stops the driver from another thread; if None, no rows are counted.
    """
    names = tuple(map(readable, columns))
    page = _Page(limits, limits.bytes - _CLOSING_LINE - len(dump_row(names).encode()))
    shown, left, unread, counted = page.rows, iter(rows), 0, 0
    while page.cut is None and (
        chunk := _next_chunk(left, limits.rows + 1 - len(shown), len(shown))
    ):
        unread = page.add(*_plain_rows(chunk, convert, limits.cell))
    if page.cut is not None and stop is not None and total is None:
        until = min(started + limits.seconds * _COUNTING, perf_counter() + _MOST_SECONDS)
        total, counted = _count(left, len(shown) + unread, until, failures, stop)
    cut = page.cut or ("cells" if page.is_shortened else None)
    total = None if page.cut is None else total
    seconds = perf_counter() - started
    return Rows(names, tuple(shown), cut, seconds, total=total, counted=counted)


@dataclass
class _Page:
    """The rows of a result.

    Attributes
    ----------
    limits
        The limits on rows and cells.
    room
        The number of bytes left for rows.
    rows
        The rows that were added.
    cut
        The limit that was reached; None if no limit was.
    is_shortened
        Whether a cell was shortened.
    """

    limits: Limits
    room: int
    rows: list[tuple[Value, ...]] = field(default_factory=list)
    cut: Cut | None = None
    is_shortened: bool = False

    def add(self, rows: Sequence[tuple[Value, ...]], may_cut: bool) -> int:
        """Add rows until a limit is reached.

        Return the number of rows that were left out.
        """
        size = None if may_cut else _size_of(rows)
        fits = size is not None and size <= self.room
        if fits and len(self.rows) + len(rows) <= self.limits.rows:
            self.rows.extend(rows)
            self.room -= size or 0
            return 0
        for number, row in enumerate(rows):
            cells, is_cut, size = _fitted(row, self.limits.cell)
            if len(self.rows) >= self.limits.rows or size > self.room:
                self.cut = "rows" if len(self.rows) >= self.limits.rows else "bytes"
                return len(rows) - number
            self.is_shortened |= is_cut
            self.room -= size
            self.rows.append(cells)
        return 0


def _next_chunk(rows: Iterator[Sequence[Any]], most: int, before: int) -> list[Sequence[Any]]:
    """Return the next rows.

    The first chunks are small, because each row may have many megabytes.
    """
    with driver_reads():
        return list(islice(rows, min(most, _CHUNK, before + 1)))


def _plain_rows(
    rows: Sequence[Sequence[Any]], convert: Callable[[Any], Any] | None, most: int
) -> tuple[list[tuple[Value, ...]], bool]:
    """Return rows of plain values, and whether a cell may have more than `most` characters.

    Converting whole columns takes half the time of converting rows.
    """
    columns: list[Sequence[Value]] = []
    is_changed = may_cut = False
    for cells in zip(*rows, strict=True):
        column, kinds = cells, set(map(type, cells))
        if not kinds <= CELLS:
            column = tuple(
                cell if type(cell) in CELLS else plain(convert(cell) if convert else cell)
                for cell in cells
            )
            kinds, is_changed = set(map(type, column)), True
        if float in kinds and not isfinite(sum(c for c in column if type(c) is float)):
            column = tuple(spelled_number(cell) for cell in column)
            kinds, is_changed = set(map(type, column)), True
        if str in kinds:
            texts = column if len(kinds) == 1 else (c for c in column if type(c) is str)
            may_cut |= max(map(len, texts)) > most
        may_cut |= not kinds <= CELLS
        columns.append(column)
    whole = zip(*columns, strict=True) if is_changed else map(tuple, rows)
    return list(whole), may_cut


def _size_of(rows: Sequence[tuple[Value, ...]]) -> int | None:
    """Return the size in bytes of rows as text; None if each row must be measured."""
    try:
        data = orjson.dumps(rows)
    except TypeError:  # orjson cannot write a number or a text
        return None
    if b"\x7f" in data or not (data.isascii() or data.decode().isprintable()):
        return None  # `dump_row` escapes these characters
    if (b"e-" in data or b"0.0000" in data) and any(
        0.0 < abs(cell) < _SHORT for row in rows for cell in row if type(cell) is float
    ):
        return None  # `dump_row` writes numbers close to 0 differently
    return (
        len(data) + len(rows) * (len(rows[0]) - 1) - 1
    )  # `dump_row` writes a space after each comma


def _fitted(cells: tuple[Value, ...], most: int) -> tuple[tuple[Value, ...], bool, int]:
    """Return a row with shortened cells, whether any was shortened, and its size in bytes."""
    fitted, is_cut = cells, max(map(_length, cells), default=0) > most
    if is_cut:
        fitted = tuple(_shortened(cell, most) for cell in cells)
    try:
        return fitted, is_cut, len(dump_row(fitted).encode()) + 1
    except ValueError:  # a number or a text cannot be written
        return _fitted(tuple(map(plain, cells)), most)


def _count(
    left: Iterator[Sequence[Any]],
    seen: int,
    until: float,
    failures: tuple[type[Exception], ...],
    stop: Callable[[], object],
) -> tuple[int | None, int]:
    """Return the number of rows.

    If counting takes too long, return None and a lower bound: `MOST_COUNTED` or 0, independent of
    the speed of the database.
    """
    if perf_counter() > until:
        return None, 0
    with suppress(UnreadableError, *failures), Deadline(until - perf_counter(), stop):
        while chunk := _next_chunk(left, max(1, MOST_COUNTED + 1 - seen), seen):
            seen += len(chunk)
            if seen > MOST_COUNTED:
                return None, MOST_COUNTED
            if perf_counter() > until:
                return None, 0
        return seen, seen
    return None, 0


def _length(cell: Value) -> int:
    """Return the length of a text, or of a list or map as JSON; 0 for other values."""
    if isinstance(cell, str):
        return len(cell)
    return len(_dumped(cell)) if isinstance(cell, (list, dict)) else 0


def _dumped(value: Value) -> str:
    return json.dumps(value, ensure_ascii=False)


def _shortened(cell: Value, most: int) -> Value:
    """Return a cell of about `most` characters. A shortened cell states its full length."""
    if _length(cell) <= most:
        return cell
    if isinstance(cell, str):
        return f"{cell[:most]}... [{len(cell)} characters]"
    cell = _with_short_vectors(cell)
    if _length(cell) <= most:
        return cell
    if isinstance(cell, list):
        items = [item for _, item in _leading(((0, item) for item in cell), most)]
        return [*items, f"... [{len(cell)} items]"]
    if isinstance(cell, dict):
        return dict(_leading(cell.items(), most)) | {"...": f"[{len(cell)} entries]"}
    return cell


def _with_short_vectors(cell: Value) -> Value:
    """Return a list or map in which long lists of numbers (embeddings) are shortened."""
    if isinstance(cell, dict):
        return {key: _with_short_vectors(value) for key, value in cell.items()}
    if isinstance(cell, list):
        if len(cell) > _VECTOR and all(type(item) in {int, float} for item in cell):
            return [*cell[:3], f"... [{len(cell)} items]"]
        return [_with_short_vectors(item) for item in cell]
    return cell


_Index = TypeVar("_Index", str, int)


def _leading(items: Iterable[tuple[_Index, Value]], room: int) -> Iterator[tuple[_Index, Value]]:
    """Yield the first items that fit into the limit, and a part of the next item."""
    for key, item in items:
        size = len(_dumped(item)) + len(str(key)) + 2
        if size > room:
            if room > _LEAST_PART and isinstance(item, (str, list, dict)):
                yield key, _shortened(item, room - _LEAST_PART)
            return
        room -= size
        yield key, item
