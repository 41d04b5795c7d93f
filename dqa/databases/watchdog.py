"""Timers that stop statements which no engine stops, all on one thread."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from threading import TIMEOUT_MAX, Condition, Lock, Thread
from time import monotonic


class Deadline:
    """An action at a time, unless it is cancelled before.

    Parameters
    ----------
    at
        The time, by `time.monotonic`.
    act
        The action; it runs on another thread, raises nothing and takes little time.
    """

    def __init__(self, at: float, act: Callable[[], object]) -> None:
        self.at = at
        self.has_fired = False
        self._act: Callable[[], object] | None = act
        self._lock = Lock()

    def fire(self) -> None:
        """Act, unless cancelled."""
        with self._lock:
            if self._act is not None:
                self.has_fired = True
                self._act()

    def cancel(self) -> None:
        """Prevent the action, or wait for its end if it has begun."""
        with self._lock:
            self._act = None


class Watchdog:
    """One thread that waits for the next deadline.

    A cancelled deadline does not wake the thread, so a short statement costs a few microseconds.
    """

    def __init__(self) -> None:
        self._changed = Condition()
        self._deadlines: set[Deadline] = set()
        self._wakes_at = inf
        self._has_thread = False

    @contextmanager
    def after(self, seconds: float, act: Callable[[], object]) -> Iterator[Deadline]:
        """Act after so many seconds, unless the context ends before."""
        deadline = Deadline(monotonic() + seconds, act)
        with self._changed:
            self._deadlines.add(deadline)
            if not self._has_thread:
                Thread(target=self._watch, name="dqa-watchdog", daemon=True).start()
                self._has_thread = True
            elif deadline.at < self._wakes_at:
                self._changed.notify()
        try:
            yield deadline
        finally:
            with self._changed:
                self._deadlines.discard(deadline)
            deadline.cancel()

    def _watch(self) -> None:
        while True:
            with self._changed:
                now = monotonic()
                due = [each for each in self._deadlines if each.at <= now]
                self._deadlines.difference_update(due)
                if not due:
                    self._wakes_at = min((each.at for each in self._deadlines), default=inf)
                    self._changed.wait(min(self._wakes_at - now, TIMEOUT_MAX))
            for deadline in due:
                deadline.fire()


WATCHDOG = Watchdog()
if hasattr(os, "register_at_fork"):  # a forked process has no thread yet
    os.register_at_fork(after_in_child=WATCHDOG.__init__)  # type: ignore[misc]
