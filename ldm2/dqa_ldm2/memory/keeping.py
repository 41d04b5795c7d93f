"""What memories in all databases have in common when something is added."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Final

from dqa.core.distribution import own_version
from dqa.core.errors import UsageError
from dqa.core.text import well_formed
from dqa_ldm2.memory.base import Origin, Placed, StateAction, Version

SCHEMA_VERSION: Final = 2
"""Of how a memory is kept, in tables or in a graph."""

OTHER: Final = "other"
"""The type of what no other type is said to have."""

_MARK: Final = re.compile(r"\([0-9a-f]{16}\)$")

LONGEST_NAME: Final = 200
"""Characters of a type's name; the rest is cut."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A tuple as it is kept, and what is the same for the same state and action."""

    placed: Placed
    digest: str


@dataclass(slots=True)
class Addition:
    """What of some tuples is new to a batch, and what the batch has already.

    Attributes
    ----------
    new
        To be added, in order.
    known
        Tuples that are there, by their ids.
    same
        Tuples that are new twice, by the place of the first in `new`.
    """

    new: list[Prepared] = field(default_factory=list)
    known: list[tuple[int, Prepared]] = field(default_factory=list)
    same: list[tuple[int, Prepared]] = field(default_factory=list)


def prepare(tuples: Sequence[Placed]) -> list[Prepared]:
    """Return tuples as every database keeps them.

    What a database cannot keep (NUL, halves of characters) is replaced by the character that stands
    for such, everywhere alike. Names of types are on one line, of at most `LONGEST_NAME`
    characters, and `OTHER` where they are empty.

    Raises
    ------
    UsageError
        A tuple has no source, or its reward is no number.
    """
    return [_prepared(each) for each in tuples]


def _prepared(given: Placed) -> Prepared:
    said = given.content
    if not said.source.strip():
        raise UsageError("A tuple has no source: say whose step it is.")
    if said.reward is not None and not math.isfinite(said.reward):
        raise UsageError(f"A tuple of {said.source} has the reward {said.reward}: give a number.")
    content = replace(
        said,
        goal=kept_text(said.goal),
        history=kept_text(said.history),
        observation=kept_text(said.observation),
        action=kept_text(said.action),
        source=kept_text(said.source).strip(),
    )
    placed = Placed(content, kept_name(given.goal_type), kept_name(given.observation_type))
    return Prepared(placed, digest_of(content))


def kept_text(text: str) -> str:
    """Return a text as every database keeps it."""
    return well_formed(text).replace("\0", "\N{REPLACEMENT CHARACTER}")


def kept_name(name: str) -> str:
    """Return a type's name as it is kept."""
    return " ".join(kept_text(name).split())[:LONGEST_NAME].rstrip() or OTHER


def digest_of(content: StateAction) -> str:
    """Return what is the same for the same state and action, whoever's they are."""
    said = sha256()
    for part in (content.goal, content.history, content.observation, content.action):
        written = part.encode()
        said.update(len(written).to_bytes(8) + written)
    return said.hexdigest()


def sort_out(
    tuples: Sequence[Prepared], there: Mapping[str, int], taken: Collection[str] = frozenset()
) -> Addition:
    """Return what of some tuples is new.

    Parameters
    ----------
    tuples
        To be added to one batch.
    there
        The ids of the batch's tuples by digest.
    taken
        Sources whose tuples are not added.
    """
    addition = Addition()
    first: dict[str, int] = {}
    for each in tuples:
        if each.placed.content.source in taken:
            continue
        if each.digest in there:
            addition.known.append((there[each.digest], each))
        elif each.digest in first:
            addition.same.append((first[each.digest], each))
        else:
            first[each.digest] = len(addition.new)
            addition.new.append(each)
    return addition


def refuse_again(location: str, versions: Iterable[Version], origin: Origin) -> None:
    """Raise `UsageError` where the content of an import is there, by the mark that ends its source.

    For whoever holds the memory: of two imports at once one has to see the other.
    """
    mark = _MARK.search(origin.source)
    if origin.making != "import" or mark is None:
        return
    for version in versions:
        known = version.origin
        is_same = known.making == "import" and known.source.endswith(mark[0])
        if is_same and not version.is_undone:
            raise UsageError(
                f"The same was imported into {location} already, as version {version.number}: "
                "'dqa memory undo' takes that back first."
            )


def no_version(location: str, version: int, newest: int) -> UsageError:
    """Return the error of a version that is not there."""
    there = f"versions 1 to {newest}" if newest else "no version yet"
    return UsageError(f"The memory {location} has no version {version}. It has {there}.")


def undone_already(location: str, version: Version) -> UsageError:
    """Return the error of undoing a version again."""
    return UsageError(
        f"Version {version.number} of the memory {location} was undone already; nothing changed."
    )


def other_version(shown: str, version: int, written_by: str) -> str:
    """Return what to say of a memory of another version."""
    return (
        f"{shown} is a memory of version {version}, written by dqa {written_by}; this dqa "
        f"{own_version()} reads version {SCHEMA_VERSION}: use the other one, and take the memory "
        "over with 'dqa memory export' there and 'dqa memory import' here."
    )
