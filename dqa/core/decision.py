"""Decisions: the choice, the evidence and the end of a run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from dqa.core.events import Event, WarningEvent
from dqa.core.evidence import Evidence
from dqa.core.question import Candidate

Outage: TypeAlias = Literal["database", "model"]
"""What failed where infrastructure ended a decision."""


class Ending(StrEnum):
    """How a run ended. Only an `ANSWERED` run has an answer to judge."""

    ANSWERED = "answered"
    STEP_LIMIT = "step_limit"
    UNPARSABLE = "unparsable"
    INFRASTRUCTURE = "infrastructure"
    BUDGET = "budget"
    STOPPED = "stopped"
    """A person who was asked to approve something ended it."""
    CRASHED = "crashed"
    NO_DECISION = "no_decision"
    """Its own budget was spent before it stated anything that could be chosen."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and calls of the chat model(s)."""

    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.calls + other.calls,
        )


@dataclass(frozen=True, slots=True)
class Decision:
    """The outcome of asking one decider one question.

    Attributes
    ----------
    ending
        How the run ended.
    answer
        The decider's final words, empty where there are none.
    choice
        The candidate those words name, or None where they name none or several.
    evidence
        Every statement tried, in order.
    plans
        The plan and each re-plan, in order.
    usage
        Tokens and calls.
    steps
        Model replies, including unparsable ones.
    seconds
        Wall-clock time of the whole run.
    error
        One line of what went wrong where the run did not end with an answer.
    outage
        What failed where infrastructure ended the run; None everywhere else.
    trace
        Everything that happened, in order.
    lost
        What was used besides and led to nothing: replies that never came whole, by an estimate,
        and attempts at the decision that an outage ended.
    ended_by
        What ended the run before its decider did, such as ``budget: 3 statements``: the choice is
        then the best by what had been seen. None where the decider came to its end.
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

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the decision did not take into account, each once."""
        told = (event.text for event in self.trace if isinstance(event, WarningEvent))
        return tuple(dict.fromkeys(told))
