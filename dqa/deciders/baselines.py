"""Deciders without a model: baselines, and the upper bound."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from dqa.core.database import Database
from dqa.core.decider import Decider, UpperBound
from dqa.core.decision import Decision
from dqa.core.errors import InfrastructureError, UsageError
from dqa.core.question import Candidate, Question
from dqa.core.recorder import Recorder
from dqa.core.truth import NOTHING_KNOWN, Truth
from dqa.deciders.base import DeciderFactory
from dqa.deciders.candidates import recorded_outcomes
from dqa.deciders.choices import Choices, choices_of


class Baseline(Decider):
    """A decider made of one rule that picks a candidate.

    Parameters
    ----------
    name
        What commands call it.
    choose
        A question and its database to a candidate.
    """

    def __init__(self, name: str, choose: Callable[[Question, Database], Candidate]) -> None:
        self.name = name
        self._choose = choose

    def decide(self, question: Question, database: Database) -> Decision:
        """Decide one question; a failing database ends the run as `Ending.INFRASTRUCTURE`."""
        return _decided(self._choose, question, database)

    def check(self, question: Question) -> None:
        """Raise `UsageError` for a question without a list of candidates."""
        if not question.candidates and question.candidate_query is None:
            raise _unlisted(question)


class Oracle(UpperBound):
    """The best candidate by the record, or else by simulating every one on the database's rows.

    Of a question that a statement answers, the known one.

    Parameters
    ----------
    rules
        Name of the rule set that is simulated by; None for the scenario's first.
    truths
        The truths, by the key of the question.
    """

    name = "oracle"
    answer_forms = ("candidate", "statement")

    def __init__(self, rules: str | None, truths: Mapping[str, Truth] | None = None) -> None:
        self._rules = rules
        self._truths = truths or {}

    def with_truths(self, truths: Mapping[str, Truth]) -> Oracle:
        """Return the oracle with recorded truths."""
        return Oracle(self._rules, truths)

    def decide(self, question: Question, database: Database) -> Decision:
        """Decide one question; a failing database ends the run as `Ending.INFRASTRUCTURE`."""
        return _decided(self._best, question, database)

    def check(self, question: Question) -> None:
        """Raise `UsageError` where there is neither a record nor a simulator."""
        if question.answer_form == "statement":
            if self._truth(question).official is None:
                raise UsageError(
                    f"Question '{question.key}' has no gold statement, and the oracle writes none "
                    "of its own: ask another decider."
                )
            return
        if self._truth(question).outcomes is not None:
            _candidates(question)
            return
        from dqa.deciders.simulation import Simulation

        Simulation.check(question, self._rules)

    def _truth(self, question: Question) -> Truth:
        return self._truths.get(question.key, NOTHING_KNOWN)

    def _best(self, question: Question, database: Database) -> Candidate:
        known = self._truth(question)
        if question.answer_form == "statement" and known.official is not None:
            return known.official
        recorded = recorded_outcomes(question, known)
        if recorded is None:
            # Only here: the tools that agents are offered come with it, and take LangChain.
            from dqa.deciders.simulation import Simulation

            return Simulation.of(question, database, self._rules).outcomes().answer
        return recorded.answer


def _decided(
    choose: Callable[[Question, Database], Candidate], question: Question, database: Database
) -> Decision:
    recorder = Recorder()
    try:
        choice = choose(question, database)
    except InfrastructureError as error:
        return recorder.failed(error)
    return recorder.answered(str(choice), choice)


def _candidates(question: Question) -> tuple[Candidate, ...]:
    if not question.candidates:
        raise _unlisted(question)
    return question.candidates


def _unlisted(question: Question) -> UsageError:
    return UsageError(
        f"Question '{question.key}' lists no candidates, and a baseline can only pick from a "
        "list: name them, or ask another decider."
    )


def _choices(question: Question, database: Database) -> Choices:
    found = choices_of(question, database)
    if found is None or not found.total:
        raise _unlisted(question)
    return found


def _first(question: Question, database: Database) -> Candidate:
    return _choices(question, database).candidates[0]


def _random(epoch: int) -> Callable[[Question, Database], Candidate]:
    """Draw by question and epoch alone, so every database and every run gets the same choice."""

    def draw(question: Question, database: Database) -> Candidate:
        seed = question.key if epoch == 1 else f"{question.key} {epoch}"
        return random.Random(seed).choice(_choices(question, database).candidates)  # noqa: S311

    return draw


FIRST = DeciderFactory(
    "first",
    "always the first candidate",
    lambda _model, _settings: Baseline("first", _first),
    needs_model=False,
)
RANDOM = DeciderFactory(
    "random",
    "a candidate at random, the same in every run",
    lambda _model, settings: Baseline("random", _random(settings.epoch)),
    needs_model=False,
)
ORACLE = DeciderFactory(
    "oracle",
    "upper bound: the best outcome on record, or else every candidate simulated on all rows",
    lambda _model, settings: Oracle(settings.rules),
    needs_model=False,
)
