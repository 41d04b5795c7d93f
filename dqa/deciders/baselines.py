"""Deciders that need no model: what every other one has to beat, and the best there can be."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dqa import plugins
from dqa.databases.base import Database
from dqa.deciders.base import Settings
from dqa.decision import Decision, Ending, Event
from dqa.errors import InfrastructureError, UsageError
from dqa.question import Candidate, Question

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["FIRST", "ORACLE", "RANDOM", "Baseline", "BaselineFactory"]


@dataclass(frozen=True, slots=True)
class Baseline:
    """A decider made of one rule that picks a candidate.

    Attributes
    ----------
    name
        What commands call it.
    choose
        The rule: a question and its database to a candidate.
    check
        Raises `UsageError` for a question that the rule can never decide.
    """

    name: str
    choose: Callable[[Question, Database], Candidate]
    check: Callable[[Question], object]

    def decide(self, question: Question, database: Database) -> Decision:
        """Decide one question; a failing database ends the run as `Ending.INFRASTRUCTURE`."""
        start = time.perf_counter()
        try:
            choice = self.choose(question, database)
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


@dataclass(frozen=True, slots=True)
class BaselineFactory:
    """Makes a baseline; it takes a model like every decider's factory and ignores it."""

    name: str
    description: str
    choose: Callable[[Question, Database], Candidate]
    check: Callable[[Question], object]
    needs_model: bool = False

    def __call__(self, model: BaseChatModel | None, settings: Settings) -> Baseline:
        """Make the decider."""
        del model, settings
        return Baseline(self.name, self.choose, self.check)


def _candidates(question: Question) -> tuple[Candidate, ...]:
    if not question.candidates:
        raise UsageError(
            f"Question '{question.key}' lists no candidates, and a baseline can only pick from a "
            "list: name them, or ask another decider."
        )
    return question.candidates


def _first(question: Question, database: Database) -> Candidate:
    del database
    return _candidates(question)[0]


def _random(question: Question, database: Database) -> Candidate:
    """Draw by the question alone, so every database and every run gets the same choice."""
    del database
    return random.Random(question.key).choice(_candidates(question))  # noqa: S311


def _best(question: Question, database: Database) -> Candidate:
    if question.outcomes is not None:
        return _recorded_best(question)
    # Only here: the tools that agents are offered come with it, and take LangChain to import.
    from dqa.deciders.simulation import Simulation

    return Simulation.of(question, database).outcomes().answer


def _recorded_best(question: Question) -> Candidate:
    """Return the candidate with the best outcome on record, the first of several."""
    scenario = question.scenario
    known = scenario in plugins.names("scenario")
    least = known and plugins.scenario(scenario).goal == "minimise"
    outcomes = dict(zip(_candidates(question), question.outcomes or (), strict=True))
    return (min if least else max)(outcomes, key=outcomes.__getitem__)


def _has_best(question: Question) -> None:
    if question.outcomes is not None:
        _candidates(question)
        return
    from dqa.deciders.simulation import Simulation

    Simulation.check(question)


FIRST = BaselineFactory("first", "always the first candidate", _first, _candidates)
RANDOM = BaselineFactory(
    "random", "a candidate at random, the same in every run", _random, _candidates
)
ORACLE = BaselineFactory(
    "oracle",
    "the best outcome on record, or, without a record, every candidate simulated on all rows",
    _best,
    _has_best,
)
