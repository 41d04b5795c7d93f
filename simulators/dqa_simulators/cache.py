"""One computation a situation, however many questions are asked about it."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

from dqa.core.situation import Situation

T = TypeVar("T")


class PerSituation(Generic[T]):
    """Remember what `make` makes of a situation for as long as that situation lives.

    Situations are told apart by identity: comparing their content would cost more than most of
    what is remembered here. Two threads that ask at once may both compute; both get equal results.
    """

    def __init__(self, make: Callable[[Situation], T]) -> None:
        self._make = make
        self._made: dict[int, tuple[weakref.ref[Situation], T]] = {}

    def __call__(self, situation: Situation) -> T:
        """Return what `make` makes of `situation`."""
        key = id(situation)
        found = self._made.get(key)
        if found is not None and found[0]() is situation:
            return found[1]
        # A twin with the same tables: what is made of it may hold it without keeping the key alive.
        made = self._make(situation.replace())
        made_by_key = self._made

        def forget(reference: weakref.ref[Situation]) -> None:
            entry = made_by_key.get(key)
            if entry is not None and entry[0] is reference:
                del made_by_key[key]

        self._made[key] = (weakref.ref(situation, forget), made)
        return made
