"""The analyst: a script that uses the statements in the folder of a scenario.

A scenario names the analyst in its document under ``[scripts]``. The analyst tests, without the
cost of a language model, that questions, database, tools and scores work together. Its score says
nothing about language models, because it knows the statement that returns the outcomes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from string import Template

from dqa import plugins
from dqa.core.database import Kind
from dqa.core.errors import UsageError
from dqa.core.question import Candidate
from dqa.core.situation import Cell
from dqa.models.scripted.steps import Answer, Script, Step, Task, numbered, settled
from dqa.scenarios.base import Heuristic, Scenario
from dqa.scenarios.statements import Values, filled
from dqa.scenarios.tables import table_in

_LIST = "List the candidates."
_NOTHING = Answer("There is no candidate.", "none")


def analyst(task: Task, seed: int) -> Script:
    """List the candidates, read the context, query the outcomes, and choose the best candidate.

    If decisions may be simulated, the script compares the candidates by simulation. If no further
    statement is allowed before the outcomes, it chooses the first candidate. If the scenario has no
    statement for the outcomes, it queries the heuristics and takes the majority.
    """
    del seed
    asked = _Asked.of(task)
    if asked.rules and asked.kind not in asked.scenario.outcome_queries and not task.simulates:
        return (yield from _ask_rules(asked, task))
    outcome = asked.scenario.unit
    if task.simulates:
        last = Step(f"Which one leads to the best {outcome}?", "all", tool="compare")
    else:
        last = Step(f"What is the outcome of each, in {outcome}?", "")
    plan = numbered(
        [
            _LIST,
            "Read the context of the question.",
            "Compare the outcomes.",
            "Choose the best.",
        ]
    )
    seen = yield Step("First I need the candidates.", asked.listing, plan)
    cells = [row[0] for row in seen.rows]
    listed = asked.scenario.candidates_by(lambda *_: cells, asked.target)
    if not listed or task.once:
        return Answer("It is the first candidate.", str(listed[0])) if listed else _NOTHING
    first = Answer("I can look up nothing more, so I choose the first candidate.", str(listed[0]))
    if seen.last:
        return first
    for template in asked.scenario.contexts.get(asked.kind, ()):
        seen = yield Step(
            "This is context of the question.", asked.statement(template, listed), plan
        )
        if seen.last:
            return first
    given = last.given or asked.statement(asked.outcomes, listed)
    seen = yield Step(last.thought, given, plan, last.tool)
    values = {str(row[0]): settled(_figure(*row[:2])) for row in seen.rows}
    if not values:
        return Answer("No outcome is known, so I choose the first.", str(listed[0]))
    best = (max if asked.scenario.goal == "maximise" else min)(values.values())
    chosen = next(name for name, value in values.items() if value == best)
    return Answer(f"{chosen} leads to the best {outcome}, {best:.6g}.", chosen)


def _ask_rules(asked: _Asked, task: Task) -> Script:
    """Query one or three heuristics of the scenario, or all if there is a plan."""
    count = 1 if task.once else len(asked.rules) if task.plans else 3
    plan = numbered(["Ask one heuristic after another.", "Choose what most of them say."])
    votes: Counter[str] = Counter()
    for rule in asked.rules[:count]:
        if len(votes) > 1:
            plan = numbered(["The heuristics disagree: ask the others too.", "Count the votes."])
        statement = asked.statement(rule.statements[asked.kind], ())
        seen = yield Step(f"What is {rule.description}?", statement, plan)
        votes.update(str(row[0]) for row in seen.rows[:1])
        if seen.last:
            break
    if not votes:
        return _NOTHING
    chosen, most = votes.most_common(1)[0]
    return Answer(f"{most} of {votes.total()} heuristics say so.", chosen)


@dataclass(frozen=True)
class _Asked:
    """The scenario of a task's question, and the question's target values."""

    scenario: Scenario
    target: Mapping[str, str]
    kind: Kind

    @classmethod
    def of(cls, task: Task) -> _Asked:
        scenario = plugins.scenario_of(task.question)
        if scenario is None:
            raise UsageError(
                "The question names no scenario, which this scripted model needs: add --scenario."
            )
        return cls(scenario, task.question.target, "graph" if task.is_graph else "relational")

    @cached_property
    def listing(self) -> str:
        """The statement that lists the candidates."""
        given = self.scenario.listing
        if given.table is None:
            statement = self.scenario.statement(given, self.kind, self.target)
            if statement is None:
                raise self._lacks("candidates")
            return statement
        table = table_in(self.scenario.schema, given.table, self.kind, "ansi")
        conditions = [table.equals(c, self.target[p]) for c, p in given.where.items()]
        return table.listing(given.column or "", [each for each in conditions if each is not None])

    @cached_property
    def rules(self) -> list[Heuristic]:
        """The scenario's heuristics that have a statement for this kind of database."""
        return [one for one in self.scenario.heuristics if self.kind in one.statements]

    @property
    def outcomes(self) -> Template:
        """The statement that returns the outcomes of the candidates."""
        if self.kind not in self.scenario.outcome_queries:
            raise self._lacks("outcomes")
        return self.scenario.outcome_queries[self.kind]

    def statement(self, template: Template, listed: tuple[Candidate, ...]) -> str:
        """Return a statement about the question and its candidates."""
        values: Values = {**self.scenario.values(self.target), "candidates": listed}
        return filled(template, self.kind, values)

    def _lacks(self, stem: str) -> UsageError:
        called = self.scenario.called_file(stem, self.kind)
        return UsageError(
            f"A scripted model needs the file {called}, which does not exist. Write it, or use a "
            "language model (--model)."
        )


def _figure(candidate: Cell, cell: Cell = None) -> float:
    """Return a cell as a number."""
    try:
        found = float("nan" if cell is None else cell)
    except ValueError:
        found = math.nan
    if math.isnan(found):
        shown = "NULL" if cell is None else repr(cell)
        raise UsageError(
            f"The outcome of {str(candidate)!r} is {shown}, which is not a number: correct the "
            "scenario's file outcomes.* ('dqa doctor --scenario DIR --database URL' shows the "
            "line)."
        )
    return found
