"""The one table of all commands: what a row is about to the left, its figures to the right."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from dqa.core.text import visible_lines

if TYPE_CHECKING:
    from rich.table import Table


def columns_table(
    left: Sequence[str],
    right: Sequence[str],
    rows: Iterable[Sequence[str]],
    lines_after: Collection[int] = (),
) -> Table:
    """Return a table of texts; nothing in them is markup or acts on a terminal.

    Parameters
    ----------
    left, right
        Titles of the columns: of names, and of figures.
    rows
        A cell a column.
    lines_after
        Numbers of the rows, from 1, that a line follows.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for title in left:
        table.add_column(Text(visible_lines(title)), no_wrap=True)
    for title in right:
        table.add_column(Text(visible_lines(title)), justify="right", no_wrap=True)
    for number, row in enumerate(rows, start=1):
        cells = (Text(visible_lines(cell)) for cell in row)
        table.add_row(*cells, end_section=number in lines_after)
    return table


def share_text(right: int, of: int) -> str:
    """Return a share in percent with its counts: ``66.7 (2/3)``."""
    return f"{100 * right / of:.1f} ({right}/{of})"


def interval_text(low: float, high: float) -> str:
    """Return an interval of a share in percent: ``[20.8, 93.9]``."""
    return f"[{100 * low:.1f}, {100 * high:.1f}]"
