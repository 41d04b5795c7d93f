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
        Whether statements are Cypher instead of SQL.
    once
        Whether the script may run only one statement.
    plans
        Whether the method plans.
    simulates
        Whether the script may simulate decisions.
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
        The rows of cells; no rows if the statement failed.
    last
        Whether the script must decide now, because no further statement is allowed.
    """

    rows: tuple[tuple[Cell, ...], ...] = ()
    last: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a tool.

    Attributes
    ----------
    thought
        The reason for the call.
    given
        The statement, or the argument of a simulation.
    plan
        The new plan as a numbered list; None if the plan does not change.
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
"""A generator that yields steps, receives the result of each, and returns the decision."""


@dataclass(frozen=True, slots=True)
class ScriptTurn:
    """The next action of a script.

    Attributes
    ----------
    move
        A step, or the decision.
    new_plan
        The new plan; None if the plan does not change.
    plan
        The current plan; None without one.
    """

    move: Step | Answer
    new_plan: str | None
    plan: str | None = None


def run_script(
    script: Script, observed: Sequence[Observed], *, closing: bool = False
) -> ScriptTurn:
    """Start a script, send it all observations, and return its next action.

    Parameters
    ----------
    script
        The script, not started yet.
    observed
        The results of its statements so far.
    closing
        Whether no further statement is allowed. If the script needs one, it decides nothing.
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
        thought = "I can look up nothing more, and the rows so far do not show what to choose."
        return ScriptTurn(Answer(thought, "none"), None, plan)
    return ScriptTurn(step, step.plan if step.plan != plan else None, step.plan or plan)


def numbered(steps: Iterable[str]) -> str:
    """Return a plan as a numbered list."""
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))


def settled(value: float) -> float:
    """Round a value to 10 digits, because later digits depend on the order of summation."""
    return float(f"{value:.10g}")
