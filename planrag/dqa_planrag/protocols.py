"""The two protocols in which an agent and its model talk.

A protocol says what a model is offered, how its replies are read, and which messages answer them.
The loop and the recipes know nothing of either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage

from dqa.core.errors import UnknownNameError
from dqa.deciders.base import ProtocolName
from dqa.models.calling import ChatRunnable
from dqa_planrag.react import ReAct
from dqa_planrag.reply import Reply, ToolRequest
from dqa_planrag.tool_calls import ToolCalls
from dqa_planrag.toolbox import Toolbox

ToolResult: TypeAlias = tuple[ToolRequest, str]
"""What was asked of a tool, and what it returned as text."""


class TalkProtocol(Protocol):
    """How an agent and its model talk. Stateless."""

    name: ProtocolName
    stop: tuple[str, ...]
    """Sequences that end a reply, for models that honour them."""
    plan_first: str
    """The correction of a model that acts before it has a plan."""
    verdict_first: str
    """The correction of a model that only plans, and brings no plan."""
    answer_now: str
    """The correction of a model that asks for more than it may read."""

    def offering(
        self, model: BaseChatModel, tools: Sequence[str], toolbox: Toolbox
    ) -> ChatRunnable:
        """Return the model with tools to call, where the protocol has such."""
        ...

    def spoken(self, message: AIMessage) -> str:
        """Return the text of a reply that counts, without what a model thinks to itself."""
        ...

    def calls(self, message: AIMessage, reply: Reply | None) -> list[dict[str, Any]]:
        """Return what a reply calls as the trace shows it: ``tool`` and ``input`` of each."""
        ...

    def read(
        self, message: AIMessage, step: int, offered: Sequence[str], toolbox: Toolbox
    ) -> Reply:
        """Read an agent's reply; `UnparsableReplyError` tells the model what to write."""
        ...

    def read_verdict(self, message: AIMessage, step: int) -> Reply:
        """Read the reply of a model that only plans: a plan, or a verdict on one."""
        ...

    def kept(self, message: AIMessage, reply: Reply | None) -> list[BaseMessage]:
        """Return what the conversation keeps of a reply; None for one that could not be used."""
        ...

    def noted(self) -> list[BaseMessage]:
        """Return the messages that answer a reply which was only a plan."""
        ...

    def thought_on(self) -> list[BaseMessage]:
        """Return the messages that answer a step which asked for nothing."""
        ...

    def observed(self, results: Sequence[ToolResult], closing: str) -> list[BaseMessage]:
        """Return the messages that show a model what its calls returned."""
        ...

    def accepted(self, reply: Reply) -> list[BaseMessage]:
        """Return the messages that close a conversation whose decision counts."""
        ...

    def refused(self, reply: Reply, problem: str) -> list[BaseMessage]:
        """Return the messages that tell a model why its decision does not count."""
        ...

    def objected(self, reply: Reply, told: str) -> list[BaseMessage]:
        """Return the messages that tell a model what a person says to its decision."""
        ...


_PROTOCOLS: Mapping[str, TalkProtocol] = {"react": ReAct(), "tools": ToolCalls()}


def protocol(name: str) -> TalkProtocol:
    """Return the protocol called `name`; `UnknownNameError` where there is none."""
    try:
        return _PROTOCOLS[name]
    except KeyError:
        raise UnknownNameError("protocol", name, _PROTOCOLS) from None
