"""Typed events of a decision, with one class for each kind.

A method may add events of its own subclasses of `Event` to a trace. An event of an unknown kind is
read as an `OtherEvent`, so a trace can be read without the package that wrote it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Literal, Self, TypeAlias, get_args

from pydantic import ConfigDict, ValidationError

from dqa.core.database import Cut
from dqa.core.evidence import QUERY, SIMULATING, Evidence
from dqa.core.question import Candidate
from dqa.core.records import Record

Role: TypeAlias = str
"""The role of a decider's model, such as ``"agent"``."""


class Event(Record):
    """One event of a decision.

    Attributes
    ----------
    kind
        The kind of event. Each subclass declares its kinds as a `typing.Literal`.
    step
        The number (from 1) of the model reply to which the event belongs; 0 before the first reply.
    """

    kind: str
    step: int = 0

    @property
    def data(self) -> dict[str, Any]:
        """All fields except `kind` and `step`."""
        return self.model_dump(exclude={"kind", "step"})


class OtherEvent(Event):
    """An event of an unknown kind, or with unknown fields."""

    model_config = ConfigDict(frozen=True, extra="allow")


class PromptEvent(Event):
    """The first prompt to a model: its purpose, and the type and text of each message."""

    kind: Literal["prompt"] = "prompt"
    messages: tuple[tuple[str, str], ...] = ()
    role: Role = "agent"
    purpose: str | None = None


class ToolUse(Record):
    """A tool call in a reply."""

    tool: str
    input: Any = None


class ReplyEvent(Event):
    """A model's reply. `thought` is None if the reply could not be parsed.

    `reasoning` is text that the provider sent separately from the reply. Its tokens are counted as
    output tokens.
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
    """A failed call of a model, and the waiting time in seconds before the next attempt."""

    kind: Literal["fault"] = "fault"
    fault: str
    error: str
    message: str
    attempt: int
    wait: float | None


class ParseFailureEvent(Event):
    """The reason why a reply could not be parsed."""

    kind: Literal["parse_failure"] = "parse_failure"
    problem: str
    role: Role = "agent"


class PlanEvent(Event):
    """A plan. With the kind ``replan`` it replaces the previous plan."""

    kind: Literal["plan", "replan"] = "plan"
    text: str


class ToolEvent(Event):
    """A call of a tool (database, simulator or another tool) and its result."""

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
    """Return the event of a tool call, with the rounded numbers that the model saw."""
    kind = "simulation" if evidence.tool in SIMULATING else "tool"
    kind = "retrieval" if evidence.tool == QUERY else kind
    names = ToolEvent.model_fields.keys() - Event.model_fields.keys()
    fields = {name: getattr(evidence, name) for name in names}
    return ToolEvent.model_validate({"kind": kind, "step": step, **fields})


class StepEvent(Event):
    """The result of one step of a method: a validated reply of a model, or a calculated value.

    Earlier events record the prompts, the replies and the problems with the replies.

    Attributes
    ----------
    purpose
        The name of the step in its method, such as ``forecasting``.
    title
        The title of the step, for readers.
    result
        The fields of the result, as JSON.
    titles
        The title of each field, by the field's name. Readers do not see fields without a title.
    """

    kind: Literal["step"] = "step"
    purpose: str
    title: str
    result: dict[str, Any]
    titles: dict[str, str]

    @property
    def lines(self) -> tuple[str, ...]:
        """The fields as lines of text, without fields that are empty, zero or without a title."""
        return tuple(
            line
            for name, title in self.titles.items()
            for line in _lines_of(title, self.result.get(name))
        )


def _lines_of(title: str, value: Any) -> Iterator[str]:  # noqa: ANN401  (any JSON value)
    """Yield lines with a title and a value. A nested value starts on the line below its title."""
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
    """Return a JSON value as readable text, without brackets and with rounded numbers."""
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
    """A warning that the decision ignored some data, such as tables missing from the prompt.

    Attributes
    ----------
    about
        The kind of ignored data:

        - ``schema``: tables, labels or relationship types
        - ``candidates``
        - ``calls``: tool calls beyond a limit
        - ``rewards``: rewards that the model returned in a wrong form
        - ``replies``: unusable replies
        - ``tokens``: tokens that the provider did not report
        - ``memory``: entries of a memory, or a memory that contains the question itself
    text
        The warning, with advice on how to fix its cause.
    considered, total
        The number of items that were used, and the number of all items.
    left_out
        The names of ignored items. Empty if another event of the decision contains these names.
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
        The name and the value of the limit that is reached.
    asked
        Whether the model is now asked for a decision. If not, the decision is the last candidate
        that the model named.
    """

    kind: Literal["budget_spent"] = "budget_spent"
    spent: str
    asked: bool


ReviewKind: TypeAlias = Literal["plan", "statement", "decision"]
"""The kinds of reviews."""
ReviewAction: TypeAlias = Literal["approve", "correct", "refuse", "end"]
"""The possible answers to a review."""


class ReviewEvent(Event):
    """A review and its answer.

    Attributes
    ----------
    about
        The kind of the reviewed text: a plan, a statement or the decision.
    text, thought
        The reviewed text, and the model's reason for it.
    verdict
        The guard's verdict on a statement.
    action, correction, reason
        The answer: the person's action, the new text and the reason.
    by
        The name of the person.
    problem
        The reason why the correction could not be used; None if it could be used.
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
    """The reason why a decision has no answer, with the traceback of an unexpected exception."""

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
        """Return the event of a decision that ended without an answer."""
        return cls.model_validate({"kind": str(ending), "step": step, "problem": problem})


class MoveEvent(Event):
    """A move in a game. In a trace, it follows the events of the decision for this move.

    Attributes
    ----------
    player, decider
        The player, and the player's decider.
    shown
        The information shown to the player in addition to the events of the game.
    actions, total
        The first legal actions, and the number of all legal actions.
    choice
        The chosen action; None if the game ended here.
    ending, problem
        How the decision ended, and the problem if it ended without an answer.
    fallback
        Whether the position's fallback action was chosen because the decision named no legal
        action.
    reference
        The action that the reference decider chose in the same position; None without a reference.
    input_tokens, output_tokens, calls
        The tokens and calls of the decider's models.
    attempt
        The number of the attempt at the game, from 1; 0 if the game was played only once.
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
    """An attempt at a game that is played several times. The events of the attempt follow it.

    Attributes
    ----------
    number
        The number of the attempt, from 1.
    moves
        The number of moves.
    reward
        The reward; None if the game did not end.
    counts
        Whether this attempt is scored. If so, the game's history contains its choices.
    """

    kind: Literal["attempt"] = "attempt"
    number: int
    moves: int
    reward: float | None
    counts: bool


CORE_EVENTS: tuple[type[Event], ...] = tuple(
    event for event in Event.__subclasses__() if event is not OtherEvent
)
"""The event classes that all methods share."""


@cache
def kinds_of(event: type[Event]) -> tuple[str, ...]:
    """Return the kinds that an event class declares."""
    return get_args(event.model_fields["kind"].annotation)


ENDING_KINDS = frozenset({*kinds_of(AnswerEvent), *kinds_of(EndingEvent)})
"""Kinds of the events that say how a decision ended."""


def event_from_json(line: Mapping[str, Any]) -> Event:
    """Read an event from the result of `Event.to_json`. An unknown event becomes an `OtherEvent`.

    Parameters
    ----------
    line
        The event as JSON values, from a trace.

    Raises
    ------
    ValueError
        The event has no kind, or its step is not a number.
    """
    kind = line.get("kind")
    found = next((event for event in CORE_EVENTS if kind in kinds_of(event)), OtherEvent)
    try:
        return found.model_validate(line)
    except ValidationError:
        return OtherEvent.model_validate(line)
