"""Compute outcomes with a scenario's query, through the interface of a simulator in Python.

For scoring, the statement runs on a situation in memory. For the decider ``oracle``, and for agents
that simulate decisions, the statement runs on a live database.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from dqa.core.database import Database, Kind, Rows
from dqa.core.display import cell_of
from dqa.core.errors import OutcomesError, UnknownNameError, UsageError
from dqa.core.question import Candidate, Question
from dqa.core.simulator import Outcomes
from dqa.core.situation import Cell, Situation
from dqa.core.text import counted, in_quotes
from dqa.scenarios.base import Scenario
from dqa.scenarios.embedded import embedded, whole_rows

_NAMED = 20
"""The maximum number of candidates that an error names."""


class ScenarioOutcomes:
    """Outcomes of a scenario without a simulator in Python; see `dqa.core.simulator.Simulator`.

    There is only one rule set, ``stated``.

    Parameters
    ----------
    scenario
        A scenario with a query.
    """

    rule_sets: tuple[str, ...] = ("stated",)

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario.name
        self._scenario = scenario

    def outcomes(
        self, situation: Situation, questions: Sequence[Question], rules: str | None = None
    ) -> list[Outcomes]:
        """Return the outcomes of all candidates, for each question about a situation.

        Raises
        ------
        DataError
            A candidate has no outcome or several outcomes, or a statement cannot run.
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
            See `outcomes`.
        InfrastructureError
            The database failed.
        """
        if not question.candidates:
            raise UsageError(f"Question '{question.key}' lists no candidates: add candidates.")
        called = self._scenario.called_file("outcomes", database.kind)
        rows = whole_rows(database, self.statement(database, question), called=called)
        return self.outcomes_of(question, rows, called)

    def outcomes_of(self, question: Question, rows: Rows, called: str) -> Outcomes:
        """Return the outcomes in the rows of a statement, which error messages call `called`.

        Raises
        ------
        OutcomesError
            A candidate has no outcome or several outcomes.
        """
        if len(rows.columns) != 2:
            raise OutcomesError(
                f"{called} returns {counted(len(rows.columns), 'column')}. It must return two: "
                "the candidate and its value."
            )
        candidates = question.candidates or ()

        def wrong(names: Sequence[Candidate], problem: str) -> OutcomesError:
            return OutcomesError(
                f"Question '{question.key}': in the result of the scenario's query, the outcome of "
                f"{in_quotes(names, _NAMED)} {problem}."
            )

        values: dict[Candidate, float] = {}
        wanted: dict[Cell, Candidate] = {str(candidate): candidate for candidate in candidates}
        wanted |= {candidate: candidate for candidate in candidates}
        for name, value in rows.rows:
            cell = cell_of(name)
            # The query may return a number for a candidate that is a text.
            candidate = wanted[cell] if cell in wanted else wanted.get(str(cell))
            if candidate is None:
                continue
            if candidate in values:
                raise wrong([candidate], "occurs twice: return one row for each candidate")
            values[candidate] = float("nan")
            with suppress(TypeError, ValueError):
                values[candidate] = float(cell_of(value))  # type: ignore[arg-type]
            if not np.isfinite(values[candidate]):
                named = "NULL" if value is None else repr(value)
                fix = "return a number, or leave out the candidate in the list of candidates"
                raise wrong([candidate], f"is {named}: {fix}")
        if missing := [candidate for candidate in candidates if candidate not in values]:
            raise wrong(missing, "is missing: return an outcome for every candidate")
        return Outcomes(
            candidates,
            np.array([values[candidate] for candidate in candidates], np.float64),
            self._scenario.goal,
            baseline=self._scenario.outcomes.baseline,
        )

    def serves(self, kind: Kind) -> bool:
        """Return whether the scenario has an outcome query for this kind of database."""
        return kind in self._scenario.outcome_queries

    def statement(self, database: Database, question: Question) -> str:
        """Return the statement that returns each candidate and its value in a live database.

        Raises
        ------
        DataError
            The question lacks a parameter.
        """
        template = self._scenario.outcome_queries[database.kind]
        return self._scenario.filled_for(question, database.kind, template)

    def simulate(
        self,
        situation: Situation,
        question: Question,
        decision: Candidate | None,
        rules: str | None = None,
    ) -> Situation:
        """Raise `UsageError`, because a statement cannot return the state after a decision."""
        del situation, decision, rules
        raise UsageError(
            f"The outcomes of question '{question.key}' come from a query, and a query "
            "cannot return the state after a decision: write a simulator in Python."
        )
