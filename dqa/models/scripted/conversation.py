"""What a scripted model can know: the messages of its conversation, read back into a task.

Conversations come in two protocols. In the text one, formats and observations are labelled; in the
other one, the names of tools stand in backticks and results come under the ids of calls.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from dqa.core.errors import UsageError
from dqa.core.situation import Cell

__all__ = ["ACTING", "Observed", "Task", "read_conversation"]

ACTING = frozenset({"query_database", "simulate", "compare"})
"""The tools whose results are observations."""

_SECTION = re.compile(r"^# (?P<title>[\w ]+)\n(?P<body>.*?)(?=^# |\Z)", re.DOTALL | re.MULTILINE)
_OBSERVATION = re.compile(r"^Observation: ", re.MULTILINE)
_COMPARING = re.compile(r"^Action: .*\bcompare\b", re.MULTILINE)


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
        Whether there is a plan, and whether it may change after an observation.
    simulates
        Whether decisions may be simulated.
    acts
        Whether this conversation's model reads the database and decides, rather than only plans.
    plan_is_given
        Whether somebody else makes the plan.
    thinks, thinks_first
        Whether the format asks for a thought, and whether that stands before the plan.
    """

    question: str
    rules: str
    schema: str
    graph: bool
    once: bool
    plans: bool
    replans: bool
    simulates: bool = False
    acts: bool = True
    plan_is_given: bool = False
    thinks: bool = True
    thinks_first: bool = False


@dataclass(frozen=True, slots=True)
class Observed:
    """What one statement returned: rows by column position, none where it failed."""

    rows: tuple[tuple[Cell, ...], ...] = ()


_Texts: TypeAlias = Sequence[BaseMessage]


def read_conversation(messages: _Texts) -> tuple[Task, list[Observed]]:
    """Return the last task, and what the statements since it returned, in order.

    Raises
    ------
    UsageError
        The conversation is none that an agent of this project holds.
    """
    system = "\n".join(m.text for m in messages if isinstance(m, SystemMessage))
    sections, since = _last_task(messages)
    _, _, schema = sections["Database"].partition("Schema, as the database describes it:\n")
    tools = "`" in system
    own_plan = "\nPlan:" in system or "`plan`" in system
    acts = "`query_database`" in system if tools else "\nAction:" in system
    task = Task(
        question=sections["Question"],
        rules=sections.get("Business rules", ""),
        schema=schema,
        graph="Kind: graph" in sections["Database"],
        once=acts and ("`decide`" if tools else "\nFinal Answer:") not in system,
        plans=own_plan or "Plan" in sections,
        replans=any(mark in system for mark in ("\nRe-plan:", "`replan`", "New plan:")),
        simulates="`compare`" in system or _COMPARING.search(system) is not None,
        acts=acts,
        plan_is_given="Plan" in sections,
        thinks="\nThought:" in system,
        thinks_first=0 <= system.find("\nThought:") < system.find("\nPlan:"),
    )
    observed = [_observed(text) for text in _observations(since)]
    if len(observed) != _asked(since, acts=acts):
        raise UsageError(
            "A scripted model met a reply of its own that brought no observation; its script and "
            "the agent's format do not fit each other."
        )
    return task, observed


def _last_task(messages: _Texts) -> tuple[dict[str, str], _Texts]:
    """Return the sections of the last task, and the messages after it."""
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if not isinstance(message, HumanMessage):
            continue
        sections = {m["title"]: m["body"].strip() for m in _SECTION.finditer(message.text)}
        if "Question" in sections and "Database" in sections:
            return sections, messages[place + 1 :]
    raise UsageError(
        "A scripted model only follows conversations with the headings '# Question' and "
        "'# Database'; use a language model for others."
    )


def _observations(messages: _Texts) -> Iterator[str]:
    for message in messages:
        if isinstance(message, ToolMessage) and message.name in ACTING:
            yield message.text
        elif isinstance(message, HumanMessage | ToolMessage):
            yield from _OBSERVATION.split(message.text)[1:]


def _asked(messages: _Texts, *, acts: bool) -> int:
    """Count what was to be observed: one thing a reply, or each tool that an acting one called."""
    asked = 0
    for message in messages:
        if isinstance(message, AIMessage):
            calls = [call for call in message.tool_calls if call["name"] in ACTING]
            asked += len(calls) if acts and message.tool_calls else 1
    return asked


def _observed(text: str) -> Observed:
    rows = []
    for line in text.splitlines()[1:]:
        if not line.startswith("["):
            break
        rows.append(tuple(json.loads(line)))
    return Observed(tuple(rows) if text.startswith("[") else ())
