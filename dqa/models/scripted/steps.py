"""Tasks, steps and answers of scripts, and small helpers for statements."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from dqa.core.situation import Cell
from dqa.scenarios.statements import cypher_literal, sql_literal


@dataclass(frozen=True, slots=True)
class Task:
    """The task of a script, read from a conversation.

    Attributes
    ----------
    question, rules, schema
        The question, the business rules, and the schema as the database describes it.
    graph
        Whether the language is Cypher and not SQL.
    once
        Whether the database may be read only once.
    plans, replans
        Whether there is a plan, and whether it may change after an observation.
    simulates
        Whether decisions may be simulated.
    """

    question: str
    rules: str
    schema: str
    graph: bool
    once: bool
    plans: bool
    replans: bool
    simulates: bool = False


@dataclass(frozen=True, slots=True)
class Observed:
    """The result of one statement.

    Attributes
    ----------
    rows
        Cells by position; no rows if it failed.
    last
        Whether no further statement is allowed, so that the script must decide now.
    """

    rows: tuple[tuple[Cell, ...], ...] = ()
    last: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a tool with its thought, and the plan if it begins or changes.

    Attributes
    ----------
    thought
        The reason for the call.
    given
        The statement, or the argument of a simulation.
    plan
        The plan as a numbered list; None without a change.
    tool
        Name of the tool.
    """

    thought: str
    given: str
    plan: str | None = None
    tool: str = "query_database"


@dataclass(frozen=True, slots=True)
class Answer:
    """The decision with its thought."""

    thought: str
    answer: str


Script: TypeAlias = Generator[Step, Observed, Answer]
"""Yields steps, receives the result of each, and returns the decision."""


@dataclass(frozen=True, slots=True)
class ScriptTurn:
    """The next action of a script.

    Attributes
    ----------
    move
        A step, or the decision.
    new_plan
        The plan if it begins or changes, else None.
    plan
        The present plan; None without one.
    """

    move: Step | Answer
    new_plan: str | None
    plan: str | None = None


def run_script(
    script: Script, observed: Sequence[Observed], *, closing: bool = False
) -> ScriptTurn:
    """Return the next action of a script after all observations.

    A script has no state between calls: it starts again and receives the observations.

    Parameters
    ----------
    script
        The script, at its start.
    observed
        The results of its statements so far.
    closing
        Whether no further statement is allowed. A script that asks all the same decides nothing.
    """
    plan: str | None = None
    seen = list(observed)
    if closing and seen:
        seen[-1] = replace(seen[-1], last=True)
    try:
        step = next(script)
        for one in seen:
            plan = step.plan or plan
            step = script.send(one)
    except StopIteration as end:
        answer: Answer = end.value
        return ScriptTurn(answer, None, plan)
    if closing:
        told = "Nothing more can be looked up, and nothing that I have seen tells what to choose."
        return ScriptTurn(Answer(told, "none"), None, plan)
    return ScriptTurn(step, step.plan if step.plan != plan else None, step.plan or plan)


def compared(look: Step, what: str) -> Script:
    """Look up the subject of the question, simulate every decision, and take the best.

    Parameters
    ----------
    look
        The first statement; its plan is replaced by one that simulates.
    what
        The outcome in words.
    """
    plan = numbered(
        [
            "Look up what the question is about.",
            "Simulate every decision and compare the outcomes.",
            "Choose the decision with the best outcome.",
        ]
    )
    yield replace(look, plan=plan)
    seen = yield Step(f"Which decision leads to the best {what}?", "all", plan, "compare")
    if not seen.rows:
        return Answer("Nothing can be chosen.", "none")
    best, value = seen.rows[0][0], number(seen.rows[0][1])
    return Answer(f"{best} leads to the best {what}, {value:.6g}.", str(best))


def numbered(steps: Iterable[str]) -> str:
    """Return a plan as a numbered list."""
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))


def quoted(values: Iterable[Cell], *, graph: bool) -> str:
    """Return a list of literals for ``IN``: SQL in parentheses, Cypher in brackets."""
    literals = ", ".join(_literal(value, graph=graph) for value in values)
    return f"[{literals}]" if graph else f"({literals})"


def _literal(value: Cell, *, graph: bool) -> str:
    if not isinstance(value, str):
        return str(value)
    return cypher_literal(value) if graph else sql_literal(value)


def number(cell: Cell) -> float:
    """Return a cell as a number; 0 for NULL and for other values."""
    return float(cell) if isinstance(cell, int | float) else 0.0


def settled(value: float) -> float:
    """Return a value without its last digits, which depend on the order of summation."""
    return float(f"{value:.10g}")


def pick(options: Sequence[Cell], question: str, seed: int) -> Cell:
    """Draw one of the options; the draw depends only on the question and the seed."""
    digest = hashlib.sha256(f"{seed}\n{question}".encode()).digest()
    return options[int.from_bytes(digest[:8], "big") % len(options)]
