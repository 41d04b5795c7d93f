"""Scripted models behind a model server: the program of a server that tests ask."""

from __future__ import annotations

import json
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.messages.tool import ToolCall

from dqa.models.scripted import scripted_model

_MESSAGES = {"system": SystemMessage, "user": HumanMessage}
_NO_TOOL = "There is no tool '"


def scripted(request: dict[str, Any]) -> dict[str, Any]:
    """Answer as the script that the request names would, had no reply been spoilt on the way."""
    messages: list[BaseMessage] = []
    for message in request["messages"]:
        content = str(message["content"] or "")
        if content.startswith(("The reply could not be read.", _NO_TOOL)):
            messages.pop()
        elif message["role"] == "assistant":
            messages.append(AIMessage(content, tool_calls=_calls(message)))
        elif message["role"] == "tool":
            messages.append(_result(messages, message["tool_call_id"], content))
        else:
            messages.append(_MESSAGES[message["role"]](content))
    model = scripted_model(request["model"])
    reply = model.invoke(messages, tools=request.get("tools", ()))
    called = [_called(call) for call in reply.tool_calls]
    return {"content": reply.text} | ({"tool_calls": called} if called else {})


def _calls(message: dict[str, Any]) -> list[ToolCall]:
    return [
        ToolCall(
            name=call["function"]["name"],
            args=json.loads(call["function"]["arguments"]),
            id=call["id"],
            type="tool_call",
        )
        for call in message.get("tool_calls") or ()
    ]


def _result(messages: list[BaseMessage], name: str, content: str) -> ToolMessage:
    """Return a tool's result; the protocol leaves it to the reader which tool was called."""
    tools = {
        call["id"]: call["name"]
        for message in messages
        if isinstance(message, AIMessage)
        for call in message.tool_calls
    }
    return ToolMessage(content, tool_call_id=name, name=tools[name])


def _called(call: ToolCall) -> dict[str, Any]:
    function = {"name": call["name"], "arguments": json.dumps(call["args"])}
    return {"id": call["id"], "type": "function", "function": function}
