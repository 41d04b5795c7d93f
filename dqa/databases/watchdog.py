"""Timers for statements that no server stops: one thread a process watches all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from heapq import heappop, heappush
from itertools import count
from math import inf
from threading import TIMEOUT_MAX, Condition, Lock, Thread
from time import monotonic


class Timer:
    """Something to do at a time, unless it is cancelled before."""

    def __init__(self, act: Callable[[], None]) -> None:
        self.has_fired = False
        self._act: Callable[[], None] | None = act
        self._lock = Lock()

    @property
    def is_over(self) -> bool:
        """Whether nothing will happen any more."""
        return self._act is None

    def fire(self) -> None:
        """Do it, once."""
        with self._lock:
            if self._act is not None:
                self.has_fired = True
                self._act()
                self._act = None

    def cancel(self) -> None:
        """Do not do it; wait for its end where it has begun."""
        with self._lock:
            self._act = None


class Watchdog:
    """Fires timers. A thread a statement would cost more than a small query does."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._due: list[tuple[float, int, Timer]] = []
        self._numbers = count()
        self._thread: Thread | None = None
        self._wakes = inf

    @contextmanager
    def after(self, seconds: float, act: Callable[[], None]) -> Iterator[Timer]:
        """Do something after so many seconds, unless the context ends before.

        `act` runs on the watchdog's thread and must neither raise nor take long.
        """
        timer = Timer(act)
        self._add(monotonic() + seconds, timer)
        try:
            yield timer
        finally:
            timer.cancel()

    def _add(self, due: float, timer: Timer) -> None:
        with self._changed:
            while self._due and self._due[0][2].is_over:
                heappop(self._due)
            heappush(self._due, (due, next(self._numbers), timer))
            if self._thread is None or not self._thread.is_alive():  # not alive after a fork
                self._thread = Thread(target=self._watch, name="dqa-watchdog", daemon=True)
                self._thread.start()
            elif due < self._wakes:  # seldom: waking another thread costs as much as a query
                self._wakes = due
                self._changed.notify()

    def _watch(self) -> None:
        while True:
            self._next().fire()

    def _next(self) -> Timer:
        """Wait for the next timer that is due."""
        with self._changed:
            while True:
                while self._due and self._due[0][2].is_over:
                    heappop(self._due)
                self._wakes = self._due[0][0] if self._due else inf
                wait = self._wakes - monotonic()
                if wait <= 0:
                    return heappop(self._due)[2]
                self._changed.wait(min(wait, TIMEOUT_MAX))


WATCHDOG = Watchdog()
"""The process's own."""
