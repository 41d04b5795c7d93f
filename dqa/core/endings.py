"""Map errors to endings of a decision."""

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
"""Errors that end a decision but are neither bugs nor wrong usage."""


_ENDINGS: tuple[tuple[type[Exception], Ending, Outage | None], ...] = (
    (UnparsableReplyError, Ending.UNPARSABLE, None),
    (OutOfBudgetError, Ending.NO_DECISION, None),
    (BudgetSpentError, Ending.BUDGET, None),
    (StoppedError, Ending.STOPPED, None),
    (DatabaseUnavailableError, Ending.INFRASTRUCTURE, "database"),
    (InfrastructureError, Ending.INFRASTRUCTURE, "model"),
)
"""The ending for each error class. The first matching class applies."""


def ending_of(error: Exception) -> tuple[Ending, str, Outage | None]:
    """Return the ending for an error, a one-line description, and the failed part.

    An unexpected error is a crash. The failed part is None unless the infrastructure failed.
    """
    for kind, ending, outage in _ENDINGS:
        if isinstance(error, kind):
            return ending, str(error), outage
    message = redact(" ".join(str(error).split()))
    return Ending.CRASHED, f"{type(error).__name__}: {message}".rstrip(": "), None
