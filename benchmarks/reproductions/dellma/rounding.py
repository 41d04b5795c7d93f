"""Repeat the decisions of the DeLLMa release that depend only on rounding.

For stocks, the release turns scores into utilities by a softmax within each action. The mean of
these utilities is the expected utility of the action. A softmax sums to 1, so the mean over m items
is always 1/m, and all actions tie. Then the last bit of the sum decides. If this bit is also equal,
the first action is chosen. To get the same bits, the scores must be calculated by the same
operations in the same order. This module therefore repeats the operations of choix's I-LSR.

Another machine can still give other bits. The LU decomposition rounds differently with another
BLAS, processor or number of threads, which changes accuracies by several percent. The replay uses
one thread, so that the results on a machine do not depend on its number of processors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dgetrf, dtrtrs

__all__ = ["Choice", "one_vs_all", "rank_to_pairs", "rounded_scores"]

Choice: TypeAlias = tuple[int, Sequence[int]]
"""The item that was chosen, and the items that were not chosen."""

_MOST_ROUNDS = 10_000
_TOLERANCE = 1e-8


def rank_to_pairs(rankings: Sequence[Sequence[int]]) -> list[Choice]:
    """Return all pairs of an item and a lower-ranked item in the same ranking, in order."""
    return [
        (item, (other,))
        for ranking in rankings
        for rank, item in enumerate(ranking, 1)
        for other in ranking[rank:]
    ]


def one_vs_all(rankings: Sequence[Sequence[int]]) -> list[Choice]:
    """Return the first item of each ranking with all other items of the ranking."""
    return [(ranking[0], ranking[1:]) for ranking in rankings if ranking]


def rounded_scores(choices: Sequence[Choice], count: int, alpha: float) -> NDArray[np.float64]:
    """Calculate scores by iterative Luce spectral ranking (Maystre and Grossglauser, 2015).

    The operations have the same order as in choix.

    Parameters
    ----------
    choices
        Choices between two items each (`rank_to_pairs`), or between any number of items
        (`one_vs_all`). An item may also be among the items that were not chosen.
    count
        Number of items, n.
    alpha
        Regularisation: a rate that is added to every transition.

    Returns
    -------
    Shape (n,): scores with mean 0.
    """
    lengths = np.array([len(others) for _, others in choices], dtype=np.int64)
    winners = np.repeat(np.array([item for item, _ in choices], dtype=np.int64), lengths)
    losers = np.array([other for _, others in choices for other in others], dtype=np.int64)
    pairwise = bool((lengths == 1).all())
    transitions, diagonal = losers * count + winners, np.arange(count) * (count + 1)
    weights = np.ones(count)
    scores = before = None
    for _ in range(_MOST_ROUNDS):
        if pairwise:
            rates = 1.0 / (weights[winners] + weights[losers])
        else:
            totals = [weights.take(others).sum() + weights[item] for item, others in choices]
            rates = np.repeat(1.0 / np.array(totals), lengths)
        chain = np.full(count * count, alpha)
        # `np.add.at` adds the rates one after the other, like a loop.
        np.add.at(chain, transitions, rates)
        chain[diagonal] -= chain.reshape(count, count).sum(axis=1)
        scores = np.log(_stationary(chain.reshape(count, count)))
        scores = scores - scores.mean()
        centred = scores - scores.mean()
        if before is not None and np.linalg.norm(before - centred, 1) <= _TOLERANCE * count:
            break
        before = centred
        weights = np.exp(centred)
        weights = (count / weights.sum()) * weights
    return np.zeros(count) if scores is None else scores


def _stationary(chain: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the stationary distribution of a Markov chain, shape (n,), scaled to a mean of 1.

    The function overwrites `chain`. It calls LAPACK as SciPy's `lu_factor` and `solve_triangular`
    do, because their other operations would take as long as LAPACK itself. The matrix of rates is
    singular, so the last pivot of the decomposition may be 0.
    """
    upper, _, _ = dgetrf(chain.T, overwrite_a=True)
    found = np.ones(len(chain))
    if len(chain) > 1:
        # LAPACK does not accept the memory layout of this slice, so use the transpose, like SciPy.
        found[:-1], singular = dtrtrs(upper[:-1, :-1].T, -upper[:-1, -1], lower=True, trans=True)
        if singular:
            raise LinAlgError(f"singular matrix: resolution failed at diagonal {singular - 1}")
    return np.asarray((len(found) / found.sum()) * found)
