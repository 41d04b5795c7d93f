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
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, solveh_banded
from scipy.sparse import coo_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from dqa.core.errors import DataError, UsageError

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
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
    rankings: Sequence[Sequence[int]], count: int, alpha: float, *, repeats: bool = False
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
    repeats
        Whether an item that is named again wins and loses there once more, as a release may have
        it; against itself it does neither.

    Returns
    -------
    Shape (count,): scores with mean 0, to 1e-8 of the optimum.

    Raises
    ------
    DataError
        A ranking names an item twice, or one that does not exist.
    UsageError
        alpha is not above 0.
    """
    layout = Layout.of(rankings, count, repeats=repeats)
    return _fitted(layout, _Pairwise(layout, layout.groups(rankings)), alpha)


def fit_top1(
    rankings: Sequence[Sequence[int]], count: int, alpha: float, *, repeats: bool = False
) -> Floats:
    """Fit scores to each ranking's first among its items (One-vs-All): choix's ``ilsr_top1``.

    Parameters, result and errors are those of `fit_pairs`; below its first, the order of a
    ranking does not matter.
    """
    layout = Layout.of(rankings, count, repeats=repeats)
    choices = Choices(layout, layout.groups(rankings), first_only=True)
    return _fitted(layout, choices, alpha)


@dataclass(frozen=True)
class Layout:
    """An order of the items in which the items of a ranking are close together.

    Attributes
    ----------
    place
        Shape (n,): each item's place.
    band
        The most that places of items of a ranking differ.
    """

    place: Ints
    band: int

    @classmethod
    def of(cls, rankings: Sequence[Sequence[int]], count: int, *, repeats: bool = False) -> Layout:
        """Return the items' own order where that is narrow, and a narrower one elsewhere.

        Raises
        ------
        DataError
            A ranking names an item that does not exist, or one twice unless `repeats` lets it.
        """
        longest = _checked(rankings, count, repeats=repeats)
        own = cls(np.arange(count), _width(rankings, np.arange(count)))
        if not own.band or own.band < 2 * longest:
            return own
        links = np.concatenate([_links(ranking) for ranking in rankings if len(ranking) > 1])
        graph = coo_array((np.ones(len(links)), (links[:, 0], links[:, 1])), (count, count))
        place = np.empty(count, dtype=np.int64)
        place[reverse_cuthill_mckee(graph.tocsr() + graph.T.tocsr(), symmetric_mode=True)] = (
            np.arange(count)
        )
        other = cls(place, _width(rankings, place))
        return other if other.band < own.band else own

    @property
    def count(self) -> int:
        """How many items there are."""
        return len(self.place)

    def groups(self, rankings: Sequence[Sequence[int]]) -> list[Ints]:
        """Return the places of the rankings' items, those of a length together: shapes (r, m).

        Rankings of fewer than two items say nothing and are left out.
        """
        by_length: dict[int, list[Sequence[int]]] = {}
        for ranking in rankings:
            if len(ranking) > 1:
                by_length.setdefault(len(ranking), []).append(ranking)
        return [self.place[np.array(same)] for _, same in sorted(by_length.items())]


class Choices:
    """The Plackett-Luce likelihood: a ranking's first is chosen of all, its second of the rest, ...

    Parameters
    ----------
    layout, groups
        The items' places and the rankings in them.
    first_only
        Whether only the first choice of each ranking counts.
    """

    def __init__(self, layout: Layout, groups: Sequence[Ints], *, first_only: bool = False) -> None:
        self._layout = layout
        self._groups = groups
        self._first_only = first_only
        self._repeats = any((np.diff(np.sort(group, axis=1)) == 0).any() for group in groups)
        wins = [group[:, 0] if first_only else group.ravel() for group in groups]
        joined = np.concatenate(wins) if wins else np.empty(0, dtype=np.int64)
        self._wins = np.bincount(joined, minlength=layout.count)
        self.guess: Floats = np.zeros(layout.count)

    def value(self, scores: Floats) -> float:
        """Return the negative log-likelihood of scores, shape (n,), by place."""
        total = -float(self._wins @ scores)
        for group in self._groups:
            own = scores[group]
            sums = np.log(self._sums(_weights(own)))
            total += float(sums.sum() + own.max(axis=1).sum() * sums.shape[1])
        return total

    def slopes(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return the gradient and the Hessian of the negative log-likelihood.

        A choice from a set of sum s has the gradient ``w_i / s``, less 1 for who is chosen, and
        the Hessian ``diag(w / s) - w w' / s^2``; an item is in the sets up to its own choice, so
        two items are together in those up to the earlier one's.

        Parameters
        ----------
        scores
            Shape (n,), by place.

        Returns
        -------
        Shape (n,), and shape (n, band + 1): place i with itself, i + 1, ... i + band.
        """
        count, band = self._layout.count, self._layout.band
        gradient = -self._wins.astype(np.float64)
        hessian = np.zeros(count * (band + 1))
        for group, (first, second, target) in zip(self._groups, self._targets, strict=True):
            within = _weights(scores[group])
            inverse = 1.0 / self._sums(within)
            until = within * np.cumsum(inverse, axis=1)
            squares = np.cumsum(inverse**2, axis=1)
            if self._first_only:
                squares = np.broadcast_to(squares, within.shape)
            gradient += np.bincount(group.ravel(), until.ravel(), count)
            shared = within * squares
            off = shared[:, first] * within[:, second]
            if self._repeats:
                # Both entries that two places of one item share are the item's own.
                off[group[:, first] == group[:, second]] *= 2.0
            hessian += np.bincount(target, -off.ravel(), len(hessian))
            own = until - within * shared
            hessian += np.bincount(group.ravel() * (band + 1), own.ravel(), len(hessian))
        return gradient, hessian.reshape(count, band + 1)

    def _sums(self, within: Floats) -> Floats:
        """Return the sums of the sets chosen from, shape (r, m); (r, 1) for first choices."""
        if self._first_only:
            return np.asarray(within.sum(axis=1, keepdims=True))
        return np.cumsum(within[:, ::-1], axis=1)[:, ::-1]

    @cached_property
    def _targets(self) -> list[tuple[Ints, Ints, Ints]]:
        """For each group the earlier and later of two ranks, and where their entry is stored."""
        width = self._layout.band + 1
        targets = []
        for group in self._groups:
            first, second = np.triu_indices(group.shape[1], 1)
            one, other = group[:, first], group[:, second]
            target = np.minimum(one, other) * width + np.abs(one - other)
            targets.append((first, second, target.ravel()))
        return targets


def _weights(scores: Floats) -> Floats:
    """Return weights of scores, shape (r, m), the largest of each row 1: only ratios matter."""
    return np.asarray(np.exp(scores - scores.max(axis=1, keepdims=True)))


class _Pairwise:
    """The Bradley-Terry likelihood of all pairs of the rankings, as counts along the band."""

    def __init__(self, layout: Layout, groups: Sequence[Ints]) -> None:
        count, band = layout.count, layout.band
        size = count * band
        won, lost = np.zeros(size), np.zeros(size)
        for group in groups:
            first, second = np.triu_indices(group.shape[1], 1)
            winner, loser = group[:, first].ravel(), group[:, second].ravel()
            ahead = loser - winner
            target = np.minimum(winner, loser) * band + np.abs(ahead) - 1
            won += np.bincount(target[ahead > 0], minlength=size)
            lost += np.bincount(target[ahead < 0], minlength=size)
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


def _checked(rankings: Sequence[Sequence[int]], count: int, *, repeats: bool) -> int:
    """Return the length of the longest ranking, or raise what is wrong with one."""
    for number, ranking in enumerate(rankings):
        if not repeats and len(set(ranking)) < len(ranking):
            raise DataError(f"Ranking {number} names an item twice: {list(ranking)}.")
        if ranking and not (min(ranking) >= 0 and max(ranking) < count):
            raise DataError(
                f"Ranking {number} names an item that is none of 0 to {count - 1}: {list(ranking)}."
            )
    return max(map(len, rankings), default=0)


def _width(rankings: Sequence[Sequence[int]], place: Ints) -> int:
    spans = (np.ptp(place[np.array(ranking)]) for ranking in rankings if len(ranking) > 1)
    return int(max(spans, default=0))


def _links(ranking: Sequence[int]) -> Ints:
    """Return all pairs of a ranking's items, shape (m * (m - 1) / 2, 2)."""
    items = np.array(ranking)
    first, second = np.triu_indices(len(items), 1)
    return np.stack([items[first], items[second]], axis=1)
