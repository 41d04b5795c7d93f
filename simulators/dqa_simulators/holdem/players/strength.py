"""How strong a hand is: how often it wins at the showdown against cards that nobody knows.

That is the expected hand strength of poker programs (Billings et al., "The challenge of poker",
Artificial Intelligence 134, 2002, section 5.2), from the same few hundred completions each time,
so that it depends on nothing but the cards.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dqa_simulators.holdem.players.values import CARD_KEYS, Cards, values_of_keys

STAGES: Final = 4
"""Before the flop, flop, turn, river."""

BOARD_SIZES: Final = (0, 3, 4, 5)
"""Cards on the board, by stage."""

_DRAWS: Final = 160
_DRAWS_BEFORE_FLOP: Final = 4000
_CHUNK: Final = 256
_CARDS: Final = np.arange(52)


def strengths(holes: Cards, boards: Cards) -> NDArray[np.float64]:
    """Return the strengths of hands, from 0 to 1.

    Parameters
    ----------
    holes
        Own cards, of shape (hands, 2).
    boards
        Cards on the board, of shape (hands, 0), (hands, 3), (hands, 4) or (hands, 5).
    """
    if boards.shape[1] == 0:
        return _before_flop()[_kinds(holes)]
    found = np.empty(len(holes))
    for start in range(0, len(holes), _CHUNK):
        part = slice(start, start + _CHUNK)
        found[part] = _sampled(holes[part], boards[part], _completions(boards.shape[1], _DRAWS))
    return found


@lru_cache(maxsize=4096)
def strength(hole: tuple[int, int], board: tuple[int, ...]) -> float:
    """Return the strength of one hand."""
    boards = np.array([board], dtype=np.int64).reshape(1, len(board))
    return float(strengths(np.array([hole]), boards)[0])


def _sampled(holes: Cards, boards: Cards, drawn: Cards) -> NDArray[np.float64]:
    """Return the share of completions that are won; half of one that is shared."""
    known = np.concatenate([holes, boards], axis=1)
    free = np.ones((len(known), 52), dtype=np.bool_)
    np.put_along_axis(free, known, values=False, axis=1)
    rest = np.broadcast_to(_CARDS, free.shape)[free].reshape(len(known), -1)
    others = rest[:, drawn]  # (hands, draws, the opponent's two and what is still dealt)
    keys = CARD_KEYS[others]
    shared = CARD_KEYS[boards].sum(axis=1)[:, None] + keys[:, :, 2:].sum(axis=2)
    own = np.broadcast_to(holes[:, None], (*others.shape[:2], 2))
    table = np.broadcast_to(boards[:, None], (*others.shape[:2], boards.shape[1]))

    def my_cards(where: NDArray[np.bool_]) -> Cards:
        return np.concatenate([own[where], table[where], others[where][:, 2:]], axis=1)

    def their_cards(where: NDArray[np.bool_]) -> Cards:
        return np.concatenate([table[where], others[where]], axis=1)

    mine = values_of_keys(shared + CARD_KEYS[holes].sum(axis=1)[:, None], my_cards)
    theirs = values_of_keys(shared + keys[:, :, :2].sum(axis=2), their_cards)
    won: NDArray[np.float64] = ((mine > theirs) + 0.5 * (mine == theirs)).mean(axis=1)
    return won


@cache
def _completions(board: int, draws: int) -> Cards:
    """Return which of the cards left are drawn, by place: the opponent's, then the board's."""
    random = np.random.default_rng(board)
    places = random.permuted(np.tile(np.arange(50 - board), (draws, 1)), axis=1)
    return places[:, : 7 - board]


@cache
def _before_flop() -> NDArray[np.float64]:
    """Return the strength by kind of two cards: both ranks, and whether they are of one suit."""
    table = np.zeros(13 * 13 * 2)
    pairs = np.array([(a * 4, b * 4 + s) for a in range(13) for b in range(a + 1) for s in (0, 1)])
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    nothing = np.empty((len(pairs), 0), dtype=np.int64)
    drawn = _completions(0, _DRAWS_BEFORE_FLOP)
    found = [_sampled(pairs[n : n + 1], nothing[n : n + 1], drawn)[0] for n in range(len(pairs))]
    table[_kinds(pairs)] = found
    return table


def _kinds(holes: Cards) -> NDArray[np.int64]:
    high, low = holes.max(axis=1), holes.min(axis=1)
    kinds: NDArray[np.int64] = (high // 4 * 13 + low // 4) * 2 + (high % 4 == low % 4)
    return kinds
