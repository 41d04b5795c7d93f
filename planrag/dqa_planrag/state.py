"""The state of a run, and the small things that every node of the loop does with it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeAlias, TypedDict

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from dqa.core.decision import Decision
from dqa.core.events import ParseFailureEvent, PromptEvent
from dqa.core.question import Candidate, Question
from dqa.core.recorder import Recorder
from dqa.models.calling import ChatRunnable
from dqa_planrag.reply import Reply
from dqa_planrag.toolbox import Toolbox

Role: TypeAlias = Literal["agent", "planner"]
"""Who is asked: the agent's model, or one that only plans."""


class State(TypedDict):
    """Where a run stands. Conversations grow by what each node adds; the rest is replaced."""

    messages: Annotated[list[BaseMessage], operator.add]
    planning: Annotated[list[BaseMessage], operator.add]
    failures: int
    role: Role
    reply: Reply | None
    current_step: str
    problem: str
    decision: Decision | None


CONVERSATION: Mapping[Role, Literal["messages", "planning"]] = {
    "agent": "messages",
    "planner": "planning",
}


@dataclass(frozen=True, slots=True)
class Run:
    """What a run needs besides its state.

    Attributes
    ----------
    question
        What is asked.
    choose
        Reads what an answer chooses, as far as that can be told; raises `InvalidAnswerError` for
        one that cannot be taken, and `InfrastructureError` where the database failed.
    toolbox
        What the agent acts with.
    task
        Words the task with a plan, for an agent whose plan another model makes.
    recorder
        Keeps what happens.
    models
        The models with the tools that they were offered so far, by role and names of the tools.
    """

    question: Question
    choose: Callable[[str], Candidate | None]
    toolbox: Toolbox
    task: Callable[[str], str]
    recorder: Recorder
    models: dict[tuple[Role, tuple[str, ...]], ChatRunnable] = field(default_factory=dict)

    def step(self, role: Role) -> int:
        """Return the number of the reply in hand; a planner's goes before the agent's."""
        return self.recorder.steps + (role == "planner")

    def note_failure(self, problem: str, role: Role) -> None:
        """Record why a reply could not be used."""
        self.recorder.note(ParseFailureEvent(step=self.step(role), problem=problem, role=role))


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
    return State(
        messages=messages,
        planning=planning,
        failures=0,
        role="agent",
        reply=None,
        current_step="",
        problem="",
        decision=None,
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


def reply_in(state: State) -> Reply:
    """Return the reply that a node deals with."""
    reply = state["reply"]
    if reply is None:
        raise AssertionError("a node that needs a reply was reached without one")
    return reply


def note_prompt(recorder: Recorder, role: Role, messages: list[BaseMessage]) -> None:
    """Record what a model is told first."""
    shown = tuple((message.type, _text(message)) for message in messages)
    recorder.note(PromptEvent(messages=shown, role=role))


def _text(message: BaseMessage) -> str:
    """Return a message's text, with the tools that it calls."""
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    called = [f"(called {call['name']} with {call['args']})" for call in calls]
    return "\n".join([message.text, *called]).strip()
