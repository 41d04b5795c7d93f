"""Outcomes by a query or formula of a scenario, with the contract of a simulator in Python.

A statement returns them: for scoring on a situation in memory, for the oracle and simulations of
agents on a live database.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from string import Template

import numpy as np

from dqa.core.database import Database, Kind
from dqa.core.display import cell_of
from dqa.core.errors import DataError, UnknownNameError, UsageError
from dqa.core.question import Candidate, Question
from dqa.core.simulator import Outcomes
from dqa.core.situation import Cell, Situation
from dqa.core.text import counted
from dqa.scenarios.base import Scenario
from dqa.scenarios.embedded import embedded, whole_rows
from dqa.scenarios.formula import Formula
from dqa.scenarios.tables import graph_columns, live_table

_Pairs = Iterable[tuple[Cell, Cell]]
_NAMED = 1_000
"""A statement names at most so many candidates; otherwise it returns the outcomes of all rows."""


class StatedOutcomes(ABC):
    """Outcomes of a scenario without a simulator in Python; see `dqa.core.simulator.Simulator`.

    They have one rule set.

    Parameters
    ----------
    scenario
        The scenario.
    """

    rule_sets: tuple[str, ...] = ("stated",)

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario.name
        self._scenario = scenario

    def outcomes(
        self, situation: Situation, questions: Sequence[Question], rules: str | None = None
    ) -> list[Outcomes]:
        """Return the outcomes of all candidates, for each of the questions on one situation.

        Raises
        ------
        DataError
            A candidate has no outcome, or several, or a statement cannot run.
        UnknownNameError
            The rule set is unknown.
        """
        if rules is not None and rules not in self.rule_sets:
            raise UnknownNameError("rule set", rules, self.rule_sets)
        found = []
        for question in questions:
            candidates = question.candidates
            if candidates is None:
                candidates = self._scenario.candidates(situation, question.target)
            kind: Kind = "relational" if self.serves("relational") else "graph"
            database = embedded(situation, kind)
            found.append(self.outcomes_in(database, replace(question, candidates=candidates)))
        return found

    def outcomes_in(self, database: Database, question: Question) -> Outcomes:
        """Return the outcomes of all candidates from a live database.

        Raises
        ------
        UsageError
            The question lists no candidates.
        DataError
            The errors of `outcomes`.
        InfrastructureError
            The database failed.
        """
        if not question.candidates:
            raise UsageError(f"Question '{question.key}' lists no candidates: name them.")
        rows = whole_rows(
            database, self.statement(database, question), called=self._named(database)
        )
        if len(rows.columns) != 2:
            raise DataError(
                f"{self._named(database)} returns {counted(len(rows.columns), 'column')}: return "
                "two, the candidate and its value."
            )
        pairs = [(cell_of(row[0]), cell_of(row[1])) for row in rows.rows]
        return self._outcomes(question, question.candidates, pairs)

    @abstractmethod
    def statement(self, database: Database, question: Question) -> str:
        """Return the statement whose rows are candidates and their values in a live database.

        Raises
        ------
        DataError
            The question lacks a parameter.
        """

    @abstractmethod
    def _named(self, database: Database) -> str:
        """Return the statement's name in errors."""

    @abstractmethod
    def serves(self, kind: Kind) -> bool:
        """Whether `outcomes_in` supports a kind of database."""

    def simulate(
        self,
        situation: Situation,
        question: Question,
        decision: Candidate | None,
        rules: str | None = None,
    ) -> Situation:
        """Raise a `UsageError`: a statement does not return the state after a decision."""
        del situation, decision, rules
        raise UsageError(
            f"Question '{question.key}' has outcomes by {self._scenario.outcomes.source}, "
            "without the data after a decision: write a simulator in Python for that."
        )

    def _outcomes(
        self, question: Question, candidates: tuple[Candidate, ...], pairs: _Pairs
    ) -> Outcomes:
        values: dict[Candidate, float] = {}
        wanted: dict[Cell, Candidate] = {str(candidate): candidate for candidate in candidates}
        wanted |= {candidate: candidate for candidate in candidates}
        for told, value in pairs:
            candidate = wanted.get(told)
            if candidate is None:
                candidate = wanted.get(str(told))  # a number that is listed as text
            if candidate is None:
                continue
            if candidate in values:
                raise self._wrong(question, candidate, "is there twice: return one")
            values[candidate] = self._number(question, candidate, value)
        for candidate in candidates:
            if candidate not in values:
                raise self._wrong(question, candidate, "is missing: return one for every candidate")
        return Outcomes(
            candidates,
            np.array([values[candidate] for candidate in candidates], np.float64),
            self._scenario.goal,
            baseline=self._scenario.outcomes.baseline,
        )

    def _number(self, question: Question, candidate: Cell, value: Cell) -> float:
        try:
            number = float("nan") if value is None else float(value)
        except ValueError:
            number = float("nan")
        if not np.isfinite(number):
            named = "NULL" if value is None else repr(value)
            problem = f"is {named}: it has to be a number. Give it one, or leave the candidate out"
            raise self._wrong(question, candidate, problem)
        return number

    def _wrong(self, question: Question, candidate: Cell, problem: str) -> DataError:
        return DataError(
            f"Question '{question.key}': the outcome of '{candidate}', by the "
            f"{self._scenario.outcomes.source} of its scenario, {problem}."
        )


class QueriedOutcomes(StatedOutcomes):
    """Outcomes by a statement, whose rows are a candidate and its value."""

    def serves(self, kind: Kind) -> bool:
        """Whether the scenario has a query in the language of the kind."""
        return kind in self._scenario.outcome_queries

    def statement(self, database: Database, question: Question) -> str:
        """Return the scenario's own statement about a question."""
        template: Template = self._scenario.outcome_queries[database.kind]
        return self._scenario.filled_for(question, database.kind, template)

    def _named(self, database: Database) -> str:
        return self._scenario.called_file("outcomes", database.kind)


class FormulaOutcomes(StatedOutcomes):
    """Outcomes by a formula over the columns of a candidate's row."""

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario)
        self._formula = Formula(scenario.outcomes.formula or "")
        self._table = scenario.schema.table(scenario.outcomes.table or "")
        self._key = scenario.outcomes.key or ""

    def serves(self, kind: Kind) -> bool:
        """Whether the kind of database has all columns of the formula; a graph may lack some."""
        if kind == "relational":
            return True
        held = graph_columns(self._scenario.schema, self._table.name)
        return {self._key, *self._formula.columns} <= held

    def statement(self, database: Database, question: Question) -> str:
        """Return the formula as a statement over the rows of the candidates."""
        live = live_table(self._scenario.schema, self._table.name, database)
        key, value = live.column(self._key), self._formula.expression(live)
        candidates = question.candidates or ()
        few = candidates if len(candidates) <= _NAMED else ()
        literals = [live.literal(self._key, str(candidate)) for candidate in few]
        listed = ", ".join(literal for literal in literals if literal is not None)
        where = ""
        if listed:
            where = f" WHERE {key} IN {f'[{listed}]' if live.is_graph else f'({listed})'}"
        if live.is_graph:
            return f"{live.source}{where} RETURN {key} AS candidate, {value} AS outcome"
        return f"SELECT {key} AS candidate, {value} AS outcome {live.source}{where}"

    def _named(self, database: Database) -> str:
        del database
        return f"The formula '{self._formula.text}' of the scenario '{self.scenario}'"
