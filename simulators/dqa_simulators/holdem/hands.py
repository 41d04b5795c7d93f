"""Compute the strength of a hand of five to seven cards.

A card is the number ``rank * 4 + suit``, with ranks from 0 (two) to 12 (ace), as in OpenSpiel. The
strength of a hand with a flush depends on the cards of the flush's suit. The strength of any other
hand depends on how many cards of each rank it has. There are 73,775 multisets of five to seven
ranks. Their strengths are computed on first use and cached.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

RANKS: Final = "23456789TJQKA"
SUITS: Final = "cdhs"
DECK: Final = tuple(rank + suit for rank in RANKS for suit in SUITS)
"""The name of each card. The index is the card's number."""
CATEGORIES: Final = (
    "high card",
    "one pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
)
"""The categories of hands, from the weakest to the strongest (BIDDER, figure 4)."""
HIGH_CARD, PAIR, TWO_PAIR, TRIPS, STRAIGHT, FLUSH, FULL_HOUSE, QUADS, STRAIGHT_FLUSH = range(9)

_CARDS: Final = 5
_STRAIGHTS: Final = tuple(
    (top, {rank % 13 for rank in range(top - 4, top + 1)}) for top in range(12, 2, -1)
)
"""The highest rank and all ranks of each straight, best first. An ace also ranks below a two."""


def strength(cards: Iterable[int]) -> int:
    """Return the strength of the best hand that five to seven cards form. Higher strength wins.

    ``strength(cards) >> 20`` is the index of the category in `CATEGORIES`.
    """
    held = sorted(cards, reverse=True)
    suits = [card % 4 for card in held]
    suit = max(range(4), key=suits.count)
    ranks = tuple([card // 4 for card in held])
    if suits.count(suit) < _CARDS:
        return _of_ranks(ranks)
    suited = [card // 4 for card in held if card % 4 == suit]
    top = _straight_top({*suited})
    if top is not None:
        return _worth(STRAIGHT_FLUSH, (top,))
    # Seven cards with a flush contain neither a full house nor four of a kind.
    return _worth(FLUSH, suited)


def category(cards: Iterable[int]) -> int:
    """Return the index in `CATEGORIES` of the best hand that five to seven cards form."""
    return strength(cards) >> 20


def _straight_top(ranks: set[int]) -> int | None:
    """Return the highest rank of the best straight; None if there is none."""
    return next((top for top, needed in _STRAIGHTS if ranks >= needed), None)


@cache
def _of_ranks(ranks: tuple[int, ...]) -> int:
    """Return the strength of a hand without a flush, given its ranks in descending order."""
    counts = Counter(ranks)
    order = sorted(counts, key=lambda rank: (-counts[rank], -rank))
    first, second = counts[order[0]], counts[order[1]]
    if first == 4:
        return _worth(QUADS, (order[0], max(order[1:])))
    if first == 3 and second >= 2:
        # A second three of a kind is used as a pair. Another pair may be higher.
        return _worth(FULL_HOUSE, (order[0], max(r for r in order[1:] if counts[r] >= 2)))
    top = _straight_top({*ranks})
    if top is not None:
        return _worth(STRAIGHT, (top,))
    if first == 3:
        return _worth(TRIPS, order)
    if first == 2 and second == 2:
        return _worth(TWO_PAIR, (*order[:2], max(order[2:])))
    return _worth(PAIR if first == 2 else HIGH_CARD, order)


_COMPARED_RANKS: Final = (5, 4, 3, 3, 1, 5, 2, 2, 1)
"""For each category, the number of ranks that are compared between hands of this category."""


def _worth(kind: int, ranks: Sequence[int]) -> int:
    worth = 0
    for rank in ranks[: _COMPARED_RANKS[kind]]:
        worth = worth << 4 | rank
    return kind << 20 | worth
