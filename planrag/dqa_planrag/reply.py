"""What one reply of a model says, whatever protocol it came in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from dqa.core.plans import STEP_NUMBER

__all__ = ["MOST_CALLS", "STEP_NUMBER", "Call", "Given", "Reply"]

MOST_CALLS = 8
"""Most tools that one reply may call."""

Given: TypeAlias = str | tuple[str, ...]
"""What a tool is given: a text, or a list of texts."""


@dataclass(frozen=True, slots=True)
class Call:
    """One tool that a reply calls.

    Attributes
    ----------
    tool
        Its name, as the model wrote it.
    given
        A statement, a decision, or candidates.
    id
        What the result is sent back under; empty in a protocol without such names.
    """

    tool: str
    given: Given
    id: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What one reply says.

    Attributes
    ----------
    plan
        The plan it brings, as a numbered list, or None.
    replan
        The new plan that replaces the current one, or None where that is kept.
    thought
        Its reasoning, empty where there is none.
    calls
        The tools it calls, in order.
    answer
        Its decision, or None where it has not decided.
    notes
        What is sent back for calls that need no result, as (id, text).
    """

    plan: str | None = None
    replan: str | None = None
    thought: str = ""
    calls: tuple[Call, ...] = ()
    answer: str | None = None
    notes: tuple[tuple[str, str], ...] = ()
