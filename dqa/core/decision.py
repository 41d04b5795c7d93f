"""Decisions: what a decider chose, how it got there and how the run ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from dqa.core.question import Candidate

__all__ = [
    "COMPARE",
    "ENDING_EVENTS",
    "QUERY",
    "SIMULATE",
    "SIMULATING",
    "Decision",
    "Ending",
    "Event",
    "Evidence",
    "Usage",
]

QUERY = "query_database"
"""The tool that asks the database."""
SIMULATE = "simulate"
COMPARE = "compare"
SIMULATING = (SIMULATE, COMPARE)
"""The tools that ask the simulator instead."""


class Ending(StrEnum):
    """How a run ended. Only an `ANSWERED` run has an answer to judge."""

    ANSWERED = "answered"
    STEP_LIMIT = "step_limit"
    UNPARSABLE = "unparsable"
    INFRASTRUCTURE = "infrastructure"
    BUDGET = "budget"


ENDING_EVENTS = frozenset({"answer", *Ending}) - {Ending.ANSWERED}
"""Kinds of the events that say how a run ended, and nothing of how it got there."""


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
class Evidence:
    """What a decider asked its database or its simulator, and what came back.

    Attributes
    ----------
    statement
        As the decider wrote it; of a simulation, what it asked for.
    observation
        What the decider was shown: rows as text, or the error's message.
    row_count
        Rows returned, 0 where it failed.
    error
        Class name of the error, or None.
    cut
        Which limit cut the result ("rows", "bytes", "seconds"), or None.
    seconds
        How long the database took.
    translated
        The statement as it ran, where it was translated from another dialect.
    tool
        The tool that was asked: `QUERY` or one of `SIMULATING`.
    """

    statement: str
    observation: str
    row_count: int = 0
    error: str | None = None
    cut: str | None = None
    seconds: float = 0.0
    translated: str | None = None
    tool: str = QUERY


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened in a run, for the trace: kind, model step (from 1), and its data."""

    kind: str
    step: int
    data: Mapping[str, Any] = field(default_factory=dict)


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
    outage: Literal["database", "model"] | None = None
    trace: tuple[Event, ...] = ()
