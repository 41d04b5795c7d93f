"""The protocol of databases, which run statements and return a limited number of rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, Self, TypeAlias, runtime_checkable

from dqa.core.display import DEFAULT_DISPLAY, Value, dump_row, round_rows
from dqa.core.errors import StatementTimeoutError, UsageError
from dqa.core.schema import DatabaseSchema
from dqa.core.text import counted

Kind: TypeAlias = Literal["relational", "graph"]
Isolation: TypeAlias = Literal["process", "none"]
"""Where statements run: in worker processes (``process``) or in this process (``none``). A
statement in this process can block or crash the program."""
Cut: TypeAlias = Literal["rows", "bytes", "cells", "seconds"]
"""The limit that cut a result or one of its cells."""


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
        The maximum number of rows that one statement returns. A longer result is cut.
    bytes
        The maximum size in bytes of the result's text (UTF-8). A longer result is cut after a
        complete row.
    seconds
        The maximum time in seconds of one statement. A statement that takes longer is stopped and
        fails.
    cell
        The maximum number of characters of one cell's text. Longer text is cut, and a note with its
        full length is added.

    Raises
    ------
    UsageError
        A limit is 0 or less.
    """

    rows: int = 200
    bytes: int = 32_000
    seconds: float = 10.0
    cell: int = 4_000

    def __post_init__(self) -> None:
        """Check the limits."""
        for name in ("rows", "bytes", "seconds", "cell"):
            value = getattr(self, name)
            if value <= 0:
                raise UsageError(f"Limits: {name} must be more than 0, not {value}.")


def timed_out(limits: Limits, kind: Kind) -> StatementTimeoutError:
    """Return the error of a statement that took too long."""
    return StatementTimeoutError(
        f"The statement was stopped after {limits.seconds:g} seconds. Write a statement that reads "
        f"less: {_READ_LESS[kind]}, or compare fewer candidates at once. EXPLAIN shows the plan of "
        "a statement without running it."
    )


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Rows:
    """The result of a statement. It is incomplete if a limit cut it.

    Attributes
    ----------
    columns
        The column names, as the database returns them.
    rows
        The rows. A value is a plain Python value, or a list or map of plain values. Dates, binary
        data and values of other types are converted to text.
    cut
        The limit that cut the result; None for a complete result.
    seconds
        Seconds that the database took.
    translated
        The statement with which a simulation read the database. None if the rows are the result of
        a query.
    total
        The number of rows before a limit on rows or bytes cut the result. None if the result was
        not cut, or if the engine does not know the number.
    advice
        Advice on how to read the rows that a limit cut off.
    warning
        A warning of the database, for example about an unknown label.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    cut: Cut | None = None
    seconds: float = 0.0
    translated: str | None = None
    total: int | None = None
    advice: str = "aggregate, filter or use LIMIT"
    warning: str = ""

    def rounded(self, digits: int, exact: Collection[float] = frozenset()) -> Self:
        """Return the result with numbers rounded for a model; see `round_rows`."""
        return replace(self, rows=round_rows(self.rows, digits, exact))

    def to_text(self, digits: int = DEFAULT_DISPLAY.digits) -> str:
        """Return the text for a model: the column names and the rows, one JSON array per line.

        Equal rows have equal texts on every platform. JSON escapes line breaks and quotes within a
        cell. Numbers are rounded to `digits` significant digits; 0 means no rounding.
        """
        shown = round_rows(self.rows, digits)
        return "\n".join([dump_row(self.columns), *map(dump_row, shown), self._closing()])

    def _closing(self) -> str:
        count, warning = len(self.rows), f"; {self.warning}" if self.warning else ""
        if self.cut is None:
            return f"({counted(count, 'row')}{warning})"
        if self.cut == "cells":
            cut = f"{counted(count, 'row')}; long cells were cut: select a part of them"
            return f"({cut}, e.g. SUBSTRING{warning})"
        of = "" if self.total is None else f" of {self.total:,}"
        shown = f"only the first {count:,}{of} rows are shown, by the limit on {self.cut}"
        return f"({shown}; {self.advice}{warning})"


def decode_rows(values: Sequence[Any], first: Iterable[tuple[Value, ...]] = ()) -> Rows:
    """Rebuild a result from the JSON list of its fields.

    Parameters
    ----------
    values
        The fields of `Rows`, in order.
    first
        Rows that were received earlier. They precede the rows in `values`.

    Raises
    ------
    TypeError, ValueError
        The values are not the fields of a result.
    """
    columns, rows, *others = values
    return Rows(tuple(columns), (*first, *map(tuple, rows)), *others)


@runtime_checkable
class Database(Protocol):
    """A read-only database. Safe to use from several threads."""

    kind: Kind
    dialect: str
    language: str
    """The language of statements, for prompts, e.g. ``"SQL (SQLite)"``."""
    name: str
    """The database's name in results and messages, without passwords."""

    def schema(self) -> DatabaseSchema:
        """Return the tables of the database, or its node labels and relationship types."""
        ...

    def query(self, statement: str, limits: Limits = ...) -> Rows:
        """Run one read-only statement.

        The default `limits` are the limits with which the database was opened.

        Raises
        ------
        RefusedStatementError
            The guard refuses the statement.
        StatementError
            The database could not run the statement.
        StatementTimeoutError
            The statement took longer than ``limits.seconds``.
        DatabaseUnavailableError
            The database is no longer available.
        """
        ...

    def close(self) -> None:
        """Release the connections. The database cannot be used afterwards."""
        ...
