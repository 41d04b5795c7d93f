"""Check the tables of a situation, encode names as row positions, and compute distances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from dqa.core.errors import SituationError, UnknownNameError
from dqa.core.situation import Situation

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.intp]


def _cell(situation: Situation, table: str, column: str, row: int) -> str:
    value = situation[table][column][row]
    return (
        f"Situation '{situation.name}': {column} of row {row} of table '{table}' "
        f"is {value.item() if isinstance(value, np.generic) else value!r}"
    )


def chosen_rules(rules: str | None, known: Sequence[str]) -> str:
    """Return `rules`, or the first of the `known` rule sets if `rules` is None.

    Raise `UnknownNameError` if `known` lacks `rules`.
    """
    if rules is None:
        return known[0]
    if rules not in known:
        raise UnknownNameError("rule set", rules, known)
    return rules


def amounts(situation: Situation, table: str, column: str) -> NDArray[Any]:
    """Return a column of amounts, shape (n,).

    Raise `SituationError` if a value is negative, infinite or NaN.
    """
    values: NDArray[Any] = situation[table][column]
    # A NaN makes both extremes NaN, so the comparisons are false.
    least, most = np.minimum.reduce(values, initial=0), np.maximum.reduce(values, initial=0)
    if not (least >= 0 and most < np.inf):
        row = int(np.argmin((values >= 0) & (values < np.inf)))
        raise SituationError(
            f"{_cell(situation, table, column, row)}; it must be a number of at least 0."
        )
    return values


def index(situation: Situation, table: str, column: str) -> dict[Any, int]:
    """Return the row number (from 0) of each key. Raise `SituationError` for a repeated key."""
    values = situation[table][column].tolist()
    rows = dict(zip(values, range(len(values)), strict=True))
    if len(rows) < len(values):
        row = next(i for i, value in enumerate(values) if rows[value] != i)
        raise SituationError(
            f"{_cell(situation, table, column, row)}. Row {rows[values[row]]} has the same value; "
            "remove one of the two rows."
        )
    return rows


def positions(
    situation: Situation, table: str, column: str, rows: Mapping[Any, int], keyed: str
) -> IntArray:
    """Return the row number in the table `keyed` of each value of a column; shape (n,).

    Raises
    ------
    SituationError
        A value is not a key of `keyed`.
    """
    values = situation[table][column]
    found = np.fromiter(map(rows.get, values.tolist(), repeat(-1)), np.intp, len(values))
    if found.size and int(found.min()) < 0:
        raise SituationError(
            f"{_cell(situation, table, column, int(np.argmin(found)))}, but table '{keyed}' does "
            f"not have this key; add it to '{keyed}' or remove row {int(np.argmin(found))}."
        )
    return found


def sums(groups: IntArray, values: FloatArray, count: int) -> FloatArray:
    """Return the sum of the values of each group, shape (count,).

    Values are added in input order.
    """
    # bincount adds in input order, starting at 0. Its type stubs wrongly declare integers.
    return np.asarray(np.bincount(groups, values, count), np.float64)


def unique_pairs(
    situation: Situation, table: str, first: IntArray, second: IntArray, width: int
) -> None:
    """Raise `SituationError` if two rows have the same pair of positions.

    Every position in `second` must be less than `width`.
    """
    keys = first * np.intp(max(width, 1)) + second
    ordered = np.sort(keys)
    repeated = np.flatnonzero(ordered[1:] == ordered[:-1])
    if repeated.size:
        row, again = np.flatnonzero(keys == ordered[repeated[0]])[:2].tolist()
        key = ", ".join(situation[table].schema.key)
        raise SituationError(
            f"Situation '{situation.name}': rows {row} and {again} of table '{table}' have the "
            f"same key ({key}); keep one of the two."
        )


def distances(
    sources: Sequence[NDArray[np.int64]], targets: Sequence[NDArray[np.int64]], n: int, start: int
) -> NDArray[np.float64]:
    """Return the number of links on the shortest path from `start` to each of n points.

    Each link leads from an element of `sources` to the element of `targets` at the same index.

    Returns
    -------
    NDArray[np.float64]
        Shape (n,); infinite for unreachable points.
    """
    rows, columns = np.concatenate(sources), np.concatenate(targets)
    links = csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    return np.asarray(dijkstra(links, unweighted=True, indices=[start])[0])


def position_of(name: str, names: NDArray[Any], kind: str) -> int:
    """Return the position of `name` in `names`. Raise `UnknownNameError` if it is missing."""
    found = np.flatnonzero(names == name)
    if not len(found):
        raise UnknownNameError(kind, name, names.tolist())
    return int(found[0])
