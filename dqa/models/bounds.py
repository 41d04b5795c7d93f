"""What a reply may be: so large, so deep, and with a count of tokens that is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

from dqa.core.errors import MalformedReplyError

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

REPLY_LIMIT = 1_000_000
"""Most bytes of a reply, where nobody sets another number."""

_MOST_DEPTH = 64
"""Lists and objects within one another, in the arguments of a tool for example."""

_MOST_BITS = 1_024
"""Of a whole number; the largest float has as many."""

UNKNOWN = -(10**15)
"""Stands for a count of tokens that is none, however much is added to it."""

_MOST_TOKENS = 1_000_000_000
"""No model takes or gives as many in one reply."""


def require_bounded(reply: AIMessage, most: int) -> None:
    """Raise `MalformedReplyError` where a reply is too large, or nested too deep.

    Parameters
    ----------
    reply
        Whatever its provider's package made of it.
    most
        Bytes of all its texts.
    """
    size, depth = 0, 0
    level: list[object] = [
        *(reply.content, reply.tool_calls, reply.invalid_tool_calls),
        *(reply.additional_kwargs, reply.response_metadata),
    ]
    while level:
        depth += 1
        if depth > _MOST_DEPTH:
            raise MalformedReplyError(f"The reply is nested deeper than {_MOST_DEPTH} levels.")
        below: list[object] = []
        for value in level:
            if isinstance(value, str):
                size += len(value) if value.isascii() else len(value.encode("utf-8", "replace"))
            elif isinstance(value, dict):
                below += [*value, *value.values()]
            elif isinstance(value, list | tuple):
                below += value
            elif isinstance(value, int) and value.bit_length() > _MOST_BITS:
                raise MalformedReplyError("A number in the reply has more than 300 digits.")
        if size > most:
            raise MalformedReplyError(f"The reply is larger than {most:,} bytes (--reply-limit).")
        level = below


def is_count(value: object) -> TypeGuard[int]:
    """Whether a value counts tokens: a whole number from 0 on, and no odd one."""
    if not isinstance(value, int) or isinstance(value, bool):
        return False
    return 0 <= value <= _MOST_TOKENS
