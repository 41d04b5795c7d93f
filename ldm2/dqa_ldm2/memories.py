"""The memory that a method reads: opened once, and what is retrieved from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import TypeAlias

from dqa.core.errors import UsageError
from dqa.core.trajectories import Step, Trajectory
from dqa_ldm2.memory.base import Memory, Remembered
from dqa_ldm2.memory.opening import open_memory
from dqa_ldm2.retrieving import own_sources
from dqa_ldm2.situation import Situation

Opener: TypeAlias = Callable[[str], Memory]
"""Opens a memory by its file or URL."""

_SEARCHED = 10
"""How many tuples are looked at for each whole example."""


class OpenedMemory:
    """A memory that is opened when it is first read. Several threads may read it.

    Parameters
    ----------
    location
        Its file or URL.
    opener
        Opens it.
    """

    def __init__(self, location: str, opener: Opener = open_memory) -> None:
        self.location = location
        self._opener = opener
        self._lock = Lock()
        self._memory: Memory | None = None

    def get(self) -> Memory:
        """Return the memory.

        Raises
        ------
        UsageError
            There is none, or it holds nothing.
        """
        with self._lock:
            if self._memory is None:
                self._memory = self._opened()
            return self._memory

    def _opened(self) -> Memory:
        memory = self._opener(self.location)
        if not memory.batches():
            memory.close()
            raise UsageError(
                f"Nothing is remembered in '{memory.location}': build it with 'dqa memory build "
                "--world WORLD --games N --memory FILE', or name another one with --set "
                "ldm2.memory=FILE."
            )
        return memory


def whole_examples(memory: Memory, situation: Situation, most: int) -> tuple[Trajectory, ...]:
    """Return whole processes towards goals that are most like a situation's.

    Successful ones go first; of one whose steps are not all remembered, those that are.
    """
    if not most:
        return ()
    own = own_sources(memory, situation)
    found = [one.placed.content for one in memory.search(situation.goal, _SEARCHED * most, own)]
    sources = list(dict.fromkeys(one.source for one in found))
    rewards = {one.source: 1.0 if one.reward is None else one.reward for one in found}
    chosen = sorted(sources, key=lambda source: -rewards[source])[:most]
    tuples = list(memory.tuples(sources=chosen)) if chosen else []
    return tuple(_trajectory(tuples, source) for source in chosen)


def _trajectory(tuples: Sequence[Remembered], source: str) -> Trajectory:
    mine = {
        one.placed.content.number: one.placed.content
        for one in tuples
        if one.placed.content.source == source
    }
    steps = [mine[number] for number in sorted(mine)]
    return Trajectory(
        steps[0].goal,
        tuple(Step(one.observation, one.action) for one in steps),
        source,
        steps[0].reward,
    )
