"""Find the action with the largest expected utility from rankings (section 3.4).

The scores of the state-action pairs become utilities. The expected utility of an action is the
unweighted mean over its pairs, because its states are drawn from the beliefs. The mean includes
pairs that the model was shown but did not rank; the score of such a pair comes from the
regularisation alone. Models tend to omit the worst items, so a mean over only the ranked pairs
would favour actions with a high variance. The mean excludes pairs that are only in minibatches
without a usable reply.

The attitudes to risk, the intervals and the probabilities of being best are additions to the paper.
Of these, only the attitude can change the decision.
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
"""The probability that an interval contains the true value."""
_DRAWS = 2_000
_LEAST_SHAPE = 0.25
"""The smallest gamma shape of the states' weights, used if there are few states."""
_MOST_WIDENING = 8.0
_AT_ONCE = 1_000_000
"""The maximum number of weights in a block of draws, to bound the memory."""
_OF_SETTINGS = {"elicitation", "alpha", "scale", "temperature", "attitude"}
_OBJECTIVES = {
    "pairs": "Bradley-Terry model of all pairs of each ranking, plus alpha * n * sum(exp(s) - s)",
    "top1": "Luce model of the first item of each ranking, plus alpha * n * sum(exp(s) - s)",
}


@dataclass(frozen=True)
class Maximised:
    """The figures of every action, and the best action.

    Attributes
    ----------
    pairs
        The n state-action pairs.
    scores
        Shape (n,): Bradley-Terry scores of the state-action pairs, with mean 0.
    utilities
        Shape (n,): the utilities of the pairs; NaN for pairs that are only in minibatches without a
        usable reply.
    expected
        Shape (A,): the expected utility of each action, the mean over its pairs; NaN if no pair of
        the action has a utility.
    values
        Shape (A,): the value of each action under the attitude. The action with the largest value
        is chosen. For ``mean``, the values are `expected`.
    intervals, chances
        Shapes (A, 2) and (A,): see `estimate_certainty`.
    best
        The action with the largest value; the first if several are equal.
    ranked
        Shape (A,): the number of pairs of each action that have a utility.
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
        """Return the result in the form that a trace stores. Unknown figures are None."""
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
    """Find the action with the largest expected utility.

    Parameters
    ----------
    pairs
        The state-action pairs.
    rankings
        The rankings. An item is the number of a pair.
    actions
        A, the number of actions.
    settings
        The settings of the method. This function uses `elicitation`, `alpha`, `scale`,
        `temperature`, `attitude`, `aversion` and `seed`.

    Raises
    ------
    DataError
        No ranking compares two pairs, or the scores do not converge.
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
        """Return the value of each action, shape (..., A).

        The weights of the pairs have the shape (..., n).
        """
        values, risk = np.full((*weights.shape[:-1], actions), np.nan), settings.aversion
        for action in np.unique(action_of):
            own = weights[..., action_of == action]
            of_action = np.broadcast_to(known[action_of == action], own.shape)
            values[..., action] = weigh_by_attitude(of_action, own, settings.attitude, risk)
        return values

    values = values_of(np.ones(len(held)))
    draws = _state_weights(state_of, action_of, np.random.default_rng(settings.seed))
    drawn = np.concatenate([values_of(weights) for weights in draws])
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
        Shape (..., n): the scores of the pairs.
    action_of
        Shape (n,): each pair's action.
    scale
        ``all``: the utility is the softmax over all pairs. ``action``: the utility of a pair is
        ``n_a * p * score``. n_a is the number of pairs of its action, and p is the softmax of the
        score among these pairs. The mean utility of an action is then the mean of its scores,
        weighted by the softmax. (For stocks, the release averages a softmax within an action
        without weights. The result is always ``1 / n_a``.)
    temperature
        The divisor of the scores before the softmax, > 0.

    Returns
    -------
    Shape (..., n): the utilities of the pairs.
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
    """Return the mean utility of each action's pairs, shape (A,); NaN for an action without pairs.

    Parameters
    ----------
    utilities, action_of
        Shape (n,) each: the utility and the action of each pair.
    actions
        A, the number of actions.
    """
    sums = np.bincount(action_of, utilities, actions)
    sizes = np.bincount(action_of, minlength=actions)
    found = np.full(actions, np.nan)
    np.divide(sums, sizes, out=found, where=sizes > 0)
    return found


def weigh_by_attitude(
    utilities: Floats, weights: Floats, attitude: Attitude = "mean", aversion: float = 1.0
) -> Floats:
    """Combine the utilities of an action in weighted states into the value of the action.

    ``mean`` is the expectation. ``cvar`` is the expectation over only the worst states; their
    total probability is `aversion`.

    Parameters
    ----------
    utilities
        Shape (..., m): the utilities by state.
    weights
        The weights of the states, broadcast to the same shape; their sum is above 0.
    attitude, aversion
        The attitude, and the share of worst states for ``cvar``; see `DellmaSettings`.

    Returns
    -------
    Shape (...,): the value of the action.
    """
    chances = weights / weights.sum(axis=-1, keepdims=True)
    if attitude == "mean":
        return np.asarray((chances * utilities).sum(axis=-1))
    order = np.argsort(utilities, axis=-1, kind="stable")
    sorted_chances = np.take_along_axis(np.broadcast_to(chances, utilities.shape), order, -1)
    before = np.cumsum(sorted_chances, axis=-1) - sorted_chances
    worst = np.clip(aversion - before, 0.0, sorted_chances)
    worst /= worst.sum(axis=-1, keepdims=True)
    return np.asarray((worst * np.take_along_axis(utilities, order, -1)).sum(axis=-1))


def estimate_certainty(values: Floats, drawn: Floats, states: int) -> tuple[Floats, Floats]:
    """Estimate how certain the actions' values are.

    Utilities have no unit, so only differences between actions matter. Therefore each draw is
    shifted to the same mean over all actions. The largest of several uncertain values is too large
    on average (the winner's curse). Therefore the intervals are wider if the errors are large
    compared with the differences between actions. In most generated problems, choices are right
    about as often as the probabilities predict, and at least nine of ten intervals contain the true
    value. docs/dellma.md lists the exceptions.

    Parameters
    ----------
    values
        Shape (A,): the actions' values; NaN for an action without a ranked pair.
    drawn
        Shape (draws, A): the values for resampled states.
    states
        The smallest number of states of any ranked action. If this number is 1, all intervals are
        unknown.

    Returns
    -------
    Shape (A, 2): an interval for each value, NaN if it is unknown. Shape (A,): the probability that
    each action has the largest value.
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
    """Yield random weights for the states of the n pairs, in blocks of shape (draws, n).

    This is a Bayesian bootstrap: actions that share a state share its weight. The weights have a
    gamma distribution with shape ``(S - 4) / S``, where S is the number of states of an action. A
    weighted mean then has the variance of Student's t with S - 1 degrees of freedom. The usual
    shape of 1 gives too small a variance for few states.
    """
    sizes = np.bincount(action_of)[action_of]
    states, number = np.unique(state_of, return_inverse=True)
    size = np.bincount(number, sizes) / np.bincount(number)
    shape = np.maximum((size - 4.0) / size, _LEAST_SHAPE)
    block = max(1, _AT_ONCE // len(state_of))
    for start in range(0, _DRAWS, block):
        weights = rng.standard_gamma(shape, size=(min(block, _DRAWS - start), len(states)))
        yield np.maximum(weights, np.finfo(np.float64).tiny)[:, number]


def _softmax(scores: Floats) -> Floats:
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def _plain(number: Any) -> float | None:  # noqa: ANN401  (a NumPy number)
    return None if np.isnan(number) else float(number)
