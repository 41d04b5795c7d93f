"""How fast a provider may be asked: calls at once, requests and tokens a minute.

One `Limiter` is shared by all threads of a run. A rate is a token bucket, kept as the one instant
at which it will be full again: the next caller starts then, in the order of arrival, and moves
the instant on by what it takes. There is no burst, nothing is polled, and the same calls at the
same instants always wait equally long.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clock:
    """Where time comes from; a test gives its own.

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
        """Return the instant at which a call that takes `amount` may start."""
        start = max(now, self._full_at)
        self._full_at = start + amount * self._seconds_each
        return start

    def correct(self, amount: float) -> None:
        """Take `amount` more, or give it back where it is negative."""
        self._full_at += amount * self._seconds_each


class Limiter:
    """Lets calls through no faster than a provider allows.

    Parameters
    ----------
    concurrency
        Most calls at once; None for any number.
    requests_per_minute, tokens_per_minute
        Rates; None for no limit. Tokens are those of requests and replies together.
    clock
        Where time comes from.
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
        """Wait for a place, hold it for one call, and hand out what settles its tokens.

        Parameters
        ----------
        tokens
            How many tokens the call will take, as far as anybody knows. The function that is
            handed out takes the true number once the reply has come.
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
