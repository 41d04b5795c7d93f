"""The span of a call of a model, by OpenTelemetry's conventions for generative AI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any
from urllib.parse import urlsplit

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from dqa.core.decision import Usage
from dqa.core.spans import Span, is_exporting, start_span
from dqa.models.faults import Fault
from dqa.models.layers import layers

_PACKAGE = "langchain_"
_CALLED: Mapping[str, str] = {
    "aws": "aws.bedrock",
    "google_genai": "gcp.gemini",
    "google_vertexai": "gcp.vertex_ai",
    "ibm": "ibm.watsonx.ai",
    "mistralai": "mistral_ai",
    "xai": "x_ai",
}
"""What the conventions call a provider, by LangChain's package, where that is another name."""
_ROLES: Mapping[str, str] = {"human": "user", "ai": "assistant"}


def call_span(
    model: object, messages: Sequence[BaseMessage], stop: Sequence[str]
) -> AbstractContextManager[Span]:
    """Return the span of a call with all its attempts, to enter."""
    if not is_exporting():
        return nullcontext(Span())
    chat = _asked(model)
    name, host = _name(chat), urlsplit(str(getattr(chat, "openai_api_base", None) or ""))
    return start_span(
        f"chat {name}",
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": _provider(chat),
            "gen_ai.request.model": name,
            "gen_ai.request.temperature": _number(chat, "temperature"),
            "gen_ai.request.max_tokens": _number(chat, "max_tokens"),
            "gen_ai.request.stop_sequences": tuple(stop) or None,
            "server.address": host.hostname,
            "server.port": host.port,
        },
        {"gen_ai.input.messages": lambda: [_message(one) for one in messages]},
        "client",
    )


def tell_reply(span: Span, reply: AIMessage, usage: Usage) -> None:
    """Add to a span what a provider says of its reply, and what it counted."""
    if not span:
        return
    about: Mapping[str, Any] = reply.response_metadata
    reason = about.get("finish_reason") or about.get("stop_reason") or about.get("done_reason")
    span.set(
        {
            "gen_ai.response.id": _text(about.get("id") or reply.id),
            "gen_ai.response.model": _text(about.get("model_name") or about.get("model")),
            "gen_ai.response.finish_reasons": None if reason is None else (str(reason),),
            "gen_ai.usage.input_tokens": usage.input_tokens,
            "gen_ai.usage.output_tokens": usage.output_tokens,
        }
    )
    ended = {"finish_reason": str(reason or "stop")}
    span.say("gen_ai.output.messages", lambda: [_message(reply) | ended])


def tell_fault(span: Span, fault: Fault) -> None:
    """Add a failed attempt to the span of its call."""
    if span:
        told = {"error.type": fault.error, "dqa.fault": fault.kind.value, "dqa.wait": fault.wait}
        span.add_event("dqa.failed_attempt", told)


def _asked(model: object) -> object:
    """Return the chat model that is asked, beneath bound tools and a recorder."""
    chats = [layer for layer in layers(model) if isinstance(layer, BaseChatModel)]
    return chats[-1] if chats else model


def _name(chat: object) -> str:
    for field in ("model_name", "model"):
        name = getattr(chat, field, None)
        if isinstance(name, str) and name:
            return name
    return chat.get_name() if isinstance(chat, BaseChatModel) else type(chat).__name__


def _provider(chat: object) -> str:
    for kind in type(chat).__mro__:
        package = kind.__module__.partition(".")[0]
        if package.startswith(_PACKAGE) and package != "langchain_core":
            provider = package.removeprefix(_PACKAGE)
            return _CALLED.get(provider, provider)
    return "dqa.scripted" if type(chat).__module__.startswith("dqa") else "_OTHER"


def _number(chat: object, field: str) -> float | None:
    value = getattr(chat, field, None)
    return value if isinstance(value, int | float) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _message(message: BaseMessage) -> dict[str, Any]:
    """Return a message in the conventions' form."""
    if isinstance(message, ToolMessage):
        result = {
            "type": "tool_call_response",
            "id": message.tool_call_id,
            "response": message.text,
        }
        return {"role": "tool", "parts": [result]}
    parts: list[dict[str, Any]] = []
    if message.text:
        parts.append({"type": "text", "content": message.text})
    for call in message.tool_calls if isinstance(message, AIMessage) else ():
        named = {"id": call["id"], "name": call["name"], "arguments": call["args"]}
        parts.append({"type": "tool_call", **named})
    return {"role": _ROLES.get(message.type, message.type), "parts": parts}
