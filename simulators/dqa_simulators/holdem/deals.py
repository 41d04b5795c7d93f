"""Deals with a chosen share of strong hands (BIDDER, section 3.1 and figure 4).

In 100 ordinary games there is hardly one with four of a kind. The paper raised the share of strong
hands, and prints its figures only as a picture. Ours are the cube roots of how often each category
comes among seven cards: the order of the categories stays, and each one is expected about twice or
more often in 100 games.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from functools import lru_cache
from itertools import accumulate
from typing import Final

import numpy as np

from dqa.core.errors import UsageError
from dqa_simulators.games.poker import Cards
from dqa_simulators.games.table import Deal
from dqa_simulators.holdem.hands import CATEGORIES, category

COUNTS: Final = (
    23_294_460,
    58_627_800,
    31_433_400,
    6_461_620,
    6_180_020,
    4_047_644,
    3_473_184,
    224_848,
    41_584,
)
"""How many of the 133,784,560 hands of seven cards are of each category."""
DEFAULT_SHARES: Final = dict(
    zip(CATEGORIES, (np.cbrt(COUNTS) / np.cbrt(COUNTS).sum()).round(3).tolist(), strict=True)
)
"""How often each category comes by default: as the cube root of its number of hands."""
_SEVEN: Final = 7
_DEALT: Final = 9


def deal_uniformly(random: np.random.Generator) -> Deal:
    """Deal nine cards, each order as likely as any other."""
    cards = random.permutation(52)[:_DEALT].tolist()
    return Deal(((cards[0], cards[1]), (cards[2], cards[3])), tuple(cards[4:]))


def deal_by_share(random: np.random.Generator, shares: tuple[float, ...]) -> Deal:
    """Deal so that one player's seven cards are of a category that is drawn by its share.

    Within the category, each hand is as likely as any other, and so are the other player's
    cards among those that are left. Whose hand it is is a toss.

    Parameters
    ----------
    random
        Where the cards come from.
    shares
        How often each of the nine categories comes; they need not sum to 1.
    """
    bounds = _bounds(shares)
    drawn = bisect_right(bounds, random.random() * bounds[-1])
    seven = _draw_hand(random, min(drawn, len(CATEGORIES) - 1))
    others = _draw_others(random, seven, 2)
    chosen, other = (seven[0], seven[1]), (others[0], others[1])
    hands = (chosen, other) if random.random() < 0.5 else (other, chosen)
    return Deal(hands, tuple(seven[2:]))


def shares_of(given: Mapping[str, float]) -> tuple[float, ...]:
    """Return the share of each category, in the order of `CATEGORIES`; 0 for missing ones.

    Raises
    ------
    UsageError
        A name is no category, a share is below 0 or no number, or all are 0.
    """
    for name, share in given.items():
        if name not in CATEGORIES:
            raise UsageError(f"'{name}' is no category: {', '.join(CATEGORIES)}.")
        if not 0 <= share < float("inf"):
            raise UsageError(f"The share of '{name}' must be 0 or more, not {share}.")
    shares = tuple(float(given.get(name, 0.0)) for name in CATEGORIES)
    if not any(shares):
        raise UsageError("At least one category needs a share above 0.")
    return shares


@lru_cache
def _bounds(shares: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(accumulate(shares))


def _draw_hand(random: np.random.Generator, kind: int) -> list[int]:
    """Draw seven cards until they are of a category; each such hand is as likely as any other.

    The rarest category, a straight flush, takes about 3,000 draws.
    """
    while True:
        hand: list[int] = random.permutation(52)[:_SEVEN].tolist()
        if category(hand) == kind:
            return hand


def _draw_others(random: np.random.Generator, held: list[int], count: int) -> Cards:
    """Draw cards that are not held."""
    shuffled = random.permutation(52)[: len(held) + count].tolist()
    return tuple([card for card in shuffled if card not in held][:count])
