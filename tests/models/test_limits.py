"""Rates and concurrency, in time that tests turn themselves."""

from __future__ import annotations

import threading

from dqa.models.limits import Limiter
from tests.models.conftest import Hours


def test_requests_are_spread_evenly_over_a_minute(hours: Hours) -> None:
    """Sixty a minute is one a second, with no burst."""
    limiter = Limiter(requests_per_minute=60, clock=hours.clock)
    starts = []
    for _ in range(4):
        with limiter.place(0):
            starts.append(hours.now - 1_000.0)
    assert starts == [0.0, 1.0, 2.0, 3.0]


def test_a_pause_is_not_saved_up(hours: Hours) -> None:
    """After an idle hour the rate is what it was."""
    limiter = Limiter(requests_per_minute=60, clock=hours.clock)
    with limiter.place(0):
        hours.now += 3_600.0
    for _ in range(2):
        with limiter.place(0):
            pass
    assert hours.slept == [1.0]


def test_tokens_are_reserved_as_estimated_and_settled_as_counted(hours: Hours) -> None:
    """A reply that took more than expected makes the next one wait longer."""
    limiter = Limiter(tokens_per_minute=600, clock=hours.clock)
    with limiter.place(10) as settle:
        settle(50)
    with limiter.place(10):
        pass
    with limiter.place(10):
        pass
    assert hours.slept == [5.0, 1.0]


def test_no_more_calls_at_once_than_allowed() -> None:
    """Eight threads, three places: never a fourth inside."""
    limiter, inside, most = Limiter(concurrency=3), [0], [0]
    lock, full = threading.Lock(), threading.Barrier(3)

    def call() -> None:
        with limiter.place(0):
            with lock:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
            full.wait(60.0)
            with lock:
                inside[0] -= 1

    threads = [threading.Thread(target=call) for _ in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [3]
