"""Compute the strength of a hand of five to seven cards.

A card is the number ``rank * 4 + suit``, with ranks from 0 (two) to 12 (ace), as in OpenSpiel. The
strength of a hand with a flush depends on the suited cards. The strength of any other hand depends
on the number of cards of each rank. There are 73,775 multisets of five to seven ranks. Their
strengths are computed on first use and cached.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
# Three bits per rank count its cards. Above them, four bits per suit count its cards.
_RANK_BITS: Final = 3
_SUITS_AT: Final = _RANK_BITS * len(RANKS)
_RANK_MASK: Final = (1 << _SUITS_AT) - 1
_WEIGHTS: Final = tuple(
    (1 << _RANK_BITS * (card // 4)) + (1 << _SUITS_AT + 4 * (card % 4)) for card in range(52)
)
# Adding 3 to a suit's count sets the highest of its four bits if the count is at least 5.
_THREES: Final = 0x3333 << _SUITS_AT
_FLUSHES: Final = 0x8888 << _SUITS_AT
_STRAIGHTS: Final = tuple(
    (top, sum(1 << (rank % 13) for rank in range(top - 4, top + 1))) for top in range(12, 2, -1)
)
"""Highest rank and rank bits of each straight, best first. An ace also ranks below a two."""
_KNOWN: Final[dict[int, int]] = {}


def strength(cards: Iterable[int]) -> int:
    """Return the strength of the best five of five to seven cards. The higher strength wins.

    ``strength(cards) >> 20`` is the index of the category in `CATEGORIES`.
    """
    held = tuple(cards)
    total = 0
    for card in held:
        total += _WEIGHTS[card]
    if (total + _THREES) & _FLUSHES:
        return _of_flush(held)
    ranks = total & _RANK_MASK
    known = _KNOWN.get(ranks)
    if known is None:
        known = _KNOWN[ranks] = _of_ranks(ranks)
    return known


def category(cards: Iterable[int]) -> int:
    """Return the index in `CATEGORIES` of the best five of five to seven cards."""
    return strength(cards) >> 20


def straight_top(ranks: int) -> int | None:
    """Return the highest rank of the best straight in a bit set of ranks; None if none."""
    for top, needed in _STRAIGHTS:
        if ranks & needed == needed:
            return top
    return None


def _of_flush(cards: tuple[int, ...]) -> int:
    by_suit: list[list[int]] = [[], [], [], []]
    for card in sorted(cards, reverse=True):
        by_suit[card % 4].append(card // 4)
    suited = next(ranks for ranks in by_suit if len(ranks) >= _CARDS)
    top = straight_top(sum(1 << rank for rank in suited))
    if top is not None:
        return _worth(STRAIGHT_FLUSH, (top,))
    # Seven cards with a flush contain neither a full house nor four of a kind.
    return _worth(FLUSH, suited)


def _of_ranks(ranks: int) -> int:
    counts = [ranks >> _RANK_BITS * rank & 7 for rank in range(13)]
    # Ranks with more cards come first, then higher ranks.
    order = sorted((rank for rank in range(13) if counts[rank]), key=lambda r: (-counts[r], -r))
    first, second = counts[order[0]], counts[order[1]]
    if first == 4:
        return _worth(QUADS, (order[0], max(order[1:])))
    if first == 3 and second >= 2:
        # A second three of a kind is used as a pair. Another pair may be higher.
        return _worth(FULL_HOUSE, (order[0], max(r for r in order[1:] if counts[r] >= 2)))
    top = straight_top(sum(1 << rank for rank in order))
    if top is not None:
        return _worth(STRAIGHT, (top,))
    if first == 3:
        return _worth(TRIPS, order)
    if first == 2 and second == 2:
        return _worth(TWO_PAIR, (*order[:2], max(order[2:])))
    return _worth(PAIR if first == 2 else HIGH_CARD, order)


_KEPT: Final = (5, 4, 3, 3, 1, 5, 2, 2, 1)
"""The number of ranks that distinguish hands of the same category, for each category."""


def _worth(kind: int, ranks: Sequence[int]) -> int:
    worth = 0
    for rank in ranks[: _KEPT[kind]]:
        worth = worth << 4 | rank
    return kind << 20 | worth
