"""The content of a model's reply, independent of the protocol."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

THOUGHT_NOTED = "Nothing was read; continue."
"""The answer to a reply that only thinks."""
MOST_CALLS = 8
"""The maximum number of tool calls in a reply."""

_THINKING = {"selfthinking", "selfthink", "thinking", "think", "thought", "reasoning", "reason"}
_STEP = re.compile(
    r"^[ \t>*_#]*current[ ]step[ \t]*(?:[*_]+[ \t]*)?:[ \t]*[*_]*[ \t]*(?P<said>.*)",
    re.IGNORECASE | re.MULTILINE,
)
_BEHIND_A_NAME = re.compile(r"[(\[:\n\u2013\u2014]| - ")
_NUMBERS = re.compile(r"\d{1,3}(?:\s?(?:[-\u2013,&]|to|and)\s?\d{1,3})*")


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A tool call in a reply.

    Attributes
    ----------
    tool
        The name of the tool, as the model wrote it.
    arguments
        A text, or arguments by name.
    id
        The id of the call; empty in a protocol without ids.
    """

    tool: str
    arguments: str | Mapping[str, Any]
    id: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """The content of a reply.

    Attributes
    ----------
    plan
        The plan as a numbered list; None if there is none.
    replan
        The new plan that replaces the current plan; None if the current plan is kept.
    keeps
        Whether the reply explicitly keeps the current plan. If so, `plan` only repeats the current
        plan.
    current_step
        The number of the current step of the plan, as text (``"2"``, ``"2-3"``); empty if the reply
        does not name it.
    thought
        The reasoning; empty if there is none.
    only_thinks
        Whether the reply thinks without calling a tool or deciding.
    requests
        The tool calls, in order.
    answer
        The decision; None if there is none.
    answer_id
        The id of the call that decides; empty in a protocol without ids.
    notes
        The answers to calls that do not run a tool, as (id, text).
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
        """Whether the reply does more than plan: it calls a tool, decides or thinks."""
        return bool(self.requests) or self.answer is not None or self.only_thinks


def is_thinking(tool: str) -> bool:
    """Return whether an action means to think, such as PlanRAG's "Self thinking"."""
    name, _ = named(tool)
    return "".join(filter(str.isalpha, name)).lower() in _THINKING


def named(action: str) -> tuple[str, str]:
    """Split an action into the name of its tool and its input.

    The input is in brackets, or after a colon or dash.
    """
    name, *rest = _BEHIND_A_NAME.split(action.strip(" `*\"'[]"), maxsplit=1)
    return name, "".join(rest).strip(" `*\"'()[]")


def step_in(text: str) -> str:
    """Return the numbers in the line ``Current step: ...`` of a text; empty if there are none."""
    found = _STEP.search(text)
    numbers = found and _NUMBERS.search(found["said"])
    return numbers.group() if numbers else ""


def without_step(text: str) -> str:
    """Return a text without the line ``Current step: ...``."""
    return _STEP.sub("", text).strip()
