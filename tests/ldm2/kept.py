"""A memory in a list: the smallest thing that keeps the contract of `Memory`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from dqa.core.errors import UsageError
from dqa.deciders.prompting import fold
from dqa_ldm2.likeness import likeness, words_of
from dqa_ldm2.memory.base import (
    Difference,
    Making,
    Memory,
    MemoryType,
    Origin,
    Placed,
    Recall,
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

    def goal_types(
        self, batch: int, excluded: Collection[str] = frozenset()
    ) -> tuple[MemoryType, ...]:
        mine = self._of(batch, excluded)
        return _types(mine, lambda one: one.goal_type, lambda one: one.content.goal)

    def observation_types(
        self, batch: int, goal_type: str, excluded: Collection[str] = frozenset()
    ) -> tuple[MemoryType, ...]:
        mine = [one for one in self._of(batch, excluded) if one.goal_type == goal_type]
        return _types(mine, lambda one: one.observation_type, lambda one: one.content.observation)

    def _of(self, batch: int, excluded: Collection[str]) -> list[Placed]:
        return [
            one.placed
            for one in self._there()
            if one.batch == batch and one.placed.content.source not in excluded
        ]

    def recall(
        self, batch: int, goal_type: str, observation_type: str, state: State, most: int
    ) -> Recall:
        there = [one for one in self._there() if one.batch == batch]
        there = [one for one in there if one.placed.content.source not in state.excluded]
        of_goal = [one for one in there if one.placed.goal_type == goal_type]
        place = [one for one in of_goal if one.placed.observation_type == observation_type]
        words = words_of(f"{state.goal} {state.history} {state.observation}")
        return Recall(_ranked(place or of_goal or there, words)[:most])

    def search(
        self, words: str, most: int, excluded: Collection[str] = frozenset()
    ) -> tuple[Remembered, ...]:
        there = [one for one in self._there() if one.placed.content.source not in excluded]
        return _ranked(there, words_of(words))[:most]

    def sources(self, making: Making | None = None) -> frozenset[str]:
        made = {
            version.number
            for version in self._versions
            if making is None or version.origin.making == making
        }
        there = (one for one in self._there() if one.version in made)
        return frozenset(one.placed.content.source for one in there)

    def sources_of_goal(self, words: str) -> frozenset[str]:
        contents = (one.placed.content for one in self._there())
        return frozenset(one.source for one in contents if fold(one.goal) == words)

    def add_batches(self, batches: Sequence[Sequence[Placed]], origin: Origin) -> Version:
        raise NotImplementedError

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
