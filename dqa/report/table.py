"""Tables as data, for terminals, pipes and files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Literal, Self, TypeVar

from dqa.core.text import visible_lines

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from dqa.evaluation.papers import PublishedFigure
    from dqa.evaluation.statistics.clusters import Estimate
    from dqa.evaluation.statistics.pairs import Difference

_Item = TypeVar("_Item")
_Column = TypeVar("_Column", bound=Hashable)

NONE = "-"
"""The text of an empty cell."""
_WIDEST = 100_000
"""Width of texts that are not for a terminal, in characters."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts. Markup is not interpreted, and control characters are escaped.

    Attributes
    ----------
    title
        Line above the table.
    names, figures
        Titles of the columns. `names` are left-aligned columns that identify a row. `figures` are
        the columns of figures that follow.
    rows
        Rows with a cell for each column.
    lines_after
        Numbers of the rows, from 1, below which a line is drawn.
    """

    title: str
    names: Sequence[str]
    figures: Sequence[str]
    rows: Sequence[Sequence[str]]
    lines_after: Collection[int] = ()

    @classmethod
    def grid(
        cls,
        title: str,
        name: str,
        cells: Mapping[tuple[str, _Column], str],
        columns: Mapping[_Column, str],
        lines_after: Collection[int] = (),
    ) -> Self:
        """Return a table, given its cells by row and column.

        Parameters
        ----------
        title, name
            Title of the table, and title of its first column.
        cells
            The cells, by the name of their row and the key of their column. A missing cell becomes
            a dash.
        columns
            Titles of the columns of figures, by key.
        lines_after
            See `Table`.
        """
        named = dict.fromkeys(row for row, _ in cells)
        rows = [[row, *(cells.get((row, key), NONE) for key in columns)] for row in named]
        return cls(title, [name], [*columns.values()], rows, lines_after)

    @classmethod
    def listing(
        cls,
        title: str,
        name: str,
        items: Mapping[str, _Item],
        columns: Mapping[str, Callable[[_Item], str]],
    ) -> Self:
        """Return a table with a row for each item. Empty columns are left out."""
        shown = {
            (row, column): show(item)
            for column, show in columns.items()
            for row, item in items.items()
        }
        filled = {column: column for (_, column), text in shown.items() if text != NONE}
        return cls.grid(title, name, shown, filled)

    def to_text(self) -> str:
        """Return the table as text without its title. Cells are neither shortened nor wrapped."""
        from rich.console import Console

        console = Console(file=StringIO(), highlight=False, width=_WIDEST)
        with console.capture() as captured:
            console.print(self.to_rich())
        return captured.get()

    def to_rich(self) -> RichTable:
        """Return the table for a terminal. If the terminal is too narrow, cells are wrapped."""
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable()
        for index, title in enumerate((*self.names, *self.figures)):
            justify: Literal["left", "right"] = "left" if index < len(self.names) else "right"
            table.add_column(Text(visible_lines(title)), justify=justify, overflow="fold")
        for number, row in enumerate(self.rows, start=1):
            cells = (Text(visible_lines(cell)) for cell in row)
            table.add_row(*cells, end_section=number in self.lines_after)
        return table


def share_text(
    right: int, of: int, low: float | None, high: float | None, between: str = "\n"
) -> str:
    """Return a share in percent with its interval: ``66.7 (2/3)``, below it ``[20.8, 93.9]``.

    If there is no interval, the result is a dash. `between` is the text between the share and the
    interval.
    """
    if low is None or high is None:
        return NONE
    return f"{percent_text(right, of)}{between}{interval_text(low, high)}"


def percent_text(right: int, of: int) -> str:
    """Return a share in percent with its counts: ``66.7 (2/3)``."""
    return f"{100 * right / of:.1f} ({right}/{of})"


def interval_text(low: float, high: float) -> str:
    """Return an interval of a share in percent: ``[20.8, 93.9]``."""
    return f"[{100 * low:.1f}, {100 * high:.1f}]"


def estimate_text(
    found: Estimate | Difference | PublishedFigure | None,
    scale: float = 1.0,
    digits: str = ".2f",
    *,
    counts: str = "",
    between: str = "\n",
) -> str:
    """Return a figure with its interval; None becomes a dash.

    Parameters
    ----------
    found
        Figure to print.
    scale
        Factor of the printed number, such as 100 for percent.
    digits
        Format of the number.
    counts, between
        `counts` is the text after the number. `between` is the text between the number and the
        interval.
    """
    if found is None or found.value is None:
        return NONE
    # The format option "z" removes the sign of negative zero.
    sign, form = ("+", digits[1:]) if digits.startswith("+") else ("", digits)
    form = f"{sign}z{form}"
    text = f"{scale * found.value:{form}}{counts}"
    if found.low is None or found.high is None:
        return text
    return f"{text}{between}[{scale * found.low:{form}}, {scale * found.high:{form}}]"


def in_percent(found: Estimate | Difference | None) -> str:
    """Return a share in percent, with its interval on the next line."""
    return estimate_text(found, 100.0, ".1f")


def titled(scenario: str, *below: str) -> str:
    """Return the title of a scenario's column."""
    return "\n".join([scenario.capitalize(), *filter(None, below)])
