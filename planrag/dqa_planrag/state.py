"""The state of a run, and the small things that every step of the loop does with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from dqa.core.events import ParseFailureEvent, PromptEvent
from dqa.core.question import Candidate, Question
from dqa.core.recorder import Recorder
from dqa_planrag.reply import Reply
from dqa_planrag.toolbox import Toolbox

Role: TypeAlias = Literal["agent", "planner"]
"""Who is asked: the agent's model, or one that only plans."""


@dataclass(slots=True)
class Run:
    """A run: what it needs, and where it stands.

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
        Records what happens.
    messages
        The conversation with each model.
    reply, problem
        The last reply, or None and why it could not be used.
    failures
        Replies in a row that could not be used.
    current_step
        The step of the plan that the agent named last.
    """

    question: Question
    choose: Callable[[str], Candidate | None]
    toolbox: Toolbox
    task: Callable[[str], HumanMessage]
    recorder: Recorder
    messages: dict[Role, list[BaseMessage]]
    reply: Reply | None = None
    problem: str = ""
    failures: int = 0
    current_step: str = ""

    def step(self, role: Role) -> int:
        """Return the number of the reply in hand; a planner's goes before the agent's."""
        return self.recorder.steps + (role == "planner")

    def note_failure(self, role: Role) -> None:
        """Record why a reply could not be used."""
        failure = ParseFailureEvent(step=self.step(role), problem=self.problem, role=role)
        self.recorder.note(failure)

    def note_prompt(self, role: Role) -> None:
        """Record what a model is told first."""
        shown = tuple((message.type, _text(message)) for message in self.messages[role])
        self.recorder.note(PromptEvent(messages=shown, role=role))


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


def _text(message: BaseMessage) -> str:
    """Return a message's text, with the tools that it calls."""
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    called = [f"(called {call['name']} with {call['args']})" for call in calls]
    return "\n".join([message.text, *called]).strip()
