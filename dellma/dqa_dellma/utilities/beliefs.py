"""Beliefs about latent factors, and states sampled from them (section 3.2, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from dqa.core.errors import DataError

__all__ = ["WEIGHTS", "Belief", "Beliefs", "Factor"]

WEIGHTS: Mapping[str, int] = MappingProxyType(
    {
        "very likely": 6,
        "likely": 5,
        "somewhat likely": 4,
        "somewhat unlikely": 3,
        "unlikely": 2,
        "very unlikely": 1,
    }
)
"""The verbalised probabilities and their plausibility scores (section 3.2)."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A latent factor with its plausible values, l >= 1 (section 3.1)."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Belief:
    """What is believed about one factor: a word of `WEIGHTS` for each of its values.

    Raises
    ------
    DataError
        A word is not on the scale, or there is not one for each value.
    """

    factor: Factor
    words: tuple[str, ...]

    def __post_init__(self) -> None:
        unknown = [word for word in self.words if word not in WEIGHTS]
        if unknown or len(self.words) != len(self.factor.values) or not self.words:
            raise DataError(
                f"The belief about '{self.factor.name}' needs one of {', '.join(WEIGHTS)} for each "
                f"of its {len(self.factor.values)} values, and has {list(self.words)}."
            )

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """Shape (l,): the marginal distribution, scores scaled to a sum of 1 (Algorithm 1)."""
        weights = np.array([WEIGHTS[word] for word in self.words], dtype=np.float64)
        return np.asarray(weights / weights.sum())


@dataclass(frozen=True)
class Beliefs:
    """The joint belief over states: factors are taken to be independent (section 3.2)."""

    factors: tuple[Belief, ...]

    def sample(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw states.

        Returns
        -------
        Shape (count, k): for each state the index of each factor's value.
        """
        drawn = [rng.choice(len(b.words), size=count, p=b.probabilities) for b in self.factors]
        return np.stack(drawn, axis=1) if drawn else np.zeros((count, 0), dtype=np.int64)

    def describe(self, state: NDArray[np.int64]) -> dict[str, str]:
        """Return a state, shape (k,), as factor name to value."""
        return {
            belief.factor.name: belief.factor.values[index]
            for belief, index in zip(self.factors, state.tolist(), strict=True)
        }
