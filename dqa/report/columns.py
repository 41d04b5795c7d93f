"""The plain table that several commands print their figures in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from dqa.core.text import visible_lines

if TYPE_CHECKING:
    from rich.table import Table


def columns_table(
    left: Sequence[str], right: Sequence[str], rows: Iterable[Sequence[str]]
) -> Table:
    """Return a table whose first columns stand to the left, and its figures to the right."""
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for title in left:
        table.add_column(title, no_wrap=True)
    for title in right:
        table.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(visible_lines(cell)) for cell in row))
    return table
