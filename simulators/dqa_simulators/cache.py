"""One computation per situation, for all questions about it."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

from dqa.core.situation import Situation

T = TypeVar("T")


class PerSituation(Generic[T]):
    """Store the result of `make` for a situation as long as that situation exists.

    Situations are compared by identity: comparing their content would cost more than most of the
    results. Two threads may compute the same result at once.
    """

    def __init__(self, make: Callable[[Situation], T]) -> None:
        self._make = make
        self._made: dict[int, tuple[weakref.ref[Situation], T]] = {}

    def __call__(self, situation: Situation) -> T:
        """Return the result of `make` for `situation`."""
        key = id(situation)
        found = self._made.get(key)
        if found is not None and found[0]() is situation:
            return found[1]
        # A copy with the same tables: the result may reference it without keeping the key alive.
        made = self._make(situation.replace())
        made_by_key = self._made

        def forget(reference: weakref.ref[Situation]) -> None:
            entry = made_by_key.get(key)
            if entry is not None and entry[0] is reference:
                del made_by_key[key]

        self._made[key] = (weakref.ref(situation, forget), made)
        return made
