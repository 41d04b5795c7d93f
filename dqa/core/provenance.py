"""Who made a record, when, and for which decision."""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime


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


_current: ContextVar[CurrentDecision] = ContextVar("dqa_decision", default=CurrentDecision())  # noqa: B039  (frozen)


def current_decision() -> CurrentDecision:
    """Return the decision of this context."""
    return _current.get()


@contextmanager
def while_deciding(decision: CurrentDecision) -> Iterator[None]:
    """Make a decision the current one of this context."""
    token = _current.set(decision)
    try:
        yield
    finally:
        _current.reset(token)


def utc_now() -> str:
    """Return the time as ISO 8601 text in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def user_name() -> str:
    """Return the name of this login; an account without a name is ``unknown``."""
    try:
        return getpass.getuser()
    except (KeyError, ImportError, OSError):  # as in some containers
        return "unknown"
