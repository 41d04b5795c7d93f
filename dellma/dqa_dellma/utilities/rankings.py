"""Read a model's ranking of a minibatch, and count its errors (section 3.3)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from dqa.core.errors import UnparsableReplyError
from dqa.deciders.replies import read_object
from dqa_dellma.findings import Ranking

_NO_ITEM = 0
_NUMBER = re.compile(r"(?<![\d.])(?P<number>(?:\A\s*-)?\d{1,9})(?!\d)")
_NAMED = re.compile(r"\b(?:pair|item)s?\b\W{0,5}(?P<number>\d{1,9})(?!\d)", re.IGNORECASE)
_CALLED = re.compile(r"pair|item", re.IGNORECASE)
_ENTRY = r"[ \t\[]*(?:(?:state-action )?(?:pair|item)\W{0,3})?\d{1,9}[ \t\].]*"
_BETWEEN, _EQUAL = r"[,;>\r\n]+", "="
_LISTED = re.compile(rf"{_ENTRY}(?:(?:{_BETWEEN}|{_EQUAL}){_ENTRY})+", re.IGNORECASE)


def read_ranking(reply: str, batch: Sequence[int], *, ties: bool) -> Ranking:
    """Read a model's ranking of a minibatch.

    Omitted items stay unranked. Repeated and invented items are dropped. The result contains the
    counts of omitted, repeated and invented items.

    Raises
    ------
    UnparsableReplyError
        The reply does not rank at least two items.
    """
    given = read_object(reply, "rank", "order", "ranking")
    positions = read_places(given.get("rank", given.get("order", given.get("ranking"))))
    found = rank_places(positions if ties else order_strictly(positions), batch)
    if len(found.items) < min(2, len(batch)):
        raise UnparsableReplyError(
            f'The reply has no ranking. Write {{"rank": [...]}} with the numbers 1 to {len(batch)} '
            "from best to worst."
        )
    why = given.get("explanation")
    return found.model_copy(update={"explanation": why}) if isinstance(why, str) else found


def read_places(value: Any) -> list[list[int]]:  # noqa: ANN401  (JSON from a model)
    """Return the item numbers in a model's ranking, best first. The prompt numbers items from 1.

    A ranking is a list, or a text of numbers separated by commas or ">". An entry of the list has
    one of these forms:

    - A whole number.
    - A text. The item number is the number after "pair" or "item", or the first number
      ("State-Action Pair 5", "5. Action 2").
    - An object. The item number is in the field whose name contains "pair" or "item", or it is the
      only number in the object.
    - A list of tied items. In a text, "=" joins tied items.

    Returns
    -------
    For each entry, a list of one item number, or of several if they are tied. The number 0 means an
    unreadable entry. The result is empty if the value is not a ranking.
    """
    if isinstance(value, str) and _LISTED.fullmatch(value.strip()):
        entries = re.split(_BETWEEN, value.strip())
        return [[_item_number(part) for part in entry.split(_EQUAL)] for entry in entries]
    return [_item_numbers(entry) for entry in value] if isinstance(value, list) else []


def _item_numbers(entry: Any) -> list[int]:  # noqa: ANN401  (JSON from a model)
    if isinstance(entry, list):
        return [_item_number(part) for part in entry] or [_NO_ITEM]
    if isinstance(entry, dict):
        called = [part for name, part in entry.items() if _CALLED.search(name)]
        parts = called or [part for part in entry.values() if isinstance(part, int | float)]
        return _item_numbers(parts[0]) if len(parts) == 1 else [_NO_ITEM]
    return [_item_number(entry)]


def _item_number(entry: Any) -> int:  # noqa: ANN401  (JSON from a model)
    if isinstance(entry, str):
        found = _NAMED.search(entry) or _NUMBER.search(entry)
        return int(found["number"]) if found else _NO_ITEM
    if isinstance(entry, list | dict):
        (position, *more) = _item_numbers(entry)
        return _NO_ITEM if more else position
    is_number = isinstance(entry, int | float) and not isinstance(entry, bool)
    return int(entry) if is_number and entry % 1 == 0 else _NO_ITEM


def order_strictly(positions: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return item numbers without ties.

    An entry with several numbers becomes 0, which is invalid.
    """
    return [list(entry) if len(entry) == 1 else [_NO_ITEM] for entry in positions]


def rank_places(positions: Sequence[Sequence[int]], batch: Sequence[int]) -> Ranking:
    """Turn the item numbers of a minibatch into a ranking.

    Omitted items stay unranked. A repeated number counts only the first time. A number without an
    item is dropped. The ranking contains the counts of omitted, repeated and dropped items.

    Parameters
    ----------
    positions
        The item numbers, as `read_places` returns them.
    batch
        The items of the minibatch, in the order shown.
    """
    seen: dict[int, None] = {}
    repeated = invented = 0
    tied = []
    for entry in positions:
        equal: dict[int, None] = {}
        for position in entry:
            if not 1 <= position <= len(batch):
                invented += 1
            elif batch[position - 1] in seen:
                repeated += 1
            else:
                seen[batch[position - 1]] = equal[batch[position - 1]] = None
        if len(equal) > 1:
            tied.append(tuple(equal))
    return Ranking(
        items=tuple(seen),
        tied=tuple(tied),
        omitted=len(batch) - len(seen),
        repeated=repeated,
        invented=invented,
        shown=tuple(batch),
    )
