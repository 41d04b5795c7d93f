"""The chat model whose replies somebody gives: one after another, or by a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage
from pydantic import PrivateAttr

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.models.scripted.model import ProgramModel
from dqa.models.scripted.responder import Wording
from dqa.models.scripted.steps import Answer, ScriptTurn, Step

Reply: TypeAlias = str | AIMessage | Step | Answer | Exception
"""What a model replies: its text, a whole message, a statement or a decision that is put into the
words of whichever method asks; or what is raised instead."""

_SHOWN = 400
"""Characters of a request that a message shows."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a model was asked.

    Attributes
    ----------
    messages
        The conversation so far, as the model was shown it.
    tools
        Names of the tools that it may call.
    number
        Which request it is, from 0, of all that the model was asked.
    """

    messages: tuple[BaseMessage, ...]
    tools: tuple[str, ...]
    number: int

    @property
    def text(self) -> str:
        """All that the model was shown, message by message."""
        return "\n\n".join(message.text for message in self.messages)

    @property
    def last(self) -> str:
        """The last message: an observation, a correction, or the task."""
        return self.messages[-1].text if self.messages else ""


class GivenReplies(ProgramModel):
    """A chat model that replies what it is given, and remembers what it was asked.

    It drives the same loops, prompts, parsers, tools and databases as a language model. Safe to use
    from several threads; but replies from a list go to whoever asks first, so decisions that are
    made at once need a function.

    Parameters
    ----------
    replies
        The replies in their order, or what makes one of a request.

    Raises
    ------
    UsageError
        When it is asked for more replies than there are.
    """

    name: str | None = "scripted:replies"

    _listed: tuple[Reply, ...] | None = PrivateAttr(default=None)
    _make: Callable[[Request], Reply] = PrivateAttr()
    _requests: list[Request] = PrivateAttr(default_factory=list)
    _plan: str | None = PrivateAttr(default=None)
    _lock: Lock = PrivateAttr(default_factory=Lock)

    def __init__(
        self,
        replies: Sequence[Reply] | Callable[[Request], Reply],
        **fields: Any,  # noqa: ANN401  (the base class's fields)
    ) -> None:
        if isinstance(replies, str):
            raise UsageError("replies are a list, or a function: put one reply in brackets.")
        super().__init__(**fields)
        if callable(replies):
            self._make = replies
        else:
            self._listed, self._make = tuple(replies), self._next

    @property
    def requests(self) -> tuple[Request, ...]:
        """What the model was asked, in order."""
        return tuple(self._requests)

    @property
    def unused(self) -> int:
        """How many replies of a list nobody has asked for."""
        return 0 if self._listed is None else max(0, len(self._listed) - len(self._requests))

    def _reply(self, messages: list[BaseMessage], tools: list[str]) -> AIMessage:
        with self._lock:
            request = Request(tuple(messages), tuple(tools), len(self._requests))
            self._requests.append(request)
        reply = self._make(request)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, AIMessage):
            return reply
        return AIMessage(reply) if isinstance(reply, str) else self._worded(request, reply)

    def _next(self, request: Request) -> Reply:
        listed = self._listed or ()
        if request.number < len(listed):
            return listed[request.number]
        shown = request.last if len(request.last) <= _SHOWN else f"{request.last[:_SHOWN]}..."
        raise UsageError(
            f"The scripted model has {_counted(len(listed))}, and is asked for one more. Give "
            f"another one; it was asked:\n{shown}"
        )

    def _worded(self, request: Request, move: object) -> AIMessage:
        """Put a statement or a decision into the words of the method that asks."""
        if not isinstance(move, Step | Answer):
            raise UsageError(
                f"The scripted model cannot reply with a {type(move).__name__}: give a text, a "
                "message, query(...), answer(...) or an exception."
            )
        for responder in plugins.responders():
            if isinstance(responder, Wording) and responder.answers(request.messages):
                new_plan = move.plan if isinstance(move, Step) else None
                self._plan = new_plan or self._plan
                turn = ScriptTurn(move, new_plan, self._plan)
                return responder.word(request.messages, request.tools, turn)
        if isinstance(move, Answer):
            return AIMessage(move.answer)
        raise UsageError(
            "The scripted model is asked by a method that takes no statements: give the text that "
            f"it is to reply. It was asked:\n{request.last[:_SHOWN]}"
        )


def _counted(number: int) -> str:
    return "1 reply" if number == 1 else f"{number} replies"
