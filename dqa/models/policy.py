"""How models are called: retries, limits and budget."""

from __future__ import annotations

import random
from dataclasses import dataclass

from dqa.models.budget import Budget
from dqa.models.limits import CLOCK, Clock, Limiter

REPLY_LIMIT = 1_000_000
"""Most bytes of a reply, unless the user sets another number."""


@dataclass(frozen=True, slots=True)
class Retry:
    """When a request that failed is made again.

    Pauses double from `first` to `longest`, each drawn between half and all of that (jitter), so
    that threads which failed together do not retry together. The draw depends only on the seed, the
    request and the attempt. A provider's ``Retry-After`` has priority.

    Attributes
    ----------
    retries
        Most further attempts at one reply.
    first, longest
        First and longest pause in seconds; `longest` bounds ``Retry-After`` too.
    total
        Seconds after its first attempt beyond which no attempt at a reply begins.
    seed
        Of the jitter.
    """

    retries: int = 6
    first: float = 1.0
    longest: float = 60.0
    total: float = 300.0
    seed: int = 0

    def pause(
        self, request: str, attempt: int, asked: float | None, elapsed: float
    ) -> float | None:
        """Return the seconds to wait after failed attempt number `attempt`; None to give up.

        Parameters
        ----------
        request
            Identifies the request.
        attempt
            From 1.
        asked
            Seconds that the provider asks to wait; None if it does not.
        elapsed
            Seconds since the first attempt began.
        """
        if attempt > self.retries:
            return None
        share = random.Random(f"{self.seed} {attempt} {request}").uniform(0.5, 1.0)  # noqa: S311
        if asked is None:
            wait = min(self.first * 2.0 ** (attempt - 1), self.longest) * share
        else:
            wait = min(asked, self.longest) + self.first * (share - 0.5)
        return wait if elapsed + wait <= self.total else None


@dataclass(frozen=True, slots=True)
class CallPolicy:
    """How a decider calls its models.

    Attributes
    ----------
    retry
        When failed requests are made again.
    limiter
        Rates and concurrent calls; None for no limit.
    budget
        Tokens and money of the run; None for no limit.
    reply_limit
        Most bytes of one reply.
    clock
        The source of time.
    timeout
        Most seconds of one attempt, from the request to the whole reply; None for any number.
    """

    retry: Retry = Retry()
    limiter: Limiter | None = None
    budget: Budget | None = None
    reply_limit: int = REPLY_LIMIT
    clock: Clock = CLOCK
    timeout: float | None = None


DEFAULT_POLICY = CallPolicy()
