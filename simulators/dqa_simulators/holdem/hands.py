"""Compute the strengths of many hands of poker together.

A card is the number ``rank * 4 + suit``, with ranks from 0 (two) to 12 (ace), as in OpenSpiel. A
set of ranks is a number with one bit per rank. Of two sets of the same size, the set with the
higher ranks is therefore the larger number.
"""

from __future__ import annotations

from functools import cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Numbers: TypeAlias = NDArray[np.int64]

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
_BITS: Final = len(RANKS)


def strength(cards: ArrayLike) -> Numbers:
    """Return the strength of the best hand that up to seven cards form. Higher strength wins.

    Parameters
    ----------
    cards
        The cards of each hand, of shape (..., cards).

    Returns
    -------
    Numbers
        Shape (...). The higher bits are the category, see `category`. Then come the ranks that
        form the category, and the other ranks that are compared.
    """
    held = np.asarray(cards)
    bits, suits = 1 << held // 4, held % 4
    of_suits = [np.where(suits == suit, bits, 0).sum(axis=-1) for suit in range(4)]
    clubs, diamonds, hearts, spades = of_suits
    ranks, quads = clubs | diamonds | hearts | spades, clubs & diamonds & hearts & spades
    trips = clubs & diamonds & (hearts | spades) | hearts & spades & (clubs | diamonds)
    pairs = clubs & diamonds | hearts & spades | (clubs | diamonds) & (hearts | spades)
    best, straights, flushes = _tables()
    flush = sum(flushes[ranks_of_suit] for ranks_of_suit in of_suits)
    two, trip = best[2, pairs], best[1, trips]
    pair_of_house = best[1, pairs & ~trip]
    worth: Numbers = np.zeros_like(ranks)
    # In the order of `CATEGORIES`. Seven cards with a flush or a straight contain neither a full
    # house nor four of a kind.
    for kind, (formed, others) in enumerate(
        (
            (best[5, ranks], 0),
            (two, best[3, ranks & ~two]),
            (np.where(two == best[1, two], 0, two), best[1, ranks & ~two]),
            (trip, best[2, ranks & ~trip]),
            (straights[ranks], 0),
            (best[5, flush], 0),
            (np.where(pair_of_house > 0, trip, 0), pair_of_house),
            (quads, best[1, ranks & ~quads]),
            (straights[flush], 0),
        )
    ):
        worth = np.where(formed > 0, (kind << _BITS | formed) << _BITS | others, worth)
    return worth


def category(cards: ArrayLike) -> Numbers:
    """Return the index in `CATEGORIES` of the best hand; see `strength`."""
    found: Numbers = strength(cards) >> 2 * _BITS
    return found


@cache
def _tables() -> tuple[Numbers, Numbers, Numbers]:
    """Return three tables of all sets of ranks.

    ``best[n, ranks]`` are the n highest ranks. ``straights[ranks]`` is the highest rank of the best
    straight, or 0. ``flushes[ranks]`` are the ranks of one suit if they form a flush, or 0.
    """
    every = range(1 << _BITS)
    best = np.array([[_highest(ranks, count) for ranks in every] for count in range(6)])
    sets = np.array(every)
    ace_low = sets << 1 | sets >> 12
    runs = ace_low & ace_low >> 1 & ace_low >> 2 & ace_low >> 3 & ace_low >> 4
    return best, best[1, runs] << 3, np.where(best[4] == sets, 0, sets)


def _highest(ranks: int, count: int) -> int:
    """Return the `count` highest ranks of a set."""
    while ranks.bit_count() > count:
        ranks &= ranks - 1  # without the lowest rank
    return ranks
