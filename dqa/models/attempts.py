"""The requester of a model's replies.

Two questions may have the same words, so a request alone does not say which recorded reply it
needs. `attempt_by` names the requester of all that a decision asks of its models.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeAlias

Requester: TypeAlias = tuple[str, ...]
"""Names that say who asks, such as a question's, its database's and its decider's."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Attempt:
    """One attempt at a decision: all that a requester asks from its beginning to its end.

    Attributes
    ----------
    requester
        Who asks; empty where nobody said.
    played
        The requests that a recording has answered, so that nobody is paid for the replies.
    """

    requester: Requester = ()
    played: set[str] = field(default_factory=set)


_attempt: ContextVar[Attempt] = ContextVar("dqa_attempt", default=Attempt())  # noqa: B039  (frozen)


def current_attempt() -> Attempt:
    """Return the attempt that this context belongs to; outside of `attempt_by`, a nameless one."""
    return _attempt.get()


@contextmanager
def attempt_by(*names: str) -> Iterator[Attempt]:
    """Begin an attempt: what models are asked from here on is asked in these names.

    Every attempt plays what is recorded for its requester from the beginning. A decision that is
    made again, after an outage or in a resumed run, so gets the replies that it had, and asks only
    for those that it lacks.

    The name holds for this context: for what is called from here, and for the threads of LangChain
    and LangGraph. A decider with threads of its own has to run them in a copy of its context
    (`contextvars.copy_context`); otherwise they ask without a requester.

    Parameters
    ----------
    *names
        Who asks. No two decisions of a recording may have the same names.
    """
    attempt = Attempt(names)
    token = _attempt.set(attempt)
    try:
        yield attempt
    finally:
        _attempt.reset(token)
