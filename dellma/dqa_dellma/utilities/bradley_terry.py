"""Utilities of items from rankings: exact Bradley-Terry fits (section 3.3, Algorithm 2).

A ranking says which item was chosen out of which set, and an item's score is the logarithm of its
weight in such choices: an item of a set is chosen with probability ``w_i / sum(w_j)``. Both fits
minimise

    NLL(theta) + alpha * n * sum(exp(theta_i) - theta_i),

whose stationary point is the fixed point of choix's I-LSR with regularisation alpha. It is strictly
convex, so there is one optimum, and Newton's method goes straight to it. The items of a ranking
touch one another only, so the Hessian is banded once the items are ordered well (`Layout`):
minibatches of neighbours are so ordered already, and others are reordered.

How much of a Newton step is safe needs no search and no value of the objective. Let r be the most
that the step changes a score, or the difference of two. Along it no term's third derivative exceeds
r times its second (the terms are generalised self-concordant), from which follows: the whole step
lowers the objective where r <= 1; ``log(1 + r) / r`` of it always does; and the whole of it lowers
the objective at least as much wherever that still falls at its end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.linalg import LinAlgError, solveh_banded

from dqa.core.errors import DataError, UsageError
from dqa_dellma.utilities.layout import Floats, Group, Layout, Rankings, Ranks
from dqa_dellma.utilities.plackett_luce import Choices

Solver: TypeAlias = Callable[[Floats, Floats], Floats]

_TOLERANCE = 1e-6
"""Longest Newton step that is the last one; what is left behind it is its square."""
_MOST_ODDS = 700.0
"""Difference of scores whose exponential still is a number."""
_RIDGE = 1e-14
"""Of the largest entry, what is first added to a Hessian that is singular to rounding."""
_MOST_STEPS = 500
"""Far above the steps of any data: nearly separable ones take some 30."""


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
        Item numbers from 0, best first; an item may be in many rankings, but once in each unless
        `repeats` lets it.
    count
        n, how many items there are. Those in no ranking get what the regulariser gives them: a
        weight of 1, the mean of all.
    alpha
        Regularisation, > 0. Small ones let scores of items that always win grow.
    ranks
        Which items of a ranking are equal; None where none are. Equal items have half a win each
        way. In Davidson's model of ties (1970, "On Extending the Bradley-Terry Model to Accommodate
        Ties in Paired Comparison Experiments") an item's score meets the data in its wins and half
        its ties alone; this keeps that without a parameter for how often ties are said.
    repeats
        Whether an item that is named again wins and loses there once more, as a release may have
        it; against itself it does neither.

    Returns
    -------
    Shape (count,): scores with mean 0, to 1e-8 of the optimum.

    Raises
    ------
    DataError
        A ranking names an item twice, or one that does not exist, or its ranks do not fit.
    UsageError
        alpha is not above 0.
    """
    layout = Layout.of(rankings, count, repeats=repeats)
    return _fitted(layout, _Pairwise(layout, layout.groups(rankings, ranks)), alpha)


def fit_top1(
    rankings: Rankings,
    count: int,
    alpha: float,
    *,
    ranks: Ranks | None = None,
    repeats: bool = False,
) -> Floats:
    """Fit scores to each ranking's first among its items (One-vs-All): choix's ``ilsr_top1``.

    Parameters, result and errors are those of `fit_pairs`; below its first, the order of a
    ranking does not matter. Of t equal firsts each has ``1 / t`` of the choice.
    """
    layout = Layout.of(rankings, count, repeats=repeats)
    choices = Choices(layout, layout.groups(rankings, ranks), first_only=True)
    return _fitted(layout, choices, alpha)


class _Pairwise:
    """The Bradley-Terry likelihood of all pairs of the rankings, as counts along the band."""

    def __init__(self, layout: Layout, groups: Sequence[Group]) -> None:
        count, band = layout.count, layout.band
        size = count * band
        won, lost = np.zeros(size), np.zeros(size)
        for places, ranks in groups:
            first, second = np.triu_indices(places.shape[1], 1)
            winner, loser = places[:, first].ravel(), places[:, second].ravel()
            ahead = loser - winner
            target = np.minimum(winner, loser) * band + np.abs(ahead) - 1
            share = np.ones(len(ahead))
            if ranks is not None:
                share[(ranks[:, first] == ranks[:, second]).ravel()] = 0.5
            own, other = (ahead > 0), (ahead < 0)
            won += np.bincount(target[own], share[own], size)
            won += np.bincount(target[other], 1.0 - share[other], size)
            lost += np.bincount(target[other], share[other], size)
            lost += np.bincount(target[own], 1.0 - share[own], size)
        # Row i holds item i against i + 1, ... i + band; `_fallen` turns that round.
        self._won, self._lost = won.reshape(count, band), lost.reshape(count, band)
        self._met = self._won + self._lost
        wins = self._won.sum(axis=1) + _fallen(self._lost)
        losses = self._lost.sum(axis=1) + _fallen(self._won)
        self.guess: Floats = np.log((wins + 1.0) / (losses + 1.0))

    def slopes(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return the gradient and the Hessian as `Choices.slopes` does.

        Only differences of scores are exponentiated: rankings that never contradict one another
        spread scores beyond what a weight of double precision holds.
        """
        count, band = self._won.shape
        if not band:
            return np.zeros(count), np.zeros((count, 1))
        padded = np.concatenate([scores, np.zeros(band)])
        odds = scores[:, None] - sliding_window_view(padded, band)[1 : count + 1]
        np.minimum(odds, _MOST_ODDS, out=odds)
        np.exp(odds, out=odds)
        losing = 1.0 / (1.0 + odds)
        winning = np.multiply(odds, losing, out=odds)
        net = self._lost * winning - self._won * losing
        curve = winning * losing
        curve *= self._met
        hessian = np.empty((count, band + 1))
        np.negative(curve, out=hessian[:, 1:])
        hessian[:, 0] = curve.sum(axis=1) + _fallen(curve)
        return net.sum(axis=1) - _fallen(net), hessian


def _fallen(entries: Floats) -> Floats:
    """Return for each place the sum of the entries that earlier places have about it."""
    count, band = entries.shape
    padded = np.zeros((count + band, band))
    padded[band:] = entries
    row, column = padded.strides
    # Entry (i, d) of the view is that of place i - d - 1 about the one d + 1 behind it.
    view = np.lib.stride_tricks.as_strided(
        padded[band - 1 :], shape=(count, band), strides=(row, column - row), writeable=False
    )
    return np.asarray(view.sum(axis=1))


def minimise(
    scores: Floats,
    slopes: Callable[[Floats], tuple[Floats, Floats]],
    solve: Solver,
    tolerance: float = _TOLERANCE,
) -> Floats:
    """Minimise a convex objective of scores by Newton's method, from anywhere.

    Parameters
    ----------
    scores
        Shape (n,): where to start.
    slopes
        The gradient and some form of the Hessian at scores. The objective is a sum of terms as
        `Choices` has them, exponentials of a score, and quadratics.
    solve
        The Newton step, from the gradient and that form of the Hessian.
    tolerance
        Longest step that is the last one.

    Returns
    -------
    Shape (n,): scores at which another step would be about as long as `tolerance` squared.

    Raises
    ------
    DataError
        No minimum is found.
    """
    gradient, hessian = slopes(scores)
    for _ in range(_MOST_STEPS):
        step = solve(gradient, hessian)
        reach = max(float(np.ptp(step)), float(np.abs(step).max()))
        if reach <= tolerance:
            return scores + step
        gradient, hessian = slopes(scores + step)
        share = 1.0
        if reach > 1.0 and gradient @ (step / reach) > 0.0:
            share = float(np.log1p(reach) / reach)
            gradient, hessian = slopes(scores + share * step)
        scores = scores + share * step
    raise DataError(
        f"No scores of {len(scores)} items are found that fit the rankings best; a larger alpha "
        "makes them easier to find."
    )


def _fitted(layout: Layout, likelihood: Choices | _Pairwise, alpha: float) -> Floats:
    """Minimise a likelihood and the regulariser; scores by item, with mean 0."""
    if not alpha > 0.0:
        raise UsageError(f"The regularisation alpha has to be above 0, not {alpha}.")
    if not layout.count:
        return np.zeros(0)
    pull = alpha * layout.count

    def slopes(scores: Floats) -> tuple[Floats, Floats]:
        gradient, hessian = likelihood.slopes(scores)
        weights = pull * np.exp(np.minimum(scores, _MOST_ODDS))
        hessian[:, 0] += weights
        return gradient + (weights - pull), hessian

    found = minimise(likelihood.guess, slopes, _banded_step)[layout.place]
    return np.asarray(found - found.mean())


def _banded_step(gradient: Floats, hessian: Floats) -> Floats:
    """Solve for the Newton step.

    On the way to scores far apart the Hessian can be singular to rounding. What is added to its
    diagonal then keeps the step one that lowers the objective: the bounds hold for any matrix that
    is at least the Hessian.
    """
    added = 0.0
    while True:
        try:
            return solveh_banded(hessian.T, -gradient, lower=True, check_finite=False)
        except LinAlgError:
            added = max(100.0 * added, _RIDGE * float(hessian[:, 0].max()))
            hessian[:, 0] += added
