"""The contract of a database: statements in, bounded rows out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, Self, TypeAlias, runtime_checkable

from dqa.core.display import DEFAULT_DISPLAY, Value, dump_row, round_rows
from dqa.core.errors import StatementTimeoutError, UsageError
from dqa.core.schema import DatabaseSchema
from dqa.core.text import counted

Kind: TypeAlias = Literal["relational", "graph"]
Isolation: TypeAlias = Literal["process", "none"]
"""Where statements run: in worker processes, or in this process, which they can hang or end."""
Cut: TypeAlias = Literal["rows", "bytes", "cells", "seconds"]
"""Which limit ended a result before the database did, or cut one of its cells."""


_READ_LESS: Mapping[Kind, str] = {
    "relational": "filter earlier, join on keys, bound recursion",
    "graph": "connect the patterns, filter earlier, bound path lengths",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one statement.

    Attributes
    ----------
    rows
        Most rows that one statement returns; the result says if it was cut.
    bytes
        Most bytes of result text (UTF-8); the result is cut at a whole row.
    seconds
        Most seconds; a longer statement is stopped and raises `StatementTimeoutError`.
    cell
        Most characters of one cell's text. A longer cell is cut, with a note of its length, so
        that one huge cell hides neither its row nor the others.

    Raises
    ------
    UsageError
        One of them is not more than 0.
    """

    rows: int = 200
    bytes: int = 32_000
    seconds: float = 10.0
    cell: int = 4_000

    def __post_init__(self) -> None:
        """Refuse limits under which nothing could be returned."""
        for name in ("rows", "bytes", "seconds", "cell"):
            given = getattr(self, name)
            if given <= 0:
                raise UsageError(f"Limits: {name} must be more than 0, not {given}.")


def timed_out(limits: Limits, kind: Kind) -> StatementTimeoutError:
    """Return the error of a statement that took too long."""
    return StatementTimeoutError(
        f"The statement was stopped after {limits.seconds:g} seconds. "
        f"Write one that reads less: {_READ_LESS[kind]}, compute fewer alternatives at once. "
        "EXPLAIN before it shows the plan."
    )


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Rows:
    """A bounded result.

    Attributes
    ----------
    columns
        Column names of the database.
    rows
        Plain Python values, and lists and maps of them; other values (dates, binaries) as text.
    cut
        The limit that cut the result; None for a complete result.
    seconds
        Seconds that the database took.
    translated
        The statement that ran, if it was translated from another dialect; else None.
    total
        The number of all rows, if a limit on rows or bytes cut them; None for a complete result,
        or if they were not counted to the end.
    counted
        The rows that were counted, if not to the end.
    advice
        How to see the rows that a limit on rows or bytes cut, for readers of the text.
    warning
        A warning of the database, such as an unknown label.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    cut: Cut | None = None
    seconds: float = 0.0
    translated: str | None = None
    total: int | None = None
    counted: int = 0
    advice: str = "aggregate, filter or use LIMIT"
    warning: str = ""

    def rounded(self, digits: int, kept: Collection[float] = frozenset()) -> Self:
        """Return the result with numbers as a model is shown them; see `round_rows`."""
        return replace(self, rows=round_rows(self.rows, digits, kept))

    def to_text(self, digits: int = DEFAULT_DISPLAY.digits) -> str:
        """Return the text that a model reads: one JSON array a line, the header first.

        The same rows give the same text everywhere. JSON escapes keep the text of a cell inside
        it. Numbers have `digits` significant digits, 0 for all.
        """
        shown = round_rows(self.rows, digits)
        return "\n".join([dump_row(self.columns), *map(dump_row, shown), self._closing()])

    def _closing(self) -> str:
        shown = len(self.rows)
        count = counted(shown, "row") + (f"; {self.warning}" if self.warning else "")
        if self.cut is None:
            return f"({count})"
        if self.cut == "cells":
            return f"({count}; long cells were cut: select a part of them, e.g. SUBSTRING)"
        least = f"more than {max(self.counted, shown):,}"
        return (
            f"(only the first {shown:,} of {least if self.total is None else f'{self.total:,}'} "
            f"rows are shown, by the limit on {self.cut}; {self.advice})"
        )


def decode_rows(values: Sequence[Any]) -> Rows:
    """Return the result whose `dataclasses.astuple` JSON has held.

    Raises
    ------
    TypeError, ValueError
        The values are not of a result.
    """
    columns, rows, *others = values
    return Rows(tuple(columns), tuple(map(tuple, rows)), *others)


@runtime_checkable
class Database(Protocol):
    """A database that can only be read. Safe to use from several threads."""

    kind: Kind
    dialect: str
    language: str
    """The language of statements, for prompts: ``"SQL (SQLite)"``."""
    name: str
    """Its name in results and messages, without passwords."""

    def schema(self) -> DatabaseSchema:
        """Return the tables, or node labels and relationship types, of the database."""
        ...

    def query(self, statement: str, limits: Limits = ...) -> Rows:
        """Run one read-only statement.

        The default of `limits` is set when the database is opened.

        Raises
        ------
        RefusedStatementError
            The guard refuses it.
        StatementError
            The database could not run it.
        StatementTimeoutError
            It took longer than ``limits.seconds``.
        DatabaseUnavailableError
            The database is not available any longer.
        """
        ...

    def close(self) -> None:
        """Release connections; the database cannot be used afterwards."""
        ...
