"""Limits of a provider: concurrent calls, and requests and tokens per minute.

All threads of a run share one `Limiter`. A rate is stored as the time when the next call may
start. Callers take their turn in the order of arrival, without bursts and without polling.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clock:
    """The source of time; tests have their own.

    Attributes
    ----------
    monotonic
        Seconds that never run backwards.
    wall
        Seconds since 1970.
    sleep
        Waits for some seconds.
    """

    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], object] = time.sleep


CLOCK = Clock()


class _Bucket:
    """A rate; not safe for threads by itself."""

    def __init__(self, per_minute: float) -> None:
        self._seconds_each = 60.0 / per_minute
        self._full_at = float("-inf")

    def take(self, amount: float, now: float) -> float:
        """Return the time when a call of `amount` may start."""
        start = max(now, self._full_at)
        self._full_at = start + amount * self._seconds_each
        return start

    def correct(self, amount: float) -> None:
        """Take `amount` more; return it if it is negative."""
        self._full_at += amount * self._seconds_each


class Limiter:
    """Delays calls so that a provider's limits are respected.

    Parameters
    ----------
    concurrency
        Most concurrent calls; None for any number.
    requests_per_minute, tokens_per_minute
        Rates; None for no limit. Tokens of requests and replies count together.
    clock
        The source of time.
    """

    def __init__(
        self,
        concurrency: int | None = None,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        clock: Clock = CLOCK,
    ) -> None:
        self._places = nullcontext() if concurrency is None else threading.Semaphore(concurrency)
        self._requests = None if requests_per_minute is None else _Bucket(requests_per_minute)
        self._tokens = None if tokens_per_minute is None else _Bucket(tokens_per_minute)
        self._clock = clock
        self._lock = threading.Lock()

    @contextmanager
    def place(self, tokens: int) -> Iterator[Callable[[int], None]]:
        """Wait until one call may start; yield a function that corrects its number of tokens.

        Parameters
        ----------
        tokens
            Estimated tokens of the call. Call the yielded function with the true number.
        """
        with self._places:
            wait = self._reserve(tokens)
            if wait > 0.0:
                self._clock.sleep(wait)
            yield lambda used: self._settle(used - tokens)

    def _reserve(self, tokens: int) -> float:
        with self._lock:
            now = self._clock.monotonic()
            starts = [now]
            if self._requests is not None:
                starts.append(self._requests.take(1.0, now))
            if self._tokens is not None:
                starts.append(self._tokens.take(tokens, now))
        return max(starts) - now

    def _settle(self, difference: int) -> None:
        if self._tokens is not None:
            with self._lock:
                self._tokens.correct(difference)
