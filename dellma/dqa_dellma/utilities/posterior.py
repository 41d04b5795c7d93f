"""What rankings tell of items' utilities, with how sure that is (past the paper).

The model. A ranking of items is a Plackett-Luce draw: the first is chosen of all, the second of the
rest, and so on, each with probability ``exp(u_i) / sum(exp(u_j))``. The pairs of a ranking are not
independent, so the Bradley-Terry fit of `bradley_terry.fit_pairs` gives scores but no width. Items
that a ranking left out are in no choice of it: nothing is said of them. The log utility of action a
in state s is the action's level, an effect of each factor's value on that action, and a rest:

    u_sa = m_a + sum_f b_a,f,s_f + e_sa,
    m_a ~ N(0, lambda^2),    b ~ N(0, sigma^2),    e ~ N(0, tau^2).

What is learnt of a value in one state so counts in all states that have it, and actions that swing
more are seen to. Single rankings say little of how large lambda, sigma and tau are, and widths and
chances depend on it, so nothing is plugged in: all are on a grid, weighted by a log-normal prior
and by Laplace's approximation of the marginal likelihood, and draws come from all of it. At a point
of the grid the posterior is taken to be normal at its mode; its precision is banded in u and
bordered by m and b, so factors and draws cost O(n * (band + effects)^2). More than 600 effects are
not fitted: then the rest has all of what states change, and `Posterior.factor_effects` says so.

A second uncertainty is that an action was tried in few states only. It is a Bayesian bootstrap:
every draw weighs the states anew, by the same weights for all actions that share them. Weights are
gamma variables of shape ``(S - 4) / S`` for S states of an action, which gives a mean's draws the
variance of Student's t with S - 1 degrees of freedom; the plain bootstrap's shape of 1 is too sure
of few states. What no state showed has a part as well: one more state, of shape 0.3, in which every
action has its level and new effects and rest. Of few states that is much, of many next to nothing
(a Dirichlet process whose base measure is the model).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky_banded, solve_triangular
from scipy.linalg.lapack import dtbtrs

from dqa.core.errors import DataError
from dqa_dellma.utilities.bradley_terry import minimise
from dqa_dellma.utilities.layout import Floats, Ints, Layout, Rankings, Ranks
from dqa_dellma.utilities.pairs import Pairs
from dqa_dellma.utilities.plackett_luce import Choices

_LEVELS = (0.25, 1.25)
"""The values of lambda."""
_EFFECTS = (0.1, 0.25, 0.6, 1.5)
"""The values of sigma, and of tau where values have no effects."""
_RESTS = (0.08, 0.32)
"""The values of tau."""
_MEDIANS = ((0.6, 1.0), (0.5, 0.8), (0.2, 0.8))
"""Medians of lambda, sigma and tau, and standard deviations of their logarithms; where values have
no effects, tau has sigma's."""
_MOST_EFFECTS = 600
"""Above so many effects of values on actions, values are taken to have none."""
_PRECISE = 0.01
"""Longest Newton step that is the last one: modes are to be as close as draws can tell."""
_LEAST_SHAPE = 0.25
"""Shape of the states' weights where there are too few for a variance."""
_NEW_SHAPE = 0.3
"""Shape of the weight of all states that were not drawn."""


@dataclass(frozen=True)
class Posterior:
    """A posterior of the items' log utilities: a mixture of normal ones.

    Attributes
    ----------
    items
        Shape (r,): numbers of the items that are in a ranking of at least two.
    mean
        Shape (r,): their mean log utilities, in the unit of the rankings' Gumbel noise.
    spread
        How much the log utilities of one action differ, root mean square of `mean`.
    factor_effects
        Whether factors' values have effects; False where there are none, or too many.
    """

    items: Ints
    mean: Floats
    spread: float
    factor_effects: bool
    _parts: tuple[_Part, ...]
    _place: Ints

    def draw(self, count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw log utilities; their common level is arbitrary.

        Returns
        -------
        Of the items, shape (count, r), and of every action in a state unlike all that were ranked,
        shape (count, A).
        """
        shares = rng.multinomial(count, [part.weight for part in self._parts])
        drawn = [
            part.draw(int(share), rng)
            for part, share in zip(self._parts, shares, strict=True)
            if share
        ]
        joint = np.concatenate(drawn)
        ranked = len(self._place)
        return joint[:, self._place], joint[:, ranked:]


def fit_posterior(
    rankings: Rankings,
    pairs: Pairs,
    actions: int,
    *,
    first_only: bool = False,
    ranks: Ranks | None = None,
) -> Posterior:
    """Fit the posterior of the items' log utilities.

    Parameters
    ----------
    rankings
        Item numbers, best first; an item may be in many rankings, but once in each.
    pairs
        The state and the action of each item, and which factors bear on which action: the others
        have no effect on it.
    actions
        How many actions there are.
    first_only
        Whether only the first of a ranking is known to be preferred (One-vs-All).
    ranks
        Which items of a ranking are equal; None where none are.

    Raises
    ------
    DataError
        No ranking compares two items, or one names an item twice or one that does not exist.
    """
    of_each = [range(len(ranking)) for ranking in rankings] if ranks is None else ranks
    both = [(one, own) for one, own in zip(rankings, of_each, strict=True) if len(one) > 1]
    telling, equal = [one for one, _ in both], [own for _, own in both]
    if not telling:
        raise DataError("A posterior needs a ranking of at least two items; there is none.")
    items = np.unique(np.concatenate([np.asarray(ranking) for ranking in telling]))
    if items[0] < 0 or items[-1] >= len(pairs):
        raise DataError(
            f"The rankings name items from {items[0]} to {items[-1]}; there are 0 to "
            f"{len(pairs) - 1}."
        )
    renumbered = [np.searchsorted(items, ranking).tolist() for ranking in telling]
    layout = Layout.of(renumbered, len(items))
    likelihood = Choices(layout, layout.groups(renumbered, equal), first_only=first_only)
    at_place = items[np.argsort(layout.place)]
    action = pairs.action_of[at_place]
    states = pairs.states[pairs.state_of[at_place]]
    design, effects = _design(action, states, actions, pairs.bearing)
    factors = np.full(actions, pairs.states.shape[1])
    if pairs.bearing is not None:
        factors = pairs.bearing.sum(axis=1)
    field = _Field(likelihood, design, effects, factors)
    parts = field.parts()
    mean = np.sum([part.weight * part.scores for part in parts], axis=0)
    sizes = np.maximum(np.bincount(action, minlength=actions), 1)
    apart = mean - (np.bincount(action, mean, actions) / sizes)[action]
    spread = float(np.sqrt(np.mean(apart**2)))
    return Posterior(items, mean[layout.place], spread, effects > 0, parts, layout.place)


def draw_state_weights(
    state_of: Ints, action_of: Ints, count: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Draw how much each item's state weighs, the same for all items of a state.

    Parameters
    ----------
    state_of, action_of
        Shape (r,) each: the state and the action of each item.
    count
        How many draws.

    Returns
    -------
    Of the items, shape (count, r), and of a state unlike all of them, shape (count, 1): above 0;
    only their ratios within an action matter.
    """
    sizes = np.bincount(action_of)[action_of].astype(np.float64)
    states, place = np.unique(state_of, return_inverse=True)
    size = np.bincount(place, sizes) / np.bincount(place)
    shape = np.append(np.maximum((size - 4.0) / size, _LEAST_SHAPE), _NEW_SHAPE)
    weights = rng.standard_gamma(shape, size=(count, len(shape)))
    weights = np.maximum(weights, np.finfo(np.float64).tiny)
    return weights[:, place], weights[:, len(states) :]


def _design(
    action: Ints, states: Ints, actions: int, bearing: NDArray[np.bool_] | None
) -> tuple[Floats, int]:
    """Return what levels and effects an item has, shape (n, A + effects), and how many effects."""
    levels = np.eye(actions)[action]
    bears = np.ones((actions, states.shape[1]), np.bool_) if bearing is None else bearing
    coded = [np.unique(values, return_inverse=True) for values in states.T]
    effects = sum(len(found) * int(of.sum()) for (found, _), of in zip(coded, bears.T, strict=True))
    if effects > _MOST_EFFECTS:
        return levels, 0
    design = np.zeros((len(action), actions + effects))
    design[:, :actions] = levels
    start = actions
    for (found, value), of in zip(coded, bears.T, strict=True):
        items = np.flatnonzero(of[action])
        number = np.cumsum(of) - 1  # of an action among those that the factor bears on
        design[items, start + number[action[items]] * len(found) + value[items]] = 1.0
        start += len(found) * int(of.sum())
    return design, effects


@dataclass(frozen=True)
class _Part:
    """A normal posterior at a point of the grid.

    Attributes
    ----------
    weight
        In the mixture.
    scores, levels
        Shapes (n,) and (A,): their means, the scores by place.
    swing
        Shape (A,): standard deviation of what a state unlike all others adds to an action's level.
    precision
        Of scores and coefficients.
    """

    weight: float
    scores: Floats
    levels: Floats
    swing: Floats
    precision: _Arrow

    def draw(self, count: int, rng: np.random.Generator) -> Floats:
        """Draw scores by place and every action's in a new state, shape (count, n + A)."""
        means = np.concatenate([self.scores, self.levels])
        drawn = means + self.precision.draw(count, len(self.levels), rng)
        drawn[:, len(self.scores) :] += self.swing * rng.standard_normal((count, len(self.levels)))
        return drawn


@dataclass(frozen=True, slots=True)
class _Prior:
    """A point of the grid: lambda, sigma (0 where values have no effects) and tau."""

    level: float
    effect: float
    rest: float

    @property
    def log_density(self) -> float:
        """Of the log-normal prior, up to a constant."""
        effects = (self.effect,) if self.effect else ()
        scales = (self.level, *effects, self.rest)
        return -0.5 * sum(
            float(np.log(scale / median) / width) ** 2
            for scale, (median, width) in zip(scales, _MEDIANS, strict=False)
        )


class _Field:
    """The model with its scales left open; vectors hold scores by place, then coefficients."""

    def __init__(self, likelihood: Choices, design: Floats, effects: int, factors: Ints) -> None:
        self._likelihood = likelihood
        self._design = design
        self._gram = design.T @ design
        self._effects = effects
        self._factors = factors if effects else np.zeros_like(factors)
        self._count = len(design)

    def parts(self) -> tuple[_Part, ...]:
        """Return the posterior at each point of the grid."""
        joint = np.zeros(sum(self._design.shape))
        found = []
        for prior in self._grid():
            joint = self._mode(joint, prior)
            found.append((prior, joint, *self._evidence(joint, prior)))
        logs = np.array([evidence for *_, evidence, _ in found])
        weights = np.exp(logs - logs.max())
        weights /= weights.sum()
        return tuple(
            self._part(float(weight), prior, joint, precision)
            for weight, (prior, joint, _, precision) in zip(weights, found, strict=True)
        )

    def _grid(self) -> Iterator[_Prior]:
        for level in _LEVELS:
            for spread in _EFFECTS if self._effects else (0.0,):
                for rest in _RESTS if self._effects else _EFFECTS:
                    yield _Prior(level, spread, rest)

    def _part(self, weight: float, prior: _Prior, joint: Floats, precision: _Arrow) -> _Part:
        levels = joint[self._count :][: self._design.shape[1] - self._effects]
        swing = np.sqrt(self._factors * prior.effect**2 + prior.rest**2)
        return _Part(weight, joint[: self._count], levels, swing, precision)

    def _pull(self, prior: _Prior) -> Floats:
        """Return the prior precisions of the coefficients."""
        pull = np.full(self._design.shape[1], prior.level**-2)
        if self._effects:
            pull[-self._effects :] = prior.effect**-2
        return pull

    def _arrow(self, hessian: Floats, prior: _Prior) -> _Arrow:
        return _Arrow(hessian, self._design, self._gram, prior.rest**-2, self._pull(prior))

    def _mode(self, start: Floats, prior: _Prior) -> Floats:
        """Return the mode of scores and coefficients."""
        precision, pull = prior.rest**-2, self._pull(prior)

        def slopes(joint: Floats) -> tuple[Floats, Floats]:
            scores, coefficients = joint[: self._count], joint[self._count :]
            gradient, hessian = self._likelihood.slopes(scores)
            apart = precision * (scores - self._design @ coefficients)
            hessian[:, 0] += precision
            pulled = pull * coefficients - apart @ self._design
            return np.concatenate([gradient + apart, pulled]), hessian

        def solve(gradient: Floats, hessian: Floats) -> Floats:
            return -self._arrow(hessian, prior).solve(gradient)

        return minimise(start, slopes, solve, tolerance=_PRECISE)

    def _evidence(self, joint: Floats, prior: _Prior) -> tuple[float, _Arrow]:
        """Return the log of prior and marginal likelihood, up to a constant, and the precision."""
        scores, coefficients = joint[: self._count], joint[self._count :]
        apart = (scores - self._design @ coefficients) / prior.rest
        pull = self._pull(prior)
        _, hessian = self._likelihood.slopes(scores)
        hessian[:, 0] += prior.rest**-2
        arrow = self._arrow(hessian, prior)
        misfit = (
            self._likelihood.value(scores)
            + 0.5 * float(apart @ apart + coefficients @ (pull * coefficients))
            + self._count * float(np.log(prior.rest))
            - 0.5 * float(np.log(pull).sum())
            + 0.5 * arrow.log_determinant
        )
        return prior.log_density - misfit, arrow


class _Arrow:
    """A precision matrix, banded in the items and bordered by the coefficients.

    Parameters
    ----------
    band
        Shape (n, band + 1): the items' part, as `Choices.slopes` gives it.
    design
        Shape (n, p): what coefficients an item has.
    gram
        Shape (p, p): its transpose times itself.
    precision
        Of an item around what its coefficients say.
    pull
        Shape (p,): prior precisions of the coefficients.
    """

    def __init__(
        self, band: Floats, design: Floats, gram: Floats, precision: float, pull: Floats
    ) -> None:
        self._count = len(band)
        self._factor = cholesky_banded(band.T, lower=True, check_finite=False)
        # The border's block of the whole Cholesky factor, transposed.
        self._half = self._forward(precision * design)
        border = precision * gram - self._half.T @ self._half
        border[np.diag_indices_from(border)] += pull
        self._border = np.linalg.cholesky(border)

    def solve(self, vector: Floats) -> Floats:
        """Return the inverse times a vector, shape (n + p,)."""
        items = self._forward(vector[: self._count, None])[:, 0]
        coefficients = vector[self._count :] + items @ self._half
        coefficients = cho_solve((self._border, True), coefficients, check_finite=False)
        items = self._back((items + self._half @ coefficients)[:, None])[:, 0]
        return np.concatenate([items, coefficients])

    @cached_property
    def log_determinant(self) -> float:
        """Of the whole matrix."""
        pivots = np.concatenate([self._factor[0], np.diag(self._border)])
        return 2.0 * float(np.log(pivots).sum())

    def draw(self, count: int, first: int, rng: np.random.Generator) -> Floats:
        """Draw deviations of the items and of the first coefficients, shape (count, n + first)."""
        noise = rng.standard_normal((len(self._border), count))
        coefficients = solve_triangular(self._border, noise, lower=True, trans="T")
        items = self._back(rng.standard_normal((self._count, count)) + self._half @ coefficients)
        return np.concatenate([items, coefficients[:first]]).T

    def _forward(self, columns: Floats) -> Floats:
        """Divide columns, shape (n, c), by the banded factor."""
        return np.asarray(dtbtrs(self._factor, columns, uplo="L")[0])

    def _back(self, columns: Floats) -> Floats:
        """Divide columns, shape (n, c), by the banded factor's transpose."""
        return np.asarray(dtbtrs(self._factor, columns, uplo="L", trans="T")[0])
