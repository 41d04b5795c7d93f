"""Bounded results: what every backend does with the rows a driver hands it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from time import perf_counter
from typing import Any, Protocol

from dqa.core.database import Cut, Limits, Rows, dump_row
from dqa.core.errors import StatementError
from dqa.core.situation import Cell

_CELLS = frozenset({str, int, float, bool, type(None)})
_CLOSING_LINE = 120
"""Bytes kept free for the line that `Rows.to_text` ends with."""
_BATCH = 256
"""Rows fetched at once: enough for most results, few enough to stop early."""


class DriverCursor(Protocol):
    """What every driver's cursor has, as far as rows are fetched from it."""

    @property
    def description(self) -> Sequence[Sequence[Any]] | None:
        """The columns, or None where the statement was no query."""
        ...

    def fetchmany(self, size: int, /) -> Sequence[Any]:
        """Return the next rows, none where there are no more."""
        ...


def fetch_rows(cursor: DriverCursor, limits: Limits, started: float) -> Rows:
    """Fetch rows from a driver's cursor until they end or a limit does; see `collect`."""
    if cursor.description is None:
        raise StatementError("The statement returned no rows; write a query that does.")
    columns = [column[0] for column in cursor.description]
    size = min(limits.rows + 1, _BATCH)
    batches = iter(lambda: cursor.fetchmany(size) or [], [])
    return collect(columns, (row for batch in batches for row in batch), limits, started)


def collect(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    limits: Limits,
    started: float,
    convert: Callable[[Any], Any] | None = None,
) -> Rows:
    """Return rows of a driver, until they end or a limit does.

    Parameters
    ----------
    columns
        Column names.
    rows
        Rows as the driver gives them; no more are fetched than are needed to know of a cut.
    limits
        At most ``limits.rows`` rows are kept, and as many whole rows as fit ``limits.bytes`` of
        result text; text longer than ``limits.cell`` characters is cut.
    started
        When the statement began, as `time.perf_counter` told it.
    convert
        What a backend does to its own kinds of values before `plain` does.
    """
    names = tuple(columns)
    room = limits.bytes - _CLOSING_LINE - len(dump_row(names).encode())
    kept: list[tuple[Cell, ...]] = []
    cut: Cut | None = None
    shortened = False
    for row in rows:
        if len(kept) >= limits.rows:
            cut = "rows"
            break
        cells = tuple(
            value if type(value) in _CELLS else plain(convert(value) if convert else value)
            for value in row
        )
        if any(type(cell) is str and len(cell) > limits.cell for cell in cells):
            cells = tuple(_shortened(cell, limits.cell) for cell in cells)
            shortened = True
        room -= len(dump_row(cells).encode(errors="surrogatepass")) + 1
        if room < 0:
            cut = "bytes"
            break
        kept.append(cells)
    if cut is None and shortened:
        cut = "cells"
    return Rows(names, tuple(kept), cut, perf_counter() - started)


def _shortened(cell: Cell, most: int) -> Cell:
    if not isinstance(cell, str) or len(cell) <= most:
        return cell
    return f"{cell[:most]}... [{len(cell)} characters]"


def plain(value: Any) -> Cell:  # noqa: ANN401  (drivers return what they like)
    """Return any value of a driver as a `Cell`; the same value always becomes the same cell.

    Numbers stay numbers as long as nothing is lost, binary is hexadecimal text, a list or map is
    JSON text, dates and times are ISO 8601, anything else is its own text.
    """
    if type(value) in _CELLS:
        return value  # type: ignore[no-any-return]
    if isinstance(value, Decimal):
        return _number(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"0x{bytes(value).hex()}"
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(_jsonable(value), ensure_ascii=False)
    return str(value)


def _number(value: Decimal) -> int | float | str:
    if value.is_finite():
        if value == value.to_integral_value():
            return int(value)
        if Decimal(repr(float(value))) == value:
            return float(value)
    return str(value)


def _jsonable(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_jsonable(item) for item in value]
    cell = plain(value)
    return str(cell) if isinstance(cell, float) and cell - cell != 0.0 else cell
