"""Search a generated world for questions with one reliable answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dqa import plugins
from dqa.core.errors import DataError
from dqa.core.question import Question
from dqa.core.simulator import Outcomes
from dqa.core.situation import Situation
from dqa.core.truth import LabelledQuestion, Truth
from dqa.scenarios.base import Scenario
from dqa.scenarios.generation import Difficulty, Resistance

SMALLEST_MARGIN = 1e-6
"""The minimum lead of the answer over the runner-up and over doing nothing, relative to the
answer's outcome."""

Steps = Callable[[Situation, Question], NDArray[np.float64]]

_LARGE = 100_000  # a world with more rows is large
_BATCH = 64  # the maximum number of questions that are simulated together


@dataclass(frozen=True, slots=True)
class Asking:
    """The requirements that questions must meet.

    Attributes
    ----------
    rules
        The rule sets under which the answer must be the same.
    difficulty
        The required difficulty, measured under the first rule set.
    steps
        A function that returns the number of steps from each candidate to the question's target.
    first
        The number of the first question. With `Difficulty.mix`, the number of a question determines
        whether its answer must be far.
    resistance
        Selects the questions that all deciders of a group answer wrongly; None selects all
        questions.
    """

    rules: tuple[str, ...]
    difficulty: Difficulty
    steps: Steps
    first: int = 1
    resistance: Resistance | None = None


def rules_for(situation: Situation, rules: tuple[str, ...]) -> tuple[str, ...]:
    """Return the rule sets under which answers about a world are checked.

    Large worlds use only the first rule set, because each simulation takes seconds.
    """
    return rules[:1] if situation.row_count > _LARGE else rules


class _Fit(NamedTuple):
    """A question that meets all bounds.

    `far` says whether the answer is far from the target; None without `Difficulty.mix`.
    """

    labelled: LabelledQuestion
    far: bool | None


def ask(
    scenario: Scenario,
    situation: Situation,
    targets: list[Mapping[str, str]],
    wanted: int,
    asking: Asking,
) -> list[LabelledQuestion]:
    """Return the first `wanted` questions about `targets` that have one reliable answer.

    The answer is unique and the same under each rule set. Its lead over the runner-up and over
    doing nothing is at least `SMALLEST_MARGIN`, so rounding errors cannot change which answer is
    best.

    Returns
    -------
    list[LabelledQuestion]
        At most `wanted` questions without ids, in the order of `targets`. With `Difficulty.mix`,
        this order holds separately for questions with near answers and for questions with far
        answers.
    """
    mix, first = asking.difficulty.mix, asking.first
    # With a mix, the number of a question determines whether its answer must be far.
    kinds = [None if mix is None else mix.is_far(n) for n in range(first, first + wanted)]
    found: dict[bool | None, list[LabelledQuestion]] = {kind: [] for kind in kinds}

    def has_room(far: bool | None) -> bool:
        return len(found.get(far, ())) < kinds.count(far)

    rest = iter(targets)
    while missing := wanted - sum(map(len, found.values())):
        size = 1 if situation.row_count > _LARGE else min(_BATCH, 2 * missing + 4)
        batch = [scenario.question(situation, "", target) for target in islice(rest, size)]
        if not batch:
            break
        fit = [one for one in _sure(situation, batch, asking) if has_room(one.far)]
        for one in _resisting(situation, fit, asking):
            if has_room(one.far):
                found[one.far].append(one.labelled)
    left = {kind: iter(questions) for kind, questions in found.items()}
    filled = (next(left[kind], None) for kind in kinds)
    return [labelled for labelled in takewhile(bool, filled) if labelled]


def _sure(situation: Situation, questions: list[Question], asking: Asking) -> list[_Fit]:
    """Return the questions with one reliable answer that meet every bound, and their answers."""
    simulator = plugins.simulator(questions[0].scenario)
    first, *others = rules_for(situation, asking.rules)
    sure: list[_Fit] = []
    outcomes = simulator.outcomes(situation, questions, first)
    for question, outcome in zip(questions, outcomes, strict=True):
        if _is_sure(outcome):
            found = _fit(situation, question, outcome, asking)
            sure += [found] if found else []
    for rules in others:
        candidates = [labelled.question for labelled, _ in sure]
        outcomes = simulator.outcomes(situation, candidates, rules) if candidates else []
        sure = [
            found
            for found, outcome in zip(sure, outcomes, strict=True)
            if _is_sure(outcome) and outcome.answer == found.labelled.truth.official
        ]
    return sure


def _fit(
    situation: Situation, question: Question, outcome: Outcomes, asking: Asking
) -> _Fit | None:
    """Return a question with its answer. Return None if the question does not meet a bound."""
    difficulty, mix = asking.difficulty, asking.difficulty.mix
    labelled = LabelledQuestion(question, Truth((outcome.answer,)))
    margin = outcome.margin / _gain(outcome)
    if not difficulty.min_margin <= margin <= difficulty.max_margin:
        return None
    if _rivals(outcome) < difficulty.rivals:
        return None
    if difficulty.reach == 1 and mix is None:
        return _Fit(labelled, None)
    distance = _distance(situation, labelled, asking.steps)
    far = None if mix is None else distance > 1.0
    fits = distance == 1.0 if far is False else distance >= difficulty.reach
    return _Fit(labelled, far) if fits else None


def _resisting(situation: Situation, fit: list[_Fit], asking: Asking) -> list[_Fit]:
    """Return the questions that all deciders of `resistance` answer wrongly."""
    if asking.resistance is None or not fit:
        return fit
    flags = asking.resistance.keeps(situation, [found.labelled for found in fit])
    return [found for found, keeps in zip(fit, flags, strict=True) if keeps]


def _is_sure(outcome: Outcomes) -> bool:
    best = outcome.value(outcome.answer)
    least = SMALLEST_MARGIN * abs(best)
    gain = _gain(outcome)
    return len(outcome.ties) == 1 and outcome.margin > least and gain > least


def _baseline(outcome: Outcomes) -> float:
    if outcome.baseline is None:
        raise DataError(
            "The difficulty of a question is measured against the outcome of doing nothing: write "
            "this outcome into scenario.toml (baseline, below [outcomes])."
        )
    return outcome.baseline


def _gain(outcome: Outcomes) -> float:
    """Return the gain of the answer compared with doing nothing. A loss is negative."""
    return _sign(outcome) * (outcome.value(outcome.answer) - _baseline(outcome))


def _sign(outcome: Outcomes) -> int:
    return 1 if outcome.goal == "maximise" else -1


def _rivals(outcome: Outcomes) -> int:
    """Count the candidates that are better than doing nothing."""
    baseline = _baseline(outcome)
    gains = _sign(outcome) * (outcome.values - baseline)
    return int(np.count_nonzero(gains > SMALLEST_MARGIN * abs(baseline)))


def _distance(situation: Situation, labelled: LabelledQuestion, steps: Steps) -> float:
    """Return the number of steps from the answer to the target; 0 if there is no path."""
    question, truth = labelled
    candidates = question.candidates or ()
    distance = steps(situation, question)[candidates.index(truth.answers[0])]
    return float(distance) if np.isfinite(distance) else 0.0
