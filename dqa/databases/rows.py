"""Convert the rows of a driver to a bounded result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import isfinite
from time import perf_counter
from typing import Any

import orjson

from dqa.core.database import Cut, Limits, Rows
from dqa.core.display import Value, cell_of, dump_row, spelled_number
from dqa.core.errors import StatementError
from dqa.core.session import SendRows
from dqa.databases.errors import driver_reads
from dqa.databases.values import CELLS, plain, readable

_CLOSING_LINE = 140
"""The number of bytes reserved for the last line of `Rows.to_text`."""
_CHUNK = 1024
"""The maximum number of rows to measure at a time."""
_VECTOR = 32
"""In a long cell, lists with more numbers than this are shortened first."""
_SHORT = 1e-4
"""Python writes smaller numbers with an exponent."""
_LEAST_PART = 40
"""The minimum number of characters of a shortened item."""


def no_result() -> StatementError:
    """Return the error of a statement without a result."""
    return StatementError("The statement is not a query that returns rows. Write such a query.")


def columns_of(cursor: Any) -> list[str]:  # noqa: ANN401  (any driver's cursor)
    """Return the column names of a cursor.

    Raise `StatementError` if the statement of the cursor has no result.
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
        Functions that convert the values of some columns, by the column's position (from 0).
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
    send: SendRows | None = None,
) -> Rows:
    """Return the rows of a driver until a limit is reached.

    Parameters
    ----------
    columns
        The column names.
    rows
        The rows of the driver.
    limits
        The maximum number of rows, of bytes of result text, and of characters of a cell.
    started
        The time at which the statement started (`time.perf_counter`).
    convert
        A function that converts values of the engine's own types, before `plain` is applied.
    total
        The number of all rows of the result; None if the engine does not know the number.
    send
        See `Session.send_rows`.
    """
    names = tuple(map(readable, columns))
    room = limits.bytes - _CLOSING_LINE - len(dump_row(names).encode())
    shown: list[tuple[Value, ...]] = []
    cut: Cut | None = None
    is_shortened, left, count = False, iter(rows), 0
    while cut is None and (chunk := _next_chunk(left, limits.rows + 1 - count, count)):
        found, may_cut = _plain_rows(chunk, convert, limits.cell)
        size = None if may_cut else _size_of(found)
        if size is None or size > room or count + len(found) > limits.rows:
            whole, found = found, []
            for row in whole:
                cells, is_cut, size = _fitted(row, limits.cell)
                is_full = count + len(found) >= limits.rows
                if is_full or size > room:
                    cut = "rows" if is_full else "bytes"
                    break
                found.append(cells)
                room -= size
                is_shortened |= is_cut
        else:
            room -= size
        shown += found
        count += len(found)
        if send is not None and len(shown) >= _CHUNK:
            send(count - len(shown), shown)
            shown = []
    total = None if cut is None else total
    cut = cut or ("cells" if is_shortened else None)
    return Rows(names, tuple(shown), cut, perf_counter() - started, total=total)


def _next_chunk(rows: Iterator[Sequence[Any]], most: int, before: int) -> list[Sequence[Any]]:
    """Return the next rows: at most `most`, and at most one more than the `before` earlier rows.

    The first calls return few rows, because each row may have many megabytes.
    """
    with driver_reads():
        return list(islice(rows, min(most, _CHUNK, before + 1)))


def _plain_rows(
    rows: Sequence[Sequence[Any]], convert: Callable[[Any], Any] | None, most: int
) -> tuple[list[tuple[Value, ...]], bool]:
    """Return rows of plain values, and whether some cell may have more than `most` characters.

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
    except TypeError:  # orjson cannot write some numbers and texts
        return None
    if b"\x7f" in data or not (data.isascii() or data.decode().isprintable()):
        return None  # `dump_row` escapes these characters
    if (b"e-" in data or b"0.0000" in data) and any(
        0.0 < abs(cell) < _SHORT for row in rows for cell in row if type(cell) is float
    ):
        return None  # `dump_row` writes numbers close to 0 differently
    return len(data) + len(rows) * (len(rows[0]) - 1) - 1  # `dump_row` writes ", " between cells


def _fitted(cells: tuple[Value, ...], most: int) -> tuple[tuple[Value, ...], bool, int]:
    """Return a row with shortened cells, whether a cell was shortened, and the size in bytes."""
    fitted, is_cut = cells, max(map(_length, cells), default=0) > most
    if is_cut:
        fitted = tuple(_shortened(cell, most) for cell in cells)
    try:
        return fitted, is_cut, len(dump_row(fitted).encode()) + 1
    except ValueError:  # a cell contains a value that JSON cannot represent
        return _fitted(tuple(map(plain, cells)), most)


def _length(cell: Value) -> int:
    """Return the length of a text, or of a list or map as JSON; 0 for other values."""
    text = cell_of(cell)
    return len(text) if isinstance(text, str) else 0


def _shortened(cell: Value, most: int) -> Value:
    """Return a cell of about `most` characters. A shortened cell states its full length."""
    if _length(cell) <= most:
        return cell
    if isinstance(cell, str):
        return _cut_text(cell, most)
    for part in (most, most // 4, _LEAST_PART):  # long vectors and very long texts first
        shortened = _with_short_parts(cell, part)
        if _length(shortened) <= most:
            return shortened
    return _cut_text(str(cell_of(cell)), most)


def _with_short_parts(cell: Value, most: int) -> Value:
    """Return a cell in which texts and long lists of numbers (embeddings) are shortened."""
    if isinstance(cell, str):
        return cell if len(cell) <= most else _cut_text(cell, most)
    if isinstance(cell, dict):
        return {key: _with_short_parts(value, most) for key, value in cell.items()}
    if isinstance(cell, list):
        if len(cell) > _VECTOR and all(type(item) in {int, float} for item in cell):
            return [*cell[:3], f"... [{len(cell)} items]"]
        return [_with_short_parts(item, most) for item in cell]
    return cell


def _cut_text(text: str, most: int) -> str:
    return f"{text[:most]}... [{len(text)} characters]"
