"""How like texts are by their words, where nobody is asked."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dqa.deciders.actions import tighten
from dqa.deciders.prompting import fold
from dqa_ldm2.memory.base import MemoryType, Remembered

_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"\d+")


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text, without case and signs, in order."""
    return tuple(_WORD.findall(fold(text)))


def likeness(one: Sequence[str], other: Sequence[str]) -> float:
    """Return the share of words that two texts have in common, of all that either has (Jaccard)."""
    left, right = set(one), set(other)
    return len(left & right) / len(left | right) if left or right else 1.0


def nearest_type(text: str, types: Sequence[MemoryType]) -> str:
    """Return the first type whose name, or one of whose examples, is most like a text.

    Parameters
    ----------
    text
        A goal, or an observation.
    types
        One at least.
    """
    words = words_of(text)

    def of(one: MemoryType) -> float:
        known = [*one.examples, one.name]
        return max(likeness(words, words_of(example)) for example in known)

    return max(types, key=of).name


def nearest_tuple(action: str, found: Sequence[Remembered]) -> tuple[Remembered | None, bool]:
    """Return the tuple that an action comes from, and whether it did exactly this.

    It is the first that did the same, or else the one whose action is most like it; numbers count
    less than words, as ``drawer 2`` is another one in another room.
    """
    tight = tighten(action)
    for one in found:
        if tighten(one.placed.content.action) == tight:
            return one, True
    if not found:
        return None, False
    plain, whole = words_of(_NUMBER.sub(" ", action)), words_of(action)

    def near(one: Remembered) -> tuple[float, float]:
        done = one.placed.content.action
        return likeness(plain, words_of(_NUMBER.sub(" ", done))), likeness(whole, words_of(done))

    return max(found, key=near), False
