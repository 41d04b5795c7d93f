"""Summaries of the columns of a result that a limit cut."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Self

from dqa.core.display import dump_row, round_rows


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """The summary of a column.

    Attributes
    ----------
    name
        Its name.
    distinct, nulls
        Numbers of distinct values and of NULL cells.
    least, most, mean
        For numbers, or for dates and times as texts; None for other columns.
    often
        For other columns the most frequent values with their counts.
    """

    name: str
    distinct: int
    nulls: int = 0
    least: float | str | None = None
    most: float | str | None = None
    mean: float | str | None = None
    often: tuple[tuple[str, int], ...] = ()

    def rounded(self, digits: int, kept: Collection[float] = frozenset()) -> Self:
        """Return it with rounded numbers; see `round_rows`."""
        cells = {"least": self.least, "most": self.most, "mean": self.mean}
        rounded = {name: round_rows([(c,)], digits, kept)[0][0] for name, c in cells.items()}
        return replace(self, **rounded)  # type: ignore[arg-type]

    def to_text(self) -> str:
        """Return a line: ``price: 812 distinct, 3 NULL; 0.5 to 99, mean 12.25``."""
        name = self.name if self.name.isprintable() else _plain(self.name)[1:-1]
        if not self.distinct:
            return f"{name}: NULL in every row"
        nulls = f", {self.nulls:,} NULL" if self.nulls else ""
        said = f"{name}: {self.distinct:,} distinct{nulls}"
        if self.least is not None:
            return f"{said}; {_bare(self.least)} to {_bare(self.most)}, mean {_bare(self.mean)}"
        named = ", ".join(f"{_plain(value)} ({count:,})" for value, count in self.often)
        return f"{said}; most often {named}" if named else said


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary of a result that a limit cut.

    Attributes
    ----------
    rows
        How many rows it covers, the first ones of the result.
    whole
        Whether these are all rows.
    columns
        The first columns.
    others
        The number of other columns.
    """

    rows: int
    whole: bool
    columns: tuple[ColumnSummary, ...]
    others: int = 0

    def rounded(self, digits: int, kept: Collection[float] = frozenset()) -> Self:
        """Return it with rounded numbers."""
        columns = tuple(column.rounded(digits, kept) for column in self.columns)
        return replace(self, columns=columns)

    def to_text(self) -> str:
        """Return a line about the rows, and one for each column."""
        which = f"all {self.rows:,} rows" if self.whole else f"the first {self.rows:,} rows"
        lines: Sequence[str] = [f"- {column.to_text()}" for column in self.columns]
        more = [f"- and {self.others:,} columns more"] if self.others else []
        return "\n".join([f"(what {which} hold, by column:", *lines, *more]) + ")"


def _plain(value: float | str | None) -> str:
    return dump_row([value])[1:-1]


def _bare(value: float | str | None) -> str:
    """Return a number, or a day without quotes."""
    return value if isinstance(value, str) else _plain(value)
