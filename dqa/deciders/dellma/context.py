"""The context of a decision: what queries return, shortened where it is too long (section 4.1)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from dqa import plugins
from dqa.databases.base import Database, Kind
from dqa.deciders.candidates import queried_candidates
from dqa.deciders.dellma.asking import Asker, folded, prompt
from dqa.deciders.dellma.problem import Problem
from dqa.deciders.dellma.summaries import Shortener
from dqa.errors import UsageError
from dqa.question import Candidate, Question

__all__ = ["actions_of", "check_question", "read_problem"]

_LEAST_CONTEXT = 200
"""Fewest characters that goal and actions have to leave to rules and rows."""


def read_problem(
    question: Question,
    actions: tuple[Candidate, ...],
    database: Database,
    asker: Asker,
    most: int,
) -> Problem:
    """Make the decision problem of a question: goal, actions and context.

    An action that no row names cannot be told from others like it, so it is left out of the
    comparison, and the trace says so; all stay where fewer than two are named.

    Parameters
    ----------
    question
        Its text is the goal, without how its scenario has it answered.
    actions
        What can be chosen.
    database
        The context is what the question's own queries, or its scenario's, return from it.
    asker
        Asked to shorten what is too long; it keeps every query with what it returned.
    most
        Most characters of goal, actions, rules and rows together. Rules and rows that are longer
        than what the others leave are summarised piece by piece.

    Raises
    ------
    UsageError
        Nothing says which rows to read, no statement that says it can run, or goal and actions
        alone are too long.
    UnparsableReplyError
        Rules or rows are too long, and no reply shortens them.
    InfrastructureError, BudgetSpentError
        The database or the model failed, or nothing is left to spend.
    """
    found = [asker.retrieve(database, query) for query in _queries(question, database.kind)]
    told = [one.observation for one in found if one.error is None]
    if not told:
        raise UsageError(
            f"No query of the context can run: {found[0].statement!r} gives {found[0].observation}"
        )
    goal, compared = _goal_of(question), _told_of(actions, told)
    room = _room(goal, compared, most)
    rules, rows = question.rules, "\n\n".join(told)
    for_rules, for_rows = _shares(len(rules), len(rows), room)
    shortener = Shortener(goal, compared, asker)
    if len(rules) > for_rules:
        rules = shortener.shorten("rules", [rules], for_rules)
    summarised = len(rows) > for_rows
    if summarised:
        rows = shortener.shorten("rows", told, for_rows)
    kept = set(compared)
    asker.note(
        "context",
        actions=list(compared),
        left_out=[action for action in actions if action not in kept],
        text=rows,
        summarised=summarised,
        rules_summarised=rules is not question.rules,
        failed=len(found) - len(told),
        cut=sum(one.cut is not None for one in found if one.error is None),
    )
    return Problem(goal, compared, _context(rules, rows))


def actions_of(question: Question, database: Database) -> tuple[Candidate, ...]:
    """Return what can be chosen; `UsageError` where there is nothing."""
    check_question(question)
    listed = question.candidates
    if listed is None:
        listed = queried_candidates(question.candidate_query or "", database)
    if not listed:
        raise _without_actions(question)
    return listed


def check_question(question: Question) -> None:
    """Refuse a question that cannot be decided whatever its database holds; `UsageError`."""
    if question.candidates or (question.candidates is None and question.candidate_query):
        return
    raise _without_actions(question)


def _without_actions(question: Question) -> UsageError:
    return UsageError(
        f"Question '{question.key}' has no action to choose from, and DeLLMa compares actions: "
        "list them with --candidates."
    )


def _queries(question: Question, kind: Kind) -> tuple[str, ...]:
    if question.context_queries:
        return question.context_queries
    if question.scenario in plugins.names("scenario"):
        queries = plugins.scenario(question.scenario).context(question, kind)
        if queries:
            return queries
    raise UsageError(
        f"Nothing says what DeLLMa is to read about '{question.key}': give statements with "
        "--context, or take a decider that writes its own."
    )


def _context(rules: str, rows: str) -> str:
    return prompt("context", rules=rules, rows=rows)


def _goal_of(question: Question) -> str:
    if question.scenario not in plugins.names("scenario"):
        return question.text
    return plugins.scenario(question.scenario).goal_of(question)


def _told_of(actions: tuple[Candidate, ...], told: Sequence[str]) -> tuple[Candidate, ...]:
    """Return the actions that a cell of the tables names; all where those are fewer than two."""
    cells = {folded(cell) for table in told for cell in _cells(table)}
    named = tuple(action for action in actions if folded(action) in cells)
    return named if len(named) > 1 else actions


def _cells(table: str) -> Iterator[Any]:
    """Yield what stands in a table's cells below its header, also inside of lists."""
    _, *lines = table.split("\n")
    for line in lines:
        if line.startswith("["):
            yield from _leaves(json.loads(line))


def _leaves(cell: Any) -> Iterator[Any]:  # noqa: ANN401  (any JSON value)
    if not isinstance(cell, list | dict):
        yield cell
        return
    for inner in cell.values() if isinstance(cell, dict) else cell:
        yield from _leaves(inner)


def _room(goal: str, actions: tuple[Candidate, ...], most: int) -> int:
    """Return how many characters goal and actions leave to rules and rows."""
    taken = len(prompt("task", problem=Problem(goal, actions, _context("", ""))))
    if most - taken < _LEAST_CONTEXT:
        raise UsageError(
            f"The goal and {len(actions)} actions alone take {taken} of the {most} characters that "
            "dellma.context allows, which leaves no room for what the database holds: raise it "
            f"with --set dellma.context={2 * (taken + _LEAST_CONTEXT)}, or list fewer actions."
        )
    return most - taken


def _shares(rules: int, rows: int, room: int) -> tuple[int, int]:
    """Return the most characters of rules and of rows: each has what the other leaves, or half."""
    half = room // 2
    return max(half, room - rows), max(half, room - rules)
