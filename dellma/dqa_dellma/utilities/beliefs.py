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


def sample_states(
    beliefs: Beliefs, count: int, rng: np.random.Generator, draws: Draws = "independent"
) -> NDArray[np.int64]:
    """Draw states.

    Parameters
    ----------
    beliefs
        Of k factors.
    count
        How many states.
    rng
        The only source of chance.
    draws
        ``independent`` draws each state by itself (Algorithm 1 of the paper). ``stratified`` is
        Latin hypercube sampling (McKay, Beckman and Conover 1979): each value of each factor comes
        as often as it is believed to, rounded up or down, and factors are matched at random. Every
        state has the believed probability by both.

    Returns
    -------
    Shape (count, k): for each state the number of each factor's value.
    """
    chances = [[likely.probability for likely in values.values()] for values in beliefs.values()]
    if not chances or not count:
        return np.zeros((count, len(chances)), dtype=np.int64)
    if draws == "independent":
        return np.stack([rng.choice(len(p), size=count, p=p) for p in chances], axis=1)
    # Latin hypercube points. One shift of all points of a factor leaves them as far apart as they
    # are, so any interval holds its share of them, rounded up or down (Cranley, Patterson 1976).
    even = qmc.LatinHypercube(len(chances), scramble=False, rng=rng).random(count)
    points = (even + rng.random(len(chances))) % 1.0
    numbers = [
        # What rounding leaves of the last sum above 1 belongs to the last value.
        np.minimum(np.searchsorted(np.cumsum(p), column, side="right"), len(p) - 1)
        for p, column in zip(chances, points.T, strict=True)
    ]
    return np.stack(numbers, axis=1).astype(np.int64)


def bearing_of(
    factors: Iterable[str],
    about: Mapping[str, Sequence[Candidate]],
    actions: Sequence[Candidate],
) -> NDArray[np.bool_]:
    """Return which factors bear on which actions.

    Parameters
    ----------
    factors
        The names of the k factors.
    about
        As in `dqa_dellma.findings.NamedFactors`.
    actions
        The A actions.

    Returns
    -------
    Shape (A, k).
    """
    columns = [
        [factor not in about or action in about[factor] for action in actions] for factor in factors
    ]
    return np.array(columns, dtype=np.bool_).reshape(-1, len(actions)).T


def describe_state(
    beliefs: Beliefs, state: NDArray[np.int64], bearing: NDArray[np.bool_]
) -> dict[str, str]:
    """Return a state, shape (k,), as factor name to value: of those that bear, shape (k,)."""
    numbered = zip(beliefs.items(), state.tolist(), bearing.tolist(), strict=True)
    return {factor: list(values)[number] for (factor, values), number, bears in numbered if bears}
