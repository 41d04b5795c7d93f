"""What scripts are written in: tasks, steps, answers, and small helpers for statements."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from dqa.core.situation import Cell
from dqa.scenarios.statements import cypher_literal, sql_literal


@dataclass(frozen=True, slots=True)
class Task:
    """What a conversation sets a script to do.

    Attributes
    ----------
    question, rules, schema
        What is asked, the business rules, and the schema as the database describes it.
    graph
        Whether the database speaks Cypher; it speaks SQL otherwise.
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
    """What one statement returned.

    Attributes
    ----------
    rows
        By column position; none where it failed.
    last
        Whether nothing more may be asked, so that the script has to decide by what it has seen.
    """

    rows: tuple[tuple[Cell, ...], ...] = ()
    last: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to ask with the thought behind it, and the plan where it begins or changes.

    Attributes
    ----------
    thought
        Why it is asked.
    given
        The statement, or what a simulation is given.
    plan
        The plan as a numbered list; None where nothing changes.
    tool
        What is asked.
    """

    thought: str
    given: str
    plan: str | None = None
    tool: str = "query_database"


@dataclass(frozen=True, slots=True)
class Answer:
    """The decision with the thought behind it."""

    thought: str
    answer: str


Script: TypeAlias = Generator[Step, Observed, Answer]
"""Yields steps, is sent what each returned, and returns the decision."""


@dataclass(frozen=True, slots=True)
class ScriptTurn:
    """What a script does now.

    Attributes
    ----------
    move
        What it asks for, or its decision.
    new_plan
        The plan where it begins or changes, else None.
    plan
        The plan that holds; None where there is none.
    """

    move: Step | Answer
    new_plan: str | None
    plan: str | None = None


def run_script(
    script: Script, observed: Sequence[Observed], *, closing: bool = False
) -> ScriptTurn:
    """Run a script past everything that was observed, to what it does next.

    A script holds no state between calls: it is started anew and fed the observations, so the
    conversation alone decides.

    Parameters
    ----------
    script
        From its start.
    observed
        What its statements returned so far.
    closing
        Whether nothing more may be asked. A script that asks all the same decides for nothing.
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
    """Look at what the question is about, simulate every decision, and take the best.

    Parameters
    ----------
    look
        The first statement; its plan is replaced by one that simulates.
    what
        What the outcome is, in words.
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
    """Return a cell as a number; 0 for NULL and for what is none."""
    return float(cell) if isinstance(cell, int | float) else 0.0


def settled(value: float) -> float:
    """Return a value without its last digits, which hang on the order in which databases add."""
    return float(f"{value:.10g}")


def pick(options: Sequence[Cell], question: str, seed: int) -> Cell:
    """Return one of the options by chance that only the question and the seed decide."""
    digest = hashlib.sha256(f"{seed}\n{question}".encode()).digest()
    return options[int.from_bytes(digest[:8], "big") % len(options)]
