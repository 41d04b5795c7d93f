"""Estimate the strength of a hand: its probability of winning a showdown against unknown cards.

This is the expected hand strength of poker programs (Billings et al., "The challenge of poker",
Artificial Intelligence 134, 2002, section 5.2). The unknown cards are sampled. The samples for a
hand are always the same, so the result depends only on the hand and the public cards. Many hands
are compared together, with tables of the results of `dqa_simulators.holdem.hands.strength`.
"""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import combinations, combinations_with_replacement
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dqa_simulators.holdem.hands import strength as rank_of

Cards: TypeAlias = NDArray[np.int64]
"""Arrays of cards. The last axis contains the cards of a hand."""

_DRAWS: Final = 160
_DRAWS_BEFORE_FLOP: Final = 4000
_CHUNK: Final = 256
_RANK_KEYS: Final = np.array(
    [0, 1, 5, 22, 98, 453, 2031, 8698, 22854, 83661, 262349, 636345, 1479181], dtype=np.int64
)
"""One key per rank. Each multiset of seven ranks, with at most four equal, has a unique sum."""


def strengths(holes: Cards, boards: Cards) -> NDArray[np.float64]:
    """Return the strengths of hands, from 0 to 1.

    Parameters
    ----------
    holes
        Private cards, of shape (hands, 2).
    boards
        Public cards, of shape (hands, 0), (hands, 3), (hands, 4) or (hands, 5).
    """
    if boards.shape[1]:
        chunks = range(0, len(holes), _CHUNK)
        parts = [_sampled(holes[n : n + _CHUNK], boards[n : n + _CHUNK], _DRAWS) for n in chunks]
        return np.concatenate(parts)
    low, high = holes.min(axis=1), holes.max(axis=1)
    kinds = zip(high // 4, low // 4, high % 4 == low % 4, strict=True)
    return np.array(
        [_before_flop(int(one), int(other), bool(suited)) for one, other, suited in kinds]
    )


@lru_cache(maxsize=4096)
def strength(hole: tuple[int, ...], board: tuple[int, ...]) -> float:
    """Return the strength of one hand."""
    boards = np.array([board], dtype=np.int64).reshape(1, len(board))
    return float(strengths(np.array([hole]), boards)[0])


@cache
def _before_flop(high: int, low: int, suited: bool) -> float:
    """Return the strength of two cards, given their ranks and whether they are suited."""
    hole = np.array([[high * 4, low * 4 + (not suited)]])
    return float(_sampled(hole, np.empty((1, 0), dtype=np.int64), _DRAWS_BEFORE_FLOP)[0])


def _sampled(holes: Cards, boards: Cards, draws: int) -> NDArray[np.float64]:
    """Return the share of samples of the unknown cards in which the hand wins.

    A tie is half a win.
    """
    known = np.concatenate([holes, boards], axis=1)
    free = np.ones((len(known), 52), dtype=np.bool_)
    np.put_along_axis(free, known, values=False, axis=1)
    rest = np.broadcast_to(np.arange(52), free.shape)[free].reshape(len(known), -1)
    drawn = rest[:, _completions(boards.shape[1], draws)]
    shape = drawn.shape[:2]
    own = np.broadcast_to(holes[:, None], (*shape, 2))
    public = np.broadcast_to(boards[:, None], (*shape, boards.shape[1]))
    public = np.concatenate([public, drawn[:, :, 2:]], axis=2)
    mine = _values(np.concatenate([own, public], axis=2))
    theirs = _values(np.concatenate([drawn[:, :, :2], public], axis=2))
    won: NDArray[np.float64] = ((mine > theirs) + 0.5 * (mine == theirs)).mean(axis=1)
    return won


@cache
def _completions(board: int, draws: int) -> Cards:
    """Return samples of the unknown cards: the opponent's two cards, then the missing public cards.

    A card is an index into the remaining cards of the deck.
    """
    random = np.random.default_rng(board)
    positions = random.permuted(np.tile(np.arange(50 - board), (draws, 1)), axis=1)
    return positions[:, : 7 - board]


def _values(cards: Cards) -> NDArray[np.int16]:
    """Return the values of hands of seven cards. The higher value wins; equal values tie."""
    by_ranks, by_flush = _tables()
    values: NDArray[np.int16] = by_ranks[_RANK_KEYS[cards // 4].sum(axis=-1)]
    suits = cards % 4
    suit = np.sort(suits, axis=-1)[
        ..., 3
    ]  # with five equal suits, the median of the seven is this suit
    has_flush = (suits == suit[..., None]).sum(axis=-1) >= 5
    flushes, suited = cards[has_flush], suits[has_flush] == suit[has_flush][:, None]
    # Seven cards with a flush contain no full house, so only the flush matters.
    values[has_flush] = by_flush[np.where(suited, 1 << (flushes // 4), 0).sum(axis=-1)]
    return values


@cache
def _tables() -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Return hand values by the sum of `_RANK_KEYS`, and flush values by a bit for each rank."""
    multisets = [
        ranks
        for ranks in combinations_with_replacement(range(13), 7)
        if all(ranks[n] != ranks[n + 4] for n in range(3))
    ]
    # Suits alternate, so each suit has at most two cards and there is no flush.
    worths = [rank_of(rank * 4 + n % 4 for n, rank in enumerate(ranks)) for ranks in multisets]
    flushes = [ranks for size in (5, 6, 7) for ranks in combinations(range(13), size)]
    worths += [rank_of(rank * 4 for rank in ranks) for ranks in flushes]
    values = np.unique(worths, return_inverse=True)[1].astype(np.int16)
    keys = _RANK_KEYS[np.array(multisets)].sum(axis=1)
    by_ranks = np.zeros(int(keys.max()) + 1, dtype=np.int16)
    by_ranks[keys] = values[: len(keys)]
    by_flush = np.zeros(1 << 13, dtype=np.int16)
    by_flush[[sum(1 << rank for rank in ranks) for ranks in flushes]] = values[len(keys) :]
    return by_ranks, by_flush
