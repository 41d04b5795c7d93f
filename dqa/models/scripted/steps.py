"""Tasks, steps and decisions of scripts."""

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
        Whether the method asks for a plan.
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
    problem
        The error of the statement; empty if it ran.
    is_cut
        Whether a limit left out rows.
    """

    rows: tuple[tuple[Cell, ...], ...] = ()
    last: bool = False
    problem: str = ""
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a tool.

    Attributes
    ----------
    thought
        The reason for the call.
    given
        The statement to run, or the argument of a simulation.
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
    """The decision of a script, with the reason in `thought`."""

    thought: str
    answer: str


Script: TypeAlias = Generator[Step, Observed, Answer]
"""A generator that yields steps, receives the result of each, and returns the decision."""


def next_move(
    script: Script, observed: Sequence[Observed], *, closing: bool = False
) -> Step | Answer:
    """Start a script, send it all observations, and return its next step or its decision.

    Parameters
    ----------
    script
        The script, not started yet.
    observed
        The results of the script's statements so far.
    closing
        Whether no further statement is allowed. If the script needs another statement, the
        decision is "none".
    """
    seen = list(observed)
    if closing and seen:
        seen[-1] = replace(seen[-1], last=True)
    try:
        step = next(script)
        for one in seen:
            step = script.send(one)
    except StopIteration as end:
        answer: Answer = end.value
        return answer
    if closing:
        thought = "I can look up nothing more, and the rows so far do not show what to choose."
        return Answer(thought, "none")
    return step


def numbered(steps: Iterable[str]) -> str:
    """Return a plan as a numbered list."""
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
