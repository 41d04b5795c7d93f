"""What a policy hides: the values of masked columns, and the rows that a filter leaves out."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar, cast

from dqa.core.errors import UsageError

Mask: TypeAlias = str | int | float | bool | None
"""What is shown instead of a value."""
Held = TypeVar("Held")

_UNSAFE = re.compile(r"[\\\x00-\x1f\x7f\ud800-\udfff]")
"""Signs that databases read in different ways within a text."""
_PIECE = 12
"""Signs of a rewritten statement that, in an error, are no coincidence."""


class Entries(dict[str, Held]):
    """A mapping that is never changed: a policy is a part of keys.

    Values that are equal and of different types, as 1 and True, are told apart.
    """

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self._typed())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Entries) and self._typed() == other._typed()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def _typed(self) -> frozenset[tuple[str, str, object]]:
        return frozenset((name, type(held).__name__, held) for name, held in self.items())


@dataclass(frozen=True)
class Protection:
    """What a database was found to have, beside what a policy hides by name.

    Attributes
    ----------
    telling
        The views, in lower case, that would show what is masked or left out.
    namespace
        The schema whose tables are known; None where statements have no name for it.
    """

    telling: frozenset[str] = frozenset()
    namespace: str | None = None


def masks_of(given: object) -> Entries[Mask]:
    """Return masks by the names they are for; `UsageError` where they are none."""
    entries = _entries("masks", given)
    for name, mask in entries.items():
        if "." not in name.strip("."):
            raise UsageError(f"The policy's masks have '{name}': write 'owner.{name}'.")
        is_finite = not isinstance(mask, float) or math.isfinite(mask)
        if not (mask is None or isinstance(mask, str | int | float)) or not is_finite:
            raise UsageError(
                f"The policy's mask of {name} must be null, a text, a number, true or false, not "
                f"{mask!r}."
            )
        if isinstance(mask, str) and _UNSAFE.search(mask):
            raise UsageError(
                f"The policy's mask of {name} has a backslash or a sign that is no text; write "
                "plain text."
            )
    return Entries(cast("Mapping[str, Mask]", entries))


def row_filters_of(given: object) -> Entries[str]:
    """Return the conditions of rows by table or label; `UsageError` where they are none."""
    found: dict[str, str] = {}
    for name, condition in _entries("row_filters", given).items():
        if not isinstance(condition, str) or not condition.strip():
            raise UsageError(
                f"The policy's row filter of {name} must be a condition as text, not {condition!r}."
            )
        found[name] = condition.strip()
    return Entries(found)


def without_inserted(problem: str, statement: str, rewritten: str) -> str:
    """Return what a database says of a rewritten statement, without what was written into it."""
    told, written, ran = (" ".join(text.split()) for text in (problem, statement, rewritten))
    for start in range(len(told) - _PIECE + 1):
        piece = told[start : start + _PIECE]
        if piece in ran and piece not in written:
            return "The database cannot run the statement as it has to be rewritten by its policy"
    return problem


def _entries(what: str, given: object) -> Mapping[str, object]:
    if not isinstance(given, Mapping) or not all(isinstance(n, str) and n for n in given):
        raise UsageError(f"The policy's {what} must be an object by names, not {given!r}.")
    return given
