"""External sampling: every action of one player is followed, and one drawn of the other.

Lanctot et al., "Monte Carlo sampling for regret minimization in extensive games", NIPS 2009,
section 3.3. A batch of deals is followed at once through all public states, each a row of arrays;
paths that lead to the same state are counted, and share what is drawn for the opponent there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dqa_simulators.holdem.players.states import States

Array = NDArray[np.float64]
Index = NDArray[np.int64]


def walk(
    rules: States, traverser: int, won: Index, strategy: Array, random: np.random.Generator
) -> tuple[Array, Array]:
    """Return how often each state is met, and what the traverser would gain there.

    Parameters
    ----------
    rules
        The betting.
    traverser
        Whose actions are all followed, 0 or 1.
    won
        By deal, who has the better cards: 1 for the first player, -1 for the second, 0 for neither.
    strategy
        By state and deal, how likely the mover takes each action; shape (states, deals, 3).
    random
        Where the opponent's actions are drawn from.

    Returns
    -------
    tuple of arrays
        Paths that meet each state, of shape (states, deals); and in the traverser's states the
        sampled regret of each legal action times that, of shape (states, deals, 3), 0 elsewhere.
    """
    drawn = _drawn(strategy, random)
    counts = _counts(rules, traverser, drawn)
    values = rules.payoffs(won * (1 - 2 * traverser), traverser)
    gains = np.zeros(strategy.shape)
    deals = np.arange(len(won))
    for level in reversed(rules.levels):
        mover = rules.mover[level.states]
        own, other = level.states[mover == traverser], level.states[mover == 1 - traverser]
        follows = np.take_along_axis(rules.after[other], drawn[other], axis=1)
        values[other] = values[follows, deals]
        if len(own):
            by_action = values[rules.after[own]].transpose(0, 2, 1)
            values[own] = (by_action * strategy[own]).sum(axis=2)
            gains[own] = (by_action - values[own, :, None]) * counts[own, :, None]
    return counts, gains * rules.legal[:, None]


def normalised(weights: Array, legal: NDArray[np.bool_]) -> Array:
    """Return weights as probabilities over the last axis; legal actions alike where all are 0."""
    total = weights.sum(axis=-1, keepdims=True)
    even = legal / np.maximum(legal.sum(axis=-1, keepdims=True), 1)
    return np.where(total > 0, weights / np.where(total > 0, total, 1), even)


def _counts(rules: States, traverser: int, drawn: Index) -> Array:
    counts = np.zeros(drawn.shape)
    counts[0] = 1
    for level in rules.levels[1:]:
        parents, actions = level.parents, level.actions
        own = rules.mover[parents] == traverser
        follows = own[:, None] | (drawn[parents] == actions[:, None])
        counts[level.states] = np.add.reduceat(counts[parents] * follows, level.starts, axis=0)
    return counts


def _drawn(strategy: Array, random: np.random.Generator) -> Index:
    """Return an action for every state and deal, drawn by the strategy."""
    first = strategy[..., 0]
    # Rounding may leave a sliver beyond the last likely action: nothing is drawn there.
    second = np.where(strategy[..., 2] > 0, first + strategy[..., 1], 2)
    point = random.random(first.shape)
    return (point >= first).astype(np.int64) + (point >= second)
