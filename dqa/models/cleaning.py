"""Replies made of text only: what no file and no request could hold is replaced."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, message_to_dict, messages_from_dict

from dqa.core.text import well_formed


def without_halves(reply: AIMessage) -> AIMessage:
    """Return a reply in which halves of surrogate pairs are replaced: itself, if it holds none.

    JSON can spell half a pair (a character that was cut in two), and UTF-8 has no form for it:
    writing or sending such a reply would fail, far from where it came from.
    """
    if not _has_half([reply.content, reply.tool_calls, reply.invalid_tool_calls]):
        return reply
    (clean,) = messages_from_dict([_replaced(message_to_dict(reply))])
    if not isinstance(clean, AIMessage):
        raise TypeError(f"A reply became a {type(clean).__name__}.")
    return clean


def _has_half(value: Any) -> bool:  # noqa: ANN401  (any JSON value)
    if isinstance(value, str):
        return well_formed(value) != value
    if isinstance(value, dict):
        return any(_has_half(key) or _has_half(item) for key, item in value.items())
    return isinstance(value, list) and any(_has_half(item) for item in value)


def _replaced(value: Any) -> Any:  # noqa: ANN401  (any JSON value)
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, dict):
        return {_replaced(key): _replaced(item) for key, item in value.items()}
    return [_replaced(item) for item in value] if isinstance(value, list) else value
