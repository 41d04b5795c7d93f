"""A memory in a list: the smallest thing that keeps the contract of `Memory`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from dqa.core.errors import UsageError
from dqa.core.trajectories import Trajectory
from dqa_ldm2.indexer import Indexer
from dqa_ldm2.likeness import likeness, words_of
from dqa_ldm2.memory.base import (
    Difference,
    Memory,
    MemoryType,
    Origin,
    Placed,
    Remembered,
    State,
    StateAction,
    Version,
)


class Kept(Memory):
    """Tuples in a list."""

    def __init__(self, location: str = "memory") -> None:
        self.location = location
        self._all: list[Remembered] = []
        self._versions: list[Version] = []
        self.is_closed = False

    def _there(self) -> list[Remembered]:
        undone = {version.number for version in self._versions if version.is_undone}
        return [one for one in self._all if one.version not in undone]

    def batches(self) -> tuple[int, ...]:
        return tuple(sorted({one.batch for one in self._there()}))

    def goal_types(self, batch: int) -> tuple[MemoryType, ...]:
        mine = [one.placed for one in self._there() if one.batch == batch]
        return _types(mine, lambda one: one.goal_type, lambda one: one.content.goal)

    def observation_types(self, batch: int, goal_type: str) -> tuple[MemoryType, ...]:
        of_batch = (one.placed for one in self._there() if one.batch == batch)
        mine = [one for one in of_batch if one.goal_type == goal_type]
        return _types(mine, lambda one: one.observation_type, lambda one: one.content.observation)

    def find(
        self, batch: int, goal_type: str, observation_type: str, state: State, most: int
    ) -> tuple[Remembered, ...]:
        there = [one for one in self._there() if one.batch == batch]
        there = [one for one in there if one.placed.content.source not in state.excluded]
        of_goal = [one for one in there if one.placed.goal_type == goal_type]
        place = [one for one in of_goal if one.placed.observation_type == observation_type]
        words = words_of(f"{state.goal} {state.history} {state.observation}")
        return _ranked(place or of_goal or there, words)[:most]

    def search(self, words: str, most: int) -> tuple[Remembered, ...]:
        return _ranked(self._there(), words_of(words))[:most]

    def add(self, tuples: Sequence[Placed], origin: Origin, batch: int | None = None) -> Version:
        if batch is not None and batch not in self.batches():
            raise UsageError(f"There is no batch {batch}.")
        number = len(self._versions) + 1
        of = max(self.batches(), default=0) + 1 if batch is None else batch
        known = {_state(one.placed.content) for one in self._there() if one.batch == of}
        new = [one for one in tuples if _state(one.content) not in known]
        start = len(self._all) + 1
        self._all += [Remembered(start + i, of, number, one) for i, one in enumerate(new)]
        self._versions.append(Version(number, origin, len(new), (of,)))
        return self._versions[-1]

    def versions(self) -> tuple[Version, ...]:
        return tuple(self._versions)

    def undo(self, version: int) -> Version:
        self._versions[version - 1] = replace(self._versions[version - 1], is_undone=True)
        return self._versions[version - 1]

    def tuples(
        self, *, version: int | None = None, sources: Collection[str] | None = None
    ) -> Iterable[Remembered]:
        for one in self._there():
            if (version is None or one.version <= version) and (
                sources is None or one.placed.content.source in sources
            ):
                yield one

    def diff(self, before: int, after: int) -> Difference:
        old, new = list(self.tuples(version=before)), list(self.tuples(version=after))
        return Difference(
            tuple(one for one in new if one not in old), tuple(one for one in old if one not in new)
        )

    def close(self) -> None:
        self.is_closed = True


def add_subtrajectory(  # noqa: PLR0917
    memory: Memory,
    batch: int,
    trajectory: Trajectory,
    first_step: int,
    indexer: Indexer,
    origin: Origin,
) -> Version:
    """Add the steps from one on, where the indices have them."""
    goal_type = indexer.classify("goal", trajectory.goal, memory.goal_types(batch))
    types = memory.observation_types(batch, goal_type)
    added = []
    for number, step in enumerate(trajectory.steps, 1):
        if number >= first_step:
            history = indexer.summarise(trajectory.goal, trajectory.steps[: number - 1])
            content = StateAction(
                *(trajectory.goal, history, step.observation, step.action, trajectory.source),
                number,
                trajectory.reward,
            )
            seen = indexer.classify("observation", step.observation, types)
            added.append(Placed(content, goal_type, seen))
    return memory.add(added, origin, batch)


def _state(one: StateAction) -> tuple[str, ...]:
    return one.goal, one.history, one.observation, one.action


def _ranked(found: Iterable[Remembered], words: Sequence[str]) -> tuple[Remembered, ...]:
    def near(one: Remembered) -> float:
        content = one.placed.content
        return likeness(words, words_of(f"{content.goal} {content.history} {content.observation}"))

    measured = [replace(one, likeness=near(one)) for one in found]
    return tuple(sorted(measured, key=lambda one: (-one.likeness, one.id)))


def _types(
    placed: Sequence[Placed], name: Callable[[Placed], str], text: Callable[[Placed], str]
) -> tuple[MemoryType, ...]:
    texts: dict[str, list[str]] = {}
    for one in placed:
        texts.setdefault(name(one), []).append(text(one))
    return tuple(
        MemoryType(one, len(of), tuple(dict.fromkeys(of))[:3]) for one, of in texts.items()
    )
