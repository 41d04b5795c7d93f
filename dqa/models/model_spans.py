"""The span of a model call, by OpenTelemetry's conventions for generative AI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any
from urllib.parse import urlsplit

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage

from dqa.core.decision import Usage
from dqa.core.spans import Span, start_span


def note_reply(span: Span, reply: AIMessage, usage: Usage) -> None:
    """Add a reply and its tokens to the span of its call."""
    about: Mapping[str, Any] = reply.response_metadata
    reason = about.get("finish_reason") or about.get("stop_reason") or about.get("done_reason")
    span.set(
        {
            "gen_ai.response.id": about.get("id") or reply.id,
            "gen_ai.response.model": about.get("model_name") or about.get("model"),
            "gen_ai.response.finish_reasons": None if reason is None else (str(reason),),
            "gen_ai.usage.input_tokens": usage.input_tokens,
            "gen_ai.usage.output_tokens": usage.output_tokens,
            "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens or None,
        }
    )


def call_span(chat: object, stop: Sequence[str]) -> AbstractContextManager[Span]:
    """Start the span of a call with all its attempts.

    Parameters
    ----------
    chat
        The chat model without its bound tools and without a `RecordedModel` around it.
    stop
        The stop sequences, which end a reply.
    """
    about: Mapping[str, Any] = chat._get_ls_params() if isinstance(chat, BaseChatModel) else {}  # noqa: SLF001  (what LangChain's own tracers read)
    name = str(about.get("ls_model_name") or getattr(chat, "name", None) or type(chat).__name__)
    host = urlsplit(str(getattr(chat, "openai_api_base", None) or ""))
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": about.get("ls_provider", "_OTHER"),
        "gen_ai.request.model": name,
        "gen_ai.request.temperature": about.get("ls_temperature"),
        "gen_ai.request.max_tokens": about.get("ls_max_tokens"),
        "gen_ai.request.stop_sequences": tuple(stop) or None,
        "server.address": host.hostname,
        "server.port": host.port,
    }
    return start_span(f"chat {name}", attributes, "client")
