"""Outcomes by a query or formula of a scenario, with the contract of a simulator in Python.

A statement returns them: for scoring on a situation in memory, for the oracle and simulations of
agents on a live database.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from dqa.core.database import Database, Kind, Rows
from dqa.core.display import cell_of
from dqa.core.errors import DataError, UnknownNameError, UsageError
from dqa.core.question import Candidate, Question
from dqa.core.simulator import Outcomes
from dqa.core.situation import Cell, Situation
from dqa.core.text import counted
from dqa.scenarios.base import Scenario
from dqa.scenarios.embedded import embedded, whole_rows
from dqa.scenarios.tables import Formula, graph_columns, live_table

_NAMED = 1_000
"""A statement names at most so many candidates; otherwise it returns the outcomes of all rows."""


class ScenarioOutcomes:
    """Outcomes of a scenario without a simulator in Python; see `dqa.core.simulator.Simulator`.

    They have one rule set.

    Parameters
    ----------
    scenario
        A scenario with a query or a formula.
    """

    rule_sets: tuple[str, ...] = ("stated",)

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario.name
        self._scenario = scenario
        formula = scenario.outcomes.formula
        self._formula = None if formula is None else Formula(formula)
        self._table, self._key = scenario.outcomes.table or "", scenario.outcomes.key or ""

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
        database = embedded(situation, "relational" if self.serves("relational") else "graph")
        found = []
        for question in questions:
            candidates = question.candidates
            if candidates is None:
                candidates = self._scenario.candidates(situation, question.target)
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
        called = self._scenario.called_file("outcomes", database.kind)
        if self._formula is not None:
            called = f"The formula '{self._formula.text}' of the scenario '{self.scenario}'"
        rows = whole_rows(database, self.statement(database, question), called=called)
        return self.outcomes_of(question, rows, called)

    def outcomes_of(self, question: Question, rows: Rows, called: str) -> Outcomes:
        """Return the outcomes that rows contain; `called` names their statement in errors.

        Raises
        ------
        DataError
            A candidate has no outcome, or several.
        """
        if len(rows.columns) != 2:
            raise DataError(
                f"{called} returns {counted(len(rows.columns), 'column')}: return two, the "
                "candidate and its value."
            )
        pairs = ((cell_of(row[0]), cell_of(row[1])) for row in rows.rows)
        return self._outcomes(question, question.candidates or (), pairs)

    def serves(self, kind: Kind) -> bool:
        """Whether `outcomes_in` supports a kind of database.

        A query has to be in its language. A graph may lack columns of a formula.
        """
        if self._formula is None:
            return kind in self._scenario.outcome_queries
        held = graph_columns(self._scenario.schema, self._table)
        return kind == "relational" or {self._key, *self._formula.columns} <= held

    def statement(self, database: Database, question: Question) -> str:
        """Return the statement whose rows are candidates and their values in a live database.

        Raises
        ------
        DataError
            The question lacks a parameter.
        """
        if self._formula is None:
            template = self._scenario.outcome_queries[database.kind]
            return self._scenario.filled_for(question, database.kind, template)
        live = live_table(self._scenario.schema, self._table, database)
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
        self,
        question: Question,
        candidates: tuple[Candidate, ...],
        pairs: Iterable[tuple[Cell, Cell]],
    ) -> Outcomes:
        def wrong(candidate: Cell, problem: str) -> DataError:
            source = f"the {self._scenario.outcomes.source} of its scenario"
            return DataError(
                f"Question '{question.key}': the outcome of '{candidate}', by {source}, {problem}."
            )

        values: dict[Candidate, float] = {}
        wanted: dict[Cell, Candidate] = {str(candidate): candidate for candidate in candidates}
        wanted |= {candidate: candidate for candidate in candidates}
        for cell, value in pairs:
            # A number may be listed as text.
            candidate = wanted[cell] if cell in wanted else wanted.get(str(cell))
            if candidate is None:
                continue
            if candidate in values:
                raise wrong(candidate, "is there twice: return one")
            values[candidate] = _number(value)
            if not np.isfinite(values[candidate]):
                named = "NULL" if value is None else repr(value)
                fix = "it has to be a number. Give it one, or leave the candidate out"
                raise wrong(candidate, f"is {named}: {fix}")
        for candidate in candidates:
            if candidate not in values:
                raise wrong(candidate, "is missing: return one for every candidate")
        return Outcomes(
            candidates,
            np.array([values[candidate] for candidate in candidates], np.float64),
            self._scenario.goal,
            baseline=self._scenario.outcomes.baseline,
        )


def _number(value: Cell) -> float:
    try:
        return float("nan") if value is None else float(value)
    except ValueError:
        return float("nan")
