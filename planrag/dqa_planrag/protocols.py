"""The two protocols in which an agent and its model talk.

A protocol says what a model is offered, how its replies are read, and which messages answer them.
The loop and the recipes know nothing of either.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from dqa.core.errors import UnknownNameError
from dqa_planrag.react import ReAct
from dqa_planrag.reply import ToolRequest
from dqa_planrag.tool_calls import ToolCalls

ToolResult: TypeAlias = tuple[ToolRequest, str]
"""What was asked of a tool, and what it returned as text."""


TalkProtocol: TypeAlias = ReAct | ToolCalls
"""How an agent and its model talk. Stateless.

``plan_first``, ``verdict_first`` and ``answer_now`` correct a model that acts before it has a plan,
that plans without a plan, or that asks for more than it may read.
"""

_PROTOCOLS: Mapping[str, TalkProtocol] = {"react": ReAct(), "tools": ToolCalls()}


def protocol(name: str) -> TalkProtocol:
    """Return the protocol called `name`; `UnknownNameError` where there is none."""
    try:
        return _PROTOCOLS[name]
    except KeyError:
        raise UnknownNameError("protocol", name, _PROTOCOLS) from None
