"""Compare the rows of two statements by the rules of published evaluations (`MatchRule`).

Values are compared as Python compares them, as in BIRD's and Spider's evaluations: 1 equals 1.0,
NULL equals NULL, texts match to the letter and numbers to the last bit. Spider 2 and Defog allow
for rounding.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Hashable, Sequence
from math import isclose, sqrt
from statistics import fmean, pstdev
from typing import TypeAlias

from dqa.core.display import Value
from dqa.core.truth import GoldTable, MatchRule

_Row: TypeAlias = tuple[Hashable, ...]
_Rows: TypeAlias = Sequence[Sequence[Value]]
_SORTED = re.compile(r"\border\s+by\b", re.IGNORECASE)
_TOLERANCE = 0.01
"""The difference of numbers that Spider 2's evaluation takes as equal."""


def sorts_rows(statement: str) -> bool:
    """Whether a statement has the words ORDER BY anywhere, as in Spider's evaluation."""
    return _SORTED.search(statement) is not None


def rows_match(given: _Rows, right: _Rows, rule: MatchRule, *, ordered: bool = False) -> bool:
    """Return whether the rows of an answer match the right ones.

    Parameters
    ----------
    given, right
        All rows of both.
    rule
        The rule of comparison.
    ordered
        Whether the order of rows counts, if the rule asks for it.
    """
    if rule == "columns":
        table = GoldTable(tuple(tuple(map(_scalar, row)) for row in right), ordered=ordered)
        return table_matches(given, table)
    rounded = rule == "subset"
    these, those = _hashable(given, rounded=rounded), _hashable(right, rounded=rounded)
    if rule == "set":
        return set(these) == set(those)
    if rounded and len({*map(len, these), *map(len, those)}) == 1:
        these, those = list(dict.fromkeys(these)), list(dict.fromkeys(those))
    columns, wanted = list(zip(*these, strict=True)), list(zip(*those, strict=True))
    more = len(columns) - len(wanted)
    if len(these) != len(those) or more < 0 or (more and not rounded):
        return False
    if ordered and not rounded:
        return Counter(columns) == Counter(wanted)
    return _placed([], columns, wanted)


def table_matches(given: _Rows, right: GoldTable) -> bool:
    """Return whether every column of a gold table is among the columns of an answer (Spider 2)."""
    if not given or not right.rows:
        return not given and not right.rows
    wanted = list(zip(*right.rows, strict=True))
    places = right.columns or range(len(wanted))
    columns = [_numbers(column, right.ordered) for column in zip(*given, strict=True)]
    golds = [_numbers(wanted[place], right.ordered) for place in places]
    return all(any(map(_all_close, [gold] * len(columns), columns)) for gold in golds)


def soft_f1(given: _Rows, right: _Rows) -> float:
    """Return BIRD's Soft-F1: the overlap of cells, row by row and without repeated rows.

    A cell of either row counts ``1 / width of the right row``, and a row without a counterpart
    counts 1.
    """
    these = list(dict.fromkeys(_hashable(given)))
    those = list(dict.fromkeys(_hashable(right)))
    if not these and not those:
        return 1.0
    matched, unmatched = 0.0, float(abs(len(these) - len(those)))
    for one, other in zip(these, those, strict=False):
        hits = sum(cell in other for cell in one)
        misses = len(one) - hits + sum(cell not in one for cell in other)
        matched += hits / len(other)
        unmatched += misses / len(other)
    return 2.0 * matched / (2.0 * matched + unmatched) if matched else 0.0


def efficiency_reward(ratios: Sequence[float]) -> float:
    """Return BIRD's R-VES of a right statement, in 0..1.25.

    Parameters
    ----------
    ratios
        The time of the gold statement divided by that of the answer, for each repetition. Those
        three standard deviations off the mean are left out.
    """
    mean, spread = fmean(ratios), pstdev(ratios)
    usual = [ratio for ratio in ratios if abs(ratio - mean) < 3.0 * spread] or [mean]
    ratio = fmean(usual)
    steps = ((2.0, 1.25), (1.0, 1.0), (0.5, 0.75), (0.25, 0.5))
    return sqrt(next((reward for least, reward in steps if ratio >= least), 0.25))


def _hashable(rows: _Rows, *, rounded: bool = False) -> list[_Row]:
    return [tuple(_cell(value, rounded=rounded) for value in row) for row in rows]


def _cell(value: Value, *, rounded: bool = False) -> Hashable:
    if isinstance(value, list | dict):
        return json.dumps(value, sort_keys=True, default=str)
    if rounded and isinstance(value, float):
        return float(f"{value:.5g}")
    return value


def _placed(chosen: list[int], columns: Sequence[_Row], wanted: Sequence[_Row]) -> bool:
    """Whether the columns can be placed so that the wanted rows result, equally often.

    Columns are placed one after the other, until the rows so far differ. Of columns that are equal
    row by row only the first is tried.
    """
    count = len(chosen)
    if count == len(wanted):
        return True
    goal, tried = Counter(zip(*wanted[: count + 1], strict=True)), set[_Row]()
    for place, column in enumerate(columns):
        if place in chosen or column in tried:
            continue
        tried.add(column)
        here = [*chosen, place]
        placed = zip(*(columns[n] for n in here), strict=True)
        if Counter(placed) == goal and _placed(here, columns, wanted):
            return True
    return False


def _numbers(column: Sequence[Value], ordered: bool) -> list[Value]:
    """Return a column with 0 for missing values, sorted unless the order counts."""
    cells: list[Value] = [0 if cell is None else cell for cell in column]
    return cells if ordered else sorted(cells, key=_order)


def _order(cell: Value) -> tuple[bool, float, str]:
    if isinstance(cell, int | float):
        return False, float(cell), ""
    return True, 0.0, str(cell)


def _all_close(gold: Sequence[Value], column: Sequence[Value]) -> bool:
    return len(gold) == len(column) and all(map(_close, gold, column))


def _close(gold: Value, value: Value) -> bool:
    if isinstance(gold, int | float) and isinstance(value, int | float):
        return isclose(gold, value, abs_tol=_TOLERANCE)
    return gold == value


def _scalar(value: Value) -> str | float | int | None:
    return json.dumps(value, sort_keys=True) if isinstance(value, list | dict) else value
