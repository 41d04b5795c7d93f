"""Retrieve tuples (section 3.2) by goal type, then by observation type, then by similarity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from dqa.core.decider import Step, Trajectory
from dqa.core.errors import UsageError
from dqa.deciders.method import Asking
from dqa_ldm2.memory import Memory, open_memory
from dqa_ldm2.records import MemoryType, Remembered, State
from dqa_ldm2.replies import Recall, Recalled
from dqa_ldm2.situation import Situation
from dqa_ldm2.steps import Kind, find_type

_SEARCHED: Final = 10
"""The number of tuples to retrieve per example, because one process can have several tuples."""


def open_filled(location: str | Memory) -> Memory:
    """Open a memory that has tuples. Raise `UsageError` if it does not exist or is empty."""
    memory = location if isinstance(location, Memory) else open_memory(location)
    if memory.batches():
        return memory
    memory.close()
    raise UsageError(
        f"The memory {memory.location} is empty. Build it with 'dqa memory build --world WORLD "
        "--games N --memory FILE', or name a different memory with --set ldm2.memory=FILE."
    )


class Retriever:
    """Retrieve tuples for the situations of one process. Not thread-safe.

    Tuples of the question or episode itself are neither retrieved nor shown as examples of a type.

    Parameters
    ----------
    memory
        The memory.
    most
        k, the maximum number of tuples.
    asks
        Whether the model chooses the types; otherwise types are found by comparing words.
    exact
        Whether the tuples are returned without rewards. The prompts of the paper show no rewards.
    """

    def __init__(
        self, memory: Memory, most: int, *, asks: bool = True, exact: bool = False
    ) -> None:
        self._memory = memory
        self._most = most
        self._asks = asks
        self._exact = exact
        self._own: frozenset[str] | None = None
        self._types: dict[tuple[int, Kind, str], str] = {}

    def retrieve(
        self, asking: Asking, situation: Situation, batch: int, history: str
    ) -> tuple[Remembered, ...]:
        """Return the tuples that are most similar to a situation, and record them."""
        memory = self._memory
        if self._own is None:
            self._own = own_sources(memory, situation)
        own = self._own
        goal, seen = situation.goal, situation.observation
        goal_type = self._find_type(asking, batch, "goal", goal, memory.goal_types(batch, own))
        types = memory.observation_types(batch, goal_type, own)
        observation_type = self._find_type(asking, batch, "observation", seen, types)
        state = State(goal, history, seen, own)
        near = memory.find(batch, goal_type, observation_type, state, self._most)
        # Check again, because another process may have added tuples of this question.
        found = tuple(one for one in near if not situation.is_own(one.source, one.goal))
        recall = Recall(
            memory=memory.location,
            batch=batch,
            goal_type=goal_type,
            observation_type=observation_type,
            tuples=tuple(map(Recalled.of, found)),
            own=len(own),
        )
        asking.note("recall", recall)
        return tuple(replace(one, reward=None) for one in found) if self._exact else found

    def _find_type(
        self, asking: Asking, batch: int, kind: Kind, text: str, types: Sequence[MemoryType]
    ) -> str:
        """Return the type of a text. For equal texts, the model is asked only once."""
        key = batch, kind, text
        if key not in self._types:
            self._types[key] = find_type(asking, kind, text, types, batch, asks=self._asks)
        return self._types[key]


def own_sources(memory: Memory, situation: Situation) -> frozenset[str]:
    """Return the sources that belong to the question or episode of a situation."""
    return frozenset(
        goal.source for goal in memory.goals() if situation.is_own(goal.source, goal.text)
    )


def whole_examples(
    memory: Memory, situation: Situation, most: int, *, retrieve: bool
) -> tuple[Trajectory, ...]:
    """Return whole decision processes as examples for a situation.

    Examples with larger rewards come first. An unknown reward ranks below all positive rewards. If
    `retrieve` is true, only processes with similar goals are candidates. Two kinds of processes are
    left out: those of the question or episode itself, and those whose first step is not stored.
    """
    if not most:
        return ()
    left_out = own_sources(memory, situation)
    left_out |= {goal.source for goal in memory.goals() if goal.first != 1}
    rewards = {goal.source: goal.reward for goal in memory.goals() if goal.source not in left_out}
    sources = list(rewards)
    if retrieve:
        found = memory.search(situation.goal, _SEARCHED * most, left_out)
        sources = list(dict.fromkeys(one.source for one in found))

    def rank(source: str) -> tuple[float, bool]:
        reward = rewards[source]
        return -(reward or 0.0), reward is not None

    chosen = sorted(sources, key=rank)[:most]
    steps: dict[str, list[Remembered]] = {source: [] for source in chosen}
    for one in memory.tuples(sources=chosen) if chosen else ():
        steps[one.source].append(one)
    return tuple(map(_trajectory, steps.values()))


def _trajectory(tuples: Sequence[Remembered]) -> Trajectory:
    begun = min(tuples, key=lambda one: one.number)  # later versions have only later steps
    by_number = {one.number: one for one in reversed(tuples) if one.version == begun.version}
    ordered = [by_number[number] for number in sorted(by_number)]
    steps = tuple(Step(one.observation, one.action) for one in ordered)
    return Trajectory(ordered[0].goal, steps, ordered[0].source, ordered[0].reward)
