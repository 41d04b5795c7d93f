"""Beliefs about latent factors, and states sampled from them (section 3.2, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dqa.core.errors import DataError
from dqa_dellma.events import Likelihood

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

Factors: TypeAlias = Mapping[str, Sequence[str]]
"""The k latent factors, each with its l >= 1 plausible values (section 3.1)."""
Beliefs: TypeAlias = Mapping[str, Mapping[str, Likelihood]]
"""By factor, how likely each value is: factors are taken to be independent (section 3.2)."""


def judge(words: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, Likelihood]]:
    """Return beliefs, the scores of a factor's words scaled to a sum of 1 (Algorithm 1).

    Parameters
    ----------
    words
        By factor and value, how likely the value is: one of `WEIGHTS`.

    Raises
    ------
    DataError
        A word is not on the scale, or a factor has no value.
    """
    return {factor: _scaled(factor, said) for factor, said in words.items()}


def _scaled(factor: str, words: Mapping[str, str]) -> dict[str, Likelihood]:
    if not words or not WEIGHTS.keys() >= set(words.values()):
        raise DataError(
            f"The belief about '{factor}' needs one of {', '.join(WEIGHTS)} for each of its "
            f"values, and has {dict(words)}."
        )
    weights = np.array([WEIGHTS[word] for word in words.values()], dtype=np.float64)
    shares = (weights / weights.sum()).tolist()
    return {
        value: Likelihood(words=word, probability=share)
        for (value, word), share in zip(words.items(), shares, strict=True)
    }


def sample_states(beliefs: Beliefs, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw states.

    Returns
    -------
    Shape (count, k): for each state the number of each factor's value.
    """
    chances = [[likely.probability for likely in values.values()] for values in beliefs.values()]
    drawn = [rng.choice(len(p), size=count, p=p) for p in chances]
    return np.stack(drawn, axis=1) if drawn else np.zeros((count, 0), dtype=np.int64)


def describe_state(beliefs: Beliefs, state: NDArray[np.int64]) -> dict[str, str]:
    """Return a state, shape (k,), as factor name to value."""
    numbered = zip(beliefs.items(), state.tolist(), strict=True)
    return {factor: list(values)[number] for (factor, values), number in numbered}
