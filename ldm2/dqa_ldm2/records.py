"""The content of a memory: tuples, types, additions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

OTHER: Final = "other"
"""The type of a text that belongs to no named type."""

Making: TypeAlias = Literal["formation", "refinement"]
"""How an addition came about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateAction:
    """A state-action tuple (equation 1) with its place in the two indices.

    Attributes
    ----------
    goal, history, observation, action
        The goal, the summary of earlier steps (equation 6), the observation, and the action.
    subgoals
        The subgoals as they were judged before the action (Table 6); empty where none were.
    source, number
        The trajectory, and the number of its step, from 1.
    reward
        The reward of the trajectory; None where it is unknown.
    goal_type, observation_type
        Its types.
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
        Its number; no number is used twice.
    batch, version
        Its batch, and the addition that brought it.
    likeness
        The likeness to the query; 0 without one.
    """

    id: int
    batch: int
    version: int
    likeness: float = 0.0


@dataclass(frozen=True, slots=True)
class MemoryType:
    """A goal type or an observation type: name, number of tuples, and some examples."""

    name: str
    size: int
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of an addition: its kind, its source, and the model."""

    making: Making
    source: str
    model: str = ""


@dataclass(frozen=True, slots=True)
class Version:
    """An addition.

    Attributes
    ----------
    number
        Its number, from 1 without a gap.
    origin
        Its origin.
    added
        The tuples that were new to their batch.
    batches
        The batches that it added to.
    is_undone
        Whether it was undone.
    """

    number: int
    origin: Origin
    added: int
    batches: tuple[int, ...]
    is_undone: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """The state of an agent that retrieves tuples.

    Attributes
    ----------
    goal, history, observation
        As in `StateAction`.
    excluded
        Sources whose tuples are never returned: above all the question or episode itself.
    """

    goal: str
    history: str
    observation: str
    excluded: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True)
class Goal:
    """The goal of a source, its reward, and the number of its first step."""

    text: str
    source: str
    reward: float | None
    first: int
