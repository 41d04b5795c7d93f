"""Compute scores of items from rankings: an exact Bradley-Terry fit (section 3.3, Algorithm 2).

Item i of a set is chosen with probability ``w_i / sum(w_j)``. Its score is the logarithm of w_i.
The fit minimises

    NLL(theta) + alpha * n * sum(exp(theta_i) - theta_i).

The stationary point of this objective is the fixed point of choix's I-LSR with regularisation
alpha. The objective is strictly convex, so Newton's method finds its only optimum. Each item is in
few rankings, so the Hessian is sparse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, diags_array, eye_array
from scipy.sparse.linalg import splu

from dqa.core.errors import DataError
from dqa_dellma.settings import Elicitation

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Rankings: TypeAlias = Sequence[Sequence[int]]
"""Item numbers from 0, best first."""
Ranks: TypeAlias = Sequence[Sequence[int]]
"""For each ranking, the ranks of its items in ascending order; tied items share a rank."""

_TOLERANCE = 1e-6
"""The fit ends after a Newton step of at most this size. The error is about the step's square."""
_LARGEST = 700.0
"""The largest score whose exponential is a finite number."""
_MOST_STEPS = 500
"""The maximum number of Newton steps; nearly separable rankings need about 30."""


class _Sets(NamedTuple):
    """The choice sets of all rankings.

    Attributes
    ----------
    item
        The items of all sets, one set after the other.
    ends
        The offsets of the sets in `item`: 0, and the end of each set.
    wins
        Shape (n,): how often each item was chosen from a set.
    """

    item: Ints
    ends: Ints
    wins: Floats

    @classmethod
    def of(
        cls, rankings: Rankings, count: int, elicitation: Elicitation, ranks: Ranks | None
    ) -> Self:
        """Return the choice sets of rankings with at least two items."""
        listed = [range(len(ranking)) for ranking in rankings] if ranks is None else ranks
        both = [pair for pair in zip(rankings, listed, strict=True) if len(pair[0]) > 1]
        blocks = [_choices(np.array(one), np.array(rank), elicitation) for one, rank in both]
        lengths = [np.full(len(sets), sets.shape[1]) for sets, _ in blocks]
        ends = np.concatenate([[0], np.cumsum(np.concatenate([np.zeros(0, np.int64), *lengths]))])
        item = np.concatenate([np.zeros(0, np.int64), *(sets.ravel() for sets, _ in blocks)])
        won = np.concatenate([np.zeros(0), *(shares.ravel() for _, shares in blocks)])
        wins = np.asarray(np.bincount(item, won, count), dtype=np.float64)
        return cls(item, ends.astype(np.int64), wins)

    def slopes(self, scores: Floats, pull: float) -> tuple[Floats, csc_array]:
        """Return the gradient and the Hessian of the objective; `pull` is ``alpha * n``."""
        lengths, starts, count = np.diff(self.ends), self.ends[:-1], len(scores)
        worth = scores[self.item]
        weights = np.exp(worth - np.repeat(np.maximum.reduceat(worth, starts), lengths))
        chances = weights / np.repeat(np.add.reduceat(weights, starts), lengths)
        table = csr_array((chances, self.item, self.ends), shape=(len(lengths), count))
        expected = np.asarray(np.bincount(self.item, chances, count), dtype=np.float64)
        added = pull * np.exp(np.minimum(scores, _LARGEST))
        hessian = csr_array(diags_array(expected) - table.T @ table) + diags_array(added)
        return expected - self.wins + added - pull, csc_array(hessian)


def fit_scores(
    rankings: Rankings,
    count: int,
    elicitation: Elicitation,
    alpha: float,
    ranks: Ranks | None = None,
) -> Floats:
    """Fit scores to rankings.

    Parameters
    ----------
    rankings
        The rankings. An item may be in many of them. If a ranking repeats an item, as in the
        release, each occurrence counts. An item is never compared with itself.
    count
        n, the number of items. An item without a ranking gets the weight 1, the mean weight.
    elicitation
        ``pairs`` fits all pairs of each ranking (Rank2Pairs, choix's ``ilsr_pairwise``). ``top1``
        fits the choice of the first item among all items of the ranking (One-vs-All, choix's
        ``ilsr_top1``).
    alpha
        The regularisation, > 0. A smaller alpha gives larger scores to items that always win.
    ranks
        The ranks of the items in each ranking; None if there are no ties. Each of two tied items
        has half a win, as in Davidson's model of ties (1970) without its parameter for the
        frequency of ties. If t items are tied for first place, each counts as chosen ``1 / t``
        times.

    Returns
    -------
    Shape (count,): scores with mean 0, within 1e-8 of the optimum.

    Raises
    ------
    DataError
        Newton's method does not converge.
    """
    sets, pull = _Sets.of(rankings, count, elicitation, ranks), alpha * count
    if len(sets.ends) == 1:
        return np.zeros(count)
    met = np.bincount(sets.item, minlength=count)
    scores = np.log((sets.wins + 1.0) / (met - sets.wins + 1.0))
    # The terms of the objective are generalised self-concordant. Let r be the largest change of a
    # score, or of the difference of two scores. A step lowers the objective if r <= 1, or if the
    # objective still decreases at the end of the step. A step scaled by log(1 + r) / r always
    # lowers the objective.
    gradient, hessian = sets.slopes(scores, pull)
    for _ in range(_MOST_STEPS):
        step = -_solve(hessian, gradient)
        reach = max(float(np.ptp(step)), float(np.abs(step).max()))
        if reach <= _TOLERANCE:
            found = scores + step
            return np.asarray(found - found.mean())
        gradient, hessian = sets.slopes(scores + step, pull)
        share = 1.0
        if reach > 1.0 and gradient @ (step / reach) > 0.0:
            share = float(np.log1p(reach) / reach)
            gradient, hessian = sets.slopes(scores + share * step, pull)
        scores = scores + share * step
    raise DataError(f"The scores of {count} items did not converge: use a larger alpha.")


def _choices(items: Ints, rank: Ints, elicitation: Elicitation) -> tuple[Ints, Floats]:
    """Return the choice sets of a ranking, and how often each item was chosen from its set.

    Both arrays have the shape (number of sets, items per set). If t items are tied for a choice,
    each counts as chosen ``1 / t`` times.
    """
    if elicitation == "top1":
        first = rank == rank[0]
        return items[None, :], (first / first.sum())[None, :]
    one, other = np.triu_indices(len(items), 1)
    apart = items[one] != items[other]
    one, other = one[apart], other[apart]
    won = np.where(rank[one] == rank[other], 0.5, 1.0)
    return np.stack([items[one], items[other]], axis=1), np.stack([won, 1.0 - won], axis=1)


def _solve(hessian: csc_array, gradient: Floats) -> Floats:
    """Solve Hessian * step = gradient.

    A small ridge is added to the Hessian, because rounding errors can make it singular.
    """
    ridge = 1e-14 * float(hessian.diagonal().max())
    factors = splu(
        csc_array(hessian + ridge * eye_array(len(gradient))),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    return np.asarray(factors.solve(gradient))
