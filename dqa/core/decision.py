"""Decisions: the choice, the evidence, and how the decision ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from operator import add, attrgetter
from typing import Any, Literal, Self, TypeAlias

from dqa.core.errors import (
    BudgetSpentError,
    DatabaseUnavailableError,
    InfrastructureError,
    OutOfBudgetError,
    StoppedError,
    UnparsableReplyError,
)
from dqa.core.events import Event, WarningEvent
from dqa.core.evidence import Evidence
from dqa.core.question import Candidate
from dqa.core.secrets import redact

Outage: TypeAlias = Literal["database", "model"]
"""The part of the infrastructure that ended a decision."""


class Ending(StrEnum):
    """How a decision ended. Only an `ANSWERED` decision has an answer."""

    ANSWERED = "answered"
    STEP_LIMIT = "step_limit"
    UNPARSABLE = "unparsable"
    INFRASTRUCTURE = "infrastructure"
    BUDGET = "budget"
    STOPPED = "stopped"
    """A person stopped the decision in a review."""
    CRASHED = "crashed"
    NO_DECISION = "no_decision"
    """The budget was spent before the decider named a candidate."""
    NO_EVIDENCE = "no_evidence"
    """No statement succeeded, so no evidence supports the answer."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and calls of the chat models, including failed calls.

    Attributes
    ----------
    cached_tokens
        The part of `input_tokens` that the provider read from its cache.
    reasoning_tokens
        The part of `output_tokens` that was reasoning.
    uncounted
        The number of calls whose tokens are unknown: the provider did not report them, or the reply
        was lost.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    uncounted: int = 0

    @property
    def unknown(self) -> int:
        """The number of calls whose tokens are unknown; all calls if no tokens are known."""
        return self.uncounted if self.input_tokens or self.output_tokens else self.calls

    @property
    def tokens(self) -> int | None:
        """Input and output tokens together; None if they are unknown for some calls."""
        return None if self.unknown else self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(*map(add, _numbers(self), _numbers(other)))


_numbers = attrgetter(*(field.name for field in fields(Usage)))  # `astuple` would copy deeply


@dataclass(frozen=True, slots=True)
class Decision:
    """The result of one decider for one question.

    Attributes
    ----------
    ending
        How the decision ended.
    answer
        The decider's answer; empty if there is none.
    choice
        The candidate in the answer; None if the answer names no candidate or several.
    evidence
        Every tool call with its result, in order.
    plans
        The plan and each re-plan, in order.
    usage
        The number of tokens and model calls.
    steps
        The number of model replies, including unparsable replies.
    seconds
        The time of the decision in seconds, without the time that people took for reviews.
    error
        A one-line description of the problem, if the decision ended without an answer.
    outage
        The part of the infrastructure that failed; None if the infrastructure did not end the
        decision.
    trace
        All events, in order.
    lost
        The tokens and calls that led to no result. They are the estimated tokens of incomplete
        replies, and the usage of earlier attempts that an outage ended. `usage` does not include
        them.
    ended_by
        The limit that ended the decision early, e.g. ``budget: 3 statements``. In this case, the
        choice is the best candidate according to the evidence so far. None if no limit ended the
        decision.
    """

    ending: Ending
    answer: str = ""
    choice: Candidate | None = None
    evidence: tuple[Evidence, ...] = ()
    plans: tuple[str, ...] = ()
    usage: Usage = Usage()
    steps: int = 0
    seconds: float = 0.0
    error: str | None = None
    outage: Outage | None = None
    trace: tuple[Event, ...] = ()
    lost: Usage = Usage()
    ended_by: str | None = None

    @classmethod
    def join(cls, parts: Sequence[Decision], ending: Ending, **fields: Any) -> Self:  # noqa: ANN401
        """Return one decision that contains the data of several decisions.

        Parameters
        ----------
        parts
            The decisions, in the order of their data.
        ending
            How the joined decision ended.
        fields
            Values of fields of the joined decision. They replace the values from `parts`.
        """
        joined: dict[str, Any] = {
            "evidence": tuple(one for part in parts for one in part.evidence),
            "plans": tuple(plan for part in parts for plan in part.plans),
            "usage": sum((part.usage for part in parts), Usage()),
            "steps": sum(part.steps for part in parts),
            "trace": tuple(event for part in parts for event in part.trace),
            "lost": sum((part.lost for part in parts), Usage()),
        }
        return cls(ending, **joined | fields)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The texts of the decision's warnings, without repetition."""
        texts = (event.text for event in self.trace if isinstance(event, WarningEvent))
        return tuple(dict.fromkeys(texts))


EXPECTED_FAILURES = (UnparsableReplyError, BudgetSpentError, InfrastructureError)
"""Errors that end a decision, apart from bugs and wrong usage."""


_ENDINGS: tuple[tuple[type[Exception], Ending, Outage | None], ...] = (
    (UnparsableReplyError, Ending.UNPARSABLE, None),
    (OutOfBudgetError, Ending.NO_DECISION, None),
    (BudgetSpentError, Ending.BUDGET, None),
    (StoppedError, Ending.STOPPED, None),
    (DatabaseUnavailableError, Ending.INFRASTRUCTURE, "database"),
    (InfrastructureError, Ending.INFRASTRUCTURE, "model"),
)
"""Each error class with its ending and the failed part of the infrastructure. The first matching
class applies."""


def ending_of(error: Exception) -> tuple[Ending, str, Outage | None]:
    """Return the ending that an error causes, a one-line description, and the outage.

    An unexpected error is a crash. The outage is None for errors outside of the infrastructure.
    """
    for kind, ending, outage in _ENDINGS:
        if isinstance(error, kind):
            return ending, str(error), outage
    message = redact(" ".join(str(error).split()))
    return Ending.CRASHED, f"{type(error).__name__}: {message}".rstrip(": "), None
