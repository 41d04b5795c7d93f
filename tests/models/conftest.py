"""A clock that tests turn themselves."""

from __future__ import annotations

import threading

import pytest

from dqa.models.limits import Clock


class Hours:
    """Time that passes only where somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.slept: list[float] = []
        self._lock = threading.Lock()

    def sleep(self, seconds: float) -> None:
        """Let time pass at once."""
        with self._lock:
            self.now += seconds
            self.slept.append(seconds)

    @property
    def clock(self) -> Clock:
        """The clock that shows this time."""
        return Clock(lambda: self.now, lambda: self.now, self.sleep)


@pytest.fixture
def hours() -> Hours:
    """Time in the test's own hands."""
    return Hours()
