"""Estimate the strength of a hand: its probability of winning a showdown against unknown cards.

This is the expected hand strength of poker programs (Billings et al., "The challenge of poker",
Artificial Intelligence 134, 2002, section 5.2). The unknown cards are sampled. The samples for a
hand are always the same, so the result depends only on the hand and the public cards.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dqa_simulators.holdem.hands import Numbers
from dqa_simulators.holdem.hands import strength as value_of

_DRAWS: Final = 160
_DRAWS_BEFORE_FLOP: Final = 4000
_CHUNK: Final = 256


def strengths(holes: Numbers, boards: Numbers) -> NDArray[np.float64]:
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
    """Return the strength of two private cards with these ranks, suited or not."""
    hole = np.array([[high * 4, low * 4 + (not suited)]])
    return float(_sampled(hole, np.empty((1, 0), dtype=np.int64), _DRAWS_BEFORE_FLOP)[0])


def _sampled(holes: Numbers, boards: Numbers, draws: int) -> NDArray[np.float64]:
    """Return the share of samples in which the hand wins. A tie is half a win.

    Each sample contains all unknown cards.
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
    mine = value_of(np.concatenate([own, public], axis=2))
    theirs = value_of(np.concatenate([drawn[:, :, :2], public], axis=2))
    won: NDArray[np.float64] = ((mine > theirs) + 0.5 * (mine == theirs)).mean(axis=1)
    return won


@cache
def _completions(board: int, draws: int) -> Numbers:
    """Return samples of the unknown cards: the opponent's two cards, then the missing public cards.

    A card is an index into the remaining cards of the deck.
    """
    random = np.random.default_rng(board)
    positions = random.permuted(np.tile(np.arange(50 - board), (draws, 1)), axis=1)
    return positions[:, : 7 - board]
