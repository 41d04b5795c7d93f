"""A cache that stores the result of a function for each situation."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

from dqa.core.situation import Situation

T = TypeVar("T")


class PerSituation(Generic[T]):
    """A cache for the results of the function `make`, whose argument is a situation.

    When a situation is deleted, its result is deleted too.

    Situations are compared by identity, because comparing their content takes longer than most
    calls of `make`. Two threads may compute the result of the same situation in parallel.
    """

    def __init__(self, make: Callable[[Situation], T]) -> None:
        self._make = make
        self._made: dict[int, T] = {}

    def __call__(self, situation: Situation) -> T:
        """Return the result of `make` for `situation`."""
        key = id(situation)
        if key not in self._made:
            # `make` gets a copy: a result that refers to `situation` would never be deleted.
            created = self._make(situation.replace())
            if self._made.setdefault(key, created) is created:
                # A later object may get the same id.
                weakref.finalize(situation, self._made.pop, key, None).atexit = False
        return self._made[key]
