"""Simulations as tools of agents: outcomes of decisions, computed from the rows of the database.

Queries read the rows, so the guard and the read-only session also apply to simulations. If a
scenario defines outcomes by a query, the database computes the outcomes. The result of a tool has
the form of a query's result.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from threading import Lock
from time import perf_counter

from dqa import plugins
from dqa.core.database import DEFAULT_LIMITS, Database, Kind, Limits, Rows
from dqa.core.display import DEFAULT_DISPLAY, Display, dump_row, round_rows
from dqa.core.errors import InvalidAnswerError, QueryError, UnknownNameError
from dqa.core.evidence import COMPARE, SIMULATE, Evidence
from dqa.core.question import Candidate, Question
from dqa.core.simulator import Outcomes
from dqa.core.situation import Cell, Schema, Situation
from dqa.databases.rows import collect
from dqa.deciders.answers import read_answer
from dqa.deciders.candidates import nouns_of
from dqa.loaders.readback import read_situation
from dqa.scenarios.base import Scenario
from dqa.scenarios.outcomes import ScenarioOutcomes

_PROBLEMS = 5
"""The maximum number of wrong names in an error message."""
_FEW = 2
"""If more candidates have no effect, they share a row."""
_ADVICE = "to see others, name them"
_NAMED = 10
"""The maximum number of names in the line about candidates that share a row."""


class Simulation:
    """The rules of a question's scenario, applied to the rows of a database.

    The database is read at the first use, once for all questions, threads and simulations that
    share the open `Database`. Threads may share a simulation.

    Parameters
    ----------
    question
        A question about the content of `database`.
    database
        The database.
    rules
        The name of the rule set; None for the first rule set of the simulator.
    limits
        The limits of each result. If a result exceeds the limits, its worst candidates are left
        out.
    display
        How numbers are shown, and whether candidates without an effect share a row.

    Raises
    ------
    UsageError
        The scenario of the question has no simulator.
    UnknownNameError
        The simulator has no such rule set.
    """

    def __init__(
        self,
        question: Question,
        database: Database,
        rules: str | None = None,
        limits: Limits = DEFAULT_LIMITS,
        display: Display = DEFAULT_DISPLAY,
    ) -> None:
        self.check(question, rules)
        scenario = plugins.scenario(question.scenario)
        self._simulator = plugins.simulator(question.scenario)
        self.column, self.unit = _column_of(scenario, database.kind), scenario.unit
        self.rules = rules or self._simulator.rule_sets[0]
        self.statement: str | None = None
        self._question, self._database, self._schema = question, database, scenario.schema
        self._limits, self._display = limits, display

    @staticmethod
    def check(question: Question, rules: str | None = None) -> None:
        """Check a question and a rule set as `Simulation` does, but without a database."""
        simulator = plugins.simulator(question.scenario)
        if rules is not None and rules not in simulator.rule_sets:
            raise UnknownNameError("rule set", rules, simulator.rule_sets)

    @cached_property
    def outcomes(self) -> Outcomes:
        """The outcome of every candidate.

        Raises
        ------
        DataError
            The content of the database does not fit the schema or the rules of the scenario.
        QueryError, InfrastructureError
            The database cannot be read; see `Database.query`.
        """
        simulator, database = self._simulator, self._database
        if isinstance(simulator, ScenarioOutcomes) and simulator.serves(database.kind):
            self.statement = simulator.statement(database, self._question)
            return simulator.outcomes_in(database, self._question)
        situation = situation_in(database, self._schema)
        (outcomes,) = simulator.outcomes(situation, [self._question], self.rules)
        return outcomes

    def simulate(self, decision: str) -> Evidence:
        """Return the outcome of one decision, as text for a model.

        Parameters
        ----------
        decision
            The candidate in the model's words (see `dqa.deciders.answers`).

        Returns
        -------
        Evidence
            One row, or the problem and its fix.

        Raises
        ------
        DataError, InfrastructureError
            The errors of `outcomes`. The model cannot fix them.
        """
        return self._evidence(SIMULATE, decision, [decision])

    def compare(self, candidates: Sequence[str] | None = None) -> Evidence:
        """Return the outcomes of several decisions as text for a model, the best first.

        Parameters
        ----------
        candidates
            Candidates in the model's words. None, an empty list or the word "all" means all
            candidates. An unknown name makes the whole result an error, because an incomplete
            comparison would mislead.

        Returns
        -------
        Evidence
            One row per candidate, or the problem and its fix. Candidates with equal outcomes are
            in table order. If several candidates have no effect, only the first of them has a row,
            and a line below the rows names the others.

        Raises
        ------
        DataError, InfrastructureError
            The errors of `outcomes`. The model cannot fix them.
        """
        names = [candidates] if isinstance(candidates, str) else list(candidates or ())
        return self._evidence(COMPARE, ", ".join(names) or "all", names)

    def _evidence(self, tool: str, statement: str, names: list[str]) -> Evidence:
        started, limits = perf_counter(), self._limits
        try:
            outcomes = self.outcomes
            candidates = self._question.candidates or outcomes.candidates
            everyone = tool == COMPARE and _means_everyone(names, candidates)
            chosen = [] if everyone else self._find_candidates(names, candidates)
        except QueryError as error:
            return Evidence.failed(statement, error, perf_counter() - started, tool=tool)
        best_first = outcomes.best_first(None if everyone else chosen)
        alike = outcomes.unmoved(best_first) if self._display.fold else []
        alike = alike if len(alike) > _FEW else []
        closing = "\n".join([*_folded(alike), self._closing(outcomes)])
        left_out = set(alike[1:])
        shown = [candidate for candidate in best_first if candidate not in left_out]
        within = replace(limits, bytes=limits.bytes - len(closing.encode()) - 1)
        rows = self._rows(outcomes, shown, within, started)
        return Evidence.of(statement, rows, self._display, closing=closing, tool=tool)

    def _rows(
        self, outcomes: Outcomes, best_first: list[Candidate], limits: Limits, started: float
    ) -> Rows:
        baseline = outcomes.baseline

        def row(candidate: Candidate) -> tuple[Cell, ...]:
            value = outcomes.value(candidate)
            return (candidate, value) if baseline is None else (candidate, value, value - baseline)

        columns = (self.column, self.unit, *(() if baseline is None else ("change",)))
        rows = collect(columns, map(row, best_first), limits, started, total=len(best_first))
        return replace(rows, advice=_ADVICE, translated=self.statement)

    def _closing(self, outcomes: Outcomes) -> str:
        better = "higher" if outcomes.goal == "maximise" else "lower"
        closing = f"a {better} {self.unit} is better"
        if outcomes.baseline is not None:
            ((baseline,),) = round_rows([(float(outcomes.baseline),)], self._display.digits)
            closing += f"; change is relative to deciding nothing, which leads to {baseline!r}"
        return f"({closing})"

    def _find_candidates(
        self, names: list[str], candidates: Sequence[Candidate]
    ) -> list[Candidate]:
        """Return the named candidates in table order; raise `QueryError` for a wrong name."""
        chosen, wrong = set[Candidate](), list[InvalidAnswerError]()
        for name in names:
            try:
                chosen.add(read_answer(name, candidates, nouns_of(self._question)))
            except InvalidAnswerError as error:
                wrong.append(error)
        if wrong:
            problems = " ".join(error.problem for error in wrong[:_PROBLEMS])
            raise QueryError(f"{problems} {wrong[0].advice}")
        return [candidate for candidate in candidates if candidate in chosen]


def _column_of(scenario: Scenario, kind: Kind) -> str:
    """Return the column that lists the candidates. Without such a column, return their noun."""
    table, column = scenario.listing.table, scenario.listing.column
    if column is None or kind == "relational":
        return column or scenario.listing.noun
    nodes = (node for node in scenario.schema.nodes if node.table == table)
    names = (name for node in nodes for name, held in node.properties if held == column)
    return next(names, column)


def _folded(alike: list[Candidate]) -> list[str]:
    """Return a line that names all candidates in `alike` except the first, which has a row."""
    if not alike:
        return []
    first, *others = (dump_row([candidate])[1:-1] for candidate in alike[: _NAMED + 1])
    count = len(alike) - 1
    left = count - _NAMED
    named = ", ".join(others) + (f" and {left:,} more" if left > 0 else "")
    return [f"({count:,} other candidates change nothing, like {first}: {named})"]


_situations: weakref.WeakKeyDictionary[Database, tuple[Lock, dict[str, Situation]]] = (
    weakref.WeakKeyDictionary()
)
_lock = Lock()


def situation_in(database: Database, schema: Schema) -> Situation:
    """Return the situation in a database. Each open `Database` is read only once.

    Raises the errors of `dqa.loaders.readback.read_situation`.
    """
    with _lock:
        reading, known = _situations.setdefault(database, (Lock(), {}))
    with reading:
        if schema.scenario not in known:
            known[schema.scenario] = read_situation(database, schema, database.name)
        return known[schema.scenario]


def _means_everyone(names: list[str], candidates: Iterable[Candidate]) -> bool:
    return not names or (
        [name.strip().casefold() for name in names] == ["all"] and "all" not in map(str, candidates)
    )
