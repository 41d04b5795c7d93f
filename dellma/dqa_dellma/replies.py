"""Finding the JSON object in a model's reply."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from dqa.core.errors import UnparsableReplyError


def read_object(text: str, *names: str) -> Mapping[str, Any]:
    """Return the JSON object in a reply, whatever stands around it.

    Of several, the last one that has one of `names` counts: what comes before is a draft, or an
    example.

    Raises
    ------
    UnparsableReplyError
        There is none.
    """
    found = list(_objects(text))
    if not found:
        raise UnparsableReplyError(
            "The reply holds no JSON object. Reply with one, and nothing else."
        )
    return next((one for one in reversed(found) if not one.keys().isdisjoint(names)), found[-1])


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """Yield every object that stands in no other one, in order."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    while start >= 0:
        end = start + 1
        try:
            found, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            pass  # a brace of prose, or the beginning of half an object
        else:
            yield found
        start = text.find("{", end)
