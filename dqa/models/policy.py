"""Policies for calls of models: retries, rate limits and the budget of a run."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from dqa.core.budgets import Prices
from dqa.core.decision import Usage
from dqa.core.errors import BudgetSpentError, UsageError


@dataclass(frozen=True, slots=True)
class Clock:
    """The source of time. Tests replace it.

    Attributes
    ----------
    monotonic
        Returns a time in seconds that never decreases.
    sleep
        Waits for a number of seconds.
    """

    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] = time.sleep


CLOCK = Clock()


class _Rate:
    """A rate limit, stored as the time when the next call may start. Not safe for threads.

    Calls start in the order of arrival, without bursts and without polling.
    """

    def __init__(self, per_minute: float | None) -> None:
        self._seconds_each = 60.0 / per_minute if per_minute else 0.0
        self._free_at = float("-inf")

    def take(self, amount: float, now: float) -> float:
        """Return the time when a call that uses `amount` may start."""
        start = max(now, self._free_at)
        self._free_at = start + amount * self._seconds_each
        return start

    def correct(self, amount: float) -> None:
        """Add `amount` to the usage of the last call."""
        self._free_at += amount * self._seconds_each


class Limiter:
    """Delays the calls of all threads of a run, to respect the limits of a provider.

    Parameters
    ----------
    concurrency
        The maximum number of concurrent calls; None for no limit.
    requests_per_minute, tokens_per_minute
        The maximum rates; None for no limit. The tokens include requests and replies.
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
        self._slots = nullcontext() if concurrency is None else threading.Semaphore(concurrency)
        self._requests, self._tokens = _Rate(requests_per_minute), _Rate(tokens_per_minute)
        self._clock = clock
        self._lock = threading.Lock()

    @contextmanager
    def place(self, tokens: int) -> Iterator[Callable[[int], None]]:
        """Wait until a call may start.

        Yield a function. When the call has ended, pass the true number of tokens to this function.

        Parameters
        ----------
        tokens
            The estimated tokens of the call.
        """
        with self._slots:
            with self._lock:
                now = self._clock.monotonic()
                start = max(self._requests.take(1.0, now), self._tokens.take(tokens, now))
            if start > now:
                self._clock.sleep(start - now)
            yield lambda used: self._settle(used - tokens)

    def _settle(self, difference: int) -> None:
        with self._lock:
            self._tokens.correct(difference)


class Budget:
    """The budget of a run, shared by all its threads.

    No call starts after the budget is spent. The cost of a reply is known only when it arrives, so
    a run can exceed the budget by one call of each thread.

    Parameters
    ----------
    tokens
        The maximum number of tokens of requests and replies together; None for no limit.
    cost
        The maximum cost, calculated with `prices`. None for no limit.
    prices
        The prices of tokens.
    spent
        Returns the usage of the run in earlier processes and in other processes.

    Raises
    ------
    UsageError
        The cost is limited, but `prices` is None.
    """

    def __init__(
        self,
        tokens: int | None = None,
        cost: float | None = None,
        prices: Prices | None = None,
        spent: Callable[[], Usage] = Usage,
    ) -> None:
        if cost is not None and prices is None:
            raise UsageError(
                "A limit on the cost needs the prices of a million tokens: give --price-input "
                "and --price-output."
            )
        self._tokens, self._cost, self._prices = tokens, cost, prices or Prices()
        self._elsewhere, self._spent = spent, Usage()
        self._lock = threading.Lock()

    @property
    def spent(self) -> Usage:
        """The usage so far."""
        return self._elsewhere() + self._spent

    def check(self) -> None:
        """Raise `BudgetSpentError` if the budget is spent."""
        spent = self.spent
        tokens, cost = _tokens(spent), self._prices.cost(spent)
        if self._tokens is not None and tokens >= self._tokens:
            raise BudgetSpentError(
                f"The budget of {self._tokens:,} tokens is spent ({tokens:,} used)."
            )
        if self._cost is not None and cost >= self._cost:
            raise BudgetSpentError(f"The budget of {self._cost:g} is spent ({cost:.4f} used).")

    def spend(self, usage: Usage) -> None:
        """Add the usage of one call."""
        with self._lock:
            self._spent += usage

    def learn(self, spent: Usage) -> None:
        """Set the usage of the whole run to `spent` if `spent` has more tokens."""
        with self._lock:
            if _tokens(spent) > _tokens(self._spent):
                self._spent = spent


def _tokens(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens


@dataclass(frozen=True, slots=True)
class Retry:
    """Determines when a failed request is repeated.

    The first pause takes `first` seconds. Each further pause is twice as long, up to `longest`.
    Each pause is multiplied by a random share from 0.5 to 1. So threads that fail at the same time
    do not retry at the same time. The seed, the request and the attempt determine the share. A
    provider's ``Retry-After`` has priority. A request is repeated only once after a timeout.

    Attributes
    ----------
    retries
        The maximum number of repetitions of a request.
    first, longest
        The first and the longest pause in seconds. `longest` also limits ``Retry-After``.
    total
        The maximum time in seconds from the start of the first attempt to the start of the last
        attempt.
    seed
        The seed of the random shares.
    """

    retries: int = 6
    first: float = 1.0
    longest: float = 60.0
    total: float = 300.0
    seed: int = 0

    def pause(
        self, request: str, attempt: int, requested: float | None, elapsed: float
    ) -> float | None:
        """Return the seconds to wait after a failed attempt; None to give up.

        Parameters
        ----------
        request
            The id of the request.
        attempt
            The number of the attempt, from 1.
        requested
            How many seconds the provider asks to wait; None if it does not say.
        elapsed
            The seconds since the first attempt began.
        """
        if attempt > self.retries:
            return None
        share = random.Random(f"{self.seed} {attempt} {request}").uniform(0.5, 1.0)  # noqa: S311
        if requested is None:
            wait = min(self.first * 2.0 ** (attempt - 1), self.longest) * share
        else:
            wait = min(requested, self.longest) + self.first * (share - 0.5)
        return wait if elapsed + wait <= self.total else None


@dataclass(frozen=True, slots=True)
class CallPolicy:
    """How a decider calls its models.

    Attributes
    ----------
    retry
        When failed requests are repeated.
    limiter
        Limits the rates and the number of concurrent calls; None for no limit.
    budget
        Limits the tokens and the cost of the run; None for no limit.
    clock
        The source of time.
    timeout
        The maximum seconds from a request to its complete reply; None for no limit.
    """

    retry: Retry = Retry()
    limiter: Limiter | None = None
    budget: Budget | None = None
    clock: Clock = CLOCK
    timeout: float | None = None


DEFAULT_POLICY = CallPolicy()
