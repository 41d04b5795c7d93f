"""Scores of items from rankings: equal to the optimum of choix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import permutations, product

import choix
import numpy as np
import pytest

from dqa_dellma.settings import Elicitation
from dqa_dellma.utilities.bradley_terry import Floats, fit_scores
from dqa_dellma.utilities.pairs import cut_minibatches

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


DATA = {
    "nearly separable": (60, ranked(60, cut_minibatches(60, 16, 0.5), noise=0.3)),
    "separable": (20, ranked(20, cut_minibatches(20, 8, 0.25), noise=0.0)),
    "disconnected": (50, ranked(50, [range(10), range(10, 25), range(30, 33), range(2, 9)])),
    "with single items": (9, [[3], [], *ranked(9, [range(6)])]),
    # A repeated item wins and loses once more, but not against itself.
    "with repeats": (6, [[0, 1, 0, 2, 1], [2, 3, 3, 4, 4, 4], [4, 1, 0], [3, 3]]),
}


def by_choix(
    rankings: Sequence[Sequence[int]], count: int, alpha: float, fit: Elicitation
) -> Floats:
    """Fit with choix until it has converged."""
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
    count, rankings = DATA[data]
    assert fit_scores(rankings, count, fit, alpha) == pytest.approx(
        by_choix(rankings, count, alpha, fit), abs=1e-5 if alpha < 1e-7 else 1e-6
    )


TIED: list[tuple[list[list[int]], list[list[int]]]] = [
    ([[2, 0, 3, 1], [4, 1, 0]], [[1, 2, 2, 2], [1, 2, 2]]),
    ([[3, 4], [0, 1, 2, 3], [3, 2, 1, 0]], [[1, 1], [1, 2, 3, 3], [1, 2, 3, 4]]),
]
"""Rankings of five items, and their ranks."""


def orders(ranking: list[int], ranks: list[int]) -> list[list[int]]:
    """Return every strict order that a ranking with ties allows."""
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
    """A tie is half a win for each item, and an equal share of a first choice.

    Each ranking is repeated so that all rankings have equally many orders. The optimum is then that
    of the same data at a multiple of alpha.
    """
    rankings, ranks = tied
    every = [orders(*both) for both in zip(rankings, ranks, strict=True)]
    times = math.lcm(*map(len, every))
    strict = [order for of_one in every for order in of_one * (times // len(of_one))]
    found = fit_scores(rankings, 5, fit, alpha, ranks)
    assert found == pytest.approx(fit_scores(strict, 5, fit, alpha * times), abs=1e-7)
    assert found == pytest.approx(by_choix(strict, 5, alpha * times, fit), abs=1e-6)
