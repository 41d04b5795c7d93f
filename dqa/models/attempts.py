"""Identify the decision that requests a reply from a model.

Two questions may have equal texts, so a request alone does not identify its recorded reply.
`attempt_by` names the requester of all requests of a decision.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeAlias

from dqa.core.context import ContextValue

Requester: TypeAlias = tuple[str, ...]
"""The names of a requester, such as a question, its database and its decider."""


@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """One attempt at a decision, with all requests from its start to its end.

    Attributes
    ----------
    requester
        The names that `attempt_by` received, such as a question and its decider. Empty outside of
        `attempt_by`.
    positions
        The number of recorded answers that this attempt has used, by cassette and request.
    """

    requester: Requester = ()
    positions: defaultdict[object, Counter[object]] = field(
        default_factory=lambda: defaultdict(Counter)
    )


_attempt = ContextValue("dqa_attempt", Attempt())
current_attempt = _attempt.get
"""Return the attempt of this context. Outside of `attempt_by`, the attempt has no requester."""

time_limit: ContextVar[threading.Lock | None] = ContextVar("dqa_time_limit", default=None)
"""The lock of a call with a time limit. If the timeout acquires the lock first, the reply is not
used."""


def claim_reply() -> bool:
    """Return whether the current call may use its reply.

    The result is false if the call has already reached its time limit. After a true result, the
    time limit no longer applies.
    """
    limit = time_limit.get()
    return limit is None or limit.acquire(blocking=False)


@contextmanager
def attempt_by(*names: str) -> Iterator[Attempt]:
    """Start a new attempt of a requester. All model requests in this context belong to the attempt.

    Each attempt replays the recorded replies of its requester from the beginning. When a resumed
    run repeats a decision, the decision therefore gets its earlier replies.

    The context includes the threads of LangChain and LangGraph. A decider with its own threads must
    run them in a copy of its context (`contextvars.copy_context`).

    Parameters
    ----------
    *names
        The names that identify the decision, such as its question, database and decider. On one
        cassette, no two decisions may have the same names.
    """
    attempt = Attempt(names)
    with _attempt.use(attempt):
        yield attempt
