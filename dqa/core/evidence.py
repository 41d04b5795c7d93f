"""Evidence: a decider's tool calls and their results."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from dqa.core.database import Cut, Rows
from dqa.core.display import DEFAULT_DISPLAY, Display, Value
from dqa.core.errors import StatementTimeoutError

QUERY = "query_database"
"""The tool that queries the database."""
SIMULATE = "simulate"
COMPARE = "compare"
SIMULATING = (SIMULATE, COMPARE)
"""The tools that query the simulator."""
DESCRIBE = "describe_table"
SAMPLE = "sample_rows"
FIND = "find_columns"
LOOKING_UP = (DESCRIBE, SAMPLE, FIND)
"""The tools that look up parts of a long schema."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A tool call of a decider and its result.

    Attributes
    ----------
    statement
        The decider's statement, or its request for a simulation.
    observation
        The text for the decider: rows with rounded numbers, or the message of the error.
    row_count
        The number of rows returned; 0 if the call failed.
    error
        The class name of the error; None if there was no error.
    cut
        The limit that cut the result ("rows", "bytes", "cells" or "seconds"); None if the result is
        complete.
    seconds
        Seconds that the database took.
    translated
        The statement with which a simulation read the database; None for a query.
    tool
        The name of the called tool: `QUERY`, a name in `SIMULATING` or `LOOKING_UP`, or the name of
        a plug-in's tool.
    total
        The number of all rows, if a limit cut the result and the engine knows the number.
    exact
        The numbers before rounding, from which `rows` restores the result. Each pair consists of
        the index (from 0) of a column with rounded numbers, and one value per row. The value is
        None in rows whose number was not rounded.
    """

    __pydantic_config__: ClassVar = {"extra": "ignore"}  # old traces have additional fields

    statement: str
    observation: str
    row_count: int = 0
    error: str | None = None
    cut: Cut | None = None
    seconds: float = 0.0
    translated: str | None = None
    tool: str = QUERY
    total: int | None = None
    exact: tuple[tuple[int, tuple[Any, ...]], ...] = ()

    @classmethod
    def of(  # noqa: PLR0913  (the fields of the evidence)
        cls,
        statement: str,
        rows: Rows,
        display: Display = DEFAULT_DISPLAY,
        *,
        exact: Collection[float] = frozenset(),
        closing: str = "",
        tool: str = QUERY,
    ) -> Self:
        """Return the evidence for a result.

        Parameters
        ----------
        statement
            The decider's statement.
        rows
            The result.
        display
            The format of values, such as the digits of rounded numbers.
        exact
            Numbers that must not be rounded.
        closing
            Lines to add below the rows.
        tool
            The name of the called tool.
        """
        if not isinstance(rows, Rows):
            raise TypeError(f"rows is a {type(rows).__name__}: give dqa.Rows(columns, rows)")
        shown = rows.rounded(display.digits, exact)
        text = shown.to_text(digits=0)
        return cls(
            statement=statement,
            observation=f"{text}\n{closing}" if closing else text,
            row_count=len(rows.rows),
            cut=rows.cut,
            seconds=rows.seconds,
            translated=rows.translated,
            tool=tool,
            total=rows.total,
            exact=tuple(_exact(rows, shown)),
        )

    @classmethod
    def failed(
        cls, statement: str, error: Exception, seconds: float, closing: str = "", tool: str = QUERY
    ) -> Self:
        """Return the evidence for a call that failed; `closing` is added below the error."""
        text = "\n".join(filter(None, [f"Error: {error}", closing]))
        name = type(error).__name__
        cut: Cut | None = "seconds" if isinstance(error, StatementTimeoutError) else None
        return cls(statement, text, error=name, cut=cut, seconds=seconds, tool=tool)

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names; empty if the call failed or returned no rows."""
        header = self.observation.partition("\n")[0]
        return tuple(json.loads(header)) if not self.error and header.startswith("[") else ()

    @property
    def rows(self) -> tuple[tuple[Value, ...], ...]:
        """The rows with unrounded numbers; empty if the result has no rows."""
        lines = self.observation.split("\n")[1:]
        found = [json.loads(line) for line in lines if line.startswith("[")]
        if self.error is not None or len(found) != self.row_count:
            return ()
        for index, values in self.exact:
            for row, value in zip(found, values, strict=True):
                row[index] = row[index] if value is None else value
        return tuple(map(tuple, found))


def _exact(rows: Rows, shown: Rows) -> Iterator[tuple[int, tuple[Value, ...]]]:
    columns = zip(zip(*rows.rows, strict=True), zip(*shown.rows, strict=True), strict=True)
    for index, (full, seen) in enumerate(columns):
        cells = tuple(None if c is s or c == s else c for c, s in zip(full, seen, strict=True))
        if any(cell is not None for cell in cells):
            yield index, cells
