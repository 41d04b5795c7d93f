"""Types of goals and observations: who names them, and what becomes of types named badly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Literal, Protocol, Self, TypeAlias

from dqa.core.errors import UnparsableReplyError
from dqa.core.text import counted
from dqa.core.trajectories import Step
from dqa_ldm2.memory.base import MemoryType
from dqa_ldm2.memory.keeping import OTHER, kept_name

Indexed: TypeAlias = Literal["goals", "observations"]
"""What is told apart by types."""

_EXAMPLES = 3


class Indexer(Protocol):
    """The operations of memory formation that a model makes (LDM2, equations 6 to 8)."""

    def summarise(self, goal: str, steps_before: Sequence[Step]) -> str:
        """Return in short what happened before a step (equation 6)."""
        ...

    def cluster(self, kind: Indexed, texts: Sequence[str]) -> Mapping[str, Sequence[int]]:
        """Return by name the types of texts, each with the numbers from 1 of those it has.

        What is wrong in them is mended by `assign` (equations 7 and 8).
        """
        ...

    def classify(self, kind: Indexed, text: str, types: Sequence[MemoryType]) -> str:
        """Return the name of the type that a text has; any other name means none of them."""
        ...


@dataclass(slots=True)
class Corrections:
    """What was mended of what an indexer said, each how often.

    Attributes
    ----------
    empty
        Types without a text: left out.
    unnamed
        Types without a name: their texts count as left out.
    unknown
        Numbers of no text: left out.
    repeated
        Numbers that a type before had: the first has it.
    left_out
        Texts in no type: asked for once more, one by one.
    unreadable
        Replies that could not be read: none of what they were about is in a type.
    other
        Texts that no type has even so: they are in the type ``other``.
    """

    empty: int = 0
    unnamed: int = 0
    unknown: int = 0
    repeated: int = 0
    left_out: int = 0
    unreadable: int = 0
    other: int = 0

    def __iadd__(self, more: Self) -> Self:
        for field in fields(self):
            total = getattr(self, field.name) + getattr(more, field.name)
            setattr(self, field.name, total)
        return self

    def __bool__(self) -> bool:
        return any(astuple(self))

    def lines(self) -> list[str]:
        """Return a line for each kind of correction that was made."""
        into = f"in no type even so, now in '{OTHER}'"
        told = (
            (self.empty, "type without anything in it", "types without anything in them"),
            (self.unnamed, "type without a name", "types without a name"),
            (self.unknown, "number of nothing", "numbers of nothing"),
            (
                self.repeated,
                "number in a type after its first",
                "numbers in types after their first",
            ),
            (self.left_out, "text in no type, asked again", "texts in no type, asked again"),
            (self.unreadable, "reply that cannot be read", "replies that cannot be read"),
            (self.other, f"text {into}", f"texts {into}"),
        )
        return [counted(count, one, several) for count, one, several in told if count]


def assign(
    indexer: Indexer, kind: Indexed, texts: Sequence[str], corrections: Corrections
) -> list[str]:
    """Return the type of each text, every one of which has exactly one.

    Parameters
    ----------
    indexer
        Names types; texts that it leaves out it is asked for once more.
    kind, texts
        What is told apart, each once.
    corrections
        Counts what is mended.
    """
    try:
        named = indexer.cluster(kind, texts)
    except UnparsableReplyError:
        corrections.unreadable += 1
        named = {}
    places: list[str | None] = [None] * len(texts)
    for name, numbers in named.items():
        if not name.strip():
            corrections.unnamed += 1
            continue
        corrections.empty += not numbers
        for number in numbers:
            if not 1 <= number <= len(texts):
                corrections.unknown += 1
            elif places[number - 1] is not None:
                corrections.repeated += 1
            else:
                places[number - 1] = kept_name(name)
    types = _types(places, texts)
    for place, text in enumerate(texts):
        if places[place] is None:
            corrections.left_out += 1
            places[place] = classify(indexer, kind, text, types, corrections)
    return [place or OTHER for place in places]


def classify(
    indexer: Indexer,
    kind: Indexed,
    text: str,
    types: Sequence[MemoryType],
    corrections: Corrections,
) -> str:
    """Return which of some types a text has; `OTHER` where none is named, which is counted."""
    said = ""
    try:
        if types:
            said = kept_name(indexer.classify(kind, text, types))
    except UnparsableReplyError:
        corrections.unreadable += 1
    names = [each.name for each in types]
    if said in names:
        return said
    alike = [name for name in names if name.casefold() == said.casefold()]
    corrections.other += not alike
    return alike[0] if alike else OTHER


def _types(places: Sequence[str | None], texts: Sequence[str]) -> list[MemoryType]:
    held: dict[str, list[str]] = {}
    for name, text in zip(places, texts, strict=True):
        if name is not None:
            held.setdefault(name, []).append(text)
    return [MemoryType(name, len(own), tuple(own[:_EXAMPLES])) for name, own in held.items()]
