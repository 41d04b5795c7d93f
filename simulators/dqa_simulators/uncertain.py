"""Worlds with an uncertain future whose probabilities are known exactly.

A world has independent latent factors (DeLLMa, section 3.2). For each value of a factor, the world
contains the true probability and the effect on the utility of each action. The expected utility
of every action is therefore known in closed form, so decision rules can be tested against it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, count, islice
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from dqa.core.situation import Situation
from dqa.core.truth import LabelledQuestion
from dqa.scenarios.base import LIST_SEPARATOR, Scenario
from dqa.scenarios.generation import Drawn, Request, Size

_SMALLEST_MARGIN = 1e-6  # between the two best actions, as a share of the best utility
_PER_WORLD = 4
_DIGITS = 9  # decimals of an expected utility; more would show rounding errors
LIKELIHOODS = (
    "very unlikely",
    "unlikely",
    "somewhat unlikely",
    "somewhat likely",
    "likely",
    "very likely",
)
"""The words for likelihoods, in ascending order. Their weights are 1 to 6 (DeLLMa, section 3.2)."""


@dataclass(frozen=True, eq=False)
class UncertainFactor:
    """A latent factor with l values, and the effects of these values on n actions.

    Attributes
    ----------
    name
        The factor's name in reports.
    values
        The l values that the factor can take.
    words
        The true likelihood of each value, one of `LIKELIHOODS`. The probability of a value is the
        weight of its word divided by the sum of the weights of all values.
    effects
        For each quantity, e.g. ``"yield"`` or ``"price"``, an array of shape (n, l): the
        multiplier of that quantity for each action and value.
    """

    name: str
    values: tuple[str, ...]
    words: tuple[str, ...]
    effects: Mapping[str, NDArray[np.float64]]

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """The true probability of each value, shape (l,)."""
        weights = np.array([1 + LIKELIHOODS.index(word) for word in self.words], dtype=np.float64)
        return np.asarray(weights / weights.sum())

    @cached_property
    def multipliers(self) -> NDArray[np.float64]:
        """The multiplier of the utility of n actions for l values, shape (n, l).

        It is the product of the effects on all quantities.
        """
        return np.asarray(np.prod(np.stack(list(self.effects.values())), axis=0))


@dataclass(frozen=True, eq=False)
class UncertainWorld:
    """Actions and factors: the ground truth of generated questions.

    Attributes
    ----------
    actions
        The n actions.
    base
        The utility of each action before the factors change it, shape (n,).
    factors
        The k factors, which are independent of one another.
    """

    actions: tuple[str, ...]
    base: NDArray[np.float64]
    factors: tuple[UncertainFactor, ...]

    def utilities(self, states: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the utility of every action in each state, shape (S, n).

        `states` has shape (S, k): the index of each factor's value.
        """
        result = np.repeat(self.base[None, :], len(states), axis=0)
        for index, factor in enumerate(self.factors):
            result *= factor.multipliers[:, states[:, index]].T
        return result

    def expected_utilities(self) -> NDArray[np.float64]:
        """Return the expected utility of every action, shape (n,).

        The result is exact. Factors are independent and their effects multiply, so the
        expectation of the product is the product of the expectations.
        """
        result = self.base.copy()
        for factor in self.factors:
            result *= (factor.multipliers * factor.probabilities).sum(axis=1)
        return result

    def sample(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw `count` states by their true probabilities. The result has the shape (count, k)."""
        drawn = [rng.choice(len(f.values), size=count, p=f.probabilities) for f in self.factors]
        return np.stack(drawn, axis=1) if drawn else np.zeros((count, 0), dtype=np.int64)


def draw_factors(
    rng: np.random.Generator,
    named: Sequence[tuple[str, tuple[str, ...]]],
    actions: int,
    quantities: Sequence[str],
    multipliers: Sequence[float],
) -> tuple[UncertainFactor, ...]:
    """Draw the likelihoods and effects of factors. The middle value of a factor has no effect.

    Parameters
    ----------
    rng
        The source of all random choices.
    named
        The name and the values of each factor.
    actions
        The number of actions.
    quantities
        The quantities that the factors change.
    multipliers
        The possible multipliers of a quantity, drawn with equal probability.
    """
    found = []
    for name, values in named:
        drawn = rng.integers(len(LIKELIHOODS), size=len(values)).tolist()
        effects = {}
        for quantity in quantities:
            picked = rng.integers(len(multipliers), size=(actions, len(values)))
            effects[quantity] = np.array(multipliers)[picked]
            effects[quantity][:, len(values) // 2] = 1.0
        words = tuple(LIKELIHOODS[index] for index in drawn)
        found.append(UncertainFactor(name, values, words, effects))
    return tuple(found)


class DrawnWorld(NamedTuple):
    """A world, the situation with its public data, and the random generator of its questions."""

    world: UncertainWorld
    situation: Situation
    asking: np.random.Generator


@dataclass(frozen=True, slots=True)
class UncertainGenerator:
    """Question generator of a scenario whose worlds have known probabilities.

    See `dqa.scenarios.generation.Generator`.

    Attributes
    ----------
    scenario
        Name of the scenario. The random numbers depend on this name.
    build
        A function of a random generator and a name. It draws a world, and a situation of this name.
    target
        A function that returns the target values that all questions about a world share.
    listed
        The name of the target value that lists the candidates.
    name
        Format string of a situation's name, with the field ``number``.
    stake
        The cost of a decision. An outcome is the utility minus the stake.
    """

    scenario: str
    build: Callable[[np.random.Generator, str], tuple[UncertainWorld, Situation]]
    target: Callable[[Situation], Mapping[str, str]]
    listed: str
    name: str
    stake: float = 0.0
    size: Size | None = None
    takes_difficulty: bool = False

    def worlds(self, seed: int = 0, before: int = 0) -> Iterator[DrawnWorld]:
        """Yield an endless series of worlds. Skip the first `before` worlds.

        Each world has its own random generators, so skipping worlds does not change later worlds.
        """
        for number in count(before + 1):
            seeds = np.random.SeedSequence(seed, spawn_key=(crc32(self.scenario.encode()), number))
            building, asking = np.random.Generator(np.random.PCG64(seeds)).spawn(2)
            world, situation = self.build(building, self.name.format(number=number))
            yield DrawnWorld(world, situation, asking)

    def ask(
        self, scenario: Scenario, drawn: DrawnWorld, wanted: int | None = None
    ) -> list[LabelledQuestion]:
        """Return questions that each offer two or more of a world's actions, in random order.

        Parameters
        ----------
        scenario
            The scenario of the questions.
        drawn
            A world from `worlds`.
        wanted
            The maximum number of questions; by default 4.

        Returns
        -------
        list[LabelledQuestion]
            Questions without ids. Their `Truth.outcomes` are true expected utilities minus the
            stake, not the utilities of one random future. Sets of actions without a clear best
            action are skipped.
        """
        world, situation, rng = drawn
        expected = [round(value, _DIGITS) for value in world.expected_utilities().tolist()]
        truth = dict(zip(world.actions, expected, strict=True))
        choices = [c for n in range(2, len(truth) + 1) for c in combinations(world.actions, n)]
        clear = (choices[i] for i in rng.permutation(len(choices)) if _is_clear(truth, choices[i]))
        return [
            scenario.recorded(
                situation,
                "",
                {self.listed: LIST_SEPARATOR.join(choice), **self.target(situation)},
                {action: round(value - self.stake, _DIGITS) for action, value in truth.items()},
            )
            for choice in islice(clear, wanted or _PER_WORLD)
        ]

    def questions(self, scenario: Scenario, request: Request) -> Iterator[Drawn]:
        """Yield worlds with questions, ``request.count`` questions in total."""
        left = request.count
        for drawn in self.worlds(request.seed, request.databases_before):
            questions = self.ask(scenario, drawn, request.per_database)[:left]
            left -= len(questions)
            yield Drawn(drawn.situation, questions)
            if left <= 0:
                break

    def label_rules(self, situation: Situation) -> tuple[str, ...]:
        """Return an empty tuple: the outcomes of these scenarios do not depend on a rule set."""
        del situation
        return ()


def _is_clear(truth: Mapping[str, float], choice: tuple[str, ...]) -> bool:
    second, best = sorted(truth[action] for action in choice)[-2:]
    return best - second > _SMALLEST_MARGIN * best
