"""Bounded results: what every backend does with the rows a driver hands it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import perf_counter
from typing import Any, Protocol, TypeVar

from dqa.core.database import Cut, Limits, Rows
from dqa.core.display import Value, dump_row
from dqa.core.errors import StatementError
from dqa.core.summaries import Summary
from dqa.databases.failures import UnreadableError, driver_reads
from dqa.databases.tallies import Tally
from dqa.databases.values import CELLS, loaded, plain, readable, repaired
from dqa.databases.watchdog import WATCHDOG

_CLOSING_LINE = 140
"""Bytes kept free for the line that `Rows.to_text` ends with."""
MOST_COUNTED = 10_000
"""Rows up to which those of a result that was cut are counted."""
_COUNTING, _MOST_SECONDS = 0.5, 1.0
"""Share of a statement's time within which they are, and the most that it adds, in seconds."""
_SUMMARY_SHARE = 8
"""Of the bytes of a result that was cut, its summary has one in so many at most."""
_VECTOR = 32
"""Numbers beyond which a list within a cell is shortened before anything else of it."""
_LEAST_PART = 40
"""Characters below which no part of a list's or map's item is worth to be shown."""


class DriverCursor(Protocol):
    """What every driver's cursor has, as far as rows are fetched from it."""

    @property
    def description(self) -> Sequence[Sequence[Any]] | None:
        """The columns, or None where the statement was no query."""
        ...

    def fetchone(self) -> Sequence[Any] | None:
        """Return the next row, None where there is none."""
        ...


def fetch_rows(  # noqa: PLR0913  (each is a question of its own to a backend)
    cursor: DriverCursor,
    limits: Limits,
    started: float,
    failures: type[Exception],
    is_json: Callable[[Any], bool] | None = None,
    *,
    stop: Callable[[], None] | None = None,
) -> Rows:
    """Fetch rows from a driver's cursor until they end or a limit does; see `collect`.

    `is_json` says of a column's type whether its driver gives JSON as text.
    """
    if cursor.description is None:
        raise StatementError("The statement returned no rows; write a query that does.")
    columns = [column[0] for column in cursor.description]
    # One at a time: each may have many megabytes, and more at once are hardly faster.
    rows: Iterable[Sequence[Any]] = iter(cursor.fetchone, None)
    if is_json is not None:
        places = {n for n, column in enumerate(cursor.description) if is_json(column[1])}
        rows = (_parsed(row, places) for row in rows) if places else rows
    return collect(columns, rows, limits, started, failures=failures, stop=stop)


def _parsed(row: Sequence[Any], places: set[int]) -> Sequence[Any]:
    return [
        loaded(value) if n in places and isinstance(value, str) else value
        for n, value in enumerate(row)
    ]


def collect(  # noqa: PLR0913  (each is a question of its own to a backend)
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    limits: Limits,
    started: float,
    convert: Callable[[Any], Any] | None = None,
    *,
    total: int | None = None,
    failures: type[Exception] | tuple[type[Exception], ...] = (),
    stop: Callable[[], None] | None = None,
) -> Rows:
    """Return rows of a driver, until they end or a limit does.

    Where a limit on rows or bytes cuts them, the others are counted and summed up as far as that is
    cheap: up to a fixed number, for a second at most, and within half the statement's time.

    Parameters
    ----------
    columns
        Column names.
    rows
        Rows as the driver gives them; of those that are cut, no more are fetched than are counted.
    limits
        At most ``limits.rows`` rows are kept, and as many whole rows as fit ``limits.bytes`` of
        result text; text longer than ``limits.cell`` characters is cut.
    started
        When the statement began, as `time.perf_counter` told it.
    convert
        What a backend does to its own kinds of values before `plain` does.
    total
        How many rows there are, where the engine knows.
    failures
        What the driver may raise; while rows are counted that ends the counting alone.
    stop
        Ends from another thread what the driver waits for, so that it raises one of `failures`:
        the next row may be the one that the database looks for longest. Nothing is counted without.
    """
    names = tuple(map(readable, columns))
    room = limits.bytes - _CLOSING_LINE - len(dump_row(names).encode())
    kept: list[tuple[Value, ...]] = []
    cut: Cut | None = None
    shortened = False
    left = _driven(rows)
    over: tuple[Value, ...] = ()
    for row in left:
        whole = _plain_row(row, convert)
        if len(kept) >= limits.rows:
            cut, over = "rows", whole
            break
        cells, is_cut, size = _fitted(whole, limits.cell)
        shortened = shortened or is_cut
        if size > room:
            cut, over = "bytes", whole
            break
        room -= size
        kept.append(cells)
    counted = 0
    summary: Summary | None = None
    if cut is not None and stop is not None:
        until = min(started + limits.seconds * _COUNTING, perf_counter() + _MOST_SECONDS)
        tally = _tallied(names, [*kept, over], shortened=shortened)
        rest = (_plain_row(row, convert) for row in left)
        if total is None or tally is not None:
            found, seen = _count(rest, len(kept) + 1, until, failures, stop, tally)
            if total is None:
                total, counted = found, seen
            if tally is not None and seen:
                most = limits.bytes // _SUMMARY_SHARE
                summary = tally.summary(most, whole=found is not None)
                kept, fits = _making_room(kept, room, summary)
                cut = cut if fits else "bytes"
    elif cut is None:
        cut, total = "cells" if shortened else None, None
    seconds = perf_counter() - started
    return Rows(names, tuple(kept), cut, seconds, total=total, counted=counted, summary=summary)


def _plain_row(row: Sequence[Any], convert: Callable[[Any], Any] | None) -> tuple[Value, ...]:
    if CELLS.issuperset(map(type, row)):
        return tuple(row)
    return tuple(
        value if type(value) in CELLS else plain(convert(value) if convert else value)
        for value in row
    )


def _making_room(
    kept: list[tuple[Value, ...]], room: int, summary: Summary
) -> tuple[list[tuple[Value, ...]], bool]:
    """Return the first rows that fit beside a summary, and whether all of them do."""
    room -= len(summary.to_text().encode()) + 1
    last = len(kept)
    while room < 0 and last > 1:
        last -= 1
        room += len(dump_row(kept[last]).encode()) + 1
    return kept[:last], last == len(kept)


def _tallied(
    names: Sequence[str], rows: Sequence[Sequence[Value]], *, shortened: bool
) -> Tally | None:
    """Return the tally of a result's first rows.

    None where cells were cut, as what is left of one is another value, and where so many rows are
    wanted that nobody will read them.
    """
    if shortened or len(rows) > MOST_COUNTED:
        return None
    tally = Tally(names)
    for row in rows:
        tally.add(row)
    return tally


def _driven(rows: Iterable[Sequence[Any]]) -> Iterator[Sequence[Any]]:
    """Yield a driver's rows; one that it cannot read is the statement's error."""
    with driver_reads():
        for row in rows:  # noqa: UP028  (which would close them with this generator)
            yield row


def _fitted(cells: tuple[Value, ...], most: int) -> tuple[tuple[Value, ...], bool, int]:
    """Return a row, whether some of its cells had to be cut, and the bytes of its line of text."""
    fitted, is_cut = cells, max(map(_length, cells), default=0) > most
    if is_cut:
        fitted = tuple(_shortened(cell, most) for cell in cells)
    try:
        return fitted, is_cut, len(dump_row(fitted).encode()) + 1
    except ValueError:  # a number or a text that cannot be written
        return _fitted(tuple(map(repaired, cells)), most)


def _count(  # noqa: PLR0913, PLR0917  (each is a question of its own to the caller)
    left: Iterator[Sequence[Value]],
    seen: int,
    until: float,
    failures: type[Exception] | tuple[type[Exception], ...],
    stop: Callable[[], None],
    tally: Tally | None,
) -> tuple[int | None, int]:
    """Return how many rows there are, or None and how many at least; `tally` counts their cells.

    What "at least" says never hangs on how far a slow database came: it is the bound, or nothing.
    """
    if perf_counter() > until:
        return None, 0
    try:
        with WATCHDOG.after(until - perf_counter(), stop):
            for row in left:
                seen += 1
                if seen > MOST_COUNTED:
                    return None, MOST_COUNTED
                if tally is not None:
                    tally.add(row)
                if perf_counter() > until:
                    return None, 0
    except UnreadableError:
        return None, 0
    except failures:
        return None, 0  # the rows that are shown were there before
    return seen, seen


def _length(cell: Value) -> int:
    """Return how many characters a text has, or a list or map as JSON; 0 for what is short."""
    if isinstance(cell, str):
        return len(cell)
    return len(_dumped(cell)) if isinstance(cell, (list, dict)) else 0


def _dumped(value: Value) -> str:
    return json.dumps(value, ensure_ascii=False)


def _shortened(cell: Value, most: int) -> Value:
    """Return a cell in about `most` characters, and what a longer one had."""
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
    """Return a list or map in which long lists of numbers, as embeddings are, are shortened.

    They say little, and what stands behind them says more.
    """
    if isinstance(cell, dict):
        return {key: _with_short_vectors(value) for key, value in cell.items()}
    if isinstance(cell, list):
        if len(cell) > _VECTOR and all(type(item) in {int, float} for item in cell):
            return [*cell[:3], f"... [{len(cell)} items]"]
        return [_with_short_vectors(item) for item in cell]
    return cell


_Key = TypeVar("_Key", str, int)


def _leading(items: Iterable[tuple[_Key, Value]], room: int) -> Iterator[tuple[_Key, Value]]:
    """Yield the first items that fit, and of the next one what does."""
    for key, item in items:
        size = len(_dumped(item)) + len(str(key)) + 2
        if size > room:
            if room > _LEAST_PART and isinstance(item, (str, list, dict)):
                yield key, _shortened(item, room - _LEAST_PART)
            return
        room -= size
        yield key, item
