"""Heuristics as deciders: a query in the folder of a scenario decides, without rules and model.

The score of a heuristic shows which part of a benchmark needs no calculation.
"""

from __future__ import annotations

from dqa.core.database import DEFAULT_LIMITS, Database, Limits, Rows
from dqa.core.decider import Decider
from dqa.core.decision import Decision
from dqa.core.display import cell_of
from dqa.core.errors import DataError, InfrastructureError, QueryError, UsageError
from dqa.core.evidence import Evidence
from dqa.core.question import Question
from dqa.core.recorder import Recorder
from dqa.deciders.base import DeciderFactory
from dqa.deciders.candidates import choices_of
from dqa.scenarios.base import Heuristic, Scenario
from dqa.scenarios.embedded import embedded


class HeuristicDecider(Decider):
    """Chooses the candidate in the first cell that a scenario's heuristic returns.

    Without such a candidate, the decision has no choice.

    Parameters
    ----------
    scenario
        The scenario of the questions.
    heuristic
        A heuristic of the scenario. If it lacks a statement for the kind of a database, it runs on
        a copy in memory.
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
        """Decide one question. A database failure ends the run as `Ending.INFRASTRUCTURE`.

        Raises
        ------
        UsageError
            The question belongs to another scenario.
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
        if cell is None:
            return recorder.answered("", None)
        choices = choices_of(question, database)
        named = () if choices is None else choices.among({str(cell)})
        return recorder.answered(str(cell), next(iter(named), None))

    def check(self, question: Question) -> None:
        """Raise `UsageError` if the question belongs to another scenario."""
        if question.scenario != self._scenario.name:
            raise UsageError(
                f"The decider '{self.name}' is a heuristic of the scenario "
                f"'{self._scenario.name}': it cannot decide '{question.key}'. Name another decider."
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
    return DeciderFactory(
        name,
        f"heuristic of {scenario.name}: {heuristic.description}",
        lambda _model, settings: HeuristicDecider(scenario, heuristic, settings.limits),
        needs_model=False,
        scenarios=(scenario.name,),
    )
