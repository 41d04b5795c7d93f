"""What a learning player sees, as numbers: own cards, board, bets and round, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dqa_simulators.holdem.players.deals import Deals
from dqa_simulators.holdem.players.states import States
from dqa_simulators.holdem.players.strength import BOARD_SIZES, STAGES
from dqa_simulators.holdem.players.values import Cards

Floats: TypeAlias = NDArray[np.float32]

_MOST_RAISES: Final = 4
_LARGEST_BET: Final = 50.0
_HINGES: Final = np.arange(1, 10) / 10
_ROUNDS: Final = np.eye(STAGES)
_RAISES: Final = np.eye(_MOST_RAISES + 1)

PUBLIC: Final = STAGES + _MOST_RAISES + 1 + 4
"""Numbers that tell of a public state."""

PRIVATE: Final = 2 + STAGES + len(_HINGES) + 6 + 13
"""Numbers that tell of the cards."""


def public_features(
    stage: NDArray[np.int64],
    seat: NDArray[np.int64],
    bets: NDArray[np.int64],
    raises: NDArray[np.int64],
) -> Floats:
    """Return the numbers of public states, of shape (states, `PUBLIC`).

    Parameters
    ----------
    stage
        0 to 3.
    seat
        The mover's, 0 or 1.
    bets
        The mover's chips and the other's, of shape (states, 2).
    raises
        In this round.
    """
    share = bets / _LARGEST_BET
    owed = (bets[:, 1:] - bets[:, :1]) / 4
    found = [_ROUNDS[stage], _RAISES[raises], seat[:, None], share, owed]
    return np.concatenate(found, axis=1).astype(np.float32)


def private_features(
    stage: int, strengths: NDArray[np.float64], holes: Cards, boards: Cards
) -> Floats:
    """Return the numbers of cards in a round, of shape (hands, `PRIVATE`).

    Parameters
    ----------
    stage
        0 to 3.
    strengths
        Of the hands in this round.
    holes, boards
        Own cards, and those on the board in this round, of shapes (hands, 2) and (hands, 0 to 5).
    """
    strength = strengths[:, None]
    ranks, suits = holes // 4, holes % 4
    board_suits = (boards[:, :, None] % 4 == np.arange(4)).sum(axis=1)
    own_suits = board_suits + (suits[:, :, None] == np.arange(4)).sum(axis=1)
    found = [
        strength,
        strength**2,
        strength * _ROUNDS[stage],
        np.maximum(strength - _HINGES, 0),
        np.sort(ranks, axis=1) / 12,
        ranks[:, :1] == ranks[:, 1:],
        suits[:, :1] == suits[:, 1:],
        own_suits.max(axis=1, keepdims=True) / 5,
        board_suits.max(axis=1, keepdims=True) / 5,
        (boards[:, :, None] // 4 == np.arange(13)).sum(axis=1) / 2,
    ]
    return np.concatenate(found, axis=1).astype(np.float32)


@dataclass(frozen=True)
class Encoded:
    """The features of all public states, and of all deals.

    Attributes
    ----------
    public
        By public state, its mover being who sees it; of shape (states, `PUBLIC`).
    private
        By deal, player and round, of shape (deals, 2, 4, `PRIVATE`).
    """

    public: Floats
    private: Floats

    def of(self, states: NDArray[np.int64], deals: NDArray[np.int64], rules: States) -> Floats:
        """Return what the movers of states see, of shape (states, `PUBLIC` + `PRIVATE`)."""
        cards = self.private[deals, rules.mover[states], rules.stage[states]]
        return np.concatenate([self.public[states], cards], axis=1)


def encode(rules: States, deals: Deals) -> Encoded:
    """Return the features of all public states and of deals."""
    seat = np.maximum(rules.mover, 0)
    bets = np.where(seat[:, None] == 0, rules.bets, rules.bets[:, ::-1])
    private = np.empty((len(deals), 2, STAGES, PRIVATE), dtype=np.float32)
    for player in range(2):
        for stage, size in enumerate(BOARD_SIZES):
            private[:, player, stage] = private_features(
                stage,
                deals.strengths[:, player, stage],
                deals.holes[:, player],
                deals.boards[:, :size],
            )
    return Encoded(public_features(rules.stage, seat, bets, rules.raises), private)
