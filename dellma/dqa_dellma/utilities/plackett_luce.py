"""The Plackett-Luce likelihood of rankings, equal items included."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from dqa_dellma.utilities.layout import Floats, Group, Ints, Layout


class Choices:
    """The Plackett-Luce likelihood: a ranking's first is chosen of all, its second of the rest, ...

    Items that are equal in a ranking are chosen together. Of t equal ones the j-th choice (from 0)
    is made of what comes behind them and of ``1 - j / t`` of themselves, for nobody knows which of
    them are left by then: Efron's treatment of ties in Cox' partial likelihood, which is of the
    same form (Efron 1977, "The Efficiency of Cox's Likelihood Function for Censored Data"). Where
    first choices alone count, each of t equal firsts has ``1 / t`` of the choice, the mean over
    their orders. Without equal items both are the plain likelihood.

    Parameters
    ----------
    layout, groups
        The items' places and the rankings in them.
    first_only
        Whether only the first choice of each ranking counts.
    """

    def __init__(
        self, layout: Layout, groups: Sequence[Group], *, first_only: bool = False
    ) -> None:
        self._layout = layout
        self._groups = [group.places for group in groups]
        self._first_only = first_only
        self._left = [
            None if group.ranks is None or first_only else _left_shares(group.ranks)
            for group in groups
        ]
        self._repeats = any((np.diff(np.sort(group, axis=1)) == 0).any() for group in self._groups)
        self._wins = np.zeros(layout.count)
        for group in groups:
            won = _first_shares(group) if first_only else np.ones(group.places.shape)
            self._wins += np.bincount(group.places.ravel(), won.ravel(), layout.count)
        self.guess: Floats = np.zeros(layout.count)

    def value(self, scores: Floats) -> float:
        """Return the negative log-likelihood of scores, shape (n,), by place."""
        total = -float(self._wins @ scores)
        for group, left in zip(self._groups, self._left, strict=True):
            own = scores[group]
            sums = np.log(self._sums(_weights(own), left))
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
        gradient = -self._wins
        hessian = np.zeros(count * (band + 1))
        for group, left, (first, second, target) in zip(
            self._groups, self._left, self._targets, strict=True
        ):
            within = _weights(scores[group])
            inverse = 1.0 / self._sums(within, left)
            if left is None:
                until = within * np.cumsum(inverse, axis=1)
                squares = np.cumsum(inverse**2, axis=1)
                if self._first_only:
                    squares = np.broadcast_to(squares, within.shape)
                shared = within * squares
                off = shared[:, first] * within[:, second]
                own = until - within * shared
            else:
                until = within * np.einsum("rki,rk->ri", left, inverse)
                scaled = left * inverse[:, :, None] * within[:, None, :]
                together = np.einsum("rki,rkj->rij", scaled, scaled)
                off = together[:, first, second]
                own = until - np.einsum("rii->ri", together)
            gradient += np.bincount(group.ravel(), until.ravel(), count)
            if self._repeats:
                # Both entries that two places of one item share are the item's own.
                off[group[:, first] == group[:, second]] *= 2.0
            hessian += np.bincount(target, -off.ravel(), len(hessian))
            hessian += np.bincount(group.ravel() * (band + 1), own.ravel(), len(hessian))
        return gradient, hessian.reshape(count, band + 1)

    def _sums(self, within: Floats, left: Floats | None) -> Floats:
        """Return the sums of the sets chosen from, shape (r, m); (r, 1) for first choices."""
        if self._first_only:
            return np.asarray(within.sum(axis=1, keepdims=True))
        if left is not None:
            return np.asarray(np.einsum("rki,ri->rk", left, within))
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


def _first_shares(group: Group) -> Floats:
    """Return how much of the first choice each item has, shape (r, m)."""
    if group.ranks is None:
        only = np.zeros(group.places.shape)
        only[:, 0] = 1.0
        return only
    firsts = (group.ranks == group.ranks[:, :1]).astype(np.float64)
    return np.asarray(firsts / firsts.sum(axis=1, keepdims=True))


def _left_shares(ranks: Ints) -> Floats:
    """Return how much of each item is left at each choice, shape (r, m, m): choice by item."""
    choice, item = ranks[:, :, None], ranks[:, None, :]
    equal = choice == item
    earlier = np.tril(np.ones(equal.shape[1:], dtype=np.bool_), -1)
    gone = (equal & earlier).sum(axis=2, keepdims=True) / equal.sum(axis=2, keepdims=True)
    return np.asarray(np.where(equal, 1.0 - gone, (item > choice).astype(np.float64)))


def _weights(scores: Floats) -> Floats:
    """Return weights of scores, shape (r, m), the largest of each row 1: only ratios matter."""
    return np.asarray(np.exp(scores - scores.max(axis=1, keepdims=True)))
