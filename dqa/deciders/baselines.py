"""Deciders without a model: baselines, heuristics of scenarios, and the upper bound."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import TypeAlias

from dqa.core.database import DEFAULT_LIMITS, Database, Limits, Rows
from dqa.core.decider import Decider, UpperBound
from dqa.core.decision import Decision
from dqa.core.display import cell_of
from dqa.core.errors import DataError, InfrastructureError, QueryError, UsageError
from dqa.core.evidence import Evidence
from dqa.core.question import Candidate, Question
from dqa.core.recorder import Recorder
from dqa.core.truth import NOTHING_KNOWN, Truth
from dqa.deciders.base import DeciderFactory, Settings
from dqa.deciders.candidates import (
    among,
    candidates_of,
    check_listed,
    list_candidates,
    recorded_outcomes,
)
from dqa.scenarios.base import Heuristic, Scenario
from dqa.scenarios.embedded import embedded

_Choose: TypeAlias = Callable[[Question, Database], Candidate]
"""Returns a candidate for a question and its database."""


class Baseline(Decider):
    """A decider that picks a candidate by one rule.

    Parameters
    ----------
    name
        The name of the decider in commands.
    choose
        A function that chooses a candidate.
    """

    def __init__(self, name: str, choose: _Choose) -> None:
        self.name = name
        self._choose = choose

    def decide(self, question: Question, database: Database) -> Decision:
        """Decide one question.

        If the database fails, the decision ends as `Ending.INFRASTRUCTURE`.
        """
        recorder = Recorder()
        try:
            choice = self._choose(question, database)
        except InfrastructureError as error:
            return recorder.failed(error)
        return recorder.answered(str(choice), choice)

    def check(self, question: Question) -> None:
        """Raise `UsageError` for a question that does not list candidates."""
        check_listed(question, "a baseline")


class Oracle(Baseline, UpperBound):
    """Chooses the best candidate. If no outcomes are recorded, it simulates all candidates.

    For a question whose answer is a statement, the oracle returns the gold statement.

    Parameters
    ----------
    rules
        The name of the rule set for simulations; None for the first rule set of the scenario.
    truths
        The truths by question key.
    """

    answer_forms = ("candidate", "statement")

    def __init__(self, rules: str | None, truths: Mapping[str, Truth] | None = None) -> None:
        super().__init__("oracle", self._best)
        self._rules = rules
        self._truths = truths or {}

    def with_truths(self, truths: Mapping[str, Truth]) -> Oracle:
        """Return an oracle with recorded truths."""
        return Oracle(self._rules, truths)

    def check(self, question: Question) -> None:
        """Raise `UsageError` for a question with neither recorded outcomes nor a simulator."""
        known = self._truths.get(question.key, NOTHING_KNOWN)
        if question.answer_form == "statement":
            if known.official is None:
                raise UsageError(
                    f"Question '{question.key}' has no gold statement, so the oracle cannot "
                    "answer it: choose another decider."
                )
        elif known.outcomes is None:
            from dqa.deciders.simulation import Simulation

            Simulation.check(question, self._rules)
        else:
            super().check(question)

    def _best(self, question: Question, database: Database) -> Candidate:
        known = self._truths.get(question.key, NOTHING_KNOWN)
        if question.answer_form == "statement" and known.official is not None:
            return known.official
        outcomes = recorded_outcomes(question, known)
        if outcomes is None:
            from dqa.deciders.simulation import Simulation  # imports LangChain

            outcomes = Simulation(question, database, self._rules).outcomes
        return outcomes.answer


def _first(question: Question, database: Database) -> Candidate:
    return list_candidates(question, database, "a baseline")[0]


def _random(epoch: int) -> _Choose:
    """Return a rule that draws a candidate. Only the question and the epoch influence the draw."""

    def draw(question: Question, database: Database) -> Candidate:
        seed = question.key if epoch == 1 else f"{question.key} {epoch}"
        listed = list_candidates(question, database, "a baseline")
        return random.Random(seed).choice(listed)  # noqa: S311

    return draw


def _factory(
    name: str, description: str, make: Callable[[Settings], Decider], *scenarios: str
) -> DeciderFactory:
    """Return the factory of a decider without a model."""

    def of_settings(_model: object, settings: Settings) -> Decider:
        return make(settings)

    return DeciderFactory(name, description, of_settings, needs_model=False, scenarios=scenarios)


FIRST = _factory("first", "always the first candidate", lambda _: Baseline("first", _first))
RANDOM = _factory(
    "random",
    "a candidate at random, the same in every run",
    lambda settings: Baseline("random", _random(settings.epoch)),
)
ORACLE = _factory(
    "oracle",
    "upper bound: the candidate with the best recorded or simulated outcome",
    lambda settings: Oracle(settings.rules),
)


class HeuristicDecider(Decider):
    """Chooses the candidate in the first cell of a heuristic's result.

    If the first cell contains no candidate, the decision has no choice.

    Parameters
    ----------
    scenario
        The scenario of the questions.
    heuristic
        A heuristic of the scenario. If it has no statement in the language of the database, it runs
        on a copy of the data in memory.
    limits
        The limits of the statement.
    """

    def __init__(
        self, scenario: Scenario, heuristic: Heuristic, limits: Limits = DEFAULT_LIMITS
    ) -> None:
        self.name = heuristic.name
        self._scenario = scenario
        self._heuristic = heuristic
        self._limits = limits

    def decide(self, question: Question, database: Database) -> Decision:
        """Decide one question.

        If the database fails, the decision ends as `Ending.INFRASTRUCTURE`.

        Raises
        ------
        UsageError
            The question belongs to another scenario.
        DataError
            The heuristic's statement cannot run on the database.
        """
        self.check(question)
        recorder = Recorder()
        try:
            rows, statement = self._query(question, database)
            recorder.add_evidence(Evidence.of(statement, rows))
            listed = candidates_of(question, database) or ()
        except InfrastructureError as error:
            return recorder.failed(error)
        cell = cell_of(rows.rows[0][0]) if rows.rows else None
        if cell is None:
            return recorder.answered("", None)
        named = among(listed, {str(cell)})
        return recorder.answered(str(cell), next(iter(named), None))

    def check(self, question: Question) -> None:
        """Raise `UsageError` if the question belongs to another scenario."""
        if question.scenario != self._scenario.name:
            raise UsageError(
                f"The decider '{self.name}' is a heuristic of the scenario "
                f"'{self._scenario.name}': it cannot decide '{question.key}'. Choose another "
                "decider."
            )

    def _query(self, question: Question, database: Database) -> tuple[Rows, str]:
        """Return the rows of the heuristic's statement, and the statement."""
        kind = database.kind
        if kind not in self._heuristic.statements:
            from dqa.deciders.simulation import situation_in

            kind = next(iter(self._heuristic.statements))
            database = embedded(situation_in(database, self._scenario.schema), kind)
        template = self._heuristic.statements[kind]
        statement = self._scenario.filled_for(question, kind, template)
        try:
            return database.query(statement, self._limits), statement
        except QueryError as error:
            called = self._scenario.called_file(f"heuristics/{self.name}", kind)
            raise DataError(f"{called} cannot run: {error}") from error


def heuristic_factory(scenario: Scenario, name: str) -> DeciderFactory:
    """Return the factory of a scenario's heuristic.

    Parameters
    ----------
    scenario
        The scenario.
    name
        The name of the heuristic and the decider.
    """
    heuristic = next(found for found in scenario.heuristics if found.name == name)
    return _factory(
        name,
        f"heuristic of {scenario.name}: {heuristic.description}",
        lambda settings: HeuristicDecider(scenario, heuristic, settings.limits),
        scenario.name,
    )
