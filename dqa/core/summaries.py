"""What a result that was cut holds, column by column: what its reader would otherwise ask for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Self

from dqa.core.display import dump_row, round_rows


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """What the cells of one column are.

    Attributes
    ----------
    name
        The column's.
    distinct, nulls
        How many values there are, each counted once, and how many cells hold none.
    least, most, mean
        Of a column of numbers, or of days and times as texts; None of every other.
    often
        Of any other column the values that it has most often, with how often.
    """

    name: str
    distinct: int
    nulls: int = 0
    least: float | str | None = None
    most: float | str | None = None
    mean: float | str | None = None
    often: tuple[tuple[str, int], ...] = ()

    def rounded(self, digits: int, kept: Collection[float] = frozenset()) -> Self:
        """Return it with figures as a model is shown them; see `round_rows`."""
        cells = (self.least, self.most, self.mean)
        least, most, mean = (round_rows([(cell,)], digits, kept)[0][0] for cell in cells)
        made = type(self)
        return made(self.name, self.distinct, self.nulls, least, most, mean, self.often)  # type: ignore[arg-type]

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
    """What a result that was cut holds.

    Attributes
    ----------
    rows
        How many rows it tells of, the first ones of the result.
    whole
        Whether these are all rows.
    columns
        Its columns, or the first of them.
    others
        How many columns more there are.
    """

    rows: int
    whole: bool
    columns: tuple[ColumnSummary, ...]
    others: int = 0

    def rounded(self, digits: int, kept: Collection[float] = frozenset()) -> Self:
        """Return it with figures as a model is shown them."""
        columns = tuple(column.rounded(digits, kept) for column in self.columns)
        return type(self)(self.rows, self.whole, columns, self.others)

    def to_text(self) -> str:
        """Return a line that says what is told of, and one a column."""
        which = f"all {self.rows:,} rows" if self.whole else f"the first {self.rows:,} rows"
        lines: Sequence[str] = [f"- {column.to_text()}" for column in self.columns]
        more = [f"- and {self.others:,} columns more"] if self.others else []
        return "\n".join([f"(what {which} hold, by column:", *lines, *more]) + ")"


def _plain(value: float | str | None) -> str:
    return dump_row([value])[1:-1]


def _bare(value: float | str | None) -> str:
    """Return a number, or a day without quotes."""
    return value if isinstance(value, str) else _plain(value)
