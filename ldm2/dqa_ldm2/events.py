"""LDM2's own events: what its operations found, as a trace holds it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from dqa.core.events import Event
from dqa.core.question import Candidate

Number: TypeAlias = Annotated[int, Field(ge=0)]
"""How many there are, or which; 0 for none."""
Kind: TypeAlias = Literal["goal", "observation"]
"""Which of the two indices."""


class _Told(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Subgoal(_Told):
    """A part of a goal, and whether what was done completes it."""

    goal: str
    complete: bool


class EvaluationEvent(Event):
    """How far what was done is on the way to the goal (Table 4, evaluation)."""

    kind: Literal["subgoals"] = "subgoals"
    subgoals: tuple[Subgoal, ...]


class SummaryEvent(Event):
    """What was done so far, in short (equation 6).

    Attributes
    ----------
    text
        The summary.
    steps
        How many steps it covers.
    known
        How many of these an earlier summary told, which was shown in their place.
    """

    kind: Literal["history_summary"] = "history_summary"
    text: str
    steps: Number
    known: Number = 0


class ClustersEvent(Event):
    """The types of an index (equations 7 and 8).

    Attributes
    ----------
    of
        Goals or observations.
    types
        By name, how many belong to it.
    forgotten
        How many no reply gave a type, so that they are in one of their own.
    """

    kind: Literal["clusters"] = "clusters"
    of: Kind
    types: Mapping[str, Number]
    forgotten: Number = 0


class IndexedEvent(Event):
    """Which type a goal or an observation belongs to.

    Attributes
    ----------
    of, type
        What was looked up, and its type; empty where the index has none.
    batch
        Of which batch memory.
    how
        The model was asked; there was a single type, or an exact known text; it was the nearest by
        its words; or no reply named one, so that the nearest was taken.
    """

    kind: Literal["indexed"] = "indexed"
    of: Kind
    type: str
    batch: Number
    how: Literal["asked", "known", "nearest", "unusable"]


class Recalled(_Told):
    """A remembered tuple that a prompt showed.

    Attributes
    ----------
    id, version
        The tuple in its memory, and with which addition it came.
    source, number
        Whose step it is, and which.
    action
        What was done then.
    likeness
        How like it is to the situation.
    """

    id: Number
    version: Number
    source: str
    number: Number
    action: str
    likeness: float


class RecallEvent(Event):
    """What was retrieved for a situation (equation 3), the most like first.

    Attributes
    ----------
    memory, batch
        Where from.
    goal_type, observation_type
        The place in the two indices.
    tuples
        What the prompt shows of it.
    own
        How many sources were left out because they are this very episode or question.
    """

    kind: Literal["recall"] = "recall"
    memory: str
    batch: Number
    goal_type: str
    observation_type: str
    tuples: tuple[Recalled, ...]
    own: Number = 0


class ImitationEvent(Event):
    """The action (equation 2), and the remembered tuple that it comes from.

    Attributes
    ----------
    action, reasoning
        What was chosen, and why.
    tuple_id, source
        The tuple that did the same, or else the one that did what is most like it; None and empty
        where nothing was remembered.
    is_same
        Whether the tuple did exactly this.
    by
        Whether a model chose, or it was the only action.
    """

    kind: Literal["imitation"] = "imitation"
    action: Candidate
    reasoning: str = ""
    tuple_id: Number | None = None
    source: str = ""
    is_same: bool = False
    by: Literal["model", "only"] = "model"


class Confident(_Told):
    """An action, and how confident the model is that it is the best."""

    action: Candidate
    confidence: Annotated[float, Field(ge=0.0, le=1.0)]


class ConfidencesEvent(Event):
    """Actions that may be taken in a node, with confidences (equation 9).

    Attributes
    ----------
    actions
        In the order of their confidences, which add up to 1.
    said
        What they added up to as the model gave them; None where all were missing.
    missing
        How many actions came without one.
    dropped
        How many were not legal in any reply.
    majority
        Whether nothing was asked, as the retrieved actions agree; the share that does.
    """

    kind: Literal["confidences"] = "confidences"
    actions: tuple[Confident, ...]
    said: float | None = None
    missing: Number = 0
    dropped: Number = 0
    majority: float | None = None


class ExploredNode(_Told):
    """A state of an exploration.

    Attributes
    ----------
    number, parent
        Which, from 0, the root, and which one it follows from; None of the root.
    action
        What led to it; None for the root.
    confidence
        Of the whole path: the product of its confidences.
    depth
        How many steps lie before it.
    is_kept
        Whether it was reached; a node that was pruned was not.
    is_ground
        Whether it lies on the ground process.
    reward
        What the process brought; None but for ends.
    problem
        What ended the path where nothing could go on from there.
    """

    number: Number
    parent: Number | None
    action: Candidate | None
    confidence: float
    depth: Number
    is_kept: bool = True
    is_ground: bool = False
    reward: float | None = None
    problem: str = ""


class ExplorationEvent(Event):
    """What was explored of a goal (section 3.3): nodes, the root first."""

    kind: Literal["exploration"] = "exploration"
    source: str
    nodes: tuple[ExploredNode, ...]

    @model_validator(mode="after")
    def _check(self) -> Self:
        if [node.number for node in self.nodes] != list(range(len(self.nodes))):
            raise ValueError("nodes of an exploration are numbered in their order, from 0")
        if any((node.parent or 0) >= max(node.number, 1) for node in self.nodes):
            raise ValueError("a node of an exploration follows from a later one")
        return self


class ProcessChosenEvent(Event):
    """Which of several decision processes is the best (equation 5).

    Attributes
    ----------
    best, of
        Which, from 1, and of how many.
    reasoning
        Why.
    by
        Whether a model chose, there was a single one, or the largest reward decided.
    """

    kind: Literal["process_chosen"] = "process_chosen"
    best: Number
    of: Number
    reasoning: str = ""
    by: Literal["model", "only", "reward"] = "model"


class KeyStepEvent(Event):
    """Where the best process leaves the ground process (equation 10).

    Attributes
    ----------
    key_step
        The first step that differs.
    said
        What the model said; None where no reply could be used.
    """

    kind: Literal["key_step"] = "key_step"
    key_step: Number
    said: int | None


class ReflectionEvent(Event):
    """What a trial is to do otherwise than those before it (Reflexion)."""

    kind: Literal["verbal_reflection"] = "verbal_reflection"
    text: str
    trials: Number


EVENTS: tuple[type[Event], ...] = (
    EvaluationEvent,
    SummaryEvent,
    ClustersEvent,
    IndexedEvent,
    RecallEvent,
    ImitationEvent,
    ConfidencesEvent,
    ExplorationEvent,
    ProcessChosenEvent,
    KeyStepEvent,
    ReflectionEvent,
)
"""What the entry point ``dqa.events`` names."""
