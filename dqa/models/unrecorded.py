"""What to tell of a request that a cassette does not hold: whose, which, and where it differs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from dqa.core.text import shortened

_SHOWN = 60
_SETTINGS = "Play it with the settings it was recorded with"


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked of a model.

    Attributes
    ----------
    key
        Hash of all the rest.
    settings
        Model, parameters, tools and stop sequences.
    messages
        The messages' hashes, in order.
    """

    key: str
    settings: str
    messages: tuple[str, ...]


def exhausted(requester: Sequence[str], times: int) -> str:
    """Say that all replies to a request were played."""
    often = "once" if times == 1 else f"{times} times"
    return f"a request{_of(requester)} was recorded {often} and is now made once more. {_SETTINGS}."


def of_others(
    requester: Sequence[str], messages: Sequence[Mapping[str, Any]], other: Sequence[str]
) -> str:
    """Say that a request is recorded, and not of who makes it now."""
    return (
        f"{_unanswered(requester, messages)} The same request was recorded"
        f"{_of(other) or ' without a requester'}. Play it with the questions, databases and "
        "deciders it was recorded with, or record it again."
    )


def difference(
    requester: Sequence[str],
    asked: Request,
    messages: Sequence[Mapping[str, Any]],
    requests: Sequence[Request],
    recorded: Mapping[str, Mapping[str, Any]],
) -> str:
    """Say which request is missing, and the first message that differs from the nearest one.

    `recorded` has every recorded message by its hash. Of `requests` that come equally near, the
    first is compared.
    """
    opening, closing = _unanswered(requester, messages), f"{_SETTINGS}, or record it again."
    if not requests:
        return f"{opening} The cassette is empty. {closing}"
    near = max(
        requests,
        key=lambda r: (_shared(r.messages, asked.messages), r.settings == asked.settings),
    )
    same = _shared(near.messages, asked.messages)
    if same == len(asked.messages) == len(near.messages):
        where = f"has the same messages and other settings: {_apart(near.settings, asked.settings)}"
    else:
        there = _text(recorded[near.messages[same]]) if same < len(near.messages) else ""
        here = _text(messages[same]) if same < len(messages) else ""
        role = (messages[same] if same < len(messages) else messages[-1])["role"]
        where = f"differs at message {same + 1} ({role}): {_apart(there, here)}"
    return f"{opening} The nearest one {where}. {closing}"


def _unanswered(requester: Sequence[str], messages: Sequence[Mapping[str, Any]]) -> str:
    step = 1 + sum(message["role"] == "ai" for message in messages)
    return f"no reply to request {step}{_of(requester)} is recorded."


def _of(requester: Sequence[str]) -> str:
    return f" of ({', '.join(requester)})" if requester else ""


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many items two sequences have in common at their beginnings."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _apart(there: str, here: str) -> str:
    """Show two texts from a little before the place where they part."""
    start = max(0, _shared(there, here) - _SHOWN // 3)
    recorded, asked = (shortened(text[start:], _SHOWN) for text in (there, here))
    return f"recorded '{recorded}', asked '{asked}'"


def _text(message: Mapping[str, Any]) -> str:
    content = message["content"]
    text = content if isinstance(content, str) else json.dumps(content, sort_keys=True)
    called = {name: value for name, value in message.items() if name not in ("role", "content")}
    return f"{text}\n{json.dumps(called, sort_keys=True)}" if called else text
