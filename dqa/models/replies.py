"""Check the replies of chat models, and read their text, tokens, reasoning and finish reason."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeGuard

from langchain_core.messages import AIMessage, message_to_dict

from dqa.core.decision import Usage
from dqa.core.errors import DqaError, MalformedReplyError, UnparsableReplyError
from dqa.core.events import ReplyEvent
from dqa.core.text import well_formed
from dqa.models.faults import FaultKind, diagnose, words_of

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
"""Finish reasons of replies that the provider withheld, in lower case."""

_REFUSED = "refused_request"
"""The metadata key of a reply that dqa creates if a content filter refuses the request."""
_MOST_TOKENS = 1_000_000_000
_MOST = 1_000_000
"""The maximum number of characters of a reply as JSON."""
_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_OPEN_THOUGHT = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
"""A thought that lacks its start tag, because the provider put the tag into the request."""
_REASONING_BLOCKS = frozenset({"reasoning", "reasoning_content", "thinking"})
_TEXT_KEYS = ("text", "reasoning", "reasoning_content", "thinking", "summary", "content")


class BadReplyError(MalformedReplyError):
    """A reply arrived but cannot be used; `usage` contains the tokens of the reply."""

    def __init__(self, problem: str, reply: AIMessage) -> None:
        super().__init__(problem)
        self.usage = ModelReply(reply).usage


@dataclass(frozen=True, slots=True)
class ModelReply:
    """One reply of a model.

    Attributes
    ----------
    reply
        The model's message.
    """

    reply: AIMessage

    @property
    def text(self) -> str:
        """The text of the reply without its ``<think>`` part."""
        return split_thinking(self.reply.text)[1]

    @property
    def thought(self) -> str | None:
        """The ``<think>`` part of the reply; None without such a part."""
        return split_thinking(self.reply.text)[0]

    @property
    def reasoning(self) -> str:
        """The reasoning that the provider sent separately from the text."""
        parts = self.reply.content if isinstance(self.reply.content, list) else []
        found = [self.reply.additional_kwargs.get("reasoning_content")]
        found += [p for p in parts if isinstance(p, dict) and p.get("type") in _REASONING_BLOCKS]
        return "\n".join(text for text in map(reasoning_text, found) if text)

    @property
    def usage(self) -> Usage:
        """The tokens that the provider counted. A call without counts is `uncounted`."""
        if self.reply.response_metadata.get(_REFUSED):
            return Usage(calls=1)
        counted: dict[str, Any] = {**(self.reply.usage_metadata or {})}
        sent, received = counted.get("input_tokens"), counted.get("output_tokens")
        if not is_count(sent) or not is_count(received) or not sent:
            return Usage(calls=1, uncounted=1)
        cached = (counted.get("input_token_details") or {}).get("cache_read")
        reasoning = (counted.get("output_token_details") or {}).get("reasoning")
        reasoning = reasoning if is_count(reasoning) else 0
        if reasoning and counted.get("total_tokens") == sent + received + reasoning:
            received += reasoning  # some providers count reasoning separately
        cached = min(cached, sent) if is_count(cached) else 0
        return Usage(sent, received, 1, cached, min(reasoning, received))

    def check(self) -> None:
        """Raise `UnparsableReplyError` if the reply was cut off or withheld, or lacks an answer."""
        reason, refusal = _reason(self.reply), self.reply.additional_kwargs.get("refusal")
        calls = self.reply.tool_calls or self.reply.invalid_tool_calls
        only_thinks = not self.text and not calls and bool(self.thought or self.reasoning)
        if refusal:
            problem = f"The reply was a refusal: {refusal} Decide from the data alone."
        elif reason in _WITHHELD:
            problem = f"The provider withheld the reply ({reason}). Word it differently."
        elif reason in _CUT and only_thinks:
            problem = (
                "The reply was cut off within its reasoning, before an answer began. Reason less "
                "(--reasoning-effort, --reply-tokens)."
            )
        elif reason in _CUT:
            problem = "The reply was cut off because it was too long. Write a shorter one."
        elif only_thinks:
            problem = "Only reasoning arrived, without an answer. Write the answer."
        else:
            return
        raise UnparsableReplyError(problem)

    def event(self, step: int, text: str, thought: str | None, **more: Any) -> ReplyEvent:  # noqa: ANN401
        """Return the event of the reply, with the text and the thought from the caller's parser."""
        usage = self.usage
        return ReplyEvent(
            step=step,
            text=text,
            thought=thought,
            reasoning=self.reasoning,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cached_tokens=usage.cached_tokens,
            reasoning_tokens=usage.reasoning_tokens,
            **more,
        )


def ask_once(invoke: Callable[[], AIMessage]) -> AIMessage:
    """Return a checked reply. If a content filter refuses the request, the refusal is the reply."""
    try:
        return _checked(invoke())
    except Exception as error:
        cause = original_error(error) or error
        if diagnose(cause) is not FaultKind.FILTERED:
            raise
        about = {"finish_reason": "content_filter", _REFUSED: True}
        refusal = {"refusal": words_of(cause)}
        return AIMessage("", additional_kwargs=refusal, response_metadata=about)


def original_error(error: BaseException) -> DqaError | None:
    """Return the first `DqaError` among an error and its causes; None if there is no `DqaError`."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, DqaError):
        cause = cause.__cause__
    return cause


def _checked(reply: AIMessage) -> AIMessage:
    """Return a reply that can be stored, with surrogates replaced.

    Raises
    ------
    MalformedReplyError
        The reply is not JSON, is too large, or has an unknown finish reason.
    """
    try:
        text = json.dumps(message_to_dict(reply), ensure_ascii=False, default=str)
    except (RecursionError, ValueError) as error:
        raise MalformedReplyError(f"The reply is not JSON: {error}") from error
    if len(text) > _MOST:
        raise BadReplyError(f"The reply is larger than {_MOST:,} characters.", reply)
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


def split_thinking(text: str) -> tuple[str | None, str]:
    """Return the ``<think>`` part of a text (None without such a part), and the rest."""
    thoughts, rest = _THOUGHT.findall(text), _THOUGHT.sub("", text)
    opened = _OPEN_THOUGHT.match(rest)
    if opened is not None:
        thoughts, rest = [opened.group(), *thoughts], rest[opened.end() :]
    return "\n".join(thoughts).strip() or None, rest.strip()


def reasoning_text(value: object) -> str:
    """Return the text of a reasoning part, whose form depends on the provider."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        value = [value[key] for key in _TEXT_KEYS if value.get(key)]
    return "".join(map(reasoning_text, value)) if isinstance(value, list) else ""


def is_count(value: object) -> TypeGuard[int]:
    """Return whether a value is a number of tokens."""
    return type(value) is int and 0 <= value <= _MOST_TOKENS
