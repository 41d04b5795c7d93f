"""One addition to a memory, whatever database that is kept in: what is new, and its numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dqa_ldm2.memory.keeping import Prepared, sort_out


@dataclass(slots=True)
class Numbers:
    """A memory's revision, and the numbers that it gives next: none is given twice."""

    revision: int = 0
    next_tuple: int = 1
    next_type: int = 1
    next_batch: int = 1


class Writing(ABC):
    """An addition within its transaction, in which nobody else writes.

    Parameters
    ----------
    numbers
        The memory's; they are counted on.
    version
        The addition's number.

    Attributes
    ----------
    added, batches
        How many tuples were added, and to which batches.
    """

    def __init__(self, numbers: Numbers, version: int) -> None:
        self._numbers = numbers
        self._version = version
        numbers.revision += 1
        self.added = 0
        self.batches: list[int] = []

    @abstractmethod
    def _there(self, batch: int, tuples: Sequence[Prepared]) -> dict[str, int]:
        """Return the ids of those tuples that a batch has, by digest."""

    @abstractmethod
    def _goal_types(self, batch: int) -> dict[str, int]:
        """Return the numbers of a batch's goal types by name."""

    @abstractmethod
    def _observation_types(self, goal_type: int) -> dict[str, int]:
        """Return the numbers of a goal type's observation types by name."""

    @abstractmethod
    def _name_goal_type(self, number: int, name: str, batch: int) -> None:
        """Write a goal type."""

    @abstractmethod
    def _name_observation_type(self, number: int, name: str, goal_type: int) -> None:
        """Write an observation type."""

    @abstractmethod
    def _write(self, rows: list[dict[str, Any]], repeats: list[dict[str, Any]]) -> None:
        """Write tuples, and what was there already of the addition."""

    def add(self, batch: int | None, tuples: list[Prepared], taken: Collection[str]) -> None:
        """Write what of some tuples is new to a batch, or is to be one.

        Parameters
        ----------
        batch
            Which; None for a new one.
        tuples
            To be added.
        taken
            Sources whose tuples are not added.
        """
        there = {} if batch is None else self._there(batch, tuples)
        addition = sort_out(tuples, there, taken)
        if batch is None:
            if not addition.new:
                return
            batch = self._numbers.next_batch
            self._numbers.next_batch += 1
        self.batches.append(batch)
        self.added += len(addition.new)
        first = self._numbers.next_tuple
        self._numbers.next_tuple += len(addition.new)
        rows = [
            {"id": first + place, "batch": batch}
            | {"version": self._version, "since": self._version}
            | {"goal_type_id": goal_type, "observation_type_id": observation_type}
            | _content(each)
            for place, (each, (goal_type, observation_type)) in enumerate(
                zip(addition.new, self._places(batch, addition.new), strict=True)
            )
        ]
        repeats = [*addition.known, *((first + place, each) for place, each in addition.same)]
        again = [
            {"version": self._version, "tuple_id": identifier} | _whose(each)
            for identifier, each in repeats
        ]
        self._write(rows, again)

    def _places(self, batch: int, tuples: Iterable[Prepared]) -> list[tuple[int, int]]:
        """Return the numbers of the types of tuples; what is not there yet is named now."""
        goals = self._goal_types(batch)
        found: dict[int, dict[str, int]] = {}
        places = []
        for each in tuples:
            goal_type, observation_type = each.placed.goal_type, each.placed.observation_type
            if goal_type not in goals:
                goals[goal_type] = self._next_type()
                self._name_goal_type(goals[goal_type], goal_type, batch)
            goal = goals[goal_type]
            if goal not in found:
                found[goal] = self._observation_types(goal)
            if observation_type not in found[goal]:
                found[goal][observation_type] = self._next_type()
                self._name_observation_type(found[goal][observation_type], observation_type, goal)
            places.append((goal, found[goal][observation_type]))
        return places

    def _next_type(self) -> int:
        self._numbers.next_type += 1
        return self._numbers.next_type - 1


def _content(each: Prepared) -> dict[str, Any]:
    said = each.placed.content
    return {
        "goal": said.goal,
        "history": said.history,
        "observation": said.observation,
        "action": said.action,
        "digest": each.digest,
    } | _whose(each)


def _whose(each: Prepared) -> dict[str, Any]:
    said = each.placed.content
    return {"source": said.source, "step": said.number, "reward": said.reward}
