"""The analyst: a script that uses the statements in the folder of a scenario.

A scenario names the analyst in its document under ``[scripts]``. The analyst tests, without the
cost of a language model, that questions, database, tools and scores work together. Its score says
nothing about language models, because it knows the statement that returns the outcomes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from dqa import plugins
from dqa.core.database import Kind
from dqa.core.errors import UsageError
from dqa.core.question import Question
from dqa.core.situation import Cell
from dqa.models.scripted.steps import Answer, Script, Step, Task, numbered
from dqa.scenarios.base import Heuristic, Scenario
from dqa.scenarios.statements import SUFFIXES
from dqa.scenarios.tables import table_in

_PLAN = (
    "1. List the candidates.\n2. Read the context of the question.\n3. Compare the outcomes.\n"
    "4. Choose the best."
)
_CORRECT = (
    "Correct the scenario's file outcomes.*, or a policy that hides its columns ('dqa doctor "
    "--scenario DIR --database URL' shows the line)"
)
_NOTHING = Answer("There is no candidate.", "none")


def analyst(task: Task, seed: int) -> Script:
    """List the candidates, read the context, query the outcomes, and choose the best candidate.

    If the script may simulate, it simulates the candidates instead of querying their outcomes.
    Without a statement for the outcomes, it queries the heuristics and chooses the candidate that
    most of them return. If the limit of statements is reached before the outcomes are known, it
    chooses the first candidate.
    """
    del seed
    scenario, question = plugins.scenario_of(task.question), task.question
    if scenario is None:
        raise UsageError(
            "This scripted model needs a scenario, but the question has none: add --scenario."
        )
    kind: Kind = "graph" if task.is_graph else "relational"
    unit, outcomes = scenario.unit, scenario.outcome_queries.get(kind)
    rules = [one for one in scenario.heuristics if kind in one.statements]
    if rules and outcomes is None and not task.simulates:
        return (yield from _query_heuristics(scenario, kind, rules, task))
    seen = yield Step("First I need the candidates.", _listing(scenario, kind, question), _PLAN)
    is_cut = seen.is_cut
    cells = [row[0] for row in seen.rows]
    listed = scenario.candidates_by(lambda *_: cells, question.target)
    if not listed or task.once:
        return Answer("It is the first candidate.", str(listed[0])) if listed else _NOTHING
    question = replace(question, candidates=listed)
    first = Answer("I can look up nothing more, so I choose the first candidate.", str(listed[0]))
    for statement in scenario.context(question, kind):
        if seen.last:
            return first
        seen = yield Step("This is context of the question.", statement, _PLAN)
    if seen.last:
        return first
    if task.simulates:
        seen = yield Step(f"Which one leads to the best {unit}?", "all", _PLAN, tool="compare")
    elif outcomes is None:
        raise _missing(scenario, "outcomes", kind)
    else:
        statement = scenario.filled_for(question, kind, outcomes)
        seen = yield Step(f"What is the outcome of each, in {unit}?", statement, _PLAN)
        if is_cut or (seen.is_cut and seen.rows):
            raise UsageError(
                "A limit hides some candidates from the scripted analyst. Raise the limits of rows "
                "and bytes (--row-limit; in Python `limits`), or use --decider oracle."
            )
    values = {str(row[0]): _figure(row) for row in seen.rows}
    if not values and seen.last:
        return first
    if not values:
        # A hint names a visible column. But a policy may hide the column that the file means.
        problem = seen.problem.removeprefix("Error: ").partition(" Did you mean")[0].rstrip(".")
        why = problem or "their statement returned no row"
        raise UsageError(f"The outcomes of the candidates are not known: {why}. {_CORRECT}.")
    best, word = (max, "highest") if scenario.goal == "maximise" else (min, "lowest")
    chosen = best(values, key=values.__getitem__)
    return Answer(f"{chosen} leads to the {word} {unit}, {values[chosen]:.6g}.", chosen)


def _query_heuristics(scenario: Scenario, kind: Kind, rules: list[Heuristic], task: Task) -> Script:
    """Query heuristics, and choose the candidate that most of them return.

    All heuristics are queried if the method makes a plan. Otherwise, three are queried, or one if
    only one statement is allowed.
    """
    count = 1 if task.once else len(rules) if task.plans else 3
    plan = numbered(["Ask one heuristic after another.", "Choose what most of them say."])
    votes: Counter[str] = Counter()
    for rule in rules[:count]:
        if len(votes) > 1:
            plan = numbered(["The heuristics disagree: ask the others too.", "Count the votes."])
        statement = scenario.filled_for(task.question, kind, rule.statements[kind])
        seen = yield Step(f"What is {rule.description}?", statement, plan)
        votes.update(str(row[0]) for row in seen.rows[:1])
        if seen.last:
            break
    if not votes:
        return _NOTHING
    chosen, most = votes.most_common(1)[0]
    return Answer(f"{most} of {votes.total()} heuristics say so.", chosen)


def _listing(scenario: Scenario, kind: Kind, question: Question) -> str:
    """Return the statement that lists the candidates."""
    part, target = scenario.listing, question.target
    if part.table is not None:
        table = table_in(scenario.schema, part.table, kind, "ansi")
        conditions = [table.equals(column, target[key]) for column, key in part.where.items()]
        return table.listing(part.column or "", [one for one in conditions if one is not None])
    statement = scenario.statement(part, kind, target)
    if statement is None:
        raise _missing(scenario, "candidates", kind)
    return statement


def _missing(scenario: Scenario, stem: str, kind: Kind) -> UsageError:
    return UsageError(
        f"A scripted model needs {scenario.folder}/{stem}{SUFFIXES[kind]}, which does not exist. "
        "Write it, or use a language model (--model)."
    )


def _figure(row: Sequence[Cell]) -> float:
    """Return the outcome in a row, rounded to 10 digits.

    Further digits of a sum depend on the order of its rows.
    """
    with suppress(IndexError, TypeError, ValueError):
        figure = float(f"{float(row[1]):.10g}")  # type: ignore[arg-type]  # raises TypeError
        if not math.isnan(figure):
            return figure
    raise UsageError(f"The outcome of {str(row[0])!r} is not a number. {_CORRECT}.")
