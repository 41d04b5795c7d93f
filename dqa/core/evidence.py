"""What a decider asked its database or its simulator, and what it was shown."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Self

from dqa.core.database import Cut, Rows
from dqa.core.display import DEFAULT_DISPLAY, Display, Value

QUERY = "query_database"
"""The tool that asks the database."""
SIMULATE = "simulate"
COMPARE = "compare"
SIMULATING = (SIMULATE, COMPARE)
"""The tools that ask the simulator instead."""
DESCRIBE = "describe_table"
SAMPLE = "sample_rows"
FIND = "find_columns"
LOOKING_UP = (DESCRIBE, SAMPLE, FIND)
"""The tools that look up what of a long schema is not in the prompt."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a decider asked its database or its simulator, and what came back.

    Attributes
    ----------
    statement
        As the decider wrote it; of a simulation, what it asked for.
    observation
        What the decider was shown: rows as text, with no more digits than it asked for, or the
        error's message.
    row_count
        Rows returned, 0 where it failed.
    error
        Class name of the error, or None.
    cut
        Which limit cut the result ("rows", "bytes", "cells", "seconds"), or None.
    seconds
        How long the database took.
    translated
        The statement as it ran, where it was translated from another dialect; of a simulation, the
        one that asked the database for outcomes.
    tool
        The tool that was asked: `QUERY`, one of `SIMULATING` or `LOOKING_UP`, or a plug-in's.
    total
        How many rows there were, where a limit cut them and they were counted.
    scanned
        How many rows the database went through, where that was asked and it says so.
    exact
        What was shown in fewer digits than it has: by the number of its column, from 0, the full
        value in each row, None where the shown one is. `rows` puts it in place.
    """

    statement: str
    observation: str
    row_count: int = 0
    error: str | None = None
    cut: Cut | None = None
    seconds: float = 0.0
    translated: str | None = None
    tool: str = QUERY
    total: int | None = None
    scanned: int | None = None
    exact: tuple[tuple[int, tuple[Any, ...]], ...] = ()

    @classmethod
    def of(  # noqa: PLR0913  (each is a question of its own to the caller)
        cls,
        statement: str,
        rows: Rows,
        display: Display = DEFAULT_DISPLAY,
        *,
        kept: Collection[float] = frozenset(),
        closing: str = "",
        tool: str = QUERY,
    ) -> Self:
        """Return what came back as a decider is shown it.

        Parameters
        ----------
        statement
            As the decider wrote it.
        rows
            What came back.
        display
            What is shown of a number.
        kept
            Numbers that are shown in full.
        closing
            Lines below the rows.
        tool
            What was asked.
        """
        shown = rows.rounded(display.digits, kept)
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
            scanned=rows.scanned,
            exact=tuple(_exact(rows, shown)),
        )

    @property
    def rows(self) -> tuple[tuple[Value, ...], ...]:
        """The rows with the full value of every number; none where rows are not what came back."""
        lines = self.observation.split("\n")[1:]
        found = [json.loads(line) for line in lines if line.startswith("[")]
        if self.error is not None or len(found) != self.row_count:
            return ()
        for place, values in self.exact:
            for row, value in zip(found, values, strict=True):
                row[place] = row[place] if value is None else value
        return tuple(map(tuple, found))


def _exact(rows: Rows, shown: Rows) -> Iterator[tuple[int, tuple[Value, ...]]]:
    columns = zip(zip(*rows.rows, strict=True), zip(*shown.rows, strict=True), strict=True)
    for place, (full, seen) in enumerate(columns):
        cells = tuple(None if c is s or c == s else c for c, s in zip(full, seen, strict=True))
        if any(cell is not None for cell in cells):
            yield place, cells
