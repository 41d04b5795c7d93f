"""Compare short texts by their words, without asking a model."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dqa.deciders.prompting import fold
from dqa.deciders.replies import tighten
from dqa_ldm2.records import MemoryType, Remembered

_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"\d+")


def likeness(one: str, other: str) -> float:
    """Return the share of words that two texts have in common (Jaccard)."""
    left, right = (set(_WORD.findall(fold(text))) for text in (one, other))
    return len(left & right) / len(left | right) if left or right else 1.0


def nearest_type(text: str, types: Sequence[MemoryType]) -> str:
    """Return the name of the type whose name or example is most similar to a text."""

    def of(one: MemoryType) -> float:
        return max(likeness(text, known) for known in (*one.examples, one.name))

    return max(types, key=of).name


def nearest_tuple(action: str, found: Sequence[Remembered]) -> tuple[Remembered | None, bool]:
    """Return the tuple that an action imitates, and whether it has exactly the same action.

    This is the first tuple with the same action. If there is none, it is the tuple with the most
    similar action. Numbers count less than words, because ``drawer 2`` is a different drawer in
    each room.
    """
    tight = tighten(action)
    for one in found:
        if tighten(one.action) == tight:
            return one, True

    def near(one: Remembered) -> tuple[float, float]:
        plain = likeness(*(_NUMBER.sub(" ", text) for text in (action, one.action)))
        return plain, likeness(action, one.action)

    return max(found, key=near, default=None), False
