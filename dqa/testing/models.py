"""Chat models of tests, with prepared replies."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage
from pydantic import PrivateAttr

from dqa.core.errors import UsageError
from dqa.core.text import shortened
from dqa.models.scripted import ProgramModel, Wording, find_responder
from dqa.models.scripted.steps import Answer, Step

Reply: TypeAlias = str | AIMessage | Step | Answer | Exception
"""A text, a message, an exception to raise, or a `Step` or `Answer` that a `Wording` writes."""

_SHOWN = 400
"""The maximum number of characters of a request in an error message."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a model.

    Attributes
    ----------
    messages
        The conversation so far.
    tools
        The names of the tools that the model may call.
    number
        The number of the request among all requests to the model, from 0.
    """

    messages: tuple[BaseMessage, ...]
    tools: tuple[str, ...]
    number: int

    @property
    def text(self) -> str:
        """The texts of all messages, separated by blank lines."""
        return "\n\n".join(message.text for message in self.messages)

    @property
    def last(self) -> str:
        """The text of the last message, which is an observation, a correction, or the task."""
        return self.messages[-1].text if self.messages else ""


class PreparedReplies(ProgramModel):
    """A chat model with prepared replies (fixture ``dqa_scripted``). It records its requests.

    Several threads may use the same model. Replies from a list are used in the order of the
    requests, so parallel decisions need a function.

    Parameters
    ----------
    replies
        The replies in order, or a function that returns the reply to a `Request`. A reply is a
        result of `query` or `answer`, a text, a LangChain message, or an exception, which is
        raised.
    name
        The name of the model in traces.

    Raises
    ------
    UsageError
        There are more requests than replies, or a reply is a database statement although the
        method runs no statements.
    """

    name: str | None = "scripted:replies"

    _make: Callable[[Request], Reply] | None = PrivateAttr(default=None)
    _left: deque[Reply] = PrivateAttr(default_factory=deque)
    _requests: list[Request] = PrivateAttr(default_factory=list)
    _lock: Lock = PrivateAttr(default_factory=Lock)

    def __init__(
        self,
        replies: Sequence[Reply] | Callable[[Request], Reply],
        **fields: Any,  # noqa: ANN401  (the base class's fields)
    ) -> None:
        super().__init__(**fields)
        if callable(replies):
            self._make = replies
        else:
            self._left.extend([replies] if isinstance(replies, str) else replies)

    @property
    def requests(self) -> tuple[Request, ...]:
        """The requests so far, in order."""
        return tuple(self._requests)

    @property
    def unused(self) -> int:
        """The number of replies in the list that were not used."""
        return len(self._left)

    def _reply(self, messages: list[BaseMessage], tools: list[str]) -> AIMessage:
        with self._lock:
            request = Request(tuple(messages), tuple(tools), len(self._requests))
            self._requests.append(request)
            if self._make is None and not self._left:
                raise _refused("has no reply left. Add a reply", request)
            reply = self._left.popleft() if self._make is None else None
        if self._make is not None:
            reply = self._make(request)
        if isinstance(reply, Exception):
            raise reply
        if not isinstance(reply, Step | Answer):
            return reply if isinstance(reply, AIMessage) else AIMessage(str(reply))
        responder = find_responder(request.messages)
        if isinstance(responder, Wording):
            message, is_used = responder.word(request.messages, request.tools, reply)
            if not is_used and self._make is None:
                self._left.appendleft(reply)
            return message
        if isinstance(reply, Answer):
            return AIMessage(reply.answer)
        raise _refused("is not allowed to run statements here. Reply with a text", request)


def _refused(problem: str, request: Request) -> UsageError:
    shown = shortened(request.last, _SHOWN)
    return UsageError(f"The scripted model {problem}. The request was:\n{shown}")


_THOUGHT = "The next step."


def query(statement: str, thought: str = _THOUGHT, plan: str | None = None) -> Step:
    """Return a reply that runs a statement, in the format of the method that calls the model.

    Parameters
    ----------
    statement
        Statement in the language of the database.
    thought
        Reason for the statement.
    plan
        Plan as a numbered list, if the reply contains a new plan.
    """
    return Step(thought, statement, plan)


def answer(decision: str, thought: str = _THOUGHT) -> Answer:
    """Return a reply with the decision, in the format of the method that calls the model."""
    return Answer(thought, str(decision))
