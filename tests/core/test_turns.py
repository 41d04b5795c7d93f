"""Turns: one thread computes at a time, who waits lets others, and nobody waits for long."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock, Thread

from dqa.core.turns import Turns

SOON = 20.0
"""Seconds after which something that has to happen counts as missing."""


class _Counter:
    """How many are inside at once, and how many were at most."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self.most = 0

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            self.most = max(self.most, self._inside)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1


def test_one_thread_computes_at_a_time() -> None:
    """Whatever it does in its turn, another one comes in only where it waits."""
    ours, computing, asking = Turns(), _Counter(), _Counter()
    pause = Event()

    def work(_: int) -> None:
        with ours.taking():
            for _ in range(3):
                with computing:
                    pause.wait(0.001)
                with ours.waiting(), asking:
                    pause.wait(0.02)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(16)))
    assert computing.most == 1
    assert asking.most > 1


def test_a_turn_within_a_turn_is_the_same() -> None:
    """A decision that asks for another decision does not wait for itself."""
    ours, passed = Turns(), []
    with ours.taking():
        with ours.taking(), ours.waiting():
            Thread(target=lambda: passed.append(_takes(ours))).start()
        with ours.waiting():
            assert _until(lambda: bool(passed))
    assert passed == [True]


def _takes(ours: Turns) -> bool:
    with ours.taking():
        return True


def _until(found: Callable[[], bool]) -> bool:
    waited = Event()
    for _ in range(int(SOON / 0.01)):
        if found():
            return True
        waited.wait(0.01)
    return False
