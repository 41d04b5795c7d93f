"""The memory that a method reads: opened once, and what is retrieved from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Lock
from typing import TypeAlias

from dqa.core.errors import UsageError
from dqa.core.trajectories import Step, Trajectory
from dqa_ldm2.events import Recalled, RecallEvent
from dqa_ldm2.memory.base import Memory, Remembered, State
from dqa_ldm2.memory.opening import open_memory
from dqa_ldm2.situation import Situation

Opener: TypeAlias = Callable[[str], Memory]
"""Opens a memory by its file or URL."""

_MOST = 4_096
"""Most tuples that are asked for, as some may be of the very episode or question."""
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


def recall(  # noqa: PLR0913  (each is a question of its own to the memory)
    memory: Memory,
    batch: int,
    place: tuple[str, str],
    situation: Situation,
    *,
    history: str,
    most: int,
) -> tuple[tuple[Remembered, ...], RecallEvent]:
    """Return the tuples that are most like a situation (equation 3), and what tells of it.

    Nothing that comes from this very episode or question is among them, whatever it is called.

    Parameters
    ----------
    memory, batch
        Where from.
    place
        Goal type and observation type.
    situation
        Where somebody is.
    history
        What was done, in short.
    most
        k.
    """
    state = State(situation.goal, history, situation.observation, situation.sources)
    own: set[int] = set()
    asked = most
    while True:
        found = memory.find(batch, *place, state, asked)
        mine = [one for one in found if situation.is_own(one.placed.content.source)]
        own |= {one.id for one in mine}
        kept = [one for one in found if one not in mine]
        if mine:
            # Named exactly now, so that the memory itself leaves them out.
            names = {one.placed.content.source for one in mine}
            state = replace(state, excluded=state.excluded | names)
        if len(kept) >= most or (len(found) < asked and not mine) or asked >= _MOST:
            break
        asked *= 2
    shown = tuple(kept[:most])
    event = RecallEvent(
        memory=memory.location,
        batch=batch,
        goal_type=place[0],
        observation_type=place[1],
        tuples=tuple(
            Recalled(
                id=one.id,
                version=one.version,
                source=one.placed.content.source,
                number=one.placed.content.number,
                action=one.placed.content.action,
                likeness=one.likeness,
            )
            for one in shown
        ),
        own=len(own),
    )
    return shown, event


def whole_examples(memory: Memory, situation: Situation, most: int) -> tuple[Trajectory, ...]:
    """Return whole processes towards goals that are most like a situation's.

    Successful ones go first; of one whose steps are not all remembered, those that are.
    """
    if not most:
        return ()
    searched = memory.search(situation.goal, _SEARCHED * most)
    found = [
        one.placed.content for one in searched if not situation.is_own(one.placed.content.source)
    ]
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
