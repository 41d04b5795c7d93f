"""Scores of items from rankings: exact Bradley-Terry fits (section 3.3, Algorithm 2).

An item of a set is chosen with probability ``w_i / sum(w_j)``; its score is the logarithm of w_i.
Both fits minimise

    NLL(theta) + alpha * n * sum(exp(theta_i) - theta_i),

whose stationary point is the fixed point of choix's I-LSR with regularisation alpha. The objective
is strictly convex, so Newton's method finds its one optimum. Items meet in few rankings, so the
Hessian is sparse.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, diags_array, eye_array
from scipy.sparse.linalg import splu
from scipy.special import expit

from dqa.core.errors import DataError, UsageError

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Rankings: TypeAlias = Sequence[Sequence[int]]
"""Item numbers from 0, best first."""
Ranks: TypeAlias = Sequence[Sequence[int]]
"""For each ranking the rank of each of its items: never falling, and the same for equal items."""
Slopes: TypeAlias = Callable[[Floats], tuple[Floats, csr_array]]
"""Returns the gradient and the Hessian of a negative log-likelihood at scores."""

_TOLERANCE = 1e-6
"""The longest Newton step that is the last one; the error after it is about its square."""
_LARGEST = 700.0
"""The largest score whose exponential is a finite number."""
_MOST_STEPS = 500
"""Far above the steps of any data: nearly separable rankings take about 30."""


def fit_pairs(
    rankings: Rankings,
    count: int,
    alpha: float,
    *,
    ranks: Ranks | None = None,
    repeats: bool = False,
) -> Floats:
    """Fit scores to all pairs of the rankings (Rank2Pairs): choix's ``ilsr_pairwise``.

    Parameters
    ----------
    rankings
        An item may be in many rankings. It may be in one ranking twice only with `repeats`.
    count
        n, how many items there are. An item without a ranking gets the mean weight, 1.
    alpha
        Regularisation, > 0. With a small alpha the scores of items that always win grow.
    ranks
        Which items of a ranking are equal; None if no items are. Equal items have half a win each,
        as in Davidson's model of ties (1970) without its parameter for the frequency of ties.
    repeats
        Whether a ranking may name an item several times, as the release does. Each time counts;
        against itself an item neither wins nor loses.

    Returns
    -------
    Shape (count,): scores with mean 0, to 1e-8 of the optimum.

    Raises
    ------
    DataError
        A ranking names an item twice, or an unknown item, or its ranks do not fit.
    UsageError
        alpha is not above 0.
    """
    winner, loser, wins = _pairs(rankings, _checked(rankings, count, ranks, repeats=repeats))
    row = np.arange(len(wins))
    meetings = csr_array(
        (
            np.concatenate([np.ones(len(row)), -np.ones(len(row))]),
            (np.concatenate([row, row]), np.concatenate([winner, loser])),
        ),
        shape=(len(row), count),
    )

    def slopes(scores: Floats) -> tuple[Floats, csr_array]:
        upset = expit(-(meetings @ scores))
        curve = diags_array(wins * upset * (1.0 - upset))
        return -(meetings.T @ (wins * upset)), meetings.T @ curve @ meetings

    won, lost = np.bincount(winner, wins, count), np.bincount(loser, wins, count)
    return _fit(np.log((won + 1.0) / (lost + 1.0)), slopes, alpha)


def fit_top1(
    rankings: Rankings,
    count: int,
    alpha: float,
    *,
    ranks: Ranks | None = None,
    repeats: bool = False,
) -> Floats:
    """Fit scores to each ranking's first among its items (One-vs-All): choix's ``ilsr_top1``.

    Parameters, result and errors are those of `fit_pairs`. The order below the first does not
    matter. Each of t equal firsts has ``1 / t`` of the choice.
    """
    own_ranks = _checked(rankings, count, ranks, repeats=repeats)
    both = [pair for pair in zip(rankings, own_ranks, strict=True) if len(pair[0]) > 1]
    lengths = [len(ranking) for ranking, _ in both]
    row = np.repeat(np.arange(len(both)), lengths)
    item = np.array([item for ranking, _ in both for item in ranking], dtype=np.int64)
    first = np.array([rank == own[0] for _, own in both for rank in own], dtype=np.float64)
    wins = np.bincount(item, first / np.bincount(row, first)[row], count)

    def slopes(scores: Floats) -> tuple[Floats, csr_array]:
        largest = np.full(len(both), -np.inf)
        np.maximum.at(largest, row, scores[item])
        weights = np.exp(scores[item] - largest[row])
        chances = csr_array(
            (weights / np.bincount(row, weights)[row], (row, item)), shape=(len(both), count)
        )
        expected = np.asarray(chances.sum(axis=0), dtype=np.float64)
        diagonal = diags_array(expected)
        return expected - wins, csr_array(diagonal - chances.T @ chances)

    return _fit(np.zeros(count), slopes, alpha)


def _checked(rankings: Rankings, count: int, ranks: Ranks | None, *, repeats: bool) -> Ranks:
    """Return the rank of each item of each ranking, or raise the first problem."""
    found = [range(len(ranking)) for ranking in rankings] if ranks is None else ranks
    for number, (ranking, own) in enumerate(zip(rankings, found, strict=True)):
        if not repeats and len(set(ranking)) < len(ranking):
            raise DataError(f"Ranking {number} names an item twice: {list(ranking)}.")
        if ranking and not (min(ranking) >= 0 and max(ranking) < count):
            raise DataError(
                f"Ranking {number} names an item that is none of 0 to {count - 1}: {list(ranking)}."
            )
        if len(ranking) != len(own) or any(later < rank for rank, later in pairwise(own)):
            raise DataError(
                f"Ranking {number} of {len(ranking)} items needs a rank for each that never "
                f"falls, not {list(own)}."
            )
    return found


def _pairs(rankings: Rankings, ranks: Ranks) -> tuple[Ints, Ints, Floats]:
    """Return winner, loser and wins of all pairs; two equal items win half a time each."""
    empty = np.zeros(0, dtype=np.int64)
    winners, losers, wins = [empty], [empty], [np.zeros(0)]
    for ranking, own in zip(rankings, ranks, strict=True):
        items, rank = np.array(ranking, dtype=np.int64), np.array(own, dtype=np.int64)
        first, second = np.triu_indices(len(items), 1)
        apart = items[first] != items[second]
        first, second = first[apart], second[apart]
        equal = rank[first] == rank[second]
        winners += [items[first], items[second[equal]]]
        losers += [items[second], items[first[equal]]]
        wins += [np.where(equal, 0.5, 1.0), np.full(int(equal.sum()), 0.5)]
    return np.concatenate(winners), np.concatenate(losers), np.concatenate(wins)


def _fit(scores: Floats, slopes: Slopes, alpha: float) -> Floats:
    """Minimise the likelihood with the regulariser by Newton's method, from any scores.

    The terms of the objective are generalised self-concordant: with r the largest change of a
    score, or of the difference of two, a step lowers the objective if r <= 1, or if the objective
    still falls at its end; ``log(1 + r) / r`` of a step always lowers it.
    """
    if not alpha > 0.0:
        raise UsageError(f"The regularisation alpha has to be above 0, not {alpha}.")
    count = len(scores)
    if not count:
        return scores
    pull = alpha * count

    def both(scores: Floats) -> tuple[Floats, csc_array]:
        gradient, hessian = slopes(scores)
        weights = pull * np.exp(np.minimum(scores, _LARGEST))
        return gradient + weights - pull, csc_array(hessian + diags_array(weights))

    gradient, hessian = both(scores)
    for _ in range(_MOST_STEPS):
        step = -_solved(hessian, gradient)
        reach = max(float(np.ptp(step)), float(np.abs(step).max()))
        if reach <= _TOLERANCE:
            found = scores + step
            return np.asarray(found - found.mean())
        gradient, hessian = both(scores + step)
        share = 1.0
        if reach > 1.0 and gradient @ (step / reach) > 0.0:
            share = float(np.log1p(reach) / reach)
            gradient, hessian = both(scores + share * step)
        scores = scores + share * step
    raise DataError(
        f"No scores of {count} items are found that fit the rankings best; a larger alpha makes "
        "them easier to find."
    )


def _solved(hessian: csc_array, gradient: Floats) -> Floats:
    """Divide the gradient by the Hessian; a small ridge replaces what rounding took from it."""
    count = len(gradient)
    ridge = 1e-14 * float(hessian.diagonal().max())
    factors = splu(
        csc_array(hessian + ridge * eye_array(count)),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    return np.asarray(factors.solve(gradient))
