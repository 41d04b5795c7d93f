"""Search a generated world for questions with one reliable answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice, takewhile
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from dqa import plugins
from dqa.core.errors import DataError
from dqa.core.question import Question
from dqa.core.simulator import Outcomes
from dqa.core.situation import Situation
from dqa.core.text import counted
from dqa.core.truth import LabelledQuestion, Truth
from dqa.scenarios.base import Scenario
from dqa.scenarios.generation import Difficulty, Resistance

SMALLEST_MARGIN = 1e-6
"""Minimum lead of the answer over the runner-up and over doing nothing, as a share of its value."""

Steps = Callable[[Situation, Question], NDArray[np.float64]]

_LARGE = 100_000  # rows from which a world is called large
_BATCH = 64  # most questions screened at once
_MOST_ASKED = 1000
"""The search ends after this number of questions that every decider answered correctly."""


@dataclass(slots=True)
class Tally:
    """Counters of a search, for its error message.

    Attributes
    ----------
    rows
        The number of rows of each world.
    met
        The number of questions that were ``searched``, of those that are ``sure``, of these by
        bound, and of those that were ``asked`` to deciders and ``resist`` all of them.
    """

    rows: list[int] = field(default_factory=list)
    met: Counter[str] = field(default_factory=Counter)

    @property
    def hopeless(self) -> bool:
        """Whether deciders were right on too many questions to continue."""
        return self.met["asked"] >= _MOST_ASKED and not self.met["resist"]

    def problem(self, scenario: str, difficulty: Difficulty, resistance: Resistance | None) -> str:
        """Return the counts, and the tightest bound."""
        bounds = ["margins", "rivals", "hops"]
        bounds += [name for name in ("direct", "far") if getattr(difficulty.mix, name, 0.0)]
        bounds += [] if resistance is None else ["resist"]
        tight = min(bounds, key=self.met.__getitem__)
        is_tight = self.met[tight] < self.met["sure"]
        advice = f"Too tight is {tight}: loosen it, or ask" if is_tight else "Ask"
        counts = "; ".join(f"{self.met[name]} meet {name}" for name in bounds)
        answers = "" if resistance is None else f" (the deciders: {resistance.description()})"
        few, many = min(self.rows, default=0), max(self.rows, default=0)
        return (
            f"No question of '{scenario}' is left: {counted(len(self.rows), 'world')} of {few} to "
            f"{many} rows were drawn and {self.met['searched']} questions searched; "
            f"{self.met['sure']} have one sure answer; {counts}{answers}. {advice} for larger "
            "worlds, or use another seed."
        )


@dataclass(frozen=True, slots=True)
class Asking:
    """The requirements on questions.

    Attributes
    ----------
    rules
        The rule sets under which the answer must be the same.
    difficulty
        The required difficulty, measured under the first rule set.
    steps
        Returns the number of steps from each candidate to the question's target.
    first
        The number of the first question, which decides its kind in a mix.
    resistance
        Decides which questions to keep; None keeps all.
    at_once
        Maximum number of questions that are simulated together; None chooses it.
    tally
        The counters of the search.
    """

    rules: tuple[str, ...]
    difficulty: Difficulty
    steps: Steps
    first: int = 1
    resistance: Resistance | None = None
    at_once: int | None = None
    tally: Tally = field(default_factory=Tally)

    def about(self, situation: Situation) -> Self:
        """Return the requirements on questions about a situation.

        In a large world a simulation takes seconds, so only the first rule set is used.
        """
        if situation.row_count > _LARGE:
            return replace(self, rules=self.rules[:1], at_once=1)
        return self


class _Fit(NamedTuple):
    """A question that meets all bounds. `far` tells the kind of its answer in a mix."""

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

    The answer is unique and the same under each rule set. It leads the runner-up and doing nothing
    by at least `SMALLEST_MARGIN`, so the last bit of a sum does not decide.

    Returns
    -------
    list[LabelledQuestion]
        At most `wanted` questions without ids, in the order of `targets` (in a mix: within each
        kind of answer).
    """
    asking = asking.about(situation)
    mix, first = asking.difficulty.mix, asking.first
    # In a mix, each position requires one kind of answer.
    kinds = [None if mix is None else mix.is_far(n) for n in range(first, first + wanted)]
    found: dict[bool | None, list[LabelledQuestion]] = {kind: [] for kind in kinds}

    def has_room(far: bool | None) -> bool:
        return len(found.get(far, ())) < kinds.count(far)

    rest = iter(targets)
    while (missing := wanted - sum(map(len, found.values()))) and not asking.tally.hopeless:
        size = asking.at_once or min(_BATCH, 2 * missing + 4)
        batch = [scenario.question(situation, "", target) for target in islice(rest, size)]
        if not batch:
            break
        asking.tally.met["searched"] += len(batch)
        fit = [one for one in _sure(situation, batch, asking) if has_room(one.far)]
        for one in _resisting(situation, fit, asking):
            if has_room(one.far):
                found[one.far].append(one.labelled)
    left = {kind: iter(questions) for kind, questions in found.items()}
    filled = (next(left[kind], None) for kind in kinds)
    return [labelled for labelled in takewhile(bool, filled) if labelled]


def _sure(situation: Situation, questions: list[Question], asking: Asking) -> list[_Fit]:
    """Return the questions that have one reliable answer and meet every bound, with the answer."""
    simulator = plugins.simulator(questions[0].scenario)
    first, *others = asking.rules
    sure: list[_Fit] = []
    outcomes = simulator.outcomes(situation, questions, first)
    for question, outcome in zip(questions, outcomes, strict=True):
        if _is_sure(outcome):
            found = _fit(situation, question, outcome, asking)
            sure += [found] if found else []
    for rules in others:
        asked = [labelled.question for labelled, _ in sure]
        outcomes = simulator.outcomes(situation, asked, rules) if asked else []
        sure = [
            found
            for found, outcome in zip(sure, outcomes, strict=True)
            if _is_sure(outcome) and outcome.answer == found.labelled.truth.official
        ]
    for _, far in sure:
        if far is not None:
            asking.tally.met["far" if far else "direct"] += 1
    return sure


def _fit(
    situation: Situation, question: Question, outcome: Outcomes, asking: Asking
) -> _Fit | None:
    """Return a question with its answer; None if it breaks a bound. Count the bounds it meets."""
    difficulty, mix = asking.difficulty, asking.difficulty.mix
    labelled = LabelledQuestion(question, Truth((outcome.answer,)))
    margin = outcome.margin / _gain(outcome)
    met = {
        "margins": difficulty.min_margin <= margin <= difficulty.max_margin,
        "rivals": _rivals(outcome) >= difficulty.rivals,
        "hops": True,
    }
    far = None
    if difficulty.reach > 1 or mix is not None:
        distance = _distance(situation, labelled, asking.steps)
        far = None if mix is None else distance > 1.0
        met["hops"] = distance == 1.0 if far is False else distance >= difficulty.reach
    asking.tally.met.update(["sure", *(name for name, holds in met.items() if holds)])
    return _Fit(labelled, far) if all(met.values()) else None


def _resisting(situation: Situation, fit: list[_Fit], asking: Asking) -> list[_Fit]:
    """Return the questions that all deciders of `resistance` get wrong."""
    if asking.resistance is None or not fit:
        return fit
    flags = asking.resistance.keeps(situation, [found.labelled for found in fit])
    kept = [found for found, keeps in zip(fit, flags, strict=True) if keeps]
    asking.tally.met.update({"asked": len(fit), "resist": len(kept)})
    return kept


def _is_sure(outcome: Outcomes) -> bool:
    best = outcome.value(outcome.answer)
    least = SMALLEST_MARGIN * abs(best)
    gain = _gain(outcome)
    return len(outcome.ties) == 1 and outcome.margin > least and gain > least


def _baseline(outcome: Outcomes) -> float:
    if outcome.baseline is None:
        raise DataError(
            "The difficulty of questions is measured against deciding nothing: write its outcome "
            "into the scenario.toml (baseline, below [outcomes])."
        )
    return outcome.baseline


def _gain(outcome: Outcomes) -> float:
    """Return the answer's gain over doing nothing; negative for a loss."""
    return _sign(outcome) * (outcome.value(outcome.answer) - _baseline(outcome))


def _sign(outcome: Outcomes) -> int:
    return 1 if outcome.goal == "maximise" else -1


def _rivals(outcome: Outcomes) -> int:
    """Count the candidates that are better than doing nothing."""
    baseline = _baseline(outcome)
    gains = _sign(outcome) * (outcome.values - baseline)
    return int(np.count_nonzero(gains > SMALLEST_MARGIN * abs(baseline)))


def _distance(situation: Situation, labelled: LabelledQuestion, steps: Steps) -> float:
    """Return the number of steps from the answer to the target; 0 if no path leads there."""
    question, truth = labelled
    candidates = question.candidates or ()
    distance = steps(situation, question)[candidates.index(truth.answers[0])]
    return float(distance) if np.isfinite(distance) else 0.0
