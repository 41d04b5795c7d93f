"""Tables that fit: one that is wider than there is room for becomes blocks of columns."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Column, Table

PIPED_WIDTH = 100
"""Columns where no terminal says how many there are, and ``COLUMNS`` does not either."""

_FRAME = 3
"""What a column takes beside its cells: a space on both sides, and a line."""


def piped_width() -> int:
    """Return the width of what no terminal shows: ``COLUMNS``, or `PIPED_WIDTH`."""
    given = os.environ.get("COLUMNS", "")
    return int(given) if given.isascii() and given.isdigit() and int(given) else PIPED_WIDTH


def as_text(table: Table, width: int = PIPED_WIDTH) -> str:
    """Return a table as text: in blocks of columns where it is wider than `width`.

    No cell is shortened. A column that is wider alone, with those that say what a row is about, is
    wider than `width`.
    """
    from rich.console import Console

    parts = []
    for block in fitted(table, width):
        console = Console(file=StringIO(), highlight=False, width=max(width, _natural(block)))
        with console.capture() as captured:
            console.print(block)
        parts.append(captured.get())
    return "".join(parts)


def fitted(table: Table, width: int) -> list[Table]:
    """Return a table as blocks that are no wider than `width`, each with what its rows are about.

    What a row is about stands in the columns on the left, up to the first that is set to the right.
    Columns with the same first line in their headings, a scenario's for example, stay together
    where they can. A table of which a column may be wrapped is one block.

    Parameters
    ----------
    table
        Whose rows are in the blocks, in the same order.
    width
        In characters.
    """
    columns = table.columns
    if _natural(table) <= width or not all(column.no_wrap for column in columns):
        return [table]
    keys = next((i for i, one in enumerate(columns) if one.justify == "right"), len(columns))
    room = width - 1 - sum(map(_width, columns[:keys]))
    blocks: list[list[Column]] = []
    left = 0
    for group in _groups(columns[keys:], room):
        needed = sum(map(_width, group))
        if needed > left or not blocks:
            blocks.append([])
            left = room
        blocks[-1] += group
        left -= needed
    return [_block(table, [*columns[:keys], *block]) for block in blocks]


def _groups(columns: Sequence[Column], room: int) -> Iterator[list[Column]]:
    """Yield the columns that stay together: of one heading, or each alone where these are wide."""
    for _, found in groupby(columns, key=lambda column: str(column.header).split("\n")[0]):
        group = list(found)
        if sum(map(_width, group)) <= room:
            yield group
        else:
            yield from ([column] for column in group)


def _block(table: Table, columns: Sequence[Column]) -> Table:
    from rich.table import Table

    block = Table(box=table.box)
    for column in columns:
        block.add_column(column.header, justify=column.justify, no_wrap=column.no_wrap)
    rows = zip(*(column.cells for column in columns), strict=True)
    for row, cells in zip(table.rows, rows, strict=True):
        block.add_row(*cells, end_section=row.end_section)
    return block


def _natural(table: Table) -> int:
    return 1 + sum(map(_width, table.columns))


def _width(column: Column) -> int:
    from rich.cells import cell_len

    return _FRAME + max(map(cell_len, _lines([column.header, *column.cells])), default=0)


def _lines(cells: Iterable[object]) -> Iterator[str]:
    for cell in cells:
        yield from str(cell).split("\n")
