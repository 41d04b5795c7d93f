"""Check replies, and read their finish reason, tokens, reasoning and text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

from langchain_core.messages import AIMessage, message_to_dict

from dqa.core.decision import Usage
from dqa.core.errors import DqaError, MalformedReplyError
from dqa.core.text import well_formed
from dqa.models.faults import content_refusal

_WHOLE = frozenset(
    {
        *("stop", "stop_sequence", "end_turn", "eos", "eos_token"),
        *("tool_calls", "tool_use", "function_call", "complete", "completed", "finished"),
    }
)
_CUT = frozenset(
    {
        *("length", "max_tokens", "max_output_tokens", "max_length", "model_length"),
        *("model_context_window_exceeded", "incomplete"),
    }
)
_WITHHELD = frozenset(
    {
        *("content_filter", "content_filtered", "refusal", "safety", "recitation", "blocklist"),
        *("prohibited_content", "spii", "sensitive", "guardrail_intervened"),
    }
)
"""Finish reasons of providers, in lower case. An unknown reason is a fault of the provider."""

_REFUSED = "refused_request"
"""Marks the reply that represents the refusal of a request by a content filter."""
_MOST_TOKENS = 1_000_000_000
_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_OPEN_THOUGHT = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
"""A thought that lacks its start tag, because the provider put the tag into the request."""
_REASONING_BLOCKS = frozenset({"reasoning", "reasoning_content", "thinking"})
_TEXT_KEYS = ("text", "reasoning", "reasoning_content", "thinking", "summary", "content")


class BadReplyError(MalformedReplyError):
    """A reply that arrived but cannot be used; `usage` contains its tokens."""

    def __init__(self, problem: str, reply: AIMessage) -> None:
        super().__init__(problem)
        self.usage = usage_of(reply)


def refused_request(words: str) -> AIMessage:
    """Return the reply that represents the refusal of a request by a content filter."""
    about = {"finish_reason": "content_filter", _REFUSED: True}
    return AIMessage("", additional_kwargs={"refusal": words}, response_metadata=about)


def ask_once(invoke: Callable[[], AIMessage], reply_limit: int) -> AIMessage:
    """Return a checked reply, or a refusal if a content filter refuses the request."""
    try:
        return checked(invoke(), reply_limit)
    except Exception as error:
        refusal = content_refusal(original_error(error) or error)
        if refusal is None:
            raise
        return refused_request(refusal)


def original_error(error: BaseException) -> DqaError | None:
    """Return the first `DqaError` among an error and its causes; None without one."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, DqaError):
        cause = cause.__cause__
    return cause


def checked(reply: AIMessage, most: int) -> AIMessage:
    """Return a reply that can be stored; surrogates are replaced.

    Raises
    ------
    MalformedReplyError
        The reply has more than `most` bytes, is not JSON, or has an unknown finish reason.
    """
    try:
        text = json.dumps(message_to_dict(reply), ensure_ascii=False, default=str)
    except (RecursionError, ValueError) as error:
        raise MalformedReplyError(f"The reply is not JSON: {error}") from error
    if len(text.encode("utf-8", "surrogatepass")) > most:
        problem = f"The reply is larger than {most:,} bytes (--reply-limit)."
        raise BadReplyError(problem, reply)
    reason = _reason(reply)
    if reason and reason not in _WHOLE | _CUT | _WITHHELD:
        raise BadReplyError(f"The reply ended with the finish reason '{reason[:60]}'.", reply)
    # JSON can contain surrogates, but UTF-8 files cannot.
    whole = well_formed(text)
    return reply if whole == text else AIMessage.model_validate(json.loads(whole)["data"])


def _reason(reply: AIMessage) -> str:
    """Return the finish reason of a reply in lower case; empty if it is unknown."""
    about = reply.response_metadata
    details = about.get("incomplete_details") or {}
    reasons = (about.get(name) for name in ("finish_reason", "stop_reason", "done_reason"))
    found = [*reasons, details.get("reason"), about.get("status")]
    return str(next((reason for reason in found if reason), "")).lower()


def incomplete(reply: AIMessage) -> str | None:
    """Return why a reply cannot be the model's answer; None for a complete reply."""
    reason, refusal = _reason(reply), reply.additional_kwargs.get("refusal")
    thought, text = split_thinking(reply.text)
    is_empty = not text and not reply.tool_calls and not reply.invalid_tool_calls
    only_thinks = is_empty and bool(thought or reasoning_of(reply))
    if refusal:
        return f"The reply was a refusal: {refusal} Decide from the data alone."
    if reason in _WITHHELD:
        return f"The provider withheld the reply ({reason}). Word it differently."
    if reason in _CUT and only_thinks:
        return (
            "The reply was cut off within its reasoning, before an answer began. Reason less "
            "(--reasoning-effort, --reply-tokens)."
        )
    if reason in _CUT:
        return "The reply was cut off because it was too long. Write a shorter one."
    return "Only reasoning arrived, without an answer. Write the answer." if only_thinks else None


def split_thinking(text: str) -> tuple[str | None, str]:
    """Return the ``<think>`` part of a text (None without such a part), and the other text."""
    thoughts, said = _THOUGHT.findall(text), _THOUGHT.sub("", text)
    opened = _OPEN_THOUGHT.match(said)
    if opened is not None:
        thoughts, said = [opened.group(), *thoughts], said[opened.end() :]
    return "\n".join(thoughts).strip() or None, said.strip()


def reasoning_of(reply: AIMessage) -> str:
    """Return the reasoning that a provider sent separately from the text."""
    blocks = reply.content if isinstance(reply.content, list) else []
    found = [reply.additional_kwargs.get("reasoning_content")]
    found += [b for b in blocks if isinstance(b, dict) and b.get("type") in _REASONING_BLOCKS]
    return "\n".join(text for text in map(reasoning_text, found) if text)


def reasoning_text(value: object) -> str:
    """Return the text of a reasoning part in the form of any provider."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        value = [value[key] for key in _TEXT_KEYS if value.get(key)]
    return "".join(map(reasoning_text, value)) if isinstance(value, list) else ""


def usage_of(reply: AIMessage) -> Usage:
    """Return the tokens that the provider counted. A call without counts is `uncounted`."""
    counted: Mapping[str, Any] = reply.usage_metadata or {}
    asked, said = counted.get("input_tokens"), counted.get("output_tokens")
    if reply.response_metadata.get(_REFUSED):
        return Usage(calls=1)
    if not is_count(asked) or not is_count(said) or not asked:
        return Usage(calls=1, uncounted=1)
    cached = (counted.get("input_token_details") or {}).get("cache_read")
    reasoning = (counted.get("output_token_details") or {}).get("reasoning")
    cached = min(cached, asked) if is_count(cached) else 0
    reasoning = reasoning if is_count(reasoning) else 0
    if reasoning and counted.get("total_tokens") == asked + said + reasoning:
        said += reasoning  # some providers count them separately
    return Usage(asked, said, 1, cached, min(reasoning, said))


def is_count(value: object) -> TypeGuard[int]:
    """Return whether a value is a number of tokens."""
    return type(value) is int and 0 <= value <= _MOST_TOKENS
