"""Heuristics as deciders: a query of the scenario's folder answers, without rules or model.

They are shortcuts: their score shows how much of a benchmark needs no calculation.
"""

from __future__ import annotations

from dqa.core.database import DEFAULT_LIMITS, Database, Kind, Limits, Rows
from dqa.core.decider import Decider
from dqa.core.decision import Decision
from dqa.core.display import cell_of
from dqa.core.errors import DataError, InfrastructureError, QueryError, UsageError
from dqa.core.evidence import Evidence
from dqa.core.question import Candidate, Question
from dqa.core.recorder import Recorder
from dqa.core.situation import Cell
from dqa.deciders.base import DeciderFactory
from dqa.deciders.choices import choices_of
from dqa.scenarios.base import Heuristic, Scenario
from dqa.scenarios.embedded import embedded


class HeuristicDecider(Decider):
    """Answers with the first cell that a scenario's heuristic returns.

    Where that is none of the candidates, or there is no row, the decision names no candidate.

    Parameters
    ----------
    scenario
        The scenario of its questions.
    heuristic
        One of the scenario's. On a database of a kind that it has no statement for, it runs on a
        copy in memory.
    limits
        The limits of its statement.
    """

    def __init__(
        self, scenario: Scenario, heuristic: Heuristic, limits: Limits = DEFAULT_LIMITS
    ) -> None:
        self.name = heuristic.name
        self._scenario = scenario
        self._heuristic = heuristic
        self._limits = limits

    def decide(self, question: Question, database: Database) -> Decision:
        """Decide one question; a failing database ends the run as `Ending.INFRASTRUCTURE`.

        Raises
        ------
        UsageError
            The question is of another scenario.
        DataError
            The statement cannot run on the database.
        """
        self.check(question)
        recorder = Recorder()
        try:
            rows, statement = self._query(question, database)
        except InfrastructureError as error:
            return recorder.failed(error)
        recorder.add_evidence(Evidence.of(statement, rows))
        cell = cell_of(rows.rows[0][0]) if rows.rows else None
        return recorder.answered(
            "" if cell is None else str(cell), _choice(cell, question, database)
        )

    def check(self, question: Question) -> None:
        """Raise `UsageError` for a question of another scenario."""
        if question.scenario != self._scenario.name:
            raise UsageError(
                f"The decider '{self.name}' is a heuristic of the scenario "
                f"'{self._scenario.name}': it cannot decide '{question.key}'. Name another decider."
            )

    def _query(self, question: Question, database: Database) -> tuple[Rows, str]:
        """Return the rows of the heuristic's statement, and the statement."""
        kind = database.kind
        if kind not in self._heuristic.statements:
            database, kind = self._copied(database)
        template = self._heuristic.statements[kind]
        statement = self._scenario.filled_for(question, kind, template)
        try:
            return database.query(statement, self._limits), statement
        except QueryError as error:
            called = self._scenario.called_file(f"heuristics/{self.name}", kind)
            raise DataError(f"{called} cannot run: {error}") from error

    def _copied(self, database: Database) -> tuple[Database, Kind]:
        from dqa.deciders.simulation import situation_in

        kind = next(iter(self._heuristic.statements))
        return embedded(situation_in(database, self._scenario.schema), kind), kind


def _choice(cell: Cell, question: Question, database: Database) -> Candidate | None:
    """Return the candidate that a cell is; None for none."""
    choices = None if cell is None else choices_of(question, database)
    return None if choices is None else next(iter(choices.among({str(cell)})), None)


def heuristic_factory(scenario: Scenario, name: str) -> DeciderFactory:
    """Return the factory of a scenario's heuristic.

    Parameters
    ----------
    scenario
        Has a heuristic of that name.
    name
        The name of the decider.
    """
    heuristic = next(found for found in scenario.heuristics if found.name == name)
    return DeciderFactory(
        name,
        f"heuristic of {scenario.name}: {heuristic.description}",
        lambda _model, settings: HeuristicDecider(scenario, heuristic, settings.limits),
        needs_model=False,
        scenarios=(scenario.name,),
    )
