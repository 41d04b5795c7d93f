"""How a failure ends a decision, for every method and for the run."""

from __future__ import annotations

from dqa.core.decision import Ending, Outage
from dqa.core.errors import (
    BudgetSpentError,
    DatabaseUnavailableError,
    InfrastructureError,
    OutOfBudgetError,
    StoppedError,
    UnparsableReplyError,
)
from dqa.core.secrets import redact

EXPECTED_FAILURES = (UnparsableReplyError, BudgetSpentError, InfrastructureError)
"""Failures that end a decision and are neither a bug nor misuse."""


_ENDINGS: tuple[tuple[type[Exception], Ending, Outage | None], ...] = (
    (UnparsableReplyError, Ending.UNPARSABLE, None),
    (OutOfBudgetError, Ending.NO_DECISION, None),
    (BudgetSpentError, Ending.BUDGET, None),
    (StoppedError, Ending.STOPPED, None),
    (DatabaseUnavailableError, Ending.INFRASTRUCTURE, "database"),
    (InfrastructureError, Ending.INFRASTRUCTURE, "model"),
)
"""The first class that an error belongs to decides."""


def ending_of(error: Exception) -> tuple[Ending, str, Outage | None]:
    """Return how an error ends a decision, a line about it, and what failed.

    An unexpected error is a crash. Only a failure of infrastructure names what failed.
    """
    for kind, ending, outage in _ENDINGS:
        if isinstance(error, kind):
            return ending, str(error), outage
    message = redact(" ".join(str(error).split()))
    return Ending.CRASHED, f"{type(error).__name__}: {message}".rstrip(": "), None
