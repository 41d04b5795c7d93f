"""Timers that stop statements which no engine stops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import TIMEOUT_MAX, Lock, Timer


class Deadline:
    """An action at a time, unless it is cancelled before.

    Parameters
    ----------
    act
        The action; it runs on another thread, raises nothing and takes little time.
    """

    def __init__(self, act: Callable[[], object]) -> None:
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
    """Starts timers, each on a thread of its own."""

    @contextmanager
    def after(self, seconds: float, act: Callable[[], object]) -> Iterator[Deadline]:
        """Act after so many seconds, unless the context ends before."""
        deadline = Deadline(act)
        timer = Timer(min(seconds, TIMEOUT_MAX), deadline.fire)
        timer.daemon = True
        timer.start()
        try:
            yield deadline
        finally:
            deadline.cancel()
            timer.cancel()


WATCHDOG = Watchdog()
