"""Reading a model's ranking of a minibatch, and what was wrong with it (section 3.3)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from dqa_dellma.events import RankingEvent

_NO_PLACE = 0
_NUMBER = re.compile(r"(?<![\d.])(?P<number>(?:\A\s*-)?\d{1,9})(?!\d)")
_NAMED = re.compile(r"\b(?:pair|item)s?\b\W{0,5}(?P<number>\d{1,9})(?!\d)", re.IGNORECASE)
_CALLED = re.compile(r"pair|item", re.IGNORECASE)
_ENTRY = r"[ \t\[]*(?:(?:state-action )?(?:pair|item)\W{0,3})?\d{1,9}[ \t\].]*"
_BETWEEN = r"[,;>\r\n]+"
_LISTED = re.compile(rf"{_ENTRY}(?:{_BETWEEN}{_ENTRY})+", re.IGNORECASE)


def read_places(value: Any) -> list[int]:  # noqa: ANN401  (whatever a model gave for a ranking)
    """Return the place numbers that a ranking names, in order; none for what is no ranking.

    A ranking is a list, or a text of numbers between commas or ">". Of its entries, whole numbers
    count as they are, texts by the number after "pair" or "item" or else their first one
    ("State-Action Pair 5", "5. Action 2"), and objects by the member that is so called, or their
    only number. An entry that names no place counts as 0, which is none.
    """
    if isinstance(value, str) and _LISTED.fullmatch(value.strip()):
        return [_place(part) for part in re.split(_BETWEEN, value.strip())]
    return [_place(entry) for entry in value] if isinstance(value, list) else []


def _place(entry: Any) -> int:  # noqa: ANN401  (whatever a model gave)
    if isinstance(entry, str):
        found = _NAMED.search(entry) or _NUMBER.search(entry)
        return int(found["number"]) if found else _NO_PLACE
    if isinstance(entry, list):
        return _place(entry[0]) if len(entry) == 1 else _NO_PLACE
    if isinstance(entry, dict):
        called = [part for name, part in entry.items() if _CALLED.search(name)]
        parts = called or [part for part in entry.values() if isinstance(part, int | float)]
        return _place(parts[0]) if len(parts) == 1 else _NO_PLACE
    is_number = isinstance(entry, int | float) and not isinstance(entry, bool)
    return int(entry) if is_number and entry % 1 == 0 else _NO_PLACE


def read_ranking(places: Sequence[int], batch: Sequence[int]) -> RankingEvent:
    """Return the ranking that 1-based places in a minibatch make.

    Items that are left out stay unranked: nothing is known of them. A place that is named again
    counts where it was first; a place that does not exist is dropped. All of it is counted.
    """
    seen: dict[int, None] = {}
    repeated = invented = 0
    for place in places:
        if not 1 <= place <= len(batch):
            invented += 1
        elif batch[place - 1] in seen:
            repeated += 1
        else:
            seen[batch[place - 1]] = None
    return RankingEvent(
        items=tuple(seen),
        omitted=len(batch) - len(seen),
        repeated=repeated,
        invented=invented,
        shown=tuple(batch),
    )
