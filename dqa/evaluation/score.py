"""Judging decisions: right or wrong, how much a wrong one gives away, and what is not judged.

A decision is right where its choice is tied for best under the named rules; strictly, only where
it is the official answer. Without a simulator the recorded outcomes tell, and without those the
known answers are the ties. What a failing server ended is never judged (`Outcome.judged`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from math import isfinite
from typing import Any, Literal, TypeAlias

import numpy as np

from dqa import plugins
from dqa.core.decision import Decision, Ending, Usage
from dqa.core.errors import DataError, InvalidAnswerError, UnknownNameError
from dqa.core.question import Candidate, Question
from dqa.core.question_set import QuestionSet
from dqa.core.simulator import Outcomes
from dqa.core.truth import Truth
from dqa.deciders.answers import read_answer
from dqa.deciders.candidates import noun_of
from dqa.evaluation.plan import Task

__all__ = ["Goal", "Judge", "Outcome", "Result", "Verdict", "recorded_outcomes"]

Goal: TypeAlias = Literal["maximise", "minimise"]
"""Whether more or less of what a decision leads to is better."""


class Outcome(StrEnum):
    """What became of one question."""

    CORRECT = "correct"
    WRONG = "wrong"
    NO_CANDIDATE = "no_candidate"
    AMBIGUOUS = "ambiguous"
    STEP_LIMIT = "step_limit"
    UNPARSABLE = "unparsable"
    INFRASTRUCTURE = "infrastructure"
    BUDGET = "budget"
    CRASHED = "crashed"

    @property
    def judged(self) -> bool:
        """Whether it says anything about the decider; the rest is asked again by a resumed run."""
        return self not in {Outcome.INFRASTRUCTURE, Outcome.BUDGET, Outcome.CRASHED}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a decision is worth.

    Attributes
    ----------
    outcome
        What became of the question.
    choice
        The candidate that was chosen, or None.
    official
        The official answer, or None where nobody gave one.
    ties
        Every best candidate by the simulator or the record, or the known answers where there is
        neither.
    regret, relative_regret, rank
        As in `Outcomes`; None without a choice or outcomes, or where they are infinite.
    value
        What the choice leads to, in the scenario's unit; None without a choice or outcomes.
    best_value, baseline, goal
        As in `Outcomes`, whatever became of the question; None without outcomes. Of a record the
        baseline is 0, so where more is better, ``value / best_value`` is DeLLMa's normalised
        utility (appendix B) and ``1 - relative_regret``.
    """

    outcome: Outcome
    choice: Candidate | None = None
    official: Candidate | None = None
    ties: tuple[Candidate, ...] = ()
    regret: float | None = None
    relative_regret: float | None = None
    rank: int | None = None
    value: float | None = None
    best_value: float | None = None
    baseline: float | None = None
    goal: Goal | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """One line of ``results.jsonl``: who was asked what, and what it is worth. Holds no times."""

    question: str
    scenario: str
    database: str
    kind: str
    decider: str
    model: str
    outcome: Outcome
    answer: str
    choice: Candidate | None
    official: Candidate | None
    ties: tuple[Candidate, ...]
    regret: float | None
    relative_regret: float | None
    rank: int | None
    value: float | None
    best_value: float | None
    baseline: float | None
    goal: Goal | None
    steps: int
    statements: int
    plans: int
    usage: Usage
    error: str | None

    @classmethod
    def of(cls, task: Task, kind: str, model: str, decision: Decision, verdict: Verdict) -> Result:
        """Put together what is known about one decision."""
        return cls(
            question=task.question.key,
            scenario=task.question.scenario,
            database=task.database,
            kind=kind,
            decider=task.decider,
            model=model,
            outcome=verdict.outcome,
            answer=decision.answer,
            choice=verdict.choice,
            official=verdict.official,
            ties=verdict.ties,
            regret=verdict.regret,
            relative_regret=verdict.relative_regret,
            rank=verdict.rank,
            value=verdict.value,
            best_value=verdict.best_value,
            baseline=verdict.baseline,
            goal=verdict.goal,
            steps=decision.steps,
            statements=len(decision.evidence),
            plans=len(decision.plans),
            usage=decision.usage,
            error=decision.error,
        )

    @property
    def key(self) -> tuple[str, str, str]:
        """Question, database and decider: unique in a run."""
        return self.question, self.database, self.decider

    def to_json(self) -> dict[str, Any]:
        """Return the line's object."""
        line = {name: getattr(self, name) for name in self.__slots__ if name != "usage"}
        return line | {
            "ties": list(self.ties),
            "input_tokens": self.usage.input_tokens,
            "output_tokens": self.usage.output_tokens,
            "calls": self.usage.calls,
        }

    @classmethod
    def from_json(cls, line: Mapping[str, Any]) -> Result:
        """Read a line's object back; `KeyError`, `TypeError` or `ValueError` where it is none."""
        plain = {name: line[name] for name in cls.__slots__ if name != "usage"}
        usage = Usage(line["input_tokens"], line["output_tokens"], line["calls"])
        plain |= {"outcome": Outcome(line["outcome"]), "ties": tuple(line["ties"])}
        return cls(**plain, usage=usage)


class Judge:
    """Judges the decisions on one question set.

    Parameters
    ----------
    questions
        The questions that are asked.
    rules
        Name of the simulators' rule set.
    strict_official
        Whether only the official answer is right.

    Raises
    ------
    UnknownNameError
        A scenario's simulator has no such rules.
    """

    def __init__(
        self, questions: QuestionSet, rules: str = "released", strict_official: bool = False
    ) -> None:
        self._set = questions
        self._rules = rules
        self._strict = strict_official
        self._outcomes: dict[str, Outcomes] = {}
        simulated = set(plugins.names("simulator"))
        for name in sorted({q.scenario for q in questions.questions} & simulated):
            if rules not in plugins.simulator(name).rule_sets:
                raise UnknownNameError(
                    f"rule set of scenario '{name}'", rules, plugins.simulator(name).rule_sets
                )
        self._together: dict[tuple[str, str], list[Question]] = {}
        for question in questions.questions:
            if question.scenario in simulated:
                self._together.setdefault(_asked_about(question), []).append(question)

    def judge(self, question: Question, decision: Decision) -> Verdict:
        """Return what `decision` is worth; `DataError` where nothing tells what is right."""
        outcomes = self._outcomes_of(question)
        unchosen = _without_choice(self._set.truth_of(question), outcomes)
        if decision.ending is not Ending.ANSWERED:
            return replace(unchosen, outcome=Outcome(decision.ending.value))
        if not unchosen.ties:
            raise DataError(
                f"Question '{question.key}' has no known answer and its scenario no simulator: "
                "nothing tells which decision is right."
            )
        candidates = question.candidates or (outcomes.candidates if outcomes else unchosen.ties)
        choice = decision.choice
        if choice is None or choice not in candidates:
            # A decider that did not validate its answer, or a record of somebody else's.
            try:
                choice = read_answer(decision.answer, candidates, noun_of(question))
            except InvalidAnswerError as error:
                outcome = Outcome.AMBIGUOUS if error.named else Outcome.NO_CANDIDATE
                return replace(unchosen, outcome=outcome)
        return self._chosen(choice, unchosen, outcomes)

    def _chosen(self, choice: Candidate, rest: Verdict, outcomes: Outcomes | None) -> Verdict:
        only_official = self._strict and rest.official is not None
        right = choice == rest.official if only_official else choice in rest.ties
        judged = replace(rest, outcome=Outcome.CORRECT if right else Outcome.WRONG, choice=choice)
        if outcomes is None:
            return judged
        share = outcomes.relative_regret(choice)
        return replace(
            judged,
            regret=outcomes.regret(choice),
            relative_regret=share if isfinite(share) else None,
            rank=outcomes.rank(choice),
            value=outcomes.value(choice),
        )

    def _outcomes_of(self, question: Question) -> Outcomes | None:
        """Return a question's outcomes; all questions on a situation are simulated at once."""
        together = self._together.get(_asked_about(question))
        if together is None:
            return recorded_outcomes(question, self._set.truth_of(question))
        if question.key not in self._outcomes:
            found = plugins.simulator(question.scenario).outcomes(
                self._set.situation_of(question), together, self._rules
            )
            self._outcomes |= {q.key: o for q, o in zip(together, found, strict=True)}
        return self._outcomes[question.key]


def _without_choice(truth: Truth, outcomes: Outcomes | None) -> Verdict:
    """Return what is known about a question before anything is chosen."""
    official = truth.official
    if outcomes is None:
        return Verdict(Outcome.NO_CANDIDATE, official=official, ties=truth.answers)
    return Verdict(
        Outcome.NO_CANDIDATE,
        official=official,
        ties=outcomes.ties,
        best_value=outcomes.best,
        baseline=outcomes.baseline,
        goal=outcomes.goal,
    )


def recorded_outcomes(question: Question, truth: Truth) -> Outcomes | None:
    """Return the outcomes that a question's record tells; None where there is no record."""
    if truth.outcomes is None or question.candidates is None:
        return None
    known = question.scenario in plugins.names("scenario")
    goal: Goal = plugins.scenario(question.scenario).goal if known else "maximise"
    values = np.array(truth.outcomes, dtype=np.float64)
    return Outcomes(question.candidates, values, goal, baseline=0.0)


def _asked_about(question: Question) -> tuple[str, str]:
    return question.scenario, question.situation
