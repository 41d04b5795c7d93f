"""When the rows of two statements match (`dqa.core.truth.MatchRule`).

Values are compared as Python compares them, which is how both published evaluations do it: 1 equals
1.0, NULL equals NULL, texts are equal to the letter, and numbers with a fraction to the last bit.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import TypeAlias

from dqa.core.display import Value
from dqa.core.truth import MatchRule

_Row: TypeAlias = tuple[Hashable, ...]
_SORTED = re.compile(r"\border\s+by\b", re.IGNORECASE)


def sorts_rows(statement: str) -> bool:
    """Whether a statement has the words ORDER BY, anywhere: Spider's evaluation asks no more."""
    return _SORTED.search(statement) is not None


def rows_match(
    given: Sequence[Sequence[Value]],
    right: Sequence[Sequence[Value]],
    rule: MatchRule,
    *,
    ordered: bool = False,
) -> bool:
    """Return whether the rows of a given statement match those of the right one.

    Parameters
    ----------
    given, right
        All rows of both.
    rule
        What counts.
    ordered
        Whether the order of rows counts, under a rule that may ask for it.
    """
    these, those = _hashable(given), _hashable(right)
    if rule == "set":
        return set(these) == set(those)
    if len(these) != len(those):
        return False
    if not these:
        return True
    if len(these[0]) != len(those[0]):
        return False
    if ordered:
        # Rows stay where they are, so columns only have to be the same ones.
        return Counter(zip(*these, strict=True)) == Counter(zip(*those, strict=True))
    return _same_but_for_columns(these, those)


def _hashable(rows: Sequence[Sequence[Value]]) -> list[_Row]:
    return [tuple(_cell(value) for value in row) for row in rows]


def _cell(value: Value) -> Hashable:
    if isinstance(value, list | dict):
        return json.dumps(value, sort_keys=True, default=str)
    return value


def _same_but_for_columns(these: Sequence[_Row], those: Sequence[_Row]) -> bool:
    """Whether some order of the columns of `these` makes both the same rows, as often each.

    Columns are placed one after the other, and an order is given up as soon as the columns placed
    so far differ; of columns that are equal row by row only the first is tried.
    """
    columns = list(zip(*these, strict=True))
    wanted = list(zip(*those, strict=True))
    bags = [Counter(column) for column in columns]
    fitting = [
        [place for place, bag in enumerate(bags) if bag == Counter(column)] for column in wanted
    ]
    return _placed([], fitting, columns, wanted)


def _placed(
    chosen: list[int],
    fitting: Sequence[Sequence[int]],
    columns: Sequence[_Row],
    wanted: Sequence[_Row],
) -> bool:
    count = len(chosen)
    if count == len(wanted):
        return True
    for place in _distinct(fitting[count], chosen, columns):
        here = [*chosen, place]
        placed = zip(*(columns[n] for n in here), strict=True)
        same = Counter(placed) == Counter(zip(*wanted[: count + 1], strict=True))
        if same and _placed(here, fitting, columns, wanted):
            return True
    return False


def _distinct(
    places: Sequence[int], chosen: Sequence[int], columns: Sequence[_Row]
) -> Iterator[int]:
    seen: list[_Row] = []
    for place in places:
        if place not in chosen and columns[place] not in seen:
            seen.append(columns[place])
            yield place
