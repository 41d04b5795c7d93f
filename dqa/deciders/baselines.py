"""Deciders that need no model: what every other one has to beat, and the best there can be."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decision import Decision, Ending, Event
from dqa.core.errors import InfrastructureError, UsageError
from dqa.core.question import Candidate, Question
from dqa.deciders.base import Settings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["FIRST", "ORACLE", "RANDOM", "Baseline", "BaselineFactory", "Rule"]


@dataclass(frozen=True, slots=True)
class Rule:
    """How a baseline picks.

    Attributes
    ----------
    choose
        A question, its database and the name of a rule set to a candidate.
    check
        Raises `UsageError` for a question that it can never decide, by that rule set.
    """

    choose: Callable[[Question, Database, str | None], Candidate]
    check: Callable[[Question, str | None], object]


@dataclass(frozen=True, slots=True)
class Baseline:
    """A decider made of one rule that picks a candidate.

    Attributes
    ----------
    name
        What commands call it.
    rule
        How it picks.
    rules
        Name of the rule set that is simulated by; None for the scenario's first.
    """

    name: str
    rule: Rule
    rules: str | None = None

    def decide(self, question: Question, database: Database) -> Decision:
        """Decide one question; a failing database ends the run as `Ending.INFRASTRUCTURE`."""
        start = time.perf_counter()
        try:
            choice = self.rule.choose(question, database, self.rules)
        except InfrastructureError as error:
            return Decision(
                Ending.INFRASTRUCTURE,
                seconds=time.perf_counter() - start,
                error=str(error),
                outage="database",
            )
        return Decision(
            Ending.ANSWERED,
            answer=str(choice),
            choice=choice,
            seconds=time.perf_counter() - start,
            trace=(Event("answer", 0, {"text": str(choice)}),),
        )

    def check(self, question: Question) -> None:
        """Raise `UsageError` for a question that the rule can never decide."""
        self.rule.check(question, self.rules)


@dataclass(frozen=True, slots=True)
class BaselineFactory:
    """Makes a baseline; it takes a model like every decider's factory and ignores it."""

    name: str
    description: str
    rule: Rule
    needs_model: bool = False

    def __call__(self, model: BaseChatModel | None, settings: Settings) -> Baseline:
        """Make the decider."""
        del model
        return Baseline(self.name, self.rule, settings.rules)


def _candidates(question: Question, rules: str | None = None) -> tuple[Candidate, ...]:
    del rules
    if not question.candidates:
        raise UsageError(
            f"Question '{question.key}' lists no candidates, and a baseline can only pick from a "
            "list: name them, or ask another decider."
        )
    return question.candidates


def _first(question: Question, database: Database, rules: str | None) -> Candidate:
    del database, rules
    return _candidates(question)[0]


def _random(question: Question, database: Database, rules: str | None) -> Candidate:
    """Draw by the question alone, so every database and every run gets the same choice."""
    del database, rules
    return random.Random(question.key).choice(_candidates(question))  # noqa: S311


def _best(question: Question, database: Database, rules: str | None) -> Candidate:
    if question.outcomes is not None:
        return _recorded_best(question)
    # Only here: the tools that agents are offered come with it, and take LangChain to import.
    from dqa.deciders.simulation import Simulation

    return Simulation.of(question, database, rules).outcomes().answer


def _recorded_best(question: Question) -> Candidate:
    """Return the candidate with the best outcome on record, the first of several."""
    scenario = question.scenario
    known = scenario in plugins.names("scenario")
    least = known and plugins.scenario(scenario).goal == "minimise"
    outcomes = dict(zip(_candidates(question), question.outcomes or (), strict=True))
    return (min if least else max)(outcomes, key=outcomes.__getitem__)


def _has_best(question: Question, rules: str | None) -> None:
    if question.outcomes is not None:
        _candidates(question)
        return
    from dqa.deciders.simulation import Simulation

    Simulation.check(question, rules)


FIRST = BaselineFactory("first", "always the first candidate", Rule(_first, _candidates))
RANDOM = BaselineFactory(
    "random", "a candidate at random, the same in every run", Rule(_random, _candidates)
)
ORACLE = BaselineFactory(
    "oracle",
    "the best outcome on record, or, without a record, every candidate simulated on all rows",
    Rule(_best, _has_best),
)
