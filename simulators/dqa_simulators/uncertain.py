"""Worlds whose future is uncertain and whose uncertainty is known exactly.

A world has independent latent factors (DeLLMa, section 3.2), the true probability of each of their
values, and what each value does to the utility of each action. So the expected utility of every
action is known in closed form, and a decision rule can be tested against it.
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
"""The words for likelihoods, weakest first: they weigh 1 to 6 (DeLLMa, section 3.2)."""


@dataclass(frozen=True, eq=False)
class UncertainFactor:
    """A latent factor with l values, and their effects on n actions.

    Attributes
    ----------
    name
        Its name in reports.
    values
        The l values it can take.
    words
        For each value one of `LIKELIHOODS`. They are the truth: its probability is its word's
        weight over the sum of the weights.
    effects
        By quantity, e.g. ``"yield"`` and ``"price"``, shape (n, l): the multiplier of that quantity
        of an action for each value.
    """

    name: str
    values: tuple[str, ...]
    words: tuple[str, ...]
    effects: Mapping[str, NDArray[np.float64]]

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """Shape (l,): the true probability of each value."""
        weights = np.array([1 + LIKELIHOODS.index(word) for word in self.words], dtype=np.float64)
        return np.asarray(weights / weights.sum())

    @cached_property
    def multipliers(self) -> NDArray[np.float64]:
        """Shape (n, l): the multiplier of the utility of each action, all quantities in one."""
        return np.asarray(np.prod(np.stack(list(self.effects.values())), axis=0))


@dataclass(frozen=True, eq=False)
class UncertainWorld:
    """Actions, factors and their results: the truth behind generated questions.

    Attributes
    ----------
    actions
        The n actions.
    base
        Shape (n,): the utility of each action where every factor leaves it as it is.
    factors
        The k factors, independent of one another.
    """

    actions: tuple[str, ...]
    base: NDArray[np.float64]
    factors: tuple[UncertainFactor, ...]

    def utilities(self, states: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the utility of every action in each of `states`, shape (S, k), as shape (S, n)."""
        result = np.repeat(self.base[None, :], len(states), axis=0)
        for place, factor in enumerate(self.factors):
            result *= factor.multipliers[:, states[:, place]].T
        return result

    def expected_utilities(self) -> NDArray[np.float64]:
        """Return the expected utility of every action, shape (n,).

        Exact: factors are independent and their effects multiply, so the expectation of the
        product is the product of the expectations.
        """
        result = self.base.copy()
        for factor in self.factors:
            result *= (factor.multipliers * factor.probabilities).sum(axis=1)
        return result

    def sample(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw `count` states by their true probabilities, shape (count, k)."""
        drawn = [rng.choice(len(f.values), size=count, p=f.probabilities) for f in self.factors]
        return np.stack(drawn, axis=1) if drawn else np.zeros((count, 0), dtype=np.int64)


def draw_factor(  # noqa: PLR0913  (a factor is that many things)
    rng: np.random.Generator,
    name: str,
    values: tuple[str, ...],
    *,
    actions: int,
    quantities: Sequence[str],
    multipliers: Sequence[float],
) -> UncertainFactor:
    """Draw a factor's likelihoods and effects; its middle value changes nothing.

    Parameters
    ----------
    rng
        The only source of chance.
    name, values
        Of the factor.
    actions
        How many there are.
    quantities
        The quantities that the values change.
    multipliers
        The possible multipliers of a quantity, each as likely as the others.
    """
    words = tuple(LIKELIHOODS[i] for i in rng.integers(len(LIKELIHOODS), size=len(values)).tolist())
    effects = {}
    for quantity in quantities:
        effect = np.array(multipliers)[rng.integers(len(multipliers), size=(actions, len(values)))]
        effect[:, len(values) // 2] = 1.0
        effects[quantity] = effect
    return UncertainFactor(name, values, words, effects)
