"""The betting of a hand as arrays: every public state, and what follows from it.

Who learns plays many hands at a time, a state being a number.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dqa_simulators.games.betting import CALL, CHECK, FOLD, RAISE, Betting, begin
from dqa_simulators.holdem.position import RULES

ACTIONS: Final = 3
"""Fold, check or call, raise: in this order, as numbers."""

NUMBERS: Final = {FOLD: 0, CHECK: 1, CALL: 1, RAISE: 2}
"""The number of each action."""

StateKey: TypeAlias = tuple[int, int, int, int, int]
"""What tells public states apart where somebody bets: round, seat, chips of both seats, raises."""


class Level(NamedTuple):
    """States as many moves behind the beginning, on the longest way, and what leads to them."""

    states: NDArray[np.int64]
    parents: NDArray[np.int64]
    """Of every way into one of `states`, in their order, from which state it comes."""
    actions: NDArray[np.int64]
    """By which action."""
    starts: NDArray[np.int64]
    """By state, where its ways begin in `parents`."""


@dataclass(frozen=True)
class States:
    """Public states of the betting, numbered from 0, the beginning.

    States with the same stage, mover, bets and raises are one, whatever led there.

    Attributes
    ----------
    mover
        Whose turn it is, 0 or 1; -1 where the hand ends.
    stage
        0 to 3: before the flop, flop, turn, river.
    bets
        Chips put in by each, of shape (states, 2).
    raises
        In this round.
    after
        By action the state that follows, -1 where it is not legal; of shape (states, 3).
    folded
        Who folded, 0 or 1; -1 where nobody did.
    numbers
        By what tells a state apart, its number; of those where somebody bets.
    """

    mover: NDArray[np.int64]
    stage: NDArray[np.int64]
    bets: NDArray[np.int64]
    raises: NDArray[np.int64]
    after: NDArray[np.int64]
    folded: NDArray[np.int64]
    numbers: dict[StateKey, int]

    @property
    def legal(self) -> NDArray[np.bool_]:
        """Which actions are legal, of shape (states, 3)."""
        return self.after >= 0

    def payoffs(self, won: NDArray[np.int64], player: int) -> NDArray[np.float64]:
        """Return what a player gets where hands end, of shape (states, deals); 0 elsewhere.

        Parameters
        ----------
        won
            By deal who has the better cards: 1 for the player, -1 for the other, 0 for neither.
        player
            0 or 1.
        """
        ended = self.mover < 0
        stake = np.where(ended, self.bets.min(axis=1), 0)
        folded = np.where(self.folded == player, -1, 1)[:, None]
        return stake[:, None] * np.where(self.folded[:, None] < 0, won, folded).astype(np.float64)

    def ends(self, states: NDArray[np.int64], won: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return what the first player gets of hands that have ended, a state and a deal each."""
        folded = self.folded[states]
        stake = self.bets[states].min(axis=1).astype(np.float64)
        got: NDArray[np.float64] = stake * np.where(folded < 0, won, 2 * folded - 1)
        return got

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """Who wants all states from the beginning on finds them here, each behind its parents."""
        parents, actions = np.nonzero(self.after >= 0)
        children = self.after[parents, actions]
        depth = np.zeros(len(self.mover), dtype=np.int64)
        while (depth[children] <= depth[parents]).any():
            np.maximum.at(depth, children, depth[parents] + 1)
        nothing = np.empty(0, dtype=np.int64)
        levels = [Level(np.flatnonzero(depth == 0), nothing, nothing, nothing)]
        for number in range(1, int(depth.max()) + 1):
            chosen = np.flatnonzero(depth[children] == number)
            chosen = chosen[np.argsort(children[chosen], kind="stable")]
            states, starts = np.unique(children[chosen], return_index=True)
            levels.append(Level(states, parents[chosen], actions[chosen], starts))
        return tuple(levels)


def key_of(betting: Betting) -> StateKey:
    """Return what tells a public state apart where somebody bets."""
    return betting.stage, betting.seat, *betting.bets, betting.raises


@cache
def betting_states() -> States:
    """Return the public states of limit hold'em."""
    return _Reader().read(begin(RULES))


class _Reader:
    """Visits every public state once."""

    def __init__(self) -> None:
        self._numbers: dict[StateKey | tuple[str, int, int, int], int] = {}
        self._rows: list[tuple[int, int, tuple[int, int], int, int]] = []
        self._after: list[list[int]] = []

    def read(self, betting: Betting) -> States:
        """Return what follows from a beginning."""
        self._visit(betting)
        mover, stage, bets, raises, folded = (
            np.array(column) for column in zip(*self._rows, strict=True)
        )
        numbers = {key: number for key, number in self._numbers.items() if len(key) == 5}
        return States(mover, stage, bets, raises, np.array(self._after), folded, numbers)

    def _visit(self, betting: Betting) -> int:
        if betting.phase == "deal":
            betting = betting.next_round()
        bets = betting.phase == "bet"
        folded = betting.seat if betting.phase == "folded" else -1
        key = key_of(betting) if bets else (betting.phase, folded, *betting.bets)
        if key in self._numbers:
            return self._numbers[key]
        number = self._numbers[key] = len(self._rows)
        mover = betting.seat if bets else -1
        self._rows.append((mover, betting.stage, betting.bets, betting.raises, folded))
        self._after.append([-1] * ACTIONS)
        for action in betting.actions:
            self._after[number][NUMBERS[action]] = self._visit(betting.after(action))
        return number
