"""CFR: external-sampling Monte Carlo counterfactual regret minimisation over buckets of strength.

Lanctot et al., "Monte Carlo sampling for regret minimization in extensive games", NIPS 2009, with
the weights of linear CFR (Brown and Sandholm, "Solving imperfect-information games via discounted
regret minimization", AAAI 2019).
"""

from __future__ import annotations

import numpy as np

from dqa_simulators.holdem.players.deals import BUCKETS, Deals
from dqa_simulators.holdem.players.states import ACTIONS, States
from dqa_simulators.holdem.players.walks import Array, Index, normalised, walk

BATCH = 128
"""Deals an iteration."""


class Solver:
    """Regrets and the average strategy, and how a batch of deals changes them.

    Parameters
    ----------
    rules
        The betting.
    deals
        What is dealt.
    buckets
        By deal, player and round, as `deals.buckets` gives them.
    random
        Where every random choice comes from.
    """

    def __init__(
        self, rules: States, deals: Deals, buckets: Index, random: np.random.Generator
    ) -> None:
        self._rules = rules
        self._won = deals.won
        self._random = random
        # By state and deal, the information set: the public state and the mover's bucket.
        known = buckets[:, np.maximum(rules.mover, 0), rules.stage].T
        self._infos = np.arange(len(rules.mover))[:, None] * BUCKETS + known
        self._legal = np.repeat(rules.legal, BUCKETS, axis=0)
        self._regrets: Array = np.zeros(self._legal.shape)
        self._sums: Array = np.zeros(self._legal.shape)  # of strategies, by how often they were met

    def iterate(self, number: int) -> None:
        """Let both players learn from a batch of deals; iterations are numbered from 1."""
        batch = self._random.integers(0, len(self._won), BATCH)
        infos = self._infos[:, batch]
        for traverser in (0, 1):
            strategy = normalised(np.maximum(self._regrets, 0), self._legal)
            counts, gains = walk(
                self._rules, traverser, self._won[batch], strategy[infos], self._random
            )
            own = self._rules.mover == traverser
            entries = infos[own][..., None] * ACTIONS + np.arange(ACTIONS)
            gained = np.bincount(entries.ravel(), gains[own].ravel(), self._regrets.size)
            self._regrets += number * gained.reshape(self._regrets.shape)
            other = self._rules.mover == 1 - traverser
            met = np.bincount(infos[other].ravel(), counts[other].ravel(), len(self._sums))
            self._sums += number * met[:, None] * strategy

    def average(self) -> Array:
        """Return the average strategy, of shape (public states, buckets, actions)."""
        return normalised(self._sums, self._legal).reshape(-1, BUCKETS, ACTIONS)
