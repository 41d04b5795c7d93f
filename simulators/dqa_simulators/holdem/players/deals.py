"""Hands to learn from: cards, how strong they are in every round, and who wins at the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dqa_simulators.holdem.deals import DEFAULT_SHARES, deal_by_share
from dqa_simulators.holdem.players.strength import BOARD_SIZES, STAGES, strengths
from dqa_simulators.holdem.players.values import Cards, hand_values

BUCKETS: Final = 10
"""Kinds of strength a round."""


@dataclass(frozen=True)
class Deals:
    """Many deals.

    Attributes
    ----------
    holes
        Each player's own cards, of shape (deals, 2, 2).
    boards
        The board when it is whole, of shape (deals, 5).
    strengths
        By player and round, of shape (deals, 2, 4).
    won
        1 where the first player has the better cards in the end, -1 where the second, else 0.
    """

    holes: Cards
    boards: Cards
    strengths: NDArray[np.float64]
    won: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.won)


def draw_deals(count: int, random: np.random.Generator, strong: int = 0) -> Deals:
    """Draw deals, every one as likely as any other.

    Parameters
    ----------
    count
        How many.
    random
        Where the cards come from.
    strong
        How many of them have the share of strong hands that the world has by default instead.
    """
    ordinary = random.permuted(np.tile(np.arange(52), (count - strong, 1)), axis=1)[:, :9]
    shares = tuple(DEFAULT_SHARES.values())
    raised = [deal_by_share(random, shares) for _ in range(strong)]
    strongs = [[*one.hands[0], *one.hands[1], *one.board] for one in raised]
    cards = np.concatenate([ordinary, np.array(strongs, dtype=np.int64).reshape(strong, 9)])
    holes, boards = cards[:, :4].reshape(count, 2, 2), cards[:, 4:]
    found = np.empty((count, 2, STAGES))
    values = []
    for player in range(2):
        own = holes[:, player]
        for stage, size in enumerate(BOARD_SIZES):
            found[:, player, stage] = strengths(own, boards[:, :size])
        values.append(hand_values(np.concatenate([own, boards], axis=1)))
    won = np.sign(values[0].astype(np.int64) - values[1])
    return Deals(holes, boards, found, won)


def bucket_bounds(deals: Deals) -> NDArray[np.float64]:
    """Return the strengths that divide each round's into `BUCKETS` of equal size, shape (4, 9)."""
    shares = np.arange(1, BUCKETS) / BUCKETS
    return np.quantile(deals.strengths.reshape(-1, STAGES), shares, axis=0).T


def buckets(found: NDArray[np.float64], bounds: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the buckets of strengths, the weakest 0; the last axis of `found` is the round."""
    return np.stack(
        [np.searchsorted(bounds[n], found[..., n], side="right") for n in range(STAGES)], axis=-1
    )
