"""Deep CFR: networks learn the regrets of external sampling, and their average strategy.

Brown et al., "Deep counterfactual regret minimization", ICML 2019, algorithms 1 and 2: a network of
advantages for each player, fitted anew in every iteration to all regrets that were sampled, and one
for the average strategy, fitted once in the end; iterations weigh by their number.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dqa_simulators.holdem.players.deals import Deals
from dqa_simulators.holdem.players.features import PRIVATE, PUBLIC, Floats, encode
from dqa_simulators.holdem.players.network import Adam, Network
from dqa_simulators.holdem.players.states import ACTIONS, States
from dqa_simulators.holdem.players.walks import Array, Index, normalised, walk

SIZES: Final = (PUBLIC + PRIVATE, 64, 64, ACTIONS)
"""Of the layers."""

SCALE: Final = 10.0
"""Chips that are one unit of what networks learn."""

_DEALS: Final = 64
_MEMORY: Final = 500_000
_MINIBATCH: Final = 512
_STEPS: Final = 250
_LAST_STEPS: Final = 3_000
_LAST_STEPS_AN_ITERATION: Final = 50
_FASTEST, _SLOWEST = 3e-3, 3e-4


class Memory:
    """A sample of all that was ever added, each as likely as any other (reservoir sampling)."""

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random
        self._seen = 0
        self._inputs = np.empty((_MEMORY, SIZES[0]), dtype=np.float32)
        self._targets = np.empty((_MEMORY, ACTIONS), dtype=np.float32)
        self._weights = np.empty((_MEMORY, ACTIONS), dtype=np.float32)

    def add(self, inputs: Floats, targets: Array, weights: Array) -> None:
        """Add rows of inputs, targets and weights."""
        numbers = self._seen + np.arange(len(inputs))
        self._seen += len(inputs)
        drawn = np.floor(self._random.random(len(inputs)) * (numbers + 1)).astype(np.int64)
        places = np.where(numbers < _MEMORY, numbers, drawn)
        kept = places < _MEMORY
        self._inputs[places[kept]] = inputs[kept]
        self._targets[places[kept]] = targets[kept]
        self._weights[places[kept]] = weights[kept]

    def fit(self, network: Network, steps: int) -> None:
        """Fit a network to what is held."""
        adam = Adam(network, _FASTEST)
        held = min(self._seen, _MEMORY)
        weights = self._weights[:held]
        heaviest = weights.max()
        for step in range(steps):
            adam.rate = _FASTEST * (_SLOWEST / _FASTEST) ** (step / steps)
            rows = self._random.integers(0, held, _MINIBATCH)
            adam.fit(self._inputs[rows], self._targets[rows], weights[rows] / heaviest)


class Solver:
    """The networks, and how they learn.

    Parameters
    ----------
    rules
        The betting.
    deals
        What is dealt.
    random
        Where every random choice comes from.
    """

    def __init__(self, rules: States, deals: Deals, random: np.random.Generator) -> None:
        self._rules = rules
        self._deals = deals
        self._encoded = encode(rules, deals)
        self._random = random
        self._advantages: list[Network | None] = [None, None]
        self._regrets = (Memory(random), Memory(random))
        self._strategies = Memory(random)
        self._done = 0

    def iterate(self, number: int) -> None:
        """Let both players learn from a batch of deals; iterations are numbered from 1."""
        self._done = number
        for traverser in (0, 1):
            batch = self._random.integers(0, len(self._deals), _DEALS)
            strategy = self._strategy(batch)
            counts, gains = walk(
                self._rules, traverser, self._deals.won[batch], strategy, self._random
            )
            met, weights = self._rows(counts, traverser, number)
            regrets = gains[met] / counts[met][:, None] / SCALE
            self._regrets[traverser].add(self._seen(met, batch), regrets, weights)
            met, weights = self._rows(counts, 1 - traverser, number)
            self._strategies.add(self._seen(met, batch), strategy[met], weights)
            network = Network.drawn(SIZES, self._random)
            self._regrets[traverser].fit(network, _STEPS)
            self._advantages[traverser] = network

    def average(self) -> Network:
        """Return a network of the average strategy, fitted to all strategies so far."""
        network = Network.drawn(SIZES, self._random)
        steps = min(_LAST_STEPS, _LAST_STEPS_AN_ITERATION * self._done)
        self._strategies.fit(network, steps)
        return network

    def _strategy(self, batch: Index) -> Array:
        """Return by state and deal what regret matching on the advantages gives."""
        rules = self._rules
        strategy = normalised(
            np.zeros((len(rules.mover), len(batch), ACTIONS)), rules.legal[:, None]
        )
        for player, network in enumerate(self._advantages):
            if network is None:
                continue
            states = np.flatnonzero(rules.mover == player)
            met = (np.repeat(states, len(batch)), np.tile(np.arange(len(batch)), len(states)))
            legal = rules.legal[met[0]]
            found = np.where(legal, network(self._seen(met, batch)), -np.inf)
            best = found.max(axis=1, keepdims=True)
            positive = np.where(best > 0, np.maximum(found, 0), found == best)
            strategy[met] = normalised(positive.astype(np.float64), legal)
        return strategy

    def _rows(self, counts: Array, player: int, number: int) -> tuple[tuple[Index, Index], Array]:
        """Return the states and deals where a player was met, and how much each action weighs."""
        state, deal = np.nonzero(counts * (self._rules.mover == player)[:, None])
        legal: NDArray[np.bool_] = self._rules.legal[state]
        return (state, deal), number * counts[state, deal][:, None] * legal

    def _seen(self, met: tuple[Index, Index], batch: Index) -> Floats:
        return self._encoded.of(met[0], batch[met[1]], self._rules)
