"""The regret of each method of drawing states, in worlds with known utilities.

Run ``python -m benchmarks.dellma_draws [WORLDS]``; the table of docs/dellma.md is its output.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from dqa_dellma.findings import Ranking
from dqa_dellma.settings import DellmaSettings, Draws
from dqa_dellma.utilities.beliefs import WEIGHTS, Beliefs, judge, sample_states
from dqa_dellma.utilities.bradley_terry import Floats, Ints, fit_scores
from dqa_dellma.utilities.maximisation import (
    Maximised,
    average_utilities,
    maximise,
    scale_utilities,
)
from dqa_dellma.utilities.pairs import Pairs, cut_minibatches, draw_pairs

WORLDS = 1_000
SAMPLES = (8, 16, 32, 64)
VALUES = 3


@dataclass(frozen=True)
class World:
    """Factors with additive effects on the log utility of each action.

    Attributes
    ----------
    beliefs
        Beliefs about k factors.
    levels, effects
        Log utility of each action, shape (A,), and effects of values, shape (k, l, A).
    """

    beliefs: Beliefs
    levels: Floats
    effects: Floats

    @property
    def expected(self) -> Floats:
        """The true expected utilities, shape (A,): products, because factors are independent."""
        found = np.exp(self.levels)
        for values, effects in zip(self.beliefs.values(), self.effects, strict=True):
            chances = np.array([likely.probability for likely in values.values()])
            found = found * (chances @ np.exp(effects))
        return np.asarray(found)

    def log_utilities(self, pairs: Pairs) -> Floats:
        """Return the log utilities of the pairs, shape (n,)."""
        found = self.levels[pairs.action_of]
        for values, effects in zip(pairs.states.T, self.effects, strict=True):
            found = found + effects[values[pairs.state_of], pairs.action_of]
        return np.asarray(found)


@dataclass(frozen=True)
class Shape:
    """A kind of world, and the settings of DeLLMa. `spread` and `levels` are of log utilities."""

    actions: int = 3
    factors: int = 4
    spread: float = 1.0
    levels: float = 0.3
    noise: float = 1.0
    draws: Draws = "independent"
    samples: int = 16
    overlap: float = 0.25
    shared: bool = True
    first_only: bool = False

    def world(self, rng: np.random.Generator) -> World:
        """Draw a random world of this kind."""
        words = list(WEIGHTS)
        drawn = (rng.choice(words, VALUES).tolist() for _ in range(self.factors))
        said = (dict(zip("abc", row, strict=True)) for row in drawn)
        beliefs = judge({f"f{number}": row for number, row in enumerate(said)})
        size = (self.factors, VALUES, self.actions)
        effects = rng.normal(0.0, self.spread / np.sqrt(self.factors), size)
        return World(beliefs, rng.normal(0.0, self.levels, self.actions), effects)

    def rank(self, world: World, rng: np.random.Generator) -> tuple[Pairs, list[Ranking]]:
        """Draw states, pair them, and rank the minibatches with Gumbel noise."""
        bearing = np.ones((self.actions, self.factors), dtype=np.bool_)
        pairs = draw_pairs(world.beliefs, bearing, self.settings, rng)
        utilities = world.log_utilities(pairs)
        rankings = []
        for batch in cut_minibatches(len(pairs), 32, self.overlap):
            seen = utilities[batch.start : batch.stop] + self.noise * rng.gumbel(size=len(batch))
            order = tuple((np.argsort(-seen) + batch.start).tolist())
            rankings.append(Ranking(shown=order, items=order))
        return pairs, rankings

    @property
    def settings(self) -> DellmaSettings:
        """The settings of DeLLMa for the rankings.

        Scores from noisy rankings have the noise as their unit, so a temperature of ``1 / noise``
        restores the utilities of the world. Without noise, a ranking contains only the order.
        """
        return DellmaSettings(
            shared=self.shared,
            draws=self.draws,
            samples=self.samples * (1 if self.shared else self.actions),
            temperature=1.0 / (self.noise or 1.0),
            elicitation="top1" if self.first_only else "pairs",
        )

    def decide(self, world: World, rng: np.random.Generator) -> Maximised:
        """Rank the pairs, and find the best action with its interval."""
        pairs, rankings = self.rank(world, rng)
        return maximise(pairs, rankings, self.actions, self.settings)

    def choose(self, world: World, rng: np.random.Generator) -> int:
        """Return the best action by the paper's rule. This is faster than `decide`."""
        pairs, rankings = self.rank(world, rng)
        settings, orders = self.settings, [ranking.items for ranking in rankings]
        scores = fit_scores(orders, len(pairs), settings.elicitation, settings.alpha)
        utilities = scale_utilities(scores, pairs.action_of, "all", settings.temperature)
        return int(average_utilities(utilities, pairs.action_of, self.actions).argmax())


KINDS = {
    "rankings without error": Shape(actions=4, factors=8, noise=0.0),
    "rankings with noise": Shape(actions=4, factors=8, noise=1.0),
}
"""The kinds of worlds in the table. All have four actions, and eight factors with three values."""


@dataclass(frozen=True, slots=True)
class Loss:
    """The errors of one method of drawing states, over many worlds.

    Attributes
    ----------
    miss
        The largest difference in a world between the probability of a value and the share of drawn
        states with this value; the mean over worlds.
    regret, error
        The mean relative regret of the chosen action in expected utility, and its standard error.
    right
        The share of worlds in which the best action is chosen.
    """

    miss: float
    regret: float
    error: float
    right: float


def measure(shape: Shape, worlds: int, seed: int = 0) -> Loss:
    """Decide in worlds of a kind. All methods of drawing use the same worlds.

    Parameters
    ----------
    shape
        The kind, with its samples and draws.
    worlds
        The number of worlds.
    seed
        The seed of worlds and draws.
    """
    misses, regrets = [], []
    for number in range(worlds):
        world = shape.world(np.random.default_rng([seed, number]))
        rng = np.random.default_rng([seed, number, 1])
        misses.append(_miss(world, sample_states(world.beliefs, shape.samples, rng, shape.draws)))
        best = shape.choose(world, np.random.default_rng([seed, number, 2]))
        regrets.append(1.0 - float(world.expected[best] / world.expected.max()))
    lost = np.array(regrets)
    return Loss(
        miss=float(np.mean(misses)),
        regret=float(lost.mean()),
        error=float(lost.std(ddof=1) / np.sqrt(worlds)),
        right=float((lost == 0.0).mean()),
    )


def _miss(world: World, states: Ints) -> float:
    """Return the largest difference between a value's probability and its share of states."""
    return max(
        abs(float((drawn == number).mean()) - likely.probability)
        for drawn, values in zip(states.T, world.beliefs.values(), strict=True)
        for number, likely in enumerate(values.values())
    )


def main() -> None:
    """Print a line for each kind of world, number of samples and method of drawing."""
    worlds = int(sys.argv[1]) if len(sys.argv) > 1 else WORLDS
    print("| worlds | samples | draws | largest miss | regret % | right % |")
    print("|---|---|---|---|---|---|")
    for line in lines(worlds):
        print(line)


def lines(worlds: int) -> Iterator[str]:
    """Yield the lines of the table."""
    for name, kind in KINDS.items():
        for samples in SAMPLES:
            for draws in get_args(Draws):
                found = measure(replace(kind, samples=samples, draws=draws), worlds)
                regret = f"{100 * found.regret:.2f} ± {100 * found.error:.2f}"
                figures = f"{found.miss:.3f} | {regret} | {100 * found.right:.1f}"
                yield f"| {name} | {samples} | {draws} | {figures} |"


if __name__ == "__main__":
    main()
