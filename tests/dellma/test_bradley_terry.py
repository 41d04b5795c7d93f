"""Scores of items from rankings: the optimum that choix finds, for any rankings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import permutations, product
from typing import Any, TypeAlias

import choix
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dqa_dellma.settings import Elicitation
from dqa_dellma.utilities.bradley_terry import Floats, fit_scores
from dqa_dellma.utilities.pairs import cut_minibatches

Problem: TypeAlias = tuple[int, list[list[int]], float]

FITS: list[Elicitation] = ["pairs", "top1"]
ALPHAS = [1.0, 2e-3, 2e-8]


def ranked(
    count: int, batches: Sequence[Sequence[int]], *, noise: float = 1.0, seed: int = 0
) -> list[list[int]]:
    """Rank batches of items of random utilities, with Gumbel noise."""
    rng = np.random.default_rng(seed)
    utilities = rng.normal(size=count)
    rankings = []
    for batch in batches:
        items = np.array(batch)
        order = np.argsort(-(utilities[items] + noise * rng.gumbel(size=len(items))))
        rankings.append(items[order].tolist())
    return rankings


def scattered(count: int, size: int, rounds: int, seed: int) -> list[list[int]]:
    """Return batches of items that are no neighbours."""
    rng = np.random.default_rng(seed)
    return [rng.permutation(count)[:size].tolist() for _ in range(rounds)]


DATA = {
    "cut_minibatches": (60, ranked(60, cut_minibatches(60, 12, 0.25))),
    "nearly separable": (60, ranked(60, cut_minibatches(60, 16, 0.5), noise=0.3)),
    "separable": (20, ranked(20, cut_minibatches(20, 8, 0.25), noise=0.0)),
    "scattered": (50, ranked(50, scattered(50, 6, 40, 1))),
    "disconnected": (50, ranked(50, [range(10), range(10, 25), range(30, 33), range(2, 9)])),
    "of all": (12, ranked(12, [range(12)])),
    "with single items": (9, [[3], [], *ranked(9, [range(6)])]),
    "pairs both ways": (3, [[0, 1], [1, 0], [0, 1], [1, 2]]),
}


def by_choix(
    rankings: Sequence[Sequence[int]], count: int, alpha: float, fit: Elicitation
) -> Floats:
    """Fit as choix does, until it has converged."""
    if fit == "pairs":
        compared = [(a, b) for one in rankings for i, a in enumerate(one) for b in one[i + 1 :]]
        return choix.ilsr_pairwise(count, compared, alpha, max_iter=100_000, tol=1e-10)
    firsts = [(one[0], tuple(one[1:])) for one in rankings if len(one) > 1]
    found = choix.ilsr_top1(count, firsts, alpha, max_iter=100_000, tol=1e-10)
    return np.asarray(found)


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("data", DATA)
def test_scores_are_those_of_choix(fit: Elicitation, alpha: float, data: str) -> None:
    """Both fits have the optimum of choix's iteration, which stops at 1e-10 a score."""
    count, rankings = DATA[data]
    assert fit_scores(rankings, count, fit, alpha) == pytest.approx(
        by_choix(rankings, count, alpha, fit), abs=1e-5 if alpha < 1e-7 else 1e-6
    )


def slope(
    rankings: Sequence[Sequence[int]], scores: Floats, alpha: float, fit: Elicitation
) -> Floats:
    """Return the objective's gradient, written out; the level is where weights average 1."""
    weights = np.exp(scores) / np.exp(scores).mean()
    gradient = alpha * len(scores) * (weights - 1.0)
    for ranking in rankings:
        sets = [[a, b] for i, a in enumerate(ranking) for b in ranking[i + 1 :]]
        if fit == "top1":
            sets = [list(ranking)] if len(ranking) > 1 else []
        for chosen_of in sets:
            gradient[chosen_of] += weights[chosen_of] / weights[chosen_of].sum()
            gradient[chosen_of[0]] -= 1.0
    return np.asarray(gradient)


@st.composite
def problems(draw: Any) -> Problem:
    """Any rankings of up to 12 items."""
    count = draw(st.integers(1, 12))
    ranking = st.lists(st.integers(0, count - 1), unique=True, max_size=count)
    return count, draw(st.lists(ranking, max_size=6)), draw(st.sampled_from(ALPHAS))


@pytest.mark.parametrize("fit", FITS)
@given(problem=problems())
@settings(max_examples=25)
def test_any_rankings_have_their_optimum(fit: Elicitation, problem: Problem) -> None:
    """Whatever the rankings, the scores are finite and the gradient is 0 there."""
    count, rankings, alpha = problem
    scores = fit_scores(rankings, count, fit, alpha)
    assert scores.shape == (count,)
    assert np.abs(slope(rankings, scores, alpha, fit)).max() < 1e-8


@pytest.mark.parametrize("fit", FITS)
def test_what_nobody_ranked_has_the_mean_weight(fit: Elicitation) -> None:
    """Items in no ranking get the regulariser's own weight: the mean of all."""
    scores = fit_scores([[0, 1, 2]], 5, fit, 0.01)
    weights = np.exp(scores)
    assert weights[3:] == pytest.approx([weights.mean()] * 2)


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize(("rankings", "count"), [([], 3), ([[]], 2), ([[0]], 1), ([[1], [0]], 2)])
def test_rankings_that_say_nothing_leave_all_alike(
    fit: Elicitation, rankings: list[list[int]], count: int
) -> None:
    """No ranking, an empty one and single items: all scores are 0."""
    assert fit_scores(rankings, count, fit, 1e-3).tolist() == [0.0] * count


@pytest.mark.parametrize("alpha", [1.0, 1e-3])
@pytest.mark.parametrize(
    "rankings",
    [
        [[1, 1, 2]],
        [[0, 1, 2, 0], [2, 2, 1, 3, 1], [3, 0]],
        [[0, 1, 0, 2, 1], [2, 3, 3, 4, 4, 4], [4, 1, 0], [3, 3]],
    ],
)
@pytest.mark.parametrize("fit", FITS)
def test_repeats_count_as_choix_counts_them(
    fit: Elicitation, rankings: list[list[int]], alpha: float
) -> None:
    """An item that is named again wins and loses once more, and nothing against itself."""
    found = fit_scores(rankings, 6, fit, alpha)
    assert found == pytest.approx(by_choix(rankings, 6, alpha, fit), abs=1e-6)


TIED: list[tuple[list[list[int]], list[list[int]]]] = [
    ([[2, 0, 3, 1]], [[1, 1, 3, 4]]),
    ([[2, 0, 3, 1], [4, 1, 0]], [[1, 2, 2, 2], [1, 2, 2]]),
    ([[0, 1, 2, 3, 4]], [[1, 1, 1, 1, 1]]),
    ([[3, 4], [0, 1, 2, 3], [3, 2, 1, 0]], [[1, 1], [1, 2, 3, 3], [1, 2, 3, 4]]),
]
"""Rankings of five items, and their ranks."""


def orders(ranking: list[int], ranks: list[int]) -> list[list[int]]:
    """Return every strict order of a ranking that leaves only equal items open."""
    groups = [
        list(permutations(item for item, own in zip(ranking, ranks, strict=True) if own == rank))
        for rank in sorted(set(ranks))
    ]
    return [[item for part in parts for item in part] for parts in product(*groups)]


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("alpha", [1.0, 2e-3])
@pytest.mark.parametrize("tied", TIED, ids=str)
def test_equal_items_count_as_the_mean_of_all_their_orders(
    fit: Elicitation, alpha: float, tied: tuple[list[list[int]], list[list[int]]]
) -> None:
    """Half a win each way, and of first choices an equal share: the mean of what choix minimises.

    As many copies of each ranking as make all orders alike often are the same data times a number,
    and the same optimum at alpha times that number.
    """
    rankings, ranks = tied
    every = [orders(*both) for both in zip(rankings, ranks, strict=True)]
    times = math.lcm(*map(len, every))
    strict = [order for of_one in every for order in of_one * (times // len(of_one))]
    found = fit_scores(rankings, 5, fit, alpha, ranks)
    assert found == pytest.approx(fit_scores(strict, 5, fit, alpha * times), abs=1e-7)
    assert found == pytest.approx(by_choix(strict, 5, alpha * times, fit), abs=1e-6)
