"""Deciders without a model: baselines and the upper bound."""

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
from dqa.deciders.candidates import choices_of, recorded_outcomes


class Baseline(Decider):
    """A decider that picks a candidate by one rule.

    Parameters
    ----------
    name
        The name of the decider in commands.
    choose
        Returns a candidate for a question and its database.
    """

    def __init__(self, name: str, choose: Callable[[Question, Database], Candidate]) -> None:
        self.name = name
        self._choose = choose

    def decide(self, question: Question, database: Database) -> Decision:
        """Decide one question. A database failure ends the run as `Ending.INFRASTRUCTURE`."""
        return _decided(self._choose, question, database)

    def check(self, question: Question) -> None:
        """Raise `UsageError` for a question that does not list candidates."""
        if not question.candidates and question.candidate_query is None:
            raise _unlisted(question)


class Oracle(UpperBound):
    """Chooses the best candidate by its recorded outcome, or else by simulating all candidates.

    If a statement answers the question, it returns the gold statement.

    Parameters
    ----------
    rules
        The name of the rule set for simulations; None for the first rule set of the scenario.
    truths
        The truths by question key.
    """

    name = "oracle"
    answer_forms = ("candidate", "statement")

    def __init__(self, rules: str | None, truths: Mapping[str, Truth] | None = None) -> None:
        self._rules = rules
        self._truths = truths or {}

    def with_truths(self, truths: Mapping[str, Truth]) -> Oracle:
        """Return an oracle with recorded truths."""
        return Oracle(self._rules, truths)

    def decide(self, question: Question, database: Database) -> Decision:
        """Decide one question. A database failure ends the run as `Ending.INFRASTRUCTURE`."""
        return _decided(self._best, question, database)

    def check(self, question: Question) -> None:
        """Raise `UsageError` for a question with neither recorded outcomes nor a simulator."""
        known = self._truths.get(question.key, NOTHING_KNOWN)
        if question.answer_form == "statement":
            if known.official is None:
                raise UsageError(
                    f"Question '{question.key}' has no gold statement, and the oracle writes none: "
                    "name another decider."
                )
        elif known.outcomes is None:
            from dqa.deciders.simulation import Simulation

            Simulation.check(question, self._rules)
        elif not question.candidates:
            raise _unlisted(question)

    def _best(self, question: Question, database: Database) -> Candidate:
        known = self._truths.get(question.key, NOTHING_KNOWN)
        if question.answer_form == "statement" and known.official is not None:
            return known.official
        outcomes = recorded_outcomes(question, known)
        if outcomes is None:
            from dqa.deciders.simulation import Simulation  # imports LangChain

            outcomes = Simulation(question, database, self._rules).outcomes()
        return outcomes.answer


def _decided(
    choose: Callable[[Question, Database], Candidate], question: Question, database: Database
) -> Decision:
    recorder = Recorder()
    try:
        choice = choose(question, database)
    except InfrastructureError as error:
        return recorder.failed(error)
    return recorder.answered(str(choice), choice)


def _unlisted(question: Question) -> UsageError:
    return UsageError(
        f"Question '{question.key}' lists no candidates, and a baseline can only pick from a "
        "list: name them, or ask another decider."
    )


def _candidates(question: Question, database: Database) -> tuple[Candidate, ...]:
    found = choices_of(question, database)
    if found is None or not found.total:
        raise _unlisted(question)
    return found.candidates


def _first(question: Question, database: Database) -> Candidate:
    return _candidates(question, database)[0]


def _random(epoch: int) -> Callable[[Question, Database], Candidate]:
    """Return a draw that depends only on question and epoch, and on no database or run."""

    def draw(question: Question, database: Database) -> Candidate:
        seed = question.key if epoch == 1 else f"{question.key} {epoch}"
        return random.Random(seed).choice(_candidates(question, database))  # noqa: S311

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
