"""Worlds with an uncertain future whose probabilities are known exactly.

A world has independent latent factors (DeLLMa, section 3.2). For each value of a factor it
contains the true probability and the effect on the utility of each action. The expected utility
of every action is therefore known in closed form, so decision rules can be tested against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

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
    """A latent factor with l values, and their effects on n actions.

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
        """The multiplier of the utility of each action for each value, shape (n, l).

        It is the product of the multipliers of all quantities.
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
        for place, factor in enumerate(self.factors):
            result *= factor.multipliers[:, states[:, place]].T
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
        """Draw `count` states with their true probabilities, shape (count, k)."""
        drawn = [rng.choice(len(f.values), size=count, p=f.probabilities) for f in self.factors]
        return np.stack(drawn, axis=1) if drawn else np.zeros((count, 0), dtype=np.int64)


def draw_factor(  # noqa: PLR0913
    rng: np.random.Generator,
    name: str,
    values: tuple[str, ...],
    *,
    actions: int,
    quantities: Sequence[str],
    multipliers: Sequence[float],
) -> UncertainFactor:
    """Draw the likelihoods and effects of a factor. The factor's middle value has no effect.

    Parameters
    ----------
    rng
        The source of all random choices.
    name, values
        Name and values of the factor.
    actions
        The number of actions.
    quantities
        The quantities that the factor changes.
    multipliers
        The possible multipliers of a quantity, drawn with equal probability.
    """
    words = tuple(LIKELIHOODS[i] for i in rng.integers(len(LIKELIHOODS), size=len(values)).tolist())
    effects = {}
    for quantity in quantities:
        effect = np.array(multipliers)[rng.integers(len(multipliers), size=(actions, len(values)))]
        effect[:, len(values) // 2] = 1.0
        effects[quantity] = effect
    return UncertainFactor(name, values, words, effects)
