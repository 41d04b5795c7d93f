"""Cache the result of one function per situation."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

from dqa.core.situation import Situation

T = TypeVar("T")


class PerSituation(Generic[T]):
    """Cache of the results of `make`. A result is dropped when its situation is deleted.

    Situations are compared by identity, because comparing their content takes longer than most
    calls of `make`. Two threads may compute the result of the same situation in parallel.
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
        # The result may reference the copy. A reference to `situation` would keep it alive.
        made = self._make(situation.replace())
        made_by_key = self._made

        def forget(reference: weakref.ref[Situation]) -> None:
            entry = made_by_key.get(key)
            if entry is not None and entry[0] is reference:
                del made_by_key[key]

        self._made[key] = (weakref.ref(situation, forget), made)
        return made
