"""What happens in a decision, as typed events: one small class a kind.

A method defines events of its own as further subclasses of `Event`, and names them in a tuple that
the entry point ``dqa.events`` finds. An event of a kind that nobody knows is kept as `OtherEvent`,
so that a trace can be read without the package that wrote it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, ClassVar, Literal, Self, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from dqa.core.database import Cut
from dqa.core.evidence import QUERY, SIMULATING, Evidence
from dqa.core.question import Candidate

Role: TypeAlias = str
"""Which of a decider's models: ``"agent"``, or e.g. ``"planner"`` where another one plans."""


class Event(BaseModel):
    """One thing that happened.

    Attributes
    ----------
    kind
        Which; a subclass gives it a `typing.Literal` of its own.
    step
        Number of the model's reply it belongs to, from 1; 0 before the first.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", json_schema_serialization_defaults_required=True
    )
    version: ClassVar[int] = 1

    kind: str
    step: int = 0

    @property
    def data(self) -> dict[str, Any]:
        """What happened, without `kind` and `step`."""
        return self.model_dump(exclude={"kind", "step"})

    def to_json(self) -> dict[str, Any]:
        """Return the event as a trace holds it."""
        return self.model_dump(mode="json")


class OtherEvent(Event):
    """An event of a kind that no installed package knows, or told in another way than it tells."""

    model_config = ConfigDict(frozen=True, extra="allow")


class PromptEvent(Event):
    """What a model is told first: type and text of each message, and what for."""

    kind: Literal["prompt"] = "prompt"
    messages: tuple[tuple[str, str], ...] = ()
    role: Role = "agent"
    purpose: str | None = None


class ToolUse(BaseModel):
    """A tool that a reply asks for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tool: str
    input: Any = None


class ReplyEvent(Event):
    """A model's reply; `thought` is None where the reply could not be read."""

    kind: Literal["reply"] = "reply"
    text: str = ""
    thought: str | None = None
    calls: tuple[ToolUse, ...] = ()
    role: Role = "agent"
    input_tokens: int = 0
    output_tokens: int = 0


class FaultEvent(Event):
    """A call of a model that failed, and how long it was waited before the next attempt."""

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
    """The plan."""

    kind: Literal["plan"] = "plan"
    text: str


class ReplanEvent(Event):
    """The plan that takes the place of the one before."""

    kind: Literal["replan"] = "replan"
    text: str


_OF_EVIDENCE = frozenset(Evidence.__slots__)


class _Asked(Event):
    statement: str
    observation: str
    row_count: int = 0
    error: str | None = None
    cut: Cut | None = None
    seconds: float = 0.0
    translated: str | None = None
    tool: str
    total: int | None = None

    @classmethod
    def of(cls, evidence: Evidence, step: int) -> Self:
        """Return the event of one evidence; full values stand in the evidence alone."""
        fields = {
            name: getattr(evidence, name) for name in _Asked.model_fields if name in _OF_EVIDENCE
        }
        return cls(step=step, **fields)


class RetrievalEvent(_Asked):
    """A statement and what the database returned."""

    kind: Literal["retrieval"] = "retrieval"


class SimulationEvent(_Asked):
    """What a simulator was asked, and what it returned."""

    kind: Literal["simulation"] = "simulation"


class ToolEvent(_Asked):
    """What another tool was asked, such as a plug-in's, and what it returned."""

    kind: Literal["tool"] = "tool"


def event_of(evidence: Evidence, step: int) -> Event:
    """Return the event of one evidence, by the tool that was asked."""
    if evidence.tool == QUERY:
        return RetrievalEvent.of(evidence, step)
    simulated = evidence.tool in SIMULATING
    return SimulationEvent.of(evidence, step) if simulated else ToolEvent.of(evidence, step)


class WarningEvent(Event):
    """What the decision did not take into account, such as tables that the model was not shown.

    Attributes
    ----------
    about
        What was left out: parts of the ``schema``, ``candidates``, ``calls`` that a bound did not
        let be made, ``rewards`` that a model did not give as asked, ``replies`` that could not be
        used, ``tokens`` that no provider counted, or that a ``memory`` holds nothing of the kind
        or showed steps of the very question.
    text
        What a reader of the decision has to know, and how to mend it.
    considered, total
        How many were taken into account, of how many.
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
    """What the decision may cost is spent.

    Attributes
    ----------
    spent
        Which part of the budget, and how much that was.
    asked
        Whether the model is asked for its decision by what it has seen; else the last candidate
        that it stated counts.
    """

    kind: Literal["budget_spent"] = "budget_spent"
    spent: str
    asked: bool


ReviewKind: TypeAlias = Literal["plan", "statement", "decision"]
"""What a person may be asked to approve."""
ReviewAction: TypeAlias = Literal["approve", "correct", "refuse", "end"]
"""What a person may say to it."""


class ReviewEvent(Event):
    """What a person was asked to approve, and what was said.

    Attributes
    ----------
    about, text, thought, verdict
        What was shown: the kind of thing, its text, what it follows from, what the guard says.
    action, correction, reason, by
        What was answered, and who answered.
    problem
        Why the correction could not be used, so that it was asked again; None where it could.
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
    ]
    problem: str | None
    traceback: str | None = None

    @classmethod
    def of(cls, ending: str, step: int, problem: str | None) -> Self:
        """Return the event of an ending without an answer."""
        return cls.model_validate({"kind": str(ending), "step": step, "problem": problem})


class MoveEvent(Event):
    """A move of a game, behind all that its decision told of.

    Attributes
    ----------
    player, decider
        Whose move it was, and who decided for that player.
    shown
        What the player knew beside the events of the game.
    actions, total
        What was legal: the first ones, and how many there were.
    choice
        What was done; None where the game ended here.
    ending, problem
        How the decision ended, and what went wrong where it is no answer.
    fallback
        Whether the choice is the position's fallback, as the decision named no legal action.
    reference
        What the reference does in the same position; None where nobody asked.
    input_tokens, output_tokens, calls
        What its models used.
    attempt
        Which attempt at the game it belongs to, from 1; 0 where the game was played once.
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
    """An attempt at a game that is played several times, before all that happened in it.

    Attributes
    ----------
    number
        Which, from 1.
    moves
        How many moves it has.
    reward
        What it brought; None where it did not come to its end.
    counts
        Whether it is the one that counts: the one whose choices the game's history has.
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
    ReplanEvent,
    RetrievalEvent,
    SimulationEvent,
    ToolEvent,
    WarningEvent,
    BudgetEvent,
    ReviewEvent,
    MoveEvent,
    AttemptEvent,
    AnswerEvent,
    EndingEvent,
)
"""The events that every method may tell of."""


@cache
def kinds_of(event: type[Event]) -> tuple[str, ...]:
    """Return the kinds that a class of events stands for."""
    return get_args(event.model_fields["kind"].annotation)


ENDING_KINDS = frozenset({*kinds_of(AnswerEvent), *kinds_of(EndingEvent)})
"""Kinds of the events that say how a decision ended, and nothing of how it got there."""


def event_from_json(line: Mapping[str, Any], known: Iterable[type[Event]] = CORE_EVENTS) -> Event:
    """Read an event that `Event.to_json` wrote, or one of version 0.1's, whose data stood apart.

    Parameters
    ----------
    line
        The event as a trace holds it.
    known
        The classes to read it into. A kind that none of them has, or that is told in another way,
        becomes an `OtherEvent`: no event is lost.

    Raises
    ------
    ValueError
        It has no kind, or no number for a step.
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
