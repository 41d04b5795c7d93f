"""Expected utility maximisation: from rankings to the action to take (section 3.4).

Scores of the ranked state-action pairs become utilities, and an action's expected utility is the
mean of its pairs': its states are drawn from the belief. Pairs that a ranking leaves out of its
minibatch stay in that mean, with the score that the regulariser gives them: models leave out what
is worst, and a mean of the others would favour actions that vary. Pairs that no ranking could have
held have no part in it. Past the paper are the attitudes to risk, the intervals and the chances of
being the best; those come from `posterior`, which knows nothing of pairs that were left out, and
the decision itself stays the paper's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqa.core.question import Candidate
from dqa_dellma.events import ActionFigures, RankingEvent, UtilitiesEvent
from dqa_dellma.settings import Attitude, DellmaSettings, Elicitation
from dqa_dellma.utilities.bradley_terry import fit_pairs, fit_top1
from dqa_dellma.utilities.layout import Floats, Ints, Rankings, Ranks
from dqa_dellma.utilities.pairs import Pairs
from dqa_dellma.utilities.posterior import Posterior, draw_state_weights, fit_posterior

LEVEL = 0.9
"""Posterior probability that an interval holds."""
_DRAWS = 2_000
_AT_ONCE = 1_000_000
"""Numbers of one block of draws, which bounds the memory."""
_OF_SETTINGS = {"elicitation", "alpha", "scale", "temperature", "rule", "attitude"}
_OBJECTIVES = {
    "pairs": "Bradley-Terry, every pair of each ranking, alpha * n * sum(exp(s) - s) added",
    "top1": "Luce's choice, the first of each ranking, alpha * n * sum(exp(s) - s) added",
}


@dataclass(frozen=True)
class Maximised:
    """What the rankings say of every action, and which is the best.

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
    estimates
        Shape (A,): the posterior mean of each action's value; NaN for an action of which no pair is
        ranked, and all NaN with ``scale=action``, as `intervals` are: values then are scores, of
        which a small alpha makes any multiple, and nothing ties those to the unit of the posterior.
    intervals
        Shape (A, 2): 90 % of the posterior of each action's value. What they hold is the value
        under the belief itself, where `values` has the drawn states' only: the expected utility
        over all states, with weights ``exp(u / temperature)`` of pairs as utilities, where a
        ranking chooses with probabilities in proportion to ``exp(u)``. Utilities have no unit of
        their own, so the expected utilities of all actions are scaled to the sum of `expected`:
        what is known is each action's share. `values` are the paper's point estimates, and the
        posterior shrinks where little is known: they may lie outside, `estimates` do not. With
        ``top1`` they are conservative: first places tell so little that the priors are most of it.
    chances
        Shape (A,): posterior probability that the action has the largest value; 0 for an action of
        which no pair is ranked.
    best
        The action with the largest value, or by the posterior's rule with the largest estimate;
        the first of equals.
    ranked
        Shape (A,): how many pairs of each action have a utility.
    spread
        How much log utilities of one action differ between states, as the posterior sees it.
    factor_effects
        Whether the posterior knows effects of factors' values; see `Posterior.factor_effects`.
    settings
        What was computed.
    """

    pairs: Pairs
    scores: Floats
    utilities: Floats
    expected: Floats
    values: Floats
    estimates: Floats
    intervals: Floats
    chances: Floats
    best: int
    ranked: Ints
    spread: float
    factor_effects: bool
    settings: DellmaSettings

    @property
    def decisive(self) -> Floats:
        """Shape (A,): what decides, the values or their posterior means."""
        return self.values if self.settings.rule == "paper" else self.estimates

    def to_event(self, actions: Sequence[Candidate], why: str) -> UtilitiesEvent:
        """Return what a trace holds of it; what is not known is None."""
        settings = self.settings
        return UtilitiesEvent(
            actions=tuple(self._figures(number, action) for number, action in enumerate(actions)),
            level=LEVEL,
            scores=tuple(self.scores.tolist()),
            utilities=tuple(map(_plain, self.utilities)),
            unranked=int(np.isnan(self.utilities).sum()),
            objective=_OBJECTIVES[settings.elicitation],
            aversion=None if settings.attitude == "mean" else settings.aversion,
            state_spread=self.spread,
            factor_effects=self.factor_effects,
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
            estimate=_plain(self.estimates[number]),
            interval=(_plain(low), _plain(high)),
            chance_best=float(self.chances[number]),
            ranked=int(self.ranked[number]),
        )


def maximise(
    pairs: Pairs, rankings: Sequence[RankingEvent], actions: int, settings: DellmaSettings
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
    telling = [ranking for ranking in rankings if len(ranking.items) > 1]
    orders, ranks = [ranking.items for ranking in telling], [ranking.ranks for ranking in telling]
    first_only = settings.elicitation == "top1"
    scores = fit_scores(orders, len(pairs), settings.elicitation, settings.alpha, ranks)
    posterior = fit_posterior(orders, pairs, actions, first_only=first_only, ranks=ranks)
    held = np.unique(np.concatenate([[*r.items, *r.shown] for r in telling])).astype(np.int64)
    action_of = pairs.action_of[held]
    utilities = np.full(len(pairs), np.nan)
    utilities[held] = scale_utilities(scores[held], action_of, settings.scale, settings.temperature)
    expected = average_utilities(utilities[held], action_of, actions)
    values, _ = _values(utilities[held], np.ones(len(held)), action_of, actions, settings)
    total = float(expected[np.unique(pairs.action_of[posterior.items])].sum())
    drawn = _drawn_values(posterior, pairs, actions, settings, total)
    tail = (1.0 - LEVEL) / 2.0
    known = drawn if settings.scale == "all" else np.full_like(drawn, np.nan)
    estimates = known.mean(axis=0)
    decisive = values if settings.rule == "paper" else estimates
    return Maximised(
        pairs=pairs,
        scores=scores,
        utilities=utilities,
        expected=expected,
        values=values,
        estimates=estimates,
        intervals=np.quantile(known, [tail, 1.0 - tail], axis=0).T,
        chances=np.bincount(np.nanargmax(drawn, axis=1), minlength=actions) / len(drawn),
        best=int(np.nanargmax(decisive)),
        ranked=np.bincount(action_of, minlength=actions),
        spread=posterior.spread,
        factor_effects=posterior.factor_effects,
        settings=settings,
    )


def fit_scores(
    rankings: Rankings,
    count: int,
    elicitation: Elicitation,
    alpha: float,
    ranks: Ranks | None = None,
) -> Floats:
    """Fit the scores of `count` items as an elicitation reads rankings; see `bradley_terry`."""
    fit = fit_top1 if elicitation == "top1" else fit_pairs
    return fit(rankings, count, alpha, ranks=ranks)


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


def _values(
    utilities: Floats, weights: Floats, action_of: Ints, actions: int, settings: DellmaSettings
) -> tuple[Floats, Floats]:
    """Return the attitude's value and the mean of each action, shapes (..., A); NaN without pairs.

    `utilities` and `weights` have shape (..., n).
    """
    shape = (*utilities.shape[:-1], actions)
    means, values = np.full(shape, np.nan), np.full(shape, np.nan)
    members = [np.flatnonzero(action_of == action) for action in range(actions)]
    for action, own in enumerate(members):
        if len(own):
            means[..., action] = weigh_by_attitude(utilities[..., own], weights[..., own])
    if settings.attitude == "mean":
        return means, means
    unit = np.nanmean(means, axis=-1)
    for action, own in enumerate(members):
        if len(own):
            values[..., action] = weigh_by_attitude(
                utilities[..., own], weights[..., own], settings.attitude, settings.aversion, unit
            )
    return values, means


def _drawn_values(
    posterior: Posterior, pairs: Pairs, actions: int, settings: DellmaSettings, total: float
) -> Floats:
    """Draw the actions' values, shape (draws, A), in the unit of expected utilities of `total`."""
    rng = np.random.default_rng(settings.seed)
    state_of, action_of = pairs.state_of[posterior.items], pairs.action_of[posterior.items]
    ranked = np.unique(action_of)
    block = max(1, _AT_ONCE // (len(action_of) + len(ranked)))
    drawn = []
    for start in range(0, _DRAWS, block):
        count = min(block, _DRAWS - start)
        seen, new = posterior.draw(count, rng)
        of_seen, of_new = draw_state_weights(state_of, action_of, count, rng)
        scores = np.concatenate([seen, new[:, ranked]], axis=1)
        weights = np.concatenate([of_seen, np.repeat(of_new, len(ranked), axis=1)], axis=1)
        of_action = np.concatenate([action_of, ranked])
        relative = np.exp((scores - scores.max(axis=1, keepdims=True)) / settings.temperature)
        if settings.scale == "all":
            values, means = _values(relative, weights, of_action, actions, settings)
            values = values * (total / np.nansum(means, axis=1, keepdims=True))
        else:
            # No unit of theirs is that of `total`: only which is the largest means something.
            values, _ = _values(scores, weights * relative, of_action, actions, settings)
        drawn.append(values)
    return np.concatenate(drawn)


def _softmax(scores: Floats) -> Floats:
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def _plain(number: Any) -> float | None:  # noqa: ANN401  (NumPy's own numbers)
    return None if np.isnan(number) else float(number)
