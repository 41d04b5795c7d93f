"""The requester of a model's replies.

Two questions may have the same words, so a request alone does not say which recorded reply it
needs. `attempt_by` names the requester of all that a decision asks of its models.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeAlias

Requester: TypeAlias = tuple[str, ...]
"""Names of the requester, such as a question, its database and its decider."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Attempt:
    """One attempt at a decision, with all requests from its start to its end.

    Attributes
    ----------
    requester
        The requester; empty for none.
    played
        The requests that a cassette has answered, so that their replies cost nothing.
    """

    requester: Requester = ()
    played: set[str] = field(default_factory=set)


_attempt: ContextVar[Attempt] = ContextVar("dqa_attempt", default=Attempt())  # noqa: B039  (frozen)

time_limit: ContextVar[threading.Lock | None] = ContextVar("dqa_time_limit", default=None)
"""The lock of a call with a time limit. Only its first holder, the reply or the limit, counts."""


def claim_reply() -> bool:
    """Return whether the reply of the present call comes before its time limit, and so counts."""
    limit = time_limit.get()
    return limit is None or limit.acquire(blocking=False)


def current_attempt() -> Attempt:
    """Return the attempt of this context; one without a requester outside of `attempt_by`."""
    return _attempt.get()


@contextmanager
def attempt_by(*names: str) -> Iterator[Attempt]:
    """Begin an attempt: all requests to models in this context have these names.

    Every attempt replays the records of its requester from the first. A decision that is repeated
    after an outage or in a resumed run gets its earlier replies, and asks only for the others.

    The context includes the threads of LangChain and LangGraph. A decider with its own threads runs
    them in a copy of its context (`contextvars.copy_context`).

    Parameters
    ----------
    *names
        The requester. No two decisions of a cassette may have the same names.
    """
    attempt = Attempt(names)
    token = _attempt.set(attempt)
    try:
        yield attempt
    finally:
        _attempt.reset(token)
