"""The span of a model call, by OpenTelemetry's conventions for generative AI."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from dqa.core.decision import Usage
from dqa.core.spans import Span, is_exporting, start_span
from dqa.models.faults import Fault

_PROVIDERS: Mapping[str, str] = {
    "amazon_bedrock": "aws.bedrock",
    "google_genai": "gcp.gemini",
    "google_vertexai": "gcp.vertex_ai",
    "ibm": "ibm.watsonx.ai",
    "mistral": "mistral_ai",
    "xai": "x_ai",
}
"""The conventions' name of a provider, where LangChain has another one."""
_ROLES: Mapping[str, str] = {"human": "user", "ai": "assistant"}


@dataclass(frozen=True, slots=True)
class CallSpan:
    """The span of a call with all its attempts; without an exporter it does nothing."""

    span: Span = Span()  # noqa: RUF009  (immutable)

    def reply(self, reply: AIMessage, usage: Usage) -> None:
        """Add the reply and its tokens."""
        if not self.span:
            return
        about: Mapping[str, Any] = reply.response_metadata
        reason = about.get("finish_reason") or about.get("stop_reason") or about.get("done_reason")
        self.span.set(
            {
                "gen_ai.response.id": _text(about.get("id") or reply.id),
                "gen_ai.response.model": _text(about.get("model_name") or about.get("model")),
                "gen_ai.response.finish_reasons": None if reason is None else (str(reason),),
                "gen_ai.usage.input_tokens": usage.input_tokens,
                "gen_ai.usage.output_tokens": usage.output_tokens,
                "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens or None,
            }
        )
        ended = {"finish_reason": str(reason or "stop")}
        self.span.say("gen_ai.output.messages", lambda: [_message(reply) | ended])

    def fault(self, fault: Fault) -> None:
        """Add a failed attempt."""
        told = {"error.type": fault.error, "dqa.fault": fault.kind.value, "dqa.wait": fault.wait}
        self.span.add_event("dqa.failed_attempt", told)


@contextmanager
def call_span(
    chat: object, messages: Sequence[BaseMessage], stop: Sequence[str]
) -> Iterator[CallSpan]:
    """Start the span of a call.

    Parameters
    ----------
    chat
        The chat model below bound tools and recorders.
    messages, stop
        The request.
    """
    if not is_exporting():
        yield CallSpan()
        return
    about: Mapping[str, Any] = chat._get_ls_params() if isinstance(chat, BaseChatModel) else {}  # noqa: SLF001  (what LangChain's own tracers read)
    name = str(about.get("ls_model_name") or getattr(chat, "name", None) or type(chat).__name__)
    provider = str(about.get("ls_provider", "_OTHER"))
    host = urlsplit(str(getattr(chat, "openai_api_base", None) or ""))
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": _PROVIDERS.get(provider, provider),
        "gen_ai.request.model": name,
        "gen_ai.request.temperature": about.get("ls_temperature"),
        "gen_ai.request.max_tokens": about.get("ls_max_tokens"),
        "gen_ai.request.stop_sequences": tuple(stop) or None,
        "server.address": host.hostname,
        "server.port": host.port,
    }
    asked = {"gen_ai.input.messages": lambda: [_message(one) for one in messages]}
    with start_span(f"chat {name}", attributes, asked, "client") as span:
        yield CallSpan(span)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _message(message: BaseMessage) -> dict[str, Any]:
    """Return a message in the conventions' form."""
    if isinstance(message, ToolMessage):
        result = {"id": message.tool_call_id, "response": message.text}
        return {"role": "tool", "parts": [{"type": "tool_call_response", **result}]}
    parts: list[dict[str, Any]] = []
    if message.text:
        parts.append({"type": "text", "content": message.text})
    for call in message.tool_calls if isinstance(message, AIMessage) else ():
        named = {"id": call["id"], "name": call["name"], "arguments": call["args"]}
        parts.append({"type": "tool_call", **named})
    return {"role": _ROLES.get(message.type, message.type), "parts": parts}
