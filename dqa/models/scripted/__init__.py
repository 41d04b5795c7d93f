"""Scripted models: chat models whose replies a program decides from the conversation alone.

They drive the same loops, prompts, parsers, tools and databases as a language model, need no key,
and are a real baseline: an analyst who follows the business rules with queries. They are never
presented as a language model's results.

`dqa.models.scripted.steps` has the steps of scripts, a scenario's folder names its scripts, and
each method answers its own conversations by a `Responder`. `GivenReplies` has prepared replies.
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
from dqa.core.text import counted, shortened
from dqa.models.scripted.steps import Answer, ScriptTurn, Step
from dqa.models.tool_model import ToolModel

Reply: TypeAlias = str | AIMessage | Step | Answer | Exception
"""A text, a whole message, a statement or decision that is put into the words of the method that
asks, or an exception that is raised instead."""

_SHOWN = 400
"""Characters of a request in a message."""


@runtime_checkable
class Responder(Protocol):
    """Replies of scripted models in one method's conversations. Stateless.

    It is part of the method's package, which knows its prompts; entry point ``dqa.scripted``.
    """

    def answers(self, messages: Sequence[BaseMessage]) -> bool:
        """Whether a conversation is one of this method's."""
        ...

    def reply(
        self, messages: Sequence[BaseMessage], tools: Sequence[str], script: str, seed: int
    ) -> AIMessage:
        """Return a script's next reply.

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
    """A `Responder` whose method asks with statements: it can word other people's replies."""

    def opening(
        self, messages: Sequence[BaseMessage], tools: Sequence[str], plan: str | None
    ) -> AIMessage | None:
        """Return a plan, or its judgement, where a reply has to be that alone; else None.

        Parameters
        ----------
        messages, tools
            The conversation so far, and what may be called.
        plan
            The plan as a numbered list; None for the plainest.
        """
        ...

    def word(
        self, messages: Sequence[BaseMessage], tools: Sequence[str], turn: ScriptTurn
    ) -> AIMessage:
        """Return a turn in the words that the conversation asks for."""
        ...


class ProgramModel(ToolModel):
    """A chat model that is a program: its errors are bugs, or meant, and are not retried."""

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
        del stop, run_manager  # a script ends its replies where they have to end
        tools = [tool["function"]["name"] for tool in kwargs.get("tools", ())]
        reply = self._reply(messages, tools)
        return ChatResult(generations=[ChatGeneration(message=reply)])

    @abstractmethod
    def _reply(self, messages: list[BaseMessage], tools: list[str]) -> AIMessage:
        """Return the next reply; `tools` are the names of those that may be called."""


class ScriptedModel(ProgramModel):
    """A chat model whose replies a script decides from the conversation alone.

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
            raise UsageError(
                "A scripted model only follows the conversations of the methods that bring answers "
                f"for it ({', '.join(plugins.names('scripted')) or 'none'} do); use a language "
                "model for others."
            )
        return responder.reply(messages, tools, self.script, self.seed)


def _responder(messages: Sequence[BaseMessage]) -> Responder | None:
    """Return the responder that knows a conversation."""
    return next((found for found in plugins.responders() if found.answers(messages)), None)


def scripted_model(name: str, seed: int = 0) -> ScriptedModel:
    """Return the scripted model called `name`; `UnknownNameError` where there is none."""
    if name not in plugins.script_names():
        raise UnknownNameError("scripted model", name, plugins.script_names())
    return ScriptedModel(script=name, seed=seed)


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a model.

    Attributes
    ----------
    messages
        The conversation so far, as the model was shown it.
    tools
        Names of the tools that it may call.
    number
        Number of the request, from 0, of all to the model.
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
    """A chat model with prepared replies, which records its requests.

    It drives the same loops, prompts, parsers, tools and databases as a language model. Safe to use
    from several threads; but replies from a list go to the first who asks, so parallel decisions
    need a function.

    Parameters
    ----------
    replies
        The replies in their order, or a function that makes one of a request.

    Raises
    ------
    UsageError
        It is asked for more replies than there are.
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
        """The requests, in order."""
        return tuple(self._requests)

    @property
    def unused(self) -> int:
        """The number of replies of a list that were not asked for."""
        return len(self._left)

    def _reply(self, messages: list[BaseMessage], tools: list[str]) -> AIMessage:
        with self._lock:
            request = Request(tuple(messages), tuple(tools), len(self._requests))
            self._requests.append(request)
            if self._make is None:
                if not self._left:
                    there = counted(self._given, "reply", "replies")
                    raise UsageError(
                        f"The scripted model has {there}, and is asked for one more. Give another "
                        f"one; it was asked:\n{shortened(request.last, _SHOWN)}"
                    )
                return self._message(request, self._left[0], self._left.popleft)
        return self._message(request, self._make(request))

    def _message(
        self, request: Request, reply: Reply, use_up: Callable[[], object] = lambda: None
    ) -> AIMessage:
        """Return a reply as a message; a statement or a decision may have to wait for a plan."""
        if isinstance(reply, Step | Answer):
            plan = reply.plan if isinstance(reply, Step) else None
            self._plan = plan or self._plan
            words = _responder(request.messages)
            if isinstance(words, Wording):
                opening = words.opening(request.messages, request.tools, self._plan)
                if opening:
                    return opening
                use_up()
                turn = ScriptTurn(reply, plan, self._plan)
                return words.word(request.messages, request.tools, turn)
            use_up()
            if isinstance(reply, Answer):
                return AIMessage(reply.answer)
            raise UsageError(
                "The scripted model is asked by a method that takes no statements: give the text "
                f"of its reply. It was asked:\n{shortened(request.last, _SHOWN)}"
            )
        use_up()
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, str | AIMessage):
            return AIMessage(reply) if isinstance(reply, str) else reply
        raise UsageError(
            f"The scripted model cannot reply with a {type(reply).__name__}: give a text, a "
            "message, query(...), answer(...) or an exception."
        )
