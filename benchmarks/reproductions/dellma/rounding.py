"""Decisions of the DeLLMa release that only rounding makes, made as the release makes them.

The release turns the scores of stocks into utilities by a softmax within each action, and takes
their mean as the action's expected utility. A softmax sums to 1, so with m items an action every
expected utility is 1/m: the actions tie, whatever was ranked, and the sum's last bit (or, where
that is the same too, the order of the actions) decides. To get the same bits, the scores have to
come out of the same operations in the same order: those of choix's I-LSR, repeated here.

Even so they are the release's on one machine only. The LU decomposition rounds differently with
another BLAS, processor or number of threads, and that moves accuracies by several percent. The
replay takes one thread (`replay.on_one_thread`), so that a machine's figures are the same however
many processors it has and whatever else runs there.
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
"""The item that was chosen, and those that were not."""

_MOST_ROUNDS = 10_000
_TOLERANCE = 1e-8


def rank_to_pairs(rankings: Sequence[Sequence[int]]) -> list[Choice]:
    """Return all pairs of an item and a lower-ranked item of each ranking, in order."""
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
    """Iterate Luce spectral ranking (Maystre and Grossglauser, 2015) in choix's order.

    Parameters
    ----------
    choices
        Either all of two items (`rank_to_pairs`) or of any number (`one_vs_all`). An item may be
        its own rival.
    count
        Number of items, n.
    alpha
        Regularisation: the smallest rate of every transition.

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
        # One after the other, as a loop would add them.
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
    """Return a chain's stationary distribution, shape (n,), scaled to a mean of 1; changes `chain`.

    LAPACK is called as SciPy's `lu_factor` and `solve_triangular` call it, which take as long to
    get there as it takes. A chain of rates is singular, so the decomposition may end in a zero.
    """
    upper, _, _ = dgetrf(chain.T, overwrite_a=True)
    found = np.ones(len(chain))
    if len(chain) > 1:
        # The part is in no order that LAPACK takes: SciPy solves with its transpose.
        found[:-1], singular = dtrtrs(upper[:-1, :-1].T, -upper[:-1, -1], lower=True, trans=True)
        if singular:
            raise LinAlgError(f"singular matrix: resolution failed at diagonal {singular - 1}")
    return np.asarray((len(found) / found.sum()) * found)
