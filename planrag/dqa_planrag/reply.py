"""What one reply of a model says, whatever protocol it came in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

MOST_CALLS = 8
"""Most tools that one reply may call."""

Given: TypeAlias = str | Mapping[str, Any]
"""What a tool is given: a text, or arguments by name."""


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """One tool that a reply asks for.

    Attributes
    ----------
    tool
        Its name, as the model wrote it.
    given
        What it is given.
    id
        What the result is sent back under; empty in a protocol without such names.
    """

    tool: str
    given: Given
    id: str = ""

    @property
    def text(self) -> str:
        """What it is given, in one text."""
        if isinstance(self.given, str):
            return self.given
        if len(self.given) != 1:
            return json.dumps(self.given, ensure_ascii=False, default=str)
        (value,) = self.given.values()
        return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


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
    requests
        The tools it asks for, in order.
    answer
        Its decision, or None where it has not decided.
    answer_id
        What the answer to its decision is sent back under; empty where that needs no name.
    notes
        What is sent back for calls that need no result, as (id, text).
    """

    plan: str | None = None
    replan: str | None = None
    thought: str = ""
    requests: tuple[ToolRequest, ...] = ()
    answer: str | None = None
    answer_id: str = ""
    notes: tuple[tuple[str, str], ...] = ()
