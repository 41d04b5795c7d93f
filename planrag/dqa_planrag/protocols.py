"""The two protocols of the conversation between an agent and its model, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from dqa_planrag.react import ReAct
from dqa_planrag.tool_calls import ToolCalls

TalkProtocol: TypeAlias = ReAct | ToolCalls
PROTOCOLS: Mapping[str, TalkProtocol] = {"react": ReAct(), "tools": ToolCalls()}
