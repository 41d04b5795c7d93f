"""The state of an agent's decision, and the conversation with the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage

from dqa.core.events import ParseFailureEvent
from dqa.core.question import Candidate, Question
from dqa.core.recorder import Recorder
from dqa_planrag.reply import Reply
from dqa_planrag.toolbox import Toolbox


@dataclass(slots=True)
class Run:
    """The state of one decision by an agent.

    Attributes
    ----------
    question
        The question.
    choose
        A function that returns the candidate or statement in an answer, or None if the answer
        cannot be checked. It raises `InvalidAnswerError` for an invalid answer, and
        `InfrastructureError` if the database failed.
    toolbox
        The tools of the agent.
    recorder
        Records the events, plans and evidence of the decision.
    messages
        The conversation.
    reply
        The last reply; None if the last reply could not be used.
    problem
        The reason why the last reply could not be used; empty if there is none.
    failures
        The number of consecutive replies that could not be used.
    current_step
        The number of the plan's step that the agent named last, as text; empty if unknown.
    """

    question: Question
    choose: Callable[[str], Candidate | None]
    toolbox: Toolbox
    recorder: Recorder
    messages: list[BaseMessage]
    reply: Reply | None = None
    problem: str = ""
    failures: int = 0
    current_step: str = ""

    def note_failure(self) -> None:
        """Record the reason why a reply could not be used."""
        self.recorder.note(ParseFailureEvent(step=self.recorder.steps, problem=self.problem))

    def say(self, text: str) -> None:
        """Add a message to the conversation. An empty text is ignored."""
        if text:
            self.messages.append(HumanMessage(text))


def in_turns(messages: Iterable[BaseMessage]) -> list[BaseMessage]:
    """Return a conversation in which user and model alternate, as some providers require.

    A user message that follows a user message or a tool result is appended to this message.
    """
    turns: list[BaseMessage] = []
    for message in messages:
        last = turns[-1] if turns else None
        if isinstance(message, HumanMessage) and isinstance(last, HumanMessage | ToolMessage):
            turns[-1] = last.model_copy(update={"content": f"{last.text}\n\n{message.text}"})
        else:
            turns.append(message)
    return turns
