"""Who made a record, when, and for which decision."""

from __future__ import annotations

import getpass
from dataclasses import dataclass
from datetime import UTC, datetime

from dqa.core.context import ContextValue


@dataclass(frozen=True, slots=True)
class CurrentDecision:
    """The decision that is being made; every field is None outside of one.

    Attributes
    ----------
    decision
        Its id.
    question
        The question's key.
    decider, model
        Who decides.
    """

    decision: str | None = None
    question: str | None = None
    decider: str | None = None
    model: str | None = None


_current = ContextValue[CurrentDecision]("dqa_decision", CurrentDecision())


def current_decision() -> CurrentDecision:
    """Return the decision of this context."""
    return _current.get()


while_deciding = _current.use
"""Make a decision the current one of this context."""


def utc_now() -> str:
    """Return the time as ISO 8601 text in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def user_name() -> str:
    """Return the name of this login; an account without a name is ``unknown``."""
    try:
        return getpass.getuser()
    except (KeyError, ImportError, OSError):  # as in some containers
        return "unknown"
