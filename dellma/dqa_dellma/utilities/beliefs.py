"""Beliefs about latent factors, and states sampled from them (section 3.2, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from dqa.core.errors import DataError
from dqa.core.question import Candidate
from dqa_dellma.findings import Likelihood
from dqa_dellma.settings import Draws

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
"""By latent factor, its plausible values; each factor has at least one (section 3.1)."""
Beliefs: TypeAlias = Mapping[str, Mapping[str, Likelihood]]
"""By factor, the likelihood of each value. Factors are assumed to be independent (section 3.2)."""


def judge(words: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, Likelihood]]:
    """Turn likelihoods in words into probabilities (Algorithm 1).

    The probability of a value is the weight of its phrase, divided by the sum of the weights of all
    values of the factor.

    Parameters
    ----------
    words
        By factor and value, how likely the value is: one of the phrases in `WEIGHTS`.

    Raises
    ------
    DataError
        A phrase is not in `WEIGHTS`, or a factor has no values.
    """
    return {factor: _scaled(factor, word_of) for factor, word_of in words.items()}


def _scaled(factor: str, words: Mapping[str, str]) -> dict[str, Likelihood]:
    if not words or not WEIGHTS.keys() >= set(words.values()):
        raise DataError(
            f"Each value of the factor '{factor}' needs one of {', '.join(WEIGHTS)}. Found: "
            f"{dict(words)}."
        )
    weights = np.array([WEIGHTS[word] for word in words.values()], dtype=np.float64)
    shares = (weights / weights.sum()).tolist()
    return {
        value: Likelihood(words=word, probability=share)
        for (value, word), share in zip(words.items(), shares, strict=True)
    }


def sample_states(
    beliefs: Beliefs, count: int, rng: np.random.Generator, draws: Draws = "independent"
) -> NDArray[np.int64]:
    """Draw states from beliefs.

    Parameters
    ----------
    beliefs
        The beliefs about k factors.
    count
        The number of states.
    rng
        The random number generator.
    draws
        ``independent`` draws each state independently (Algorithm 1 of the paper). ``stratified`` is
        Latin hypercube sampling (McKay, Beckman and Conover 1979): the number of states with a
        value is `count` times the probability of the value, rounded up or down. The values of
        different factors are combined at random. With both methods, a state is drawn with its
        probability under the beliefs.

    Returns
    -------
    Shape (count, k): for each state and factor, the index of the drawn value.
    """
    chances = [[likely.probability for likely in values.values()] for values in beliefs.values()]
    if not chances or not count:
        return np.zeros((count, len(chances)), dtype=np.int64)
    if draws == "independent":
        return np.stack([rng.choice(len(p), size=count, p=p) for p in chances], axis=1)
    # Shift all Latin hypercube points of a factor by the same amount. The points stay evenly
    # spaced, so every interval contains its share of the points, rounded up or down (Cranley,
    # Patterson 1976).
    even = qmc.LatinHypercube(len(chances), scramble=False, rng=rng).random(count)
    points = (even + rng.random(len(chances))) % 1.0
    numbers = [
        # If rounding leaves the last sum below 1, points above this sum belong to the last value.
        np.minimum(np.searchsorted(np.cumsum(p), column, side="right"), len(p) - 1)
        for p, column in zip(chances, points.T, strict=True)
    ]
    return np.stack(numbers, axis=1).astype(np.int64)


def bearing_of(
    factors: Iterable[str], about: Mapping[str, Sequence[Candidate]], actions: Sequence[Candidate]
) -> NDArray[np.bool_]:
    """Return which factors affect which actions, shape (A, k).

    Parameters
    ----------
    factors
        The names of the k factors.
    about
        By factor, the actions that it affects; see `dqa_dellma.findings.NamedFactors`.
    actions
        The A actions.
    """
    columns = [
        [factor not in about or action in about[factor] for action in actions] for factor in factors
    ]
    return np.array(columns, dtype=np.bool_).reshape(-1, len(actions)).T


def describe_state(
    beliefs: Beliefs, state: NDArray[np.int64], bearing: NDArray[np.bool_]
) -> dict[str, str]:
    """Return the value of each factor in a state, by name of the factor.

    `state` and `bearing` have the shape (k,). Factors whose `bearing` is false are omitted.
    """
    numbered = zip(beliefs.items(), state.tolist(), bearing.tolist(), strict=True)
    return {factor: list(values)[number] for (factor, values), number, bears in numbered if bears}
