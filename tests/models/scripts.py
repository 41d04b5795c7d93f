"""Scripted models behind a model server: the program of a server that tests ask."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from dqa.models.scripted import scripted_model

_MESSAGES = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}


def scripted(request: dict[str, Any]) -> str:
    """Answer as the script that the request names would, had no reply been spoilt on the way."""
    messages: list[BaseMessage] = []
    for message in request["messages"]:
        if str(message["content"]).startswith("The reply could not be read."):
            messages.pop()
        else:
            messages.append(_MESSAGES[message["role"]](message["content"]))
    return scripted_model(request["model"]).invoke(messages).text
