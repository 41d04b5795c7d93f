"""Retrieve tuples (section 3.2): by goal type, then by observation type, then by likeness."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from threading import Lock
from typing import Final, Literal

from dqa.core.errors import UsageError
from dqa.core.trajectories import Step, Trajectory
from dqa.deciders.method import Asking
from dqa_ldm2.identity import QuestionIdentity
from dqa_ldm2.memory import Memory, open_memory
from dqa_ldm2.records import Remembered, State
from dqa_ldm2.replies import Recall, Recalled
from dqa_ldm2.situation import Situation
from dqa_ldm2.steps import find_type, warn

_SEARCHED: Final = 10
"""Tuples that are looked at for each whole example."""


class OpenedMemory:
    """A memory that is opened when it is first read. Several threads may read it."""

    def __init__(self, location: str | Memory) -> None:
        self._location = location
        self._lock = Lock()

    def batches(self, most: int | Literal["all"]) -> tuple[int, ...]:
        """Return the first `most` batches."""
        batches = self.get().batches()
        return batches if most == "all" else batches[:most]

    def get(self) -> Memory:
        """Return the memory; `UsageError` if there is none, or it is empty."""
        with self._lock:
            return self._memory

    @cached_property
    def _memory(self) -> Memory:
        memory = self._location
        if not isinstance(memory, Memory):
            memory = open_memory(memory)
        if not memory.batches():
            memory.close()
            raise UsageError(
                f"The memory {memory.location} is empty: build it with 'dqa memory build --world "
                "WORLD --games N --memory FILE', or name another one with --set ldm2.memory=FILE."
            )
        return memory


class Retriever:
    """Retrieves tuples for the situations of one process. Used by one thread.

    Nothing of the question or episode itself is retrieved, and no type's example is of it.

    Parameters
    ----------
    memory
        The memory.
    most
        k.
    asks
        Whether a model names the types; else the words of the text do.
    """

    def __init__(self, memory: Memory, most: int, *, asks: bool = True) -> None:
        self._memory = memory
        self._most = most
        self._asks = asks
        self._own: frozenset[str] | None = None
        self._goal_types: dict[int, str] = {}

    def retrieve(
        self, asking: Asking, situation: Situation, batch: int, history: str
    ) -> tuple[Remembered, ...]:
        """Return the tuples that are most like a situation, and record them."""
        memory = self._memory
        if self._own is None:
            self._own = own_sources(memory, situation)
        own = self._own
        if batch not in self._goal_types:
            types = memory.goal_types(batch, own)
            goal = situation.goal
            self._goal_types[batch] = find_type(asking, "goal", goal, types, batch, asks=self._asks)
        goal_type = self._goal_types[batch]
        types = memory.observation_types(batch, goal_type, own)
        seen = situation.observation
        observation_type = find_type(asking, "observation", seen, types, batch, asks=self._asks)
        state = State(situation.goal, history, seen, own)
        near = memory.find(batch, goal_type, observation_type, state, self._most)
        # Another process may have added tuples in the meantime.
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
        self._warn_of_other_scenarios(asking, situation, found)
        return found

    def _warn_of_other_scenarios(
        self, asking: Asking, situation: Situation, found: Sequence[Remembered]
    ) -> None:
        location, identity = self._memory.location, situation.identity
        if identity is None or not found:
            return
        known = [QuestionIdentity.in_source(one.source) for one in found]
        if not any(one and one.scenario == identity.scenario_word for one in known):
            text = (
                f"The memory {location} has nothing of '{identity.scenario_word}' that is like "
                "this one: the nearest tuples come from elsewhere. Build it from such questions "
                "or games ('dqa memory build')."
            )
            warn(asking, text, 0, len(found))


def own_sources(memory: Memory, situation: Situation) -> frozenset[str]:
    """Return the sources that are the question or episode of a situation."""
    return frozenset(
        goal.source for goal in memory.goals() if situation.is_own(goal.source, goal.text)
    )


def whole_examples(
    memory: Memory, situation: Situation, most: int, *, retrieve: bool
) -> tuple[Trajectory, ...]:
    """Return whole processes, those with the largest rewards first.

    An unknown reward comes after every positive one. They are the first of the memory, the same for
    every question; or, to `retrieve`, those whose goals are most like that of the situation. None
    is of the question or episode itself, or lacks its first step.
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
    begun = min(tuples, key=lambda one: one.number)  # another version has a refined tail
    by_number = {one.number: one for one in reversed(tuples) if one.version == begun.version}
    ordered = [by_number[number] for number in sorted(by_number)]
    steps = tuple(Step(one.observation, one.action) for one in ordered)
    return Trajectory(ordered[0].goal, steps, ordered[0].source, ordered[0].reward)
