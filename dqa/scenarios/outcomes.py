"""Outcomes that a scenario states as data, behind the same contract as a simulator in Python.

For scoring they come of a situation in memory; where a live database is asked (the oracle, an
agent's simulations), of that database itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from string import Template

import numpy as np

from dqa.core.database import Database, Kind
from dqa.core.display import cell_of
from dqa.core.errors import DataError, UnknownNameError, UsageError
from dqa.core.question import Candidate, Question
from dqa.core.schema import cypher_name, sql_name
from dqa.core.simulator import Outcomes
from dqa.core.situation import Cell, Situation
from dqa.core.text import counted
from dqa.scenarios.base import Scenario
from dqa.scenarios.embedded import embedded, whole_rows
from dqa.scenarios.formula import Formula
from dqa.scenarios.statements import cypher_literal, sql_literal

_Pairs = Iterable[tuple[Cell, Cell]]


class StatedOutcomes(ABC):
    """Outcomes of a scenario without a simulator in Python; see `dqa.core.simulator.Simulator`.

    They count in one way only, which is their one rule set.

    Parameters
    ----------
    scenario
        Whose they are.
    """

    rule_sets: tuple[str, ...] = ("stated",)

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario.name
        self._scenario = scenario

    def outcomes(
        self, situation: Situation, questions: Sequence[Question], rules: str | None = None
    ) -> list[Outcomes]:
        """Return what every candidate leads to, for each of the questions on one situation.

        Raises
        ------
        DataError
            A candidate has no outcome, or several, or a statement cannot run.
        UnknownNameError
            It has no such rule set.
        """
        if rules is not None and rules not in self.rule_sets:
            raise UnknownNameError("rule set", rules, self.rule_sets)
        found = []
        for question in questions:
            candidates = question.candidates
            if candidates is None:
                candidates = self._scenario.candidates(situation, question.target)
            pairs = self._of_situation(situation, question, candidates)
            found.append(self._outcomes(question, candidates, pairs))
        return found

    def outcomes_in(self, database: Database, question: Question) -> Outcomes:
        """Return what every candidate leads to, worked out on a live database.

        Raises
        ------
        UsageError
            The question lists no candidates.
        DataError
            As `outcomes` does.
        InfrastructureError
            The database failed.
        """
        if not question.candidates:
            raise UsageError(f"Question '{question.key}' lists no candidates: name them.")
        pairs = self._of_database(database, question, question.candidates)
        return self._outcomes(question, question.candidates, pairs)

    @abstractmethod
    def serves(self, kind: Kind) -> bool:
        """Whether `outcomes_in` can ask a live database of this kind."""

    def simulate(
        self,
        situation: Situation,
        question: Question,
        decision: Candidate | None,
        rules: str | None = None,
    ) -> Situation:
        """Refuse: a statement tells what a decision leads to, and not the state after it."""
        del situation, decision, rules
        raise UsageError(
            f"Question '{question.key}' has outcomes by {self._scenario.outcomes.source}, which "
            "do not say what the data are after a decision: write a simulator in Python for that."
        )

    @abstractmethod
    def _of_situation(
        self, situation: Situation, question: Question, candidates: tuple[Candidate, ...]
    ) -> _Pairs:
        """Return candidates with their values, of a situation."""

    @abstractmethod
    def _of_database(
        self, database: Database, question: Question, candidates: tuple[Candidate, ...]
    ) -> _Pairs:
        """Return candidates with their values, of a live database."""

    def _outcomes(
        self, question: Question, candidates: tuple[Candidate, ...], pairs: _Pairs
    ) -> Outcomes:
        values: dict[Cell, float] = {}
        wanted = set(candidates)
        for candidate, value in pairs:
            if candidate not in wanted:
                continue
            if candidate in values:
                raise self._wrong(question, candidate, "is there twice: it needs one")
            values[candidate] = self._number(question, candidate, value)
        for candidate in candidates:
            if candidate not in values:
                raise self._wrong(question, candidate, "is missing: every candidate needs one")
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
            raise self._wrong(question, candidate, f"is {value!r}: it has to be a number")
        return number

    def _wrong(self, question: Question, candidate: Cell, problem: str) -> DataError:
        return DataError(
            f"Question '{question.key}': the outcome of '{candidate}', by the "
            f"{self._scenario.outcomes.source} of its scenario, {problem}."
        )


class QueriedOutcomes(StatedOutcomes):
    """Outcomes by a statement, whose rows are a candidate and its value."""

    def serves(self, kind: Kind) -> bool:
        """Whether the scenario states them in that kind's language."""
        return kind in self._scenario.outcome_queries

    def _of_situation(
        self, situation: Situation, question: Question, candidates: tuple[Candidate, ...]
    ) -> _Pairs:
        del candidates
        kind: Kind = "relational" if self.serves("relational") else "graph"
        return self._pairs(embedded(situation, kind), question)

    def _of_database(
        self, database: Database, question: Question, candidates: tuple[Candidate, ...]
    ) -> _Pairs:
        del candidates
        return self._pairs(database, question)

    def _pairs(self, database: Database, question: Question) -> _Pairs:
        template: Template = self._scenario.outcome_queries[database.kind]
        statement = self._scenario.filled_for(question, database.kind, template)
        called = self._scenario.called_file("outcomes", database.kind)
        rows = whole_rows(database, statement, called=called)
        if len(rows.columns) != 2:
            raise DataError(
                f"{called} returns "
                f"{counted(len(rows.columns), 'column')}: return two, the candidate and its "
                "value."
            )
        return [(cell_of(row[0]), cell_of(row[1])) for row in rows.rows]


class FormulaOutcomes(StatedOutcomes):
    """Outcomes by a formula over the columns of the row that a candidate is the key of."""

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario)
        self._formula = Formula(scenario.outcomes.formula or "")
        self._table = scenario.schema.table(scenario.outcomes.table or "")
        self._key = scenario.outcomes.key or ""

    def serves(self, kind: Kind) -> bool:
        """Tables hold every column; of a graph, the nodes that the table's rows are must."""
        return kind == "relational" or self._node_properties() is not None

    def _of_situation(
        self, situation: Situation, question: Question, candidates: tuple[Candidate, ...]
    ) -> _Pairs:
        del question, candidates
        table = situation[self._table.name]
        columns = {name: table[name].astype(np.float64) for name in self._formula.columns}
        values = self._formula.values(columns, len(table))
        return zip(table[self._key].tolist(), values.tolist(), strict=True)

    def _of_database(
        self, database: Database, question: Question, candidates: tuple[Candidate, ...]
    ) -> _Pairs:
        del question
        names = (self._key, *self._formula.columns)
        rows = whole_rows(database, self._statement(database, names, candidates)).rows
        table = list(zip(*rows, strict=True)) or [()] * len(names)
        columns = {
            name: np.array([np.nan if cell is None else float(cell) for cell in cells])
            for name, cells in zip(names[1:], table[1:], strict=True)
        }
        return zip(table[0], self._formula.values(columns, len(rows)).tolist(), strict=True)

    def _statement(
        self, database: Database, names: tuple[str, ...], candidates: tuple[Candidate, ...]
    ) -> str:
        found = self._node_properties()
        if database.kind == "relational" or found is None:
            quote = database.schema().quote
            columns = ", ".join(sql_name(name, quote) for name in names)
            listed = ", ".join(map(sql_literal, candidates))
            return (
                f"SELECT {columns} FROM {sql_name(self._table.name, quote)} "  # noqa: S608
                f"WHERE {sql_name(self._key, quote)} IN ({listed})"
            )
        label, properties = found
        values = ", ".join(f"n.{cypher_name(properties[name])}" for name in names)
        listed = ", ".join(map(cypher_literal, candidates))
        key = cypher_name(properties[self._key])
        return f"MATCH (n:{cypher_name(label)}) WHERE n.{key} IN [{listed}] RETURN {values}"

    def _node_properties(self) -> tuple[str, dict[str, str]] | None:
        """Return the label of the table's nodes, and the property of each column."""
        for node in self._scenario.schema.nodes:
            properties = {column: name for name, column in node.properties}
            if node.table == self._table.name and {self._key, *self._formula.columns} <= {
                *properties
            }:
                return node.label, properties
        return None
