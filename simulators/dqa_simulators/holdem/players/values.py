"""What hands of seven cards are worth, many at once: `dqa_simulators.holdem.hands` as tables."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import combinations, combinations_with_replacement
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dqa_simulators.holdem.hands import strength

Cards: TypeAlias = NDArray[np.int64]
"""Cards, whose last axis is a hand."""

_RANKS: Final = 13
_HAND: Final = 7
_RANK_KEYS: Final = np.array(
    [0, 1, 5, 22, 98, 453, 2031, 8698, 22854, 83661, 262349, 636345, 1479181], dtype=np.int64
)
# Seven of them, none more than four times, have a sum that no other seven have.
_RANK_BITS: Final = 23
_SUIT_BITS: Final = 4
_RANK_MASK: Final = (1 << _RANK_BITS) - 1
CARD_KEYS: Final = np.array(
    [
        int(_RANK_KEYS[card // 4]) + (1 << (_RANK_BITS + _SUIT_BITS * (card % 4)))
        for card in range(52)
    ],
    dtype=np.int64,
)
"""By card, what it adds to a hand's key: ranks below, a count of each suit above."""
_FIVE_OF_A_SUIT: Final = sum(8 << (_RANK_BITS + _SUIT_BITS * suit) for suit in range(4))
_THREE_EACH: Final = sum(3 << (_RANK_BITS + _SUIT_BITS * suit) for suit in range(4))


class _Tables(NamedTuple):
    ranks: NDArray[np.int16]
    """By the sum of seven ranks' keys."""
    flushes: NDArray[np.int16]
    """By the set of ranks, as bits, of the cards of one suit."""


def hand_values(cards: Cards) -> NDArray[np.int16]:
    """Return what hands are worth: the higher wins, equal ones share.

    Parameters
    ----------
    cards
        Seven different cards a hand, in the last axis.
    """
    return values_of_keys(CARD_KEYS[cards].sum(axis=-1), lambda where: cards[where])


def values_of_keys(
    keys: NDArray[np.int64], cards_where: Callable[[NDArray[np.bool_]], Cards]
) -> NDArray[np.int16]:
    """Return what hands are worth whose keys (sums of `CARD_KEYS`) are known already.

    Parameters
    ----------
    keys
        The keys.
    cards_where
        Gives the cards of the hands where a mask of the keys' shape is true, of shape (hands, 7);
        asked for the few with a flush.
    """
    tables = _tables()
    values: NDArray[np.int16] = tables.ranks[keys & _RANK_MASK]
    flush = ((keys + _THREE_EACH) & _FIVE_OF_A_SUIT) != 0
    if flush.any():
        hands = cards_where(flush)
        suits = hands % 4
        suit = np.sort(suits, axis=1)[:, 3]  # five of seven: the middle one is among them
        bits = np.where(suits == suit[:, None], 1 << (hands // 4), 0).sum(axis=1)
        values[flush] = tables.flushes[bits]  # seven cards with a flush have no full house
    return values


@cache
def _tables() -> _Tables:
    """Return the worth of all multisets of seven ranks, and of all flushes, as small numbers."""
    multisets = [
        ranks
        for ranks in combinations_with_replacement(range(_RANKS), _HAND)
        if all(ranks[n] != ranks[n + 4] for n in range(_HAND - 4))
    ]
    # Suits in turn: the same rank never has one twice, and no suit comes more than twice.
    worths = [strength(rank * 4 + n % 4 for n, rank in enumerate(ranks)) for ranks in multisets]
    flushes = [ranks for size in (5, 6, 7) for ranks in combinations(range(_RANKS), size)]
    worths += [strength(rank * 4 for rank in ranks) for ranks in flushes]
    numbers = np.unique(worths, return_inverse=True)[1].astype(np.int16)
    keys = _RANK_KEYS[np.array(multisets)].sum(axis=1)
    by_ranks = np.zeros(int(keys.max()) + 1, dtype=np.int16)
    by_ranks[keys] = numbers[: len(keys)]
    by_flush = np.zeros(1 << _RANKS, dtype=np.int16)
    by_flush[[sum(1 << rank for rank in ranks) for ranks in flushes]] = numbers[len(keys) :]
    return _Tables(by_ranks, by_flush)
