"""Questions about a generated world whose answers can be trusted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dqa import plugins
from dqa.core.errors import DataError
from dqa.core.question import Question
from dqa.core.simulator import Outcomes
from dqa.core.situation import Situation
from dqa.core.truth import LabelledQuestion, Truth
from dqa.scenarios.base import Scenario
from dqa.scenarios.generation import Difficulty

SMALLEST_MARGIN = 1e-6
"""Least lead of an answer over the runner-up, and over doing nothing, as a share of its value."""

Steps = Callable[[Situation, Question], NDArray[np.float64]]

_LARGE = 100_000  # rows from which a world is called large
_BATCH = 64  # most questions screened at once


@dataclass(frozen=True, slots=True)
class Asking:
    """What a question has to fulfil.

    Attributes
    ----------
    rules
        The rule sets under which its answer has to be the same.
    difficulty
        How hard it has to be, by the first of the rule sets.
    steps
        Counts the steps from each candidate to what the question is about.
    at_once
        Most questions that are simulated together; None for as many as are useful.
    """

    rules: tuple[str, ...]
    difficulty: Difficulty
    steps: Steps
    at_once: int | None = None

    @classmethod
    def about(
        cls, situation: Situation, rules: tuple[str, ...], difficulty: Difficulty, steps: Steps
    ) -> Self:
        """Return what questions about a situation have to fulfil.

        In a large world a simulation takes seconds, so one rule set has to do there.
        """
        if situation.row_count > _LARGE:
            return cls(rules[:1], difficulty, steps, at_once=1)
        return cls(rules, difficulty, steps)


def ask(
    scenario: Scenario,
    situation: Situation,
    targets: list[Mapping[str, str]],
    wanted: int,
    asking: Asking,
) -> list[LabelledQuestion]:
    """Make the first `wanted` questions about `targets` that have one sure answer.

    The answer is unique, leads by at least `SMALLEST_MARGIN`, betters doing nothing by as much,
    and is the same under each rule set, so that it hangs neither on the last bit of a sum nor on
    what only one rule set counts.

    Returns
    -------
    list[LabelledQuestion]
        At most `wanted`, in the order of `targets`; their ids are still to be given.
    """
    found: list[LabelledQuestion] = []
    rest = iter(targets)
    while len(found) < wanted:
        size = asking.at_once or min(_BATCH, 2 * (wanted - len(found)) + 4)
        batch = [scenario.question(situation, "", target) for target in islice(rest, size)]
        if not batch:
            break
        found.extend(_sure(situation, batch, asking))
    return found[:wanted]


def _sure(
    situation: Situation, questions: list[Question], asking: Asking
) -> list[LabelledQuestion]:
    """Keep the questions with one sure answer, each with that answer."""
    simulator = plugins.simulator(questions[0].scenario)
    first, *others = asking.rules
    difficulty = asking.difficulty
    sure: list[LabelledQuestion] = []
    outcomes = simulator.outcomes(situation, questions, first)
    for question, outcome in zip(questions, outcomes, strict=True):
        if _is_sure(outcome) and _is_within(outcome, difficulty):
            sure.append(LabelledQuestion(question, Truth((outcome.answer,))))
    for rules in others:
        asked = [question for question, _ in sure]
        outcomes = simulator.outcomes(situation, asked, rules) if asked else []
        sure = [
            labelled
            for labelled, outcome in zip(sure, outcomes, strict=True)
            if _is_sure(outcome) and outcome.answer == labelled.truth.official
        ]
    if difficulty.hops > 1:
        sure = [
            labelled
            for labelled in sure
            if _distance(situation, labelled, asking.steps) >= difficulty.hops
        ]
    return sure


def _is_sure(outcome: Outcomes) -> bool:
    best = outcome.value(outcome.answer)
    least = SMALLEST_MARGIN * abs(best)
    gain = _gain(outcome)
    return len(outcome.ties) == 1 and outcome.margin > least and gain > least


def _baseline(outcome: Outcomes) -> float:
    if outcome.baseline is None:
        raise DataError(
            "How hard questions are is measured against deciding nothing, and nothing tells what "
            "that leads to: say it in the scenario.toml (baseline, below [outcomes])."
        )
    return outcome.baseline


def _gain(outcome: Outcomes) -> float:
    """How much the answer betters doing nothing; negative where it worsens it."""
    more = outcome.value(outcome.answer) - _baseline(outcome)
    return more if outcome.goal == "maximise" else -more


def _is_within(outcome: Outcomes, difficulty: Difficulty) -> bool:
    share = outcome.margin / _gain(outcome)
    within = difficulty.min_margin <= share <= difficulty.max_margin
    change = outcome.values - _baseline(outcome)
    better = change if outcome.goal == "maximise" else -change
    rivals = int(np.count_nonzero(better > SMALLEST_MARGIN * abs(_baseline(outcome))))
    return within and rivals >= difficulty.rivals


def _distance(situation: Situation, labelled: LabelledQuestion, steps: Steps) -> float:
    """Count the steps from the answer to the target; no way at all counts as none."""
    question, truth = labelled
    candidates = question.candidates or ()
    distance = steps(situation, question)[candidates.index(truth.answers[0])]
    return float(distance) if np.isfinite(distance) else 0.0
