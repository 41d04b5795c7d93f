"""The order of rows, stored apart from the rows.

A graph has no order of its nodes, and a property with a number would be visible to its readers. So
the order is stored next to the graph, as a permutation of the sorted rows. Equal rows may change
places, and internal ids play no part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from dqa.core.situation import Cell

_Row = TypeVar("_Row", bound=Sequence[Cell])
_TYPE = np.dtype("<u4")


def pack_order(rows: Sequence[Sequence[Cell]]) -> bytes:
    """Return the order of rows: for each row in sorted order, its position."""
    return np.array(_sorted(rows), dtype=_TYPE).tobytes()


def restore_order(rows: Sequence[_Row], order: bytes) -> list[_Row]:
    """Return rows that come in any order in their order at `pack_order`.

    Raises
    ------
    ValueError
        There are more or fewer rows than there were.
    """
    positions = np.frombuffer(order, dtype=_TYPE).tolist()
    if len(positions) != len(rows):
        raise ValueError(f"{len(rows)} rows where there were {len(positions)}")
    result = list(rows)
    for position, at in zip(positions, _sorted(rows), strict=True):
        result[position] = rows[at]
    return result


def _sorted(rows: Sequence[Sequence[Cell]]) -> list[int]:
    """Return the positions of the rows in sorted order; a missing value comes last."""
    keys = [[(cell is None, cell) for cell in row] for row in rows]
    return sorted(range(len(rows)), key=keys.__getitem__)
