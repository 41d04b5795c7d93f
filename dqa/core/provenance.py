"""Find the user, the time and the current decision, for entries in records such as an audit."""

from __future__ import annotations

import getpass
from dataclasses import dataclass
from datetime import UTC, datetime

from dqa.core.context import ContextValue


@dataclass(frozen=True, slots=True)
class CurrentDecision:
    """The decision that is being made. Outside a decision, every field is None.

    Attributes
    ----------
    decision
        The id of the decision.
    question
        The key of the question.
    decider, model
        The decider and its model.
    """

    decision: str | None = None
    question: str | None = None
    decider: str | None = None
    model: str | None = None


_current = ContextValue[CurrentDecision]("dqa_decision", CurrentDecision())


current_decision = _current.get
"""Return the decision of this context."""
while_deciding = _current.use
"""Set the current decision of this context."""


def utc_now() -> str:
    """Return the time as ISO 8601 text in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def user_name() -> str:
    """Return the name of the logged-in user, or ``unknown`` if the account has no name."""
    try:
        return getpass.getuser()
    except (KeyError, ImportError, OSError):  # happens in some containers
        return "unknown"
