"""Tasks, steps and answers of scripts, and small helpers for statements."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from dqa.core.question import Question
from dqa.core.situation import Cell


@dataclass(frozen=True, slots=True)
class Task:
    """The task of a script.

    Attributes
    ----------
    question
        The question.
    is_graph
        Whether the language is Cypher and not SQL.
    once
        Whether the database may be read only once.
    plans
        Whether there is a plan.
    simulates
        Whether decisions may be simulated.
    """

    question: Question
    is_graph: bool = False
    once: bool = False
    plans: bool = False
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


def numbered(steps: Iterable[str]) -> str:
    """Return a plan as a numbered list."""
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))


def settled(value: float) -> float:
    """Return a value without its last digits, which depend on the order of summation."""
    return float(f"{value:.10g}")
