"""Scripted models, which are chat models whose replies come from a program.

Deciders use scripted models with the same loops, prompts, parsers, tools and databases as language
models. Scripted models need no key. The analyst, which follows the business rules with queries, is
a baseline. Output always says that a model was scripted.

`dqa.models.scripted.steps` defines the steps of scripts. The folder of a scenario names its
scripts. Each method has a `Responder` for its conversations. `GivenReplies` has prepared replies.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Protocol, TypeAlias, runtime_checkable

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from dqa import plugins
from dqa.core.errors import UnknownNameError, UsageError
from dqa.core.text import shortened
from dqa.models.scripted.steps import Answer, Step
from dqa.models.tool_model import ToolModel

Reply: TypeAlias = str | AIMessage | Step | Answer | Exception
"""A text, a message, an exception to raise, or a statement or decision for a `Wording`."""

_SHOWN = 400
"""The maximum number of characters of a request in an error message."""


@runtime_checkable
class Responder(Protocol):
    """Gives the replies of scripted models in conversations of one method. It has no state.

    The package of the method defines it. The entry point is ``dqa.scripted``.
    """

    def answers(self, messages: Sequence[BaseMessage]) -> bool:
        """Return whether a conversation belongs to this method."""
        ...

    def reply(
        self, messages: Sequence[BaseMessage], tools: Sequence[str], script: str, seed: int
    ) -> AIMessage:
        """Return the next reply of a script.

        Parameters
        ----------
        messages
            The conversation so far.
        tools
            Names of the tools that may be called.
        script
            Name of the script, such as ``analyst``.
        seed
            Seed of everything that the script draws at random.

        Raises
        ------
        UsageError
            The script cannot continue this conversation.
        """
        ...


@runtime_checkable
class Wording(Responder, Protocol):
    """A `Responder` that can write a statement or a decision in the reply format of its method."""

    def word(
        self, messages: Sequence[BaseMessage], tools: Sequence[str], move: Step | Answer
    ) -> tuple[AIMessage, bool]:
        """Return the reply for a move, and whether it contains the statement or the decision.

        If the model must plan first, the reply contains only the plan.
        """
        ...


class ProgramModel(ToolModel):
    """A chat model that is a program. Its errors are not retried."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> Any:  # noqa: ANN401  (the base class's signature)
        return {**super()._get_ls_params(stop, **kwargs), "ls_provider": "dqa.scripted"}

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,  # noqa: ANN401  (the base class's signature)
    ) -> ChatResult:
        del stop, run_manager  # replies of scripts need no stop sequences
        tools = [tool["function"]["name"] for tool in kwargs.get("tools", ())]
        reply = self._reply(messages, tools)
        return ChatResult(generations=[ChatGeneration(message=reply)])

    @abstractmethod
    def _reply(self, messages: list[BaseMessage], tools: list[str]) -> AIMessage:
        """Return the next reply; `tools` are the names of the tools that it may call."""


class ScriptedModel(ProgramModel):
    """A chat model whose replies come from a script.

    Attributes
    ----------
    script
        Name of the script: one of `dqa.plugins.script_names`.
    seed
        Seed of everything that the script draws at random.
    """

    script: str
    seed: int = 0

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"script": self.script, "seed": self.seed}

    def _reply(self, messages: list[BaseMessage], tools: list[str]) -> AIMessage:
        responder = _responder(messages)
        if responder is None:
            known = ", ".join(plugins.names("scripted")) or "none"
            raise UsageError(
                f"Scripted models can reply only to methods with scripted replies ({known}). Use a "
                "language model for other deciders."
            )
        return responder.reply(messages, tools, self.script, self.seed)


def _responder(messages: Sequence[BaseMessage]) -> Responder | None:
    """Return the responder for a conversation; None if no responder fits."""
    return next((found for found in plugins.responders() if found.answers(messages)), None)


def scripted_model(name: str, seed: int = 0) -> ScriptedModel:
    """Return the scripted model called `name`; raise `UnknownNameError` if it is unknown."""
    if name not in plugins.script_names():
        raise UnknownNameError("scripted model", name, plugins.script_names())
    return ScriptedModel(script=name, seed=seed)


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
        """The text of the last message: an observation, a correction, or the task."""
        return self.messages[-1].text if self.messages else ""


class GivenReplies(ProgramModel):
    """A chat model with prepared replies. It records its requests.

    Threads may share it. Replies from a list are used in the order of the requests, so parallel
    decisions need a function.

    Parameters
    ----------
    replies
        The replies in order, or a function that returns the reply to a request.

    Raises
    ------
    UsageError
        There are more requests than replies, or a reply has an unknown type.
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
        if isinstance(replies, str):
            raise UsageError(
                "replies must be a list or a function: write a single reply as a list, [reply]."
            )
        super().__init__(**fields)
        if callable(replies):
            self._make = replies
        else:
            self._left.extend(replies)

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
            if self._make is None:
                reply = self._next(request)
        if self._make is not None:
            reply = self._make(request)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, Step | Answer):
            return self._worded(request, reply)
        if isinstance(reply, str | AIMessage):
            return AIMessage(reply) if isinstance(reply, str) else reply
        raise UsageError(
            f"The scripted model cannot reply with a {type(reply).__name__}: give a text, a "
            "message, query(...), answer(...) or an exception."
        )

    def _next(self, request: Request) -> Reply:
        """Remove the next reply from the list and return it."""
        if not self._left:
            raise UsageError(
                "The scripted model has no reply left for another request. Add a reply. The "
                f"request was:\n{shortened(request.last, _SHOWN)}"
            )
        return self._left.popleft()

    def _worded(self, request: Request, move: Step | Answer) -> AIMessage:
        """Return a statement or a decision in the reply format of the method."""
        responder = _responder(request.messages)
        if isinstance(responder, Wording):
            message, is_used = responder.word(request.messages, request.tools, move)
            if not is_used and self._make is None:
                self._left.appendleft(move)
            return message
        if isinstance(move, Answer):
            return AIMessage(move.answer)
        raise UsageError(
            "The method accepts no statements from the scripted model: give the text of the reply. "
            f"The request was:\n{shortened(request.last, _SHOWN)}"
        )
