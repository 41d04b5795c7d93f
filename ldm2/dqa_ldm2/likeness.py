"""Compare short texts by their words, without asking a model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from dqa.deciders.prompting import fold
from dqa.deciders.replies import tighten
from dqa_ldm2.records import MemoryType, Remembered

_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"\d+")


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text. A repeated word gets a number: "door", "door 1", "door 2"."""
    counts = Counter(_WORD.findall(fold(text)))
    return frozenset(
        f"{word} {time}" if time else word
        for word, times in counts.items()
        for time in range(times)
    )


def likeness(one: str, other: str) -> float:
    """Return the Jaccard similarity of the words of two texts."""
    first, second = words_of(one), words_of(other)
    return len(first & second) / len(first | second) if first or second else 1.0


def nearest_type(text: str, types: Sequence[MemoryType]) -> str:
    """Return the name of the type whose name or example is most similar to a text."""

    def of(one: MemoryType) -> float:
        return max(likeness(text, known) for known in (*one.examples, one.name))

    return max(types, key=of).name


def nearest_tuple(action: str, found: Sequence[Remembered]) -> tuple[Remembered | None, bool]:
    """Return the tuple that an action imitates, and whether the tuple has the same action.

    The result is the first tuple with the same action, or else the tuple with the most similar
    action. Words are compared before numbers, because ``drawer 2`` is a different drawer in each
    room.
    """
    tight = tighten(action)
    for one in found:
        if tighten(one.action) == tight:
            return one, True

    def near(one: Remembered) -> tuple[float, float]:
        plain = likeness(*(_NUMBER.sub(" ", text) for text in (action, one.action)))
        return plain, likeness(action, one.action)

    return max(found, key=near, default=None), False
