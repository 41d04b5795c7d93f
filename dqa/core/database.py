"""What a database is to everything that reads one: statements in, bounded rows out."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal, Protocol, Self, TypeAlias, runtime_checkable

from dqa.core.display import DEFAULT_DISPLAY, Value, dump_row, round_rows
from dqa.core.errors import UsageError
from dqa.core.schema import DatabaseSchema
from dqa.core.summaries import Summary
from dqa.core.text import counted

Kind: TypeAlias = Literal["relational", "graph"]
Isolation: TypeAlias = Literal["process", "none"]
"""Where statements run: in worker processes, or in this one, which they then can hang or end."""
Cut: TypeAlias = Literal["rows", "bytes", "cells", "seconds"]
"""Which limit ended a result before the database did, or cut one of its cells."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one statement may cost.

    Attributes
    ----------
    rows
        Most rows returned; more are left in the database and the result says it was cut.
    bytes
        Most bytes of result text (UTF-8); the result is cut at a whole row.
    seconds
        Most seconds; a longer statement is stopped and raises `StatementTimeoutError`.
    cell
        Most characters of one cell's text; a longer one, or a longer list or map, is cut and says
        how long it was, so that one huge cell hides neither its row nor the others.
    scans
        Whether the database shall say how many rows it went through, where it can: that takes two
        round trips more.

    Raises
    ------
    UsageError
        One of them is not more than 0.
    """

    rows: int = 200
    bytes: int = 32_000
    seconds: float = 10.0
    cell: int = 4_000
    scans: bool = False

    def __post_init__(self) -> None:
        """Refuse limits under which nothing could be returned."""
        for name in ("rows", "bytes", "seconds", "cell"):
            given = getattr(self, name)
            if given <= 0:
                raise UsageError(f"Limits: {name} must be more than 0, not {given}.")

    @property
    def told(self) -> float:
        """The seconds that a message tells: the same however much of them was left."""
        return self.seconds

    def left(self, seconds: float) -> LimitsLeft:
        """Return the limits with what is left of their seconds."""
        return LimitsLeft(self.rows, self.bytes, seconds, self.cell, self.scans, self.told)


@dataclass(frozen=True, slots=True)
class LimitsLeft(Limits):
    """What is left of limits. Nobody sets one: what a run writes of its limits has nothing of it.

    Attributes
    ----------
    whole
        The seconds that there were.
    """

    whole: float = 10.0

    @property
    def told(self) -> float:
        """The seconds that there were."""
        return self.whole


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Rows:
    """A bounded result.

    Attributes
    ----------
    columns
        Column names as the database gave them.
    rows
        Plain Python values, lists and maps of such included; what is none (a date, a binary) is
        text.
    cut
        Which limit ended the result before the database did, or None where it is whole.
    seconds
        How long the database took.
    translated
        The statement as it ran, where it was written in another dialect; None where it ran as it
        was written.
    total
        How many rows there were, where a limit on rows or bytes cut them; None where the result is
        whole, or nobody counted to its end.
    counted
        How many rows there were at least, where nobody counted to the end.
    advice
        How to see what a limit on rows or bytes cut, as the reader of the text is told it.
    warning
        What the database warns of, such as a label that it does not have.
    summary
        What a result holds that such a limit cut, column by column; None where nobody counted.
    scanned
        How many rows the database went through for it; None where it does not say.
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
    summary: Summary | None = None
    scanned: int | None = None

    def rounded(self, digits: int, kept: Collection[float] = frozenset()) -> Self:
        """Return the result with numbers as a model is shown them; see `round_rows`."""
        summary = None if self.summary is None else self.summary.rounded(digits, kept)
        return replace(self, rows=round_rows(self.rows, digits, kept), summary=summary)

    def to_text(self, digits: int = DEFAULT_DISPLAY.digits) -> str:
        """Return the text a model reads: one JSON array a line, the header first.

        The same rows give the same text everywhere: nothing depends on a terminal, and JSON's
        escapes keep what a cell says inside its cell. Numbers have `digits` significant digits, 0
        for all, as `Display` says it. What was cut is summed up below the rows.
        """
        shown = round_rows(self.rows, digits)
        lines = [dump_row(self.columns), *map(dump_row, shown), self._closing()]
        if self.summary is not None:
            lines.append(self.summary.rounded(digits).to_text())
        return "\n".join(lines)

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


@runtime_checkable
class Database(Protocol):
    """A database that can only be read. Safe to use from several threads."""

    kind: Kind
    dialect: str
    language: str
    """What statements are written in, as a model is told it: ``"SQL (SQLite)"``."""
    name: str
    """What to call it in results and messages: never holds a password."""

    def schema(self) -> DatabaseSchema:
        """Return tables, or node labels and edge types, as the database itself describes them."""
        ...

    def query(self, statement: str, limits: Limits = ...) -> Rows:
        """Run one read-only statement.

        Without `limits`, those hold with which the database was opened: `DEFAULT_LIMITS`, where
        nobody said otherwise.

        Raises
        ------
        RefusedStatementError
            The guard does not let it run.
        StatementError
            The database could not run it.
        StatementTimeoutError
            It took longer than ``limits.seconds``.
        DatabaseUnavailableError
            The database went away.
        """
        ...

    def close(self) -> None:
        """Release connections; the database cannot be used afterwards."""
        ...
