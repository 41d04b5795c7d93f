"""Typed events of a decision: one small class for each kind.

A method defines further subclasses of `Event` and names them in a tuple for the entry point
``dqa.events``. An event of an unknown kind becomes an `OtherEvent`, so a trace can be read without
the package that wrote it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, ClassVar, Literal, Self, TypeAlias, get_args

from pydantic import ConfigDict, ValidationError

from dqa.core.database import Cut
from dqa.core.evidence import QUERY, SIMULATING, Evidence
from dqa.core.question import Candidate
from dqa.core.records import Record

Role: TypeAlias = str
"""The role of a decider's model, such as ``"agent"``."""


class Event(Record):
    """One thing that happened.

    Attributes
    ----------
    kind
        The kind; each subclass has a `typing.Literal` of its own.
    step
        Number of the model's reply that it belongs to, from 1; 0 before the first.
    """

    version: ClassVar[int] = 1

    kind: str
    step: int = 0

    @property
    def data(self) -> dict[str, Any]:
        """The fields without `kind` and `step`."""
        return self.model_dump(exclude={"kind", "step"})


class OtherEvent(Event):
    """An event of an unknown kind, or with other fields than its kind has."""

    model_config = ConfigDict(frozen=True, extra="allow")


class PromptEvent(Event):
    """The first prompt of a model: type and text of each message, and its purpose."""

    kind: Literal["prompt"] = "prompt"
    messages: tuple[tuple[str, str], ...] = ()
    role: Role = "agent"
    purpose: str | None = None


class ToolUse(Record):
    """A tool call in a reply."""

    tool: str
    input: Any = None


class ReplyEvent(Event):
    """A model's reply; `thought` is None where the reply could not be read.

    The provider sends `reasoning` apart from the text, and counts it among the output tokens.
    """

    kind: Literal["reply"] = "reply"
    text: str = ""
    thought: str | None = None
    reasoning: str = ""
    calls: tuple[ToolUse, ...] = ()
    role: Role = "agent"
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0


class FaultEvent(Event):
    """A failed call of a model, and the seconds before the next attempt."""

    kind: Literal["fault"] = "fault"
    fault: str
    error: str
    message: str
    attempt: int
    wait: float | None


class ParseFailureEvent(Event):
    """Why a reply could not be read."""

    kind: Literal["parse_failure"] = "parse_failure"
    problem: str
    role: Role = "agent"


class PlanEvent(Event):
    """The plan, or with the kind ``replan`` the plan that replaces the one before."""

    kind: Literal["plan", "replan"] = "plan"
    text: str


class ToolEvent(Event):
    """A tool call and its result: of the database, of a simulator, or of another tool."""

    kind: Literal["retrieval", "simulation", "tool"]
    statement: str
    observation: str
    row_count: int = 0
    error: str | None = None
    cut: Cut | None = None
    seconds: float = 0.0
    translated: str | None = None
    tool: str
    total: int | None = None


def event_of(evidence: Evidence, step: int) -> Event:
    """Return the event of an evidence; only the evidence has the full values."""
    kind = "simulation" if evidence.tool in SIMULATING else "tool"
    kind = "retrieval" if evidence.tool == QUERY else kind
    names = ToolEvent.model_fields.keys() - Event.model_fields.keys()
    fields = {name: getattr(evidence, name) for name in names}
    return ToolEvent.model_validate({"kind": kind, "step": step, **fields})


class StepEvent(Event):
    """The result of a method's step: what a model replied in its own type, or what was calculated.

    Prompts, replies and their problems are events of their own before it.

    Attributes
    ----------
    purpose
        The name of the step in its method, such as ``forecasting``.
    title
        What readers call it.
    result
        The fields of the result, as JSON.
    titles
        What readers call each field. Fields without a title are for programs only.
    """

    kind: Literal["step"] = "step"
    purpose: str
    title: str
    result: dict[str, Any]
    titles: dict[str, str]

    @property
    def lines(self) -> tuple[str, ...]:
        """The fields with a title and a value other than zero, a line or a block of lines each."""
        return tuple(
            line
            for name, title in self.titles.items()
            for line in _lines_of(title, self.result.get(name))
        )


def _lines_of(title: str, value: Any) -> Iterator[str]:  # noqa: ANN401  (any JSON value)
    """Yield a value with its title: short ones on one line, others below it."""
    if value in (None, False, 0, "", [], {}):
        return
    if isinstance(value, Mapping) or (
        isinstance(value, list) and any(isinstance(one, dict | list) for one in value)
    ):
        yield f"{title}:"
        parts = value.items() if isinstance(value, Mapping) else enumerate(value, 1)
        yield from (f"  {name}: {in_words(part)}" for name, part in parts)
    else:
        yield f"{title}: {in_words(value)}"


def in_words(value: Any) -> str:  # noqa: ANN401  (any JSON value)
    """Return a JSON value as people read it: no brackets, rounded numbers."""
    if isinstance(value, Mapping):
        parts = ((name.replace("_", " "), part) for name, part in value.items())
        return "; ".join(f"{name}: {in_words(part)}" for name, part in parts if part not in _EMPTY)
    if isinstance(value, list):
        return ", ".join(map(in_words, value))
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "unknown"}[value]
    return f"{value:.4g}" if isinstance(value, float) else str(value)


_EMPTY: tuple[Any, ...] = ("", [], {})


class WarningEvent(Event):
    """Something that the decision did not consider, such as tables that the model did not see.

    Attributes
    ----------
    about
        The missing data: parts of the ``schema``, ``candidates``, ``calls`` beyond a bound,
        ``rewards`` that a model did not return as requested, unusable ``replies``, ``tokens``
        without a count, or useful entries of a ``memory`` (also where it contained the question).
    text
        The warning for readers of the decision, and how to fix it.
    considered, total
        How many were considered, of how many.
    left_out
        Names of the others, where no other event has them.
    """

    kind: Literal["warning"] = "warning"
    about: Literal["schema", "candidates", "calls", "rewards", "replies", "tokens", "memory"]
    text: str
    considered: int
    total: int
    left_out: tuple[str, ...] = ()


class BudgetEvent(Event):
    """The budget of the decision is spent.

    Attributes
    ----------
    spent
        The part of the budget, and its size.
    asked
        Whether the model is asked for a decision now; else the last candidate that it named counts.
    """

    kind: Literal["budget_spent"] = "budget_spent"
    spent: str
    asked: bool


ReviewKind: TypeAlias = Literal["plan", "statement", "decision"]
"""The kinds of reviews."""
ReviewAction: TypeAlias = Literal["approve", "correct", "refuse", "end"]
"""A person's answers to a review."""


class ReviewEvent(Event):
    """A review and its answer.

    Attributes
    ----------
    about, text, thought, verdict
        The review: its kind, text, the model's reason, and the guard's verdict.
    action, correction, reason, by
        The answer, and who answered.
    problem
        Why the correction could not be used; None where it could.
    """

    kind: Literal["review"] = "review"
    about: ReviewKind
    text: str
    thought: str = ""
    verdict: str = ""
    action: ReviewAction
    correction: str | None = None
    reason: str = ""
    by: str = ""
    problem: str | None = None


class AnswerEvent(Event):
    """The decision."""

    kind: Literal["answer"] = "answer"
    text: str


class EndingEvent(Event):
    """Why there is no decision; `traceback` where something unexpected was raised."""

    kind: Literal[
        "step_limit",
        "unparsable",
        "infrastructure",
        "budget",
        "stopped",
        "crashed",
        "no_decision",
        "no_evidence",
    ]
    problem: str | None
    traceback: str | None = None

    @classmethod
    def of(cls, ending: str, step: int, problem: str | None) -> Self:
        """Return the event of an ending without an answer."""
        return cls.model_validate({"kind": str(ending), "step": step, "problem": problem})


class MoveEvent(Event):
    """A move of a game, after the events of its decision.

    Attributes
    ----------
    player, decider
        The player, and the decider of that player.
    shown
        The player's knowledge in addition to the events of the game.
    actions, total
        The first legal actions, and the number of all.
    choice
        The action; None where the game ended here.
    ending, problem
        How the decision ended, and the problem where it is not an answer.
    fallback
        Whether the choice is the position's fallback, as the decision named no legal action.
    reference
        The action of the reference in the same position; None without a reference.
    input_tokens, output_tokens, calls
        Usage of its models.
    attempt
        Number of the attempt at the game, from 1; 0 where the game was played once.
    """

    kind: Literal["move"] = "move"
    player: str
    decider: str
    shown: str = ""
    actions: tuple[Candidate, ...] = ()
    total: int
    choice: Candidate | None
    ending: str
    problem: str | None = None
    fallback: bool = False
    reference: Candidate | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0
    attempt: int = 0


class AttemptEvent(Event):
    """An attempt at a game that is played several times, before the events of the attempt.

    Attributes
    ----------
    number
        Number of the attempt, from 1.
    moves
        Number of its moves.
    reward
        Its reward; None where it did not reach its end.
    counts
        Whether the attempt counts: the game's history has its choices.
    """

    kind: Literal["attempt"] = "attempt"
    number: int
    moves: int
    reward: float | None
    counts: bool


CORE_EVENTS: tuple[type[Event], ...] = (
    PromptEvent,
    ReplyEvent,
    FaultEvent,
    ParseFailureEvent,
    PlanEvent,
    ToolEvent,
    StepEvent,
    WarningEvent,
    BudgetEvent,
    ReviewEvent,
    MoveEvent,
    AttemptEvent,
    AnswerEvent,
    EndingEvent,
)
"""The events of all methods."""


@cache
def kinds_of(event: type[Event]) -> tuple[str, ...]:
    """Return the kinds of a class of events."""
    return get_args(event.model_fields["kind"].annotation)


ENDING_KINDS = frozenset({*kinds_of(AnswerEvent), *kinds_of(EndingEvent)})
"""Kinds of the events that say how a decision ended."""


def event_from_json(line: Mapping[str, Any], known: Iterable[type[Event]] = CORE_EVENTS) -> Event:
    """Read an event of `Event.to_json`, or of version 0.1, which had a field ``data``.

    Parameters
    ----------
    line
        The event as a trace contains it.
    known
        The known classes; an event that fits none of them becomes an `OtherEvent`.

    Raises
    ------
    ValueError
        It has no kind, or its step is not a number.
    """
    flat = dict(line)
    data = flat.pop("data", None)
    if isinstance(data, Mapping):
        flat = {"kind": flat.get("kind"), "step": flat.get("step", 0), **data}
    kind = flat.get("kind")
    found = next((event for event in known if kind in kinds_of(event)), OtherEvent)
    try:
        return found.model_validate(flat)
    except ValidationError:
        return OtherEvent.model_validate(flat)
