"""What one reply of a model says, whatever protocol it came in."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

THOUGHT_NOTED = "Nothing was read; go on."
"""What a model is shown after a step that asked for nothing."""
MOST_CALLS = 8
"""Most tools that one reply may call."""

_THINKING = {"selfthinking", "selfthink", "thinking", "think", "thought", "reasoning", "reason"}
_STEP = re.compile(
    r"^[ \t>*_#]*current[ ]step[ \t]*(?:[*_]+[ \t]*)?:[ \t]*[*_]*[ \t]*(?P<said>.*)",
    re.IGNORECASE | re.MULTILINE,
)
_BEHIND_A_NAME = re.compile(r"[(\[:\n\u2013\u2014]| - ")
_NUMBERS = re.compile(r"\d{1,3}(?:\s?(?:[-\u2013,&]|to|and)\s?\d{1,3})*")

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
    keeps
        Whether it says outright that the current plan is kept; then `plan` only repeats one.
    current_step
        Number of the plan's step that it takes, as text (``"2"``, ``"2-3"``); empty where it does
        not say.
    thought
        Its reasoning, empty where there is none.
    only_thinks
        Whether its action is to think: a step that asks for nothing.
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
    keeps: bool = False
    current_step: str = ""
    only_thinks: bool = False

    @property
    def acts(self) -> bool:
        """Whether it does more than plan."""
        return bool(self.requests) or self.answer is not None or self.only_thinks


def is_thinking(tool: str) -> bool:
    """Whether an action that no tool carries out is to think, such as PlanRAG's "Self thinking"."""
    name, _ = named(tool)
    return "".join(filter(str.isalpha, name)).lower() in _THINKING


def named(action: str) -> tuple[str, str]:
    """Split an action into its name and what follows in brackets, or behind a colon or dash."""
    name, *rest = _BEHIND_A_NAME.split(action.strip(" `*\"'[]"), maxsplit=1)
    return name, "".join(rest).strip(" `*\"'()[]")


def step_in(text: str) -> str:
    """Return the numbers that the line ``Current step: ...`` of a text names; empty without any."""
    said = _STEP.search(text)
    numbers = said and _NUMBERS.search(said["said"])
    return numbers.group() if numbers else ""


def without_step(text: str) -> str:
    """Return a text without the line ``Current step: ...``."""
    return _STEP.sub("", text).strip()
