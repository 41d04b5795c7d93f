"""The simulator as an agent's tools: outcomes of decisions, computed from the database's rows.

The database is read back through its own queries, so guard and read-only session hold for a
simulation as for any statement, and the scenario's simulator runs on these rows. Outcomes that a
scenario states as a query are asked of the database itself. The answer of a tool has the form of a
query's result.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from dataclasses import replace
from threading import Lock
from time import perf_counter
from typing import Self

from dqa import plugins
from dqa.core.database import DEFAULT_LIMITS, Database, Kind, Limits, Rows
from dqa.core.display import DEFAULT_DISPLAY, Display, dump_row, round_rows
from dqa.core.errors import InvalidAnswerError, QueryError, UnknownNameError, UsageError
from dqa.core.evidence import COMPARE, SIMULATE, Evidence
from dqa.core.question import Candidate, Question
from dqa.core.simulator import Outcomes, Simulator
from dqa.core.situation import Cell, Schema, Situation
from dqa.databases.rows import collect
from dqa.deciders.answers import read_answer
from dqa.deciders.candidates import nouns_of
from dqa.loaders.readback import read_situation
from dqa.scenarios.base import Scenario
from dqa.scenarios.outcomes import ScenarioOutcomes

_TOLD = 5
"""Most names that an error says are wrong."""
_FEW = 2
"""Most candidates without an effect that have a row each."""
_ADVICE = "to see others, name them"
_NAMED = 10
"""Most of the others that are named."""


class Simulation:
    """The rules of a question's scenario, run on the rows of a database. Made by `of`.

    The database is read at the first use, once for all questions, threads and simulations that
    share the open `Database`; it is forgotten with that object. Safe to use from several threads.
    """

    def __init__(
        self, question: Question, database: Database, simulator: Simulator, rules: str
    ) -> None:
        scenario = plugins.scenario(question.scenario)
        self.column, self.unit = _column_of(scenario, database.kind), scenario.unit
        self._nouns = nouns_of(question)
        self.rules = rules
        self._question = question
        self._database = database
        self._schema = scenario.schema
        self._simulator = simulator
        self._outcomes: Outcomes | None = None
        self._asked: str | None = None

    @classmethod
    def of(cls, question: Question, database: Database, rules: str | None = None) -> Self:
        """Return the simulation of `question`; nothing is read yet.

        Parameters
        ----------
        question
            Asked about what `database` holds.
        database
            Filled by a writer of this project.
        rules
            The rule set; None for the simulator's first.

        Raises
        ------
        UsageError
            The question's scenario has no simulator.
        UnknownNameError
            Its simulator has no such rule set.
        """
        cls.check(question, rules)
        simulator = plugins.simulator(question.scenario)
        return cls(question, database, simulator, rules or simulator.rule_sets[0])

    @staticmethod
    def check(question: Question, rules: str | None = None) -> None:
        """Raise what `of` raises, without a database."""
        name, simulated = question.scenario, plugins.names("simulator")
        if name not in simulated:
            raise UsageError(
                f"Question '{question.key}' cannot be simulated: its scenario '{name}' has no "
                f"simulator ({', '.join(simulated) or 'none'} have). Take a decider that needs "
                "none, or say in its scenario.toml where outcomes come from ([outcomes])."
            )
        simulator = plugins.simulator(name)
        if rules is not None and rules not in simulator.rule_sets:
            raise UnknownNameError("rule set", rules, simulator.rule_sets)

    def outcomes(self) -> Outcomes:
        """Return what every candidate leads to.

        Raises
        ------
        DataError
            The database holds something else than the scenario's schema says, or a world that
            breaks its rules.
        QueryError, InfrastructureError
            The database cannot be read, as `Database.query` says it.
        UnknownNameError
            The dialect's row order is unknown.
        """
        if self._outcomes is None:
            self._outcomes = self._worked_out()
        return self._outcomes

    @property
    def statement(self) -> str | None:
        """What asked the database for the outcomes; None before, and where a simulator did."""
        return self._asked

    def _worked_out(self) -> Outcomes:
        simulator = self._simulator
        if isinstance(simulator, ScenarioOutcomes) and simulator.serves(self._database.kind):
            self._asked = simulator.statement(self._database, self._question)
            return simulator.outcomes_in(self._database, self._question)
        situation = situation_in(self._database, self._schema)
        (outcomes,) = simulator.outcomes(situation, [self._question], self.rules)
        return outcomes

    def simulate(
        self,
        decision: str,
        limits: Limits = DEFAULT_LIMITS,
        display: Display = DEFAULT_DISPLAY,
    ) -> Evidence:
        """Return the outcome of one decision as a model is shown it.

        Parameters
        ----------
        decision
            The candidate, as the model wrote it (see `dqa.deciders.answers`).
        limits
            The limits of the result.
        display
            How numbers are shown.

        Returns
        -------
        Evidence
            With one row, or with the problem and its fix.

        Raises
        ------
        DataError, InfrastructureError, UnknownNameError
            The errors of `outcomes`; the model cannot fix them.
        """
        return self._evidence(SIMULATE, decision, [decision], limits, display)

    def compare(
        self,
        candidates: Sequence[str] | None = None,
        limits: Limits = DEFAULT_LIMITS,
        display: Display = DEFAULT_DISPLAY,
    ) -> Evidence:
        """Return the outcomes of several decisions, best first, as a model is shown them.

        Parameters
        ----------
        candidates
            Candidates as the model wrote them; None, nothing or the word "all" for every one. A
            name that is not understood makes the whole answer an error: a comparison that leaves
            one out unsaid would mislead.
        limits
            The limits of the result; the worst rows are cut.
        display
            How numbers are shown, and whether candidates without an effect share a row.

        Returns
        -------
        Evidence
            With a row for each candidate, ties in table order, or with the problem and its fix.
            Of several candidates that change nothing, the first has a row, and a line below the
            rows counts the others.

        Raises
        ------
        DataError, InfrastructureError, UnknownNameError
            The errors of `outcomes`; the model cannot fix them.
        """
        names = [candidates] if isinstance(candidates, str) else list(candidates or ())
        return self._evidence(COMPARE, ", ".join(names) or "all", names, limits, display)

    def _evidence(
        self, tool: str, statement: str, names: list[str], limits: Limits, display: Display
    ) -> Evidence:
        started = perf_counter()
        try:
            outcomes = self.outcomes()
            candidates = self._question.candidates or outcomes.candidates
            everyone = tool == COMPARE and _means_everyone(names, candidates)
            chosen = [] if everyone else self._understood(names, candidates)
        except QueryError as error:
            return Evidence(
                statement=statement,
                observation=f"Error: {error}",
                error=type(error).__name__,
                seconds=perf_counter() - started,
                tool=tool,
            )
        best_first = outcomes.best_first(None if everyone else chosen)
        alike = outcomes.unmoved(best_first) if display.fold else []
        alike = alike if len(alike) > _FEW else []
        closing = "\n".join([*_folded(alike), self._closing(outcomes, display)])
        left_out = set(alike[1:])
        shown = [candidate for candidate in best_first if candidate not in left_out]
        within = replace(limits, bytes=limits.bytes - len(closing.encode()) - 1)
        rows = self._rows(outcomes, shown, within, started)
        return Evidence.of(statement, rows, display, closing=closing, tool=tool)

    def _rows(
        self, outcomes: Outcomes, best_first: list[Candidate], limits: Limits, started: float
    ) -> Rows:
        baseline = outcomes.baseline

        def row(candidate: Candidate) -> tuple[Cell, ...]:
            value = outcomes.value(candidate)
            return (candidate, value) if baseline is None else (candidate, value, value - baseline)

        columns: tuple[str, ...] = (self.column, self.unit)
        if baseline is not None:
            columns = (*columns, "change")
        rows = collect(columns, map(row, best_first), limits, started, total=len(best_first))
        return replace(rows, advice=_ADVICE, translated=self._asked)

    def _closing(self, outcomes: Outcomes, display: Display) -> str:
        better = "higher" if outcomes.goal == "maximise" else "lower"
        closing = f"a {better} {self.unit} is better"
        if outcomes.baseline is not None:
            ((baseline,),) = round_rows([(float(outcomes.baseline),)], display.digits)
            closing += f"; change is from deciding nothing, which leads to {baseline!r}"
        return f"({closing})"

    def _understood(self, names: list[str], candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return the candidates meant, each once in table order; `QueryError` says which is not."""
        chosen: set[Candidate] = set()
        wrong: list[InvalidAnswerError] = []
        for name in names:
            try:
                chosen.add(read_answer(name, candidates, self._nouns))
            except InvalidAnswerError as error:
                wrong.append(error)
        if wrong:
            problems = " ".join(error.problem for error in wrong[:_TOLD])
            raise QueryError(f"{problems} {wrong[0].advice}")
        return [candidate for candidate in candidates if candidate in chosen]


def _column_of(scenario: Scenario, kind: Kind) -> str:
    """Return the column of the candidates, or their noun without one."""
    table, column = scenario.listing.table, scenario.listing.column
    if column is None or kind == "relational":
        return column or scenario.listing.noun
    nodes = (node for node in scenario.schema.nodes if node.table == table)
    names = (name for node in nodes for name, held in node.properties if held == column)
    return next(names, column)


def _folded(alike: list[Candidate]) -> list[str]:
    """Return the line about all candidates without an effect but the first."""
    if not alike:
        return []
    first, *others = (dump_row([candidate])[1:-1] for candidate in alike[: _NAMED + 1])
    count = len(alike) - 1
    left = count - _NAMED
    named = ", ".join(others) + (f" and {left:,} more" if left > 0 else "")
    return [f"({count:,} others change nothing, like {first}: {named})"]


_situations: weakref.WeakKeyDictionary[Database, tuple[Lock, dict[str, Situation]]] = (
    weakref.WeakKeyDictionary()
)
_lock = Lock()


def situation_in(database: Database, schema: Schema) -> Situation:
    """Return the situation in a database, read once for all that share the open `Database`.

    Raises what `dqa.loaders.readback.read_situation` raises.
    """
    try:
        with _lock:
            reading, known = _situations.setdefault(database, (Lock(), {}))
    except TypeError:  # a class of another package with slots or without a hash
        return read_situation(database, schema, database.name)
    with reading:
        if schema.scenario not in known:
            known[schema.scenario] = read_situation(database, schema, database.name)
        return known[schema.scenario]


def _means_everyone(names: list[str], candidates: Iterable[Candidate]) -> bool:
    return not names or (
        [name.strip().casefold() for name in names] == ["all"] and "all" not in map(str, candidates)
    )
