"""The content of a memory: tuples, their types, and versions (operations that added tuples)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal, TypeAlias

OTHER: Final = "other"
"""The type of a text that does not belong to a named type."""

Making: TypeAlias = Literal["formation", "refinement"]
"""The operation that adds tuples to a memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateAction:
    """A state-action tuple (equation 1) with its goal type and its observation type.

    Attributes
    ----------
    goal, history, observation, action
        The goal, the summary of earlier steps (equation 6), the observation, and the action.
    subgoals
        A text that lists the subgoals, and says which subgoals were complete before the action
        (Table 6). The text is empty if the subgoals were not judged.
    source, number
        The source of the trajectory, and the number of the step (counted from 1).
    reward
        The reward of the trajectory; None if it is unknown.
    goal_type, observation_type
        The types of the goal and of the observation.
    """

    goal: str
    observation: str
    action: str
    source: str
    number: int = 1
    history: str = ""
    subgoals: str = ""
    reward: float | None = None
    goal_type: str = OTHER
    observation_type: str = OTHER


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered(StateAction):
    """A stored tuple.

    Attributes
    ----------
    id
        The unique number of the tuple.
    batch, version
        The numbers of the tuple's batch, and of the version that added the tuple.
    likeness
        The similarity to the query; 0 without a query.
    """

    id: int
    batch: int
    version: int
    likeness: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the tuple in the form of exports and of ``--json``, without id and likeness."""
        values = asdict(self)
        del values["id"], values["likeness"]
        return {"batch": values.pop("batch"), "step": values.pop("number"), **values}


@dataclass(frozen=True, slots=True)
class MemoryType:
    """A goal type or an observation type: name, number of tuples, and some examples."""

    name: str
    size: int
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a version: the operation, the source of the added tuples, and the model."""

    making: Making
    source: str
    model: str = ""


@dataclass(frozen=True, slots=True)
class Version:
    """An operation that added tuples to a memory.

    Attributes
    ----------
    number
        The number of the version. Numbers start at 1 and have no gaps.
    origin
        The operation that added the tuples, their source, and the model.
    added
        The number of added tuples that were new to their batch.
    batches
        The batches that received tuples.
    is_undone
        Whether the version was undone.
    """

    number: int
    origin: Origin
    added: int
    batches: tuple[int, ...]
    is_undone: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the version in the form of ``--json``."""
        values = asdict(self)
        return {"number": values.pop("number"), **values.pop("origin"), **values}


@dataclass(frozen=True, slots=True)
class State:
    """The current state of an agent. The memory is searched for tuples with similar states.

    Attributes
    ----------
    goal, history, observation
        The goal, the summary of the steps so far, and the observation.
    excluded
        Sources whose tuples are never returned, such as the sources of the question itself.
    """

    goal: str
    history: str
    observation: str
    excluded: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True)
class Goal:
    """The goal and the reward of a trajectory, and the number of its first stored step."""

    text: str
    source: str
    reward: float | None
    first: int
