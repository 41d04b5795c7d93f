"""How a failure ends a decision: the one mapping, for every method and for the run around it."""

from __future__ import annotations

from typing import NamedTuple

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
"""Failures that end a decision without being a bug or misuse."""


class FailedEnding(NamedTuple):
    """How a failure ends a decision.

    Attributes
    ----------
    ending
        Never `Ending.ANSWERED`.
    problem
        What went wrong, in one line.
    outage
        What failed where infrastructure did; None everywhere else.
    """

    ending: Ending
    problem: str
    outage: Outage | None = None


def ending_of(error: Exception) -> FailedEnding:
    """Return how `error` ends a decision; what is not in `EXPECTED_FAILURES` is a crash."""
    if isinstance(error, UnparsableReplyError):
        return FailedEnding(Ending.UNPARSABLE, str(error))
    if isinstance(error, OutOfBudgetError):
        return FailedEnding(Ending.NO_DECISION, str(error))
    if isinstance(error, BudgetSpentError):
        return FailedEnding(Ending.BUDGET, str(error))
    if isinstance(error, StoppedError):
        return FailedEnding(Ending.STOPPED, str(error))
    if isinstance(error, InfrastructureError):
        outage: Outage = "database" if isinstance(error, DatabaseUnavailableError) else "model"
        return FailedEnding(Ending.INFRASTRUCTURE, str(error), outage)
    words = redact(" ".join(str(error).split()))
    return FailedEnding(Ending.CRASHED, f"{type(error).__name__}: {words}".rstrip(": "))
