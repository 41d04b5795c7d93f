"""The chat model whose replies somebody gives: one after another, or by a function."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage
from pydantic import PrivateAttr

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.core.text import counted
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

    _make: Callable[[Request], Reply] | None = PrivateAttr(default=None)
    _left: deque[Reply] = PrivateAttr(default_factory=deque)
    _given: int = PrivateAttr(default=0)
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
            self._left.extend(replies)
            self._given = len(self._left)

    @property
    def requests(self) -> tuple[Request, ...]:
        """What the model was asked, in order."""
        return tuple(self._requests)

    @property
    def unused(self) -> int:
        """How many replies of a list nobody has asked for."""
        return len(self._left)

    def _reply(self, messages: list[BaseMessage], tools: list[str]) -> AIMessage:
        with self._lock:
            request = Request(tuple(messages), tuple(tools), len(self._requests))
            self._requests.append(request)
            if self._make is None:
                return self._said(request, self._next(request), self._left.popleft)
        return self._said(request, self._make(request))

    def _next(self, request: Request) -> Reply:
        """Return the next reply of the list, which stays there."""
        if self._left:
            return self._left[0]
        raise UsageError(
            f"The scripted model has {counted(self._given, 'reply', 'replies')}, and is asked for "
            f"one more. Give another one; it was asked:\n{_shortened(request.last)}"
        )

    def _said(
        self, request: Request, reply: Reply, use_up: Callable[[], object] = lambda: None
    ) -> AIMessage:
        """Say a reply; a statement or a decision waits where a plan has to be said first."""
        if isinstance(reply, Step | Answer):
            plan = reply.plan if isinstance(reply, Step) else None
            self._plan = plan or self._plan
            words = _words_for(request)
            opened = words and words.opening(request.messages, request.tools, self._plan)
            if opened:
                return opened
            use_up()
            return _worded(request, words, ScriptTurn(reply, plan, self._plan))
        use_up()
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, AIMessage):
            return reply
        if isinstance(reply, str):
            return AIMessage(reply)
        raise UsageError(
            f"The scripted model cannot reply with a {type(reply).__name__}: give a text, a "
            "message, query(...), answer(...) or an exception."
        )


def _words_for(request: Request) -> Wording | None:
    """Return what words statements and decisions for the method that asks, if any does."""
    for responder in plugins.responders():
        if isinstance(responder, Wording) and responder.answers(request.messages):
            return responder
    return None


def _worded(request: Request, words: Wording | None, turn: ScriptTurn) -> AIMessage:
    """Put a statement or a decision into the words of the method that asks."""
    if words is not None:
        return words.word(request.messages, request.tools, turn)
    if isinstance(turn.move, Answer):
        return AIMessage(turn.move.answer)
    raise UsageError(
        "The scripted model is asked by a method that takes no statements: give the text that it "
        f"is to reply. It was asked:\n{_shortened(request.last)}"
    )


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
