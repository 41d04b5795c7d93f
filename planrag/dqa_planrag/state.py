"""The state of a run, and the small things that every node of the loop does with it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias, TypedDict

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from dqa.core.decision import Ending, Usage
from dqa.core.events import Event, ParseFailureEvent, PromptEvent
from dqa.core.evidence import Evidence
from dqa_planrag.reply import Reply
from dqa_planrag.toolbox import Toolbox

__all__ = [
    "CONVERSATION",
    "Outage",
    "Role",
    "Run",
    "State",
    "Update",
    "in_turns",
    "initial_state",
    "prompt_event",
    "reply_in",
    "step_of",
    "unread_event",
]

Outage: TypeAlias = Literal["database", "model"]
Role: TypeAlias = Literal["agent", "planner"]
"""Who is asked: the agent's model, or one that only plans."""


class State(TypedDict):
    """A run so far. Lists grow by what each node adds; the rest is replaced."""

    messages: Annotated[list[BaseMessage], operator.add]
    planning: Annotated[list[BaseMessage], operator.add]
    events: Annotated[list[Event], operator.add]
    evidence: Annotated[list[Evidence], operator.add]
    plans: Annotated[list[str], operator.add]
    usage: Usage
    steps: int
    failures: int
    role: Role
    reply: Reply | None
    problem: str
    outage: Outage | None
    ending: Ending | None


CONVERSATION: Mapping[Role, Literal["messages", "planning"]] = {
    "agent": "messages",
    "planner": "planning",
}


@dataclass(frozen=True, slots=True)
class Run:
    """What a run needs besides its state.

    Attributes
    ----------
    toolbox
        What the agent acts with.
    task
        Words the task with a plan, for an agent whose plan another model makes.
    """

    toolbox: Toolbox
    task: Callable[[str], str]


Update: TypeAlias = dict[str, Any]


def initial_state(messages: list[BaseMessage], planning: list[BaseMessage]) -> State:
    """Return the state of a run that has not begun.

    Parameters
    ----------
    messages
        What the agent's model is told first.
    planning
        What a model that only plans is told first; empty where there is none.
    """
    shown = prompt_event("planner", planning) if planning else prompt_event("agent", messages)
    return State(
        messages=messages,
        planning=planning,
        events=[shown],
        evidence=[],
        plans=[],
        usage=Usage(),
        steps=0,
        failures=0,
        role="agent",
        reply=None,
        problem="",
        outage=None,
        ending=None,
    )


def in_turns(messages: Iterable[BaseMessage]) -> list[BaseMessage]:
    """Return a conversation in which nobody speaks twice in a row, for providers that insist.

    What a user's turn adds to another one, or to the result of a tool, is joined to it.
    """
    turns: list[BaseMessage] = []
    for message in messages:
        last = turns[-1] if turns else None
        if isinstance(message, HumanMessage) and isinstance(last, HumanMessage | ToolMessage):
            turns[-1] = last.model_copy(update={"content": f"{last.text}\n\n{message.text}"})
        else:
            turns.append(message)
    return turns


def step_of(state: State) -> int:
    """Return the number of the reply that is dealt with; a planner's goes before the agent's."""
    return state["steps"] + (state["role"] == "planner")


def reply_in(state: State) -> Reply:
    """Return the reply that a node deals with."""
    reply = state["reply"]
    if reply is None:
        raise AssertionError("a node that needs a reply was reached without one")
    return reply


def prompt_event(role: Role, messages: list[BaseMessage]) -> Event:
    """Return the event that shows what a model is told first."""
    shown = tuple((message.type, _text(message)) for message in messages)
    return PromptEvent(messages=shown, role=role)


def unread_event(problem: str, state: State) -> Event:
    """Return the event that says why a reply could not be read."""
    return ParseFailureEvent(step=step_of(state), problem=problem, role=state["role"])


def _text(message: BaseMessage) -> str:
    """Return a message's text, with the tools that it calls."""
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    called = [f"(called {call['name']} with {call['args']})" for call in calls]
    return "\n".join([message.text, *called]).strip()
