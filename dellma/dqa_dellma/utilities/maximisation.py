"""Expected utility maximisation: from rankings to the action to take (section 3.4).

Scores of the ranked state-action pairs become utilities. The expected utility of an action is the
mean over its pairs, because its states are drawn from the belief. Pairs that a ranking leaves out
of its minibatch stay in that mean with the score of the regulariser: models leave out the worst
items, and a mean of the others would favour actions that vary. Pairs that no ranking showed do not
count. The attitudes to risk, the intervals and the chances of being the best go past the paper;
only an attitude changes the decision.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqa.core.errors import DataError
from dqa.core.question import Candidate
from dqa_dellma.findings import ActionFigures, Ranking, Utilities
from dqa_dellma.settings import Attitude, DellmaSettings
from dqa_dellma.utilities.bradley_terry import Floats, Ints, fit_scores
from dqa_dellma.utilities.pairs import Pairs

LEVEL = 0.9
"""The share of intervals that contain the true value."""
_DRAWS = 2_000
_LEAST_SHAPE = 0.25
"""Shape of the states' weights if there are too few states for a variance."""
_MOST_WIDENING = 8.0
_AT_ONCE = 1_000_000
"""Weights in one block of draws, which bounds the memory."""
_OF_SETTINGS = {"elicitation", "alpha", "scale", "temperature", "attitude"}
_OBJECTIVES = {
    "pairs": "Bradley-Terry, every pair of each ranking, alpha * n * sum(exp(s) - s) added",
    "top1": "Luce's choice, the first of each ranking, alpha * n * sum(exp(s) - s) added",
}


@dataclass(frozen=True)
class Maximised:
    """The figures of every action, and the best one.

    Attributes
    ----------
    pairs
        The n state-action pairs.
    scores
        Shape (n,): Bradley-Terry scores of the state-action pairs, with mean 0.
    utilities
        Shape (n,): their utilities; NaN for pairs that no minibatch with a ranking showed.
    expected
        Shape (A,): each action's expected utility, the mean of its pairs'; NaN for an action of
        which no pair was shown.
    values
        Shape (A,): the attitude's value of each action, which decides; `expected` for ``mean``.
    intervals, chances
        Shapes (A, 2) and (A,): see `estimate_certainty`.
    best
        The action with the largest value; the first of equals.
    ranked
        Shape (A,): how many pairs of each action have a utility.
    settings
        The settings of the computation.
    """

    pairs: Pairs
    scores: Floats
    utilities: Floats
    expected: Floats
    values: Floats
    intervals: Floats
    chances: Floats
    best: int
    ranked: Ints
    settings: DellmaSettings

    def found(self, actions: Sequence[Candidate], why: str) -> Utilities:
        """Return the result for a trace; unknown figures are None."""
        settings = self.settings
        return Utilities(
            actions=tuple(self._figures(number, action) for number, action in enumerate(actions)),
            level=LEVEL,
            scores=tuple(self.scores.tolist()),
            utilities=tuple(map(_plain, self.utilities)),
            unranked=int(np.isnan(self.utilities).sum()),
            objective=_OBJECTIVES[settings.elicitation],
            aversion=None if settings.attitude == "mean" else settings.aversion,
            chosen=actions[self.best],
            why=why,
            **settings.model_dump(include=_OF_SETTINGS),
        )

    def _figures(self, number: int, action: Candidate) -> ActionFigures:
        low, high = self.intervals[number]
        return ActionFigures(
            action=action,
            expected_utility=_plain(self.expected[number]),
            value=_plain(self.values[number]),
            interval=(_plain(low), _plain(high)),
            chance_best=float(self.chances[number]),
            ranked=int(self.ranked[number]),
        )


def maximise(
    pairs: Pairs, rankings: Sequence[Ranking], actions: int, settings: DellmaSettings
) -> Maximised:
    """Find the action of the largest expected utility.

    Parameters
    ----------
    pairs
        The state-action pairs that the rankings number.
    rankings
        At least one of two items or more.
    actions
        A, how many actions there are.
    settings
        Elicitation, alpha, scale, temperature, attitude, aversion and seed count.

    Raises
    ------
    DataError
        No ranking compares two pairs, or one names a pair twice or one that does not exist.
    """
    useful = [ranking for ranking in rankings if len(ranking.items) > 1]
    if not useful:
        raise DataError("A decision needs a ranking of at least two items.")
    orders, ranks = [ranking.items for ranking in useful], [ranking.ranks for ranking in useful]
    scores = fit_scores(orders, len(pairs), settings.elicitation, settings.alpha, ranks)
    held = np.unique(np.concatenate([ranking.shown for ranking in useful])).astype(np.int64)
    state_of, action_of = pairs.state_of[held], pairs.action_of[held]
    known = scale_utilities(scores[held], action_of, settings.scale, settings.temperature)
    expected = average_utilities(known, action_of, actions)

    def values_of(weights: Floats) -> Floats:
        return _values(known, weights, action_of, expected, settings)

    values = values_of(np.ones(len(held)))
    rng = np.random.default_rng(settings.seed)
    drawn = np.concatenate(
        [values_of(weights) for weights in _state_weights(state_of, action_of, rng)]
    )
    ranked = np.bincount(action_of, minlength=actions)
    intervals, chances = estimate_certainty(values, drawn, int(ranked[ranked > 0].min()))
    utilities = np.full(len(pairs), np.nan)
    utilities[held] = known
    return Maximised(
        pairs=pairs,
        scores=scores,
        utilities=utilities,
        expected=expected,
        values=values,
        intervals=intervals,
        chances=chances,
        best=int(np.nanargmax(values)),
        ranked=ranked,
        settings=settings,
    )


def scale_utilities(scores: Floats, action_of: Ints, scale: str, temperature: float) -> Floats:
    """Turn scores of state-action pairs into utilities.

    Parameters
    ----------
    scores
        Shape (..., n).
    action_of
        Shape (n,): each pair's action.
    scale
        ``all``: the softmax over all pairs. ``action``: n_a times the score times its softmax
        weight among the n_a pairs of its action, so that an action's mean is its scores' mean
        weighted by the softmax. (The plain mean of a softmax within an action, which the release
        takes for stocks, is ``1 / n_a`` whatever was ranked.)
    temperature
        What scores are divided by before the softmax, > 0.

    Returns
    -------
    Shape (..., n).
    """
    if scale == "all":
        return _softmax(scores / temperature)
    utilities = np.empty_like(scores)
    for action in np.unique(action_of):
        own = action_of == action
        weights = _softmax(scores[..., own] / temperature)
        utilities[..., own] = scores[..., own] * weights * own.sum()
    return utilities


def average_utilities(utilities: Floats, action_of: Ints, actions: int) -> Floats:
    """Return the mean utility of each action's pairs, shape (A,); NaN for an action without any.

    Parameters
    ----------
    utilities, action_of
        Shape (n,) each: the pairs that count.
    actions
        A, how many actions there are.
    """
    sums = np.bincount(action_of, utilities, actions)
    sizes = np.bincount(action_of, minlength=actions)
    found = np.full(actions, np.nan)
    np.divide(sums, sizes, out=found, where=sizes > 0)
    return found


def weigh_by_attitude(
    utilities: Floats,
    weights: Floats,
    attitude: Attitude = "mean",
    aversion: float = 1.0,
    unit: Floats | float = 1.0,
) -> Floats:
    """Return what utilities over weighted states are worth to an attitude.

    ``mean`` is their expectation, ``cvar`` the expectation of the worst `aversion` share of the
    states, and ``exponential`` the certainty equivalent ``-log(E[exp(-a u)]) / a`` for utilities
    u in `unit`: all of them grow with the utilities' scale, and none exceeds the mean.

    Parameters
    ----------
    utilities
        Shape (..., m): by state.
    weights
        Shape broadcast to that: of the states, of any sum above 0.
    attitude, aversion
        As in `DellmaSettings`.
    unit
        Shape (...,) or one number, > 0: the utility that counts as 1 to ``exponential``.

    Returns
    -------
    Shape (...,).
    """
    chances = weights / weights.sum(axis=-1, keepdims=True)
    if attitude == "mean":
        return np.asarray((chances * utilities).sum(axis=-1))
    if attitude == "cvar":
        order = np.argsort(utilities, axis=-1, kind="stable")
        sorted_chances = np.take_along_axis(np.broadcast_to(chances, utilities.shape), order, -1)
        before = np.cumsum(sorted_chances, axis=-1) - sorted_chances
        worst = np.clip(aversion - before, 0.0, sorted_chances)
        worst /= worst.sum(axis=-1, keepdims=True)
        return np.asarray((worst * np.take_along_axis(utilities, order, -1)).sum(axis=-1))
    unit = np.asarray(unit)
    scaled = aversion * utilities / unit[..., None]
    least = scaled.min(axis=-1, keepdims=True)
    mean = (chances * np.exp(least - scaled)).sum(axis=-1)
    return np.asarray((least[..., 0] - np.log(mean)) * unit / aversion)


def estimate_certainty(values: Floats, drawn: Floats, states: int) -> tuple[Floats, Floats]:
    """Estimate how certain the actions' values are.

    Only differences between actions count, because utilities have no unit: the mean of all actions
    is held fixed. The largest of several uncertain values is on average too large (the winner's
    curse), so errors are widened by the ratio of their size to the size of the differences. In
    generated worlds a choice is right about as often as its chance says, and the intervals contain
    the truth in nine of ten cases or more (docs/dellma.md).

    Parameters
    ----------
    values
        Shape (A,): the actions' values; NaN for an action without a ranked pair.
    drawn
        Shape (draws, A): the values for states that are drawn anew.
    states
        The fewest states of a ranked action. One state tells nothing about others.

    Returns
    -------
    Shape (A, 2): an interval for each value, NaN if it is unknown; and shape (A,): the chance that
    an action has the largest value.
    """
    known = np.flatnonzero(~np.isnan(values))
    intervals, chances = np.full((len(values), 2), np.nan), np.zeros(len(values))
    if states < 2 or len(known) < 2:
        chances[known] = 1.0 / len(known)
        return intervals, chances
    apart = values[known] - values[known].mean()
    error = drawn[:, known] - drawn[:, known].mean(axis=1, keepdims=True) - apart
    ratio = float((error**2).mean() / max((apart**2).mean(), np.finfo(np.float64).tiny))
    likely = values[known] + error * np.sqrt(1.0 + min(2.0 * ratio, _MOST_WIDENING))
    tail = (1.0 - LEVEL) / 2.0
    intervals[known] = np.quantile(likely, [tail, 1.0 - tail], axis=0).T
    leads = np.isclose(likely, likely.max(axis=1, keepdims=True), rtol=1e-9, atol=0.0)
    chances[known] = (leads / leads.sum(axis=1, keepdims=True)).mean(axis=0)
    return intervals, chances


def _state_weights(state_of: Ints, action_of: Ints, rng: np.random.Generator) -> Iterator[Floats]:
    """Draw weights of the pairs' states, shape (draws, n) in several blocks.

    This is a Bayesian bootstrap; actions that share a state share its weight. Gamma weights of
    shape ``(S - 4) / S`` for S states of an action give a mean the variance of Student's t with
    S - 1 degrees of freedom; the usual shape of 1 is too certain about few states.
    """
    sizes = np.bincount(action_of)[action_of]
    states, number = np.unique(state_of, return_inverse=True)
    size = np.bincount(number, sizes) / np.bincount(number)
    shape = np.maximum((size - 4.0) / size, _LEAST_SHAPE)
    block = max(1, _AT_ONCE // len(state_of))
    for start in range(0, _DRAWS, block):
        weights = rng.standard_gamma(shape, size=(min(block, _DRAWS - start), len(states)))
        yield np.maximum(weights, np.finfo(np.float64).tiny)[:, number]


def _values(
    utilities: Floats,
    weights: Floats,
    action_of: Ints,
    expected: Floats,
    settings: DellmaSettings,
) -> Floats:
    """Return the attitude's value of each action, shape (..., A), for weights of shape (..., n)."""
    unit = float(np.nanmean(expected))
    values = np.full((*weights.shape[:-1], len(expected)), np.nan)
    for action in np.unique(action_of):
        own = weights[..., action_of == action]
        of_action = np.broadcast_to(utilities[action_of == action], own.shape)
        values[..., action] = weigh_by_attitude(
            of_action, own, settings.attitude, settings.aversion, unit
        )
    return values


def _softmax(scores: Floats) -> Floats:
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def _plain(number: Any) -> float | None:  # noqa: ANN401  (NumPy's own numbers)
    return None if np.isnan(number) else float(number)
