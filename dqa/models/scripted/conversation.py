"""What a scripted model can know: the messages of its conversation, read back into a task."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from dqa.errors import UsageError
from dqa.situation import Cell

__all__ = ["Observed", "Task", "read_conversation"]

_SECTION = re.compile(r"^# (?P<title>[\w ]+)\n(?P<body>.*?)(?=^# |\Z)", re.DOTALL | re.MULTILINE)
_OBSERVATION = "Observation: "


@dataclass(frozen=True, slots=True)
class Task:
    """The task that a conversation sets.

    Attributes
    ----------
    question, rules, schema
        The texts between their headings.
    graph
        Whether the database speaks Cypher; it speaks SQL otherwise.
    once
        Whether the database may be read only once.
    plans, replans
        Whether the format asks for a plan, and for a verdict on it after each observation.
    """

    question: str
    rules: str
    schema: str
    graph: bool
    once: bool
    plans: bool
    replans: bool


@dataclass(frozen=True, slots=True)
class Observed:
    """What one statement returned: rows by column position, none where it failed."""

    rows: tuple[tuple[Cell, ...], ...] = ()


_Texts: TypeAlias = Sequence[BaseMessage]


def read_conversation(messages: _Texts) -> tuple[Task, list[Observed]]:
    """Return the task, and what the statements so far returned, in order.

    Raises
    ------
    UsageError
        The conversation is none that an agent of this project holds.
    """
    system = "\n".join(m.text for m in messages if isinstance(m, SystemMessage))
    told = [m.text for m in messages if isinstance(m, HumanMessage)]
    sections = {m["title"]: m["body"].strip() for m in _SECTION.finditer(told[0] if told else "")}
    if "Question" not in sections or "Database" not in sections:
        raise UsageError(
            "A scripted model only follows conversations with the headings '# Question' and "
            "'# Database'; use a language model for others."
        )
    _, _, schema = sections["Database"].partition("Schema, as the database describes it:\n")
    task = Task(
        question=sections["Question"],
        rules=sections.get("Business rules", ""),
        schema=schema,
        graph="Kind: graph" in sections["Database"],
        once="\nFinal Answer:" not in system,
        plans="\nPlan:" in system,
        replans="\nRe-plan:" in system,
    )
    replies = sum(isinstance(m, AIMessage) for m in messages)
    observed = [
        _observed(text.removeprefix(_OBSERVATION))
        for text in told[1:]
        if text.startswith(_OBSERVATION)
    ]
    if len(observed) != replies:
        raise UsageError(
            "A scripted model met a reply of its own that brought no observation; its script and "
            "the agent's format do not fit each other."
        )
    return task, observed


def _observed(text: str) -> Observed:
    rows = []
    for line in text.splitlines()[1:]:
        if not line.startswith("["):
            break
        rows.append(tuple(json.loads(line)))
    return Observed(tuple(rows) if text.startswith("[") else ())
