"""What to tell of a request that a cassette does not hold."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

__all__ = ["Request", "difference", "exhausted", "of_others"]

_HEADINGS = re.compile(r"\A(?:\s*#+ .*\n)*\s*")
_SHOWN = 60
_OTHERS_SHOWN = 3
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
    return (
        f"a request{_whose(requester, ' of ')} was recorded {often} and is now made once more. "
        f"{_SETTINGS}."
    )


def of_others(
    requester: Sequence[str], messages: Sequence[Mapping[str, Any]], others: Sequence[Sequence[str]]
) -> str:
    """Say that a request is recorded, and not of who makes it now."""
    shown = ", ".join(_whose(other) or "(nobody named)" for other in others[:_OTHERS_SHOWN])
    if len(others) > _OTHERS_SHOWN:
        shown += f" and {len(others) - _OTHERS_SHOWN} more"
    return (
        f"{_unanswered(requester, messages)} The same request was recorded of {shown}. Play it "
        "with the questions, databases and deciders it was recorded with, or record it again."
    )


def difference(
    requester: Sequence[str],
    asked: Request,
    messages: Sequence[Mapping[str, Any]],
    requests: Sequence[Request],
    recorded: Mapping[str, Mapping[str, Any]],
) -> str:
    """Say which request is missing and where the recorded one that comes nearest differs.

    Parameters
    ----------
    requester
        Who makes the request.
    asked, messages
        The request and the messages it consists of.
    requests
        Every recorded request; of several that come equally near, the first is shown.
    recorded
        Every recorded message by its hash.
    """
    opening = _unanswered(requester, messages)
    closing = f"{_SETTINGS}, or record it again."
    near = max(
        requests,
        key=lambda r: (_shared(r.messages, asked.messages), r.settings == asked.settings),
        default=None,
    )
    if near is None:
        return f"{opening} The cassette is empty. {closing}"
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
    about = f"'{_topic(messages)}'{_whose(requester, ' of ')}"
    return f"no reply to request {step} about {about} is recorded."


def _whose(requester: Sequence[str], joint: str = "") -> str:
    return f"{joint}({', '.join(requester)})" if requester else ""


def _topic(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the first line below the headings of what a conversation begins with."""
    texts = [_text(message) for message in messages if message["role"] == "human"]
    return _shortened(_HEADINGS.sub("", (texts or [""])[0]).partition("\n")[0])


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many items two sequences have in common at their beginnings."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _apart(there: str, here: str) -> str:
    """Show two texts from a little before the place where they part."""
    parting = max(0, _shared(there, here) - _SHOWN // 3)
    return (
        f"recorded '{_shortened(there[parting:])}', asked '{_shortened(here[parting:])}' "
        f"(from character {parting + 1})"
    )


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}..."


def _text(message: Mapping[str, Any]) -> str:
    shown = {name: value for name, value in message.items() if name not in ("role", "content")}
    content = message["content"]
    text = content if isinstance(content, str) else json.dumps(content, sort_keys=True)
    return f"{text}\n{json.dumps(shown, sort_keys=True)}" if shown else text
