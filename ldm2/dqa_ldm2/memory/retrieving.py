"""Retrieval, whatever database a memory is kept in: by type, then by likeness.

An index over a place's words is made when the place is asked for first, and kept until an addition
or an undoing changes its batch, by whichever process. What it finds is then read from the database
by the guarded query layer, so that the tuples an action came from are evidence like any other.
"""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any, Final, TypeAlias

from dqa.core.database import Limits, Rows
from dqa.core.errors import UsageError
from dqa.core.evidence import Evidence
from dqa.deciders.prompting import fold
from dqa.guard import GuardedDatabase
from dqa_ldm2.memory.base import (
    Making,
    Memory,
    MemoryType,
    Placed,
    Recall,
    Remembered,
    State,
    StateAction,
)
from dqa_ldm2.memory.words import WordIndex

Scope: TypeAlias = tuple[int | None, str | None, str | None]
"""A batch, a goal type and an observation type; None for all."""

_Key: TypeAlias = tuple[int, str | None, frozenset[str]]
"""A batch, a goal type or None for the index of goals, and what is left out."""

COLUMNS: Final = (
    *("id", "batch", "version", "goal_type", "observation_type"),
    *("goal", "history", "observation", "action", "source", "step", "reward"),
)
"""What is read of a tuple, in this order."""

_KEPT: Final = 500_000
"""Tuples in all the indexes that are kept: about 1 kB each."""
_RECENT: Final = 0.1
"""Seconds for which types are taken for those that they were: an agent asks for its batches, for
types twice and for tuples, and what was added in between is in the tuples."""
_TYPES_KEPT: Final = 4_096
_EXAMPLES: Final = 3
_AT_ONCE: Final = 1_000
"""Tuples that one statement reads."""
_LIMITS: Final = Limits(rows=_AT_ONCE, bytes=1 << 30, seconds=60.0, cell=1 << 30)
"""A tuple is never shortened: what was said is what is remembered."""


class RetrievingMemory(Memory):
    """A memory that keeps indexes of the places that were asked for."""

    def __init__(self) -> None:
        self._looking = Lock()
        self._seen = -1
        self._looked = -math.inf
        self._indexes: OrderedDict[Scope, WordIndex] = OrderedDict()
        self._types: OrderedDict[_Key, tuple[MemoryType, ...]] = OrderedDict()
        self._batches: tuple[int, ...] = ()
        self._sources: frozenset[str] | None = None
        self._goals: dict[str, set[str]] | None = None
        self._reader: GuardedDatabase | None = None

    @abstractmethod
    def _revision(self) -> int:
        """Return a number that every addition and every undoing increases."""

    @abstractmethod
    def _changed(self, since: int) -> Collection[int]:
        """Return the batches that were changed after a revision."""

    @abstractmethod
    def _batch_numbers(self) -> Sequence[int]:
        """Return the batches of which something can be found."""

    @abstractmethod
    def _read_sources(self, making: Making | None) -> frozenset[str]:
        """Return whose steps it holds; see `Memory.sources`."""

    @abstractmethod
    def _read_goals(self) -> Iterable[tuple[str, str]]:
        """Return every goal with every source of its tuples, each such pair once."""

    @abstractmethod
    def _documents(self, scope: Scope) -> Iterable[tuple[int, str, str]]:
        """Return id, source and text of the tuples of a scope, in the order of ids."""

    @abstractmethod
    def _texts(
        self, batch: int, goal_type: str | None, excluded: Collection[str]
    ) -> Iterable[tuple[str, str, int]]:
        """Return types, texts and how many tuples have each.

        They are the goals of a batch by goal type, or the observations of a goal type by theirs:
        types in the order in which they were named, texts in that in which they came.
        """

    @abstractmethod
    def _statement(self, ids: Sequence[int]) -> str:
        """Return the statement that reads tuples by their ids: `COLUMNS`, in the order of ids."""

    @abstractmethod
    def _open_reader(self) -> GuardedDatabase:
        """Open the tuples read-only."""

    def batches(self) -> tuple[int, ...]:
        """Return the numbers of the batches, in order; of those that are not wholly undone."""
        self._refresh()
        return self._batches

    def goal_types(
        self, batch: int, excluded: Collection[str] = frozenset()
    ) -> tuple[MemoryType, ...]:
        """Return the goal index of a batch; see `Memory.goal_types`."""
        self._refresh(_RECENT)
        self._require_batch(batch)
        return self._types_of((batch, None, frozenset(excluded)))

    def observation_types(
        self, batch: int, goal_type: str, excluded: Collection[str] = frozenset()
    ) -> tuple[MemoryType, ...]:
        """Return the observation index of a goal type; none where the batch has no such type."""
        self._refresh(_RECENT)
        self._require_batch(batch)
        return self._types_of((batch, goal_type, frozenset(excluded)))

    def recall(
        self, batch: int, goal_type: str, observation_type: str, state: State, most: int
    ) -> Recall:
        """Return the tuples of a place that are most like a state; see `Memory.recall`."""
        _require_some(most)
        self._refresh()
        self._require_batch(batch)
        about = document(state.goal, state.history, state.observation)
        place = (batch, goal_type, observation_type)
        for scope in (place, (batch, goal_type, None), (batch, None, None)):
            found = self._index(scope).best(about, most, state.excluded)
            if found:
                return self._read(found)
        return Recall()

    def search(
        self, words: str, most: int, excluded: Collection[str] = frozenset()
    ) -> tuple[Remembered, ...]:
        """Return the tuples of all batches that are most like some words."""
        _require_some(most)
        self._refresh()
        found = self._index((None, None, None)).best(words, most, excluded)
        return self._read([each for each in found if each[1] > 0.0]).found

    def sources(self, making: Making | None = None) -> frozenset[str]:
        """Return whose steps it holds; see `Memory.sources`."""
        if making is not None:
            return self._read_sources(making)
        self._refresh()
        with self._looking:
            known, seen = self._sources, self._seen
        if known is None:
            known = self._read_sources(None)
            with self._looking:
                if seen == self._seen:
                    self._sources = known
        return known

    def sources_of_goal(self, words: str) -> frozenset[str]:
        """Return whose steps have a goal in these words; see `Memory.sources_of_goal`.

        Goals are read for it once, and nothing else: an index of all words takes many times as
        long, and finds what is like a goal, where what is the same is asked for.
        """
        self._refresh()
        with self._looking:
            known, seen = self._goals, self._seen
        if known is None:
            known = {}
            for goal, source in self._read_goals():
                known.setdefault(fold(goal), set()).add(source)
            with self._looking:
                if seen == self._seen:
                    self._goals = known
        return frozenset(known.get(words, ()))

    def close(self) -> None:
        """Release the connections that read."""
        with self._looking:
            if self._reader is not None:
                self._reader.close()
                self._reader = None

    def _refresh(self, recent: float = 0.0) -> None:
        """Forget what another process, or this one, has changed meanwhile.

        Parameters
        ----------
        recent
            Seconds for which what was found the last time will do.
        """
        now = time.monotonic()
        if now - self._looked < recent:
            return
        revision = self._revision()
        self._looked = now
        if revision == self._seen:
            return
        changed = set(self._changed(self._seen))
        batches = tuple(self._batch_numbers())
        with self._looking:
            for scope in [each for each in self._indexes if each[0] in changed | {None}]:
                del self._indexes[scope]
            for key in [each for each in self._types if each[0] in changed]:
                del self._types[key]
            self._batches, self._sources, self._goals = batches, None, None
            # What is changed behind the revision that was read is changed again at the next one.
            self._seen = revision

    def _look_again(self) -> None:
        """Let what this process has just changed be seen at once."""
        self._looked = -math.inf

    def _require_batch(self, batch: int) -> None:
        if batch not in self._batches:
            raise UsageError(unknown_batch(self.location, batch, self._batches))

    def _index(self, scope: Scope) -> WordIndex:
        with self._looking:
            index, seen = self._indexes.get(scope), self._seen
            if index is not None:
                self._indexes.move_to_end(scope)
                return index
        index = WordIndex(self._documents(scope))
        with self._looking:
            if seen == self._seen:  # else it may lack what was added meanwhile
                self._indexes[scope] = index
            while len(self._indexes) > 1 and sum(i.size for i in self._indexes.values()) > _KEPT:
                self._indexes.popitem(last=False)
        return index

    def _types_of(self, key: _Key) -> tuple[MemoryType, ...]:
        with self._looking:
            known, seen = self._types.get(key), self._seen
        if known is not None:
            return known
        sizes: dict[str, int] = {}
        examples: dict[str, list[str]] = {}
        batch, goal_type, excluded = key
        for name, text, count in self._texts(batch, goal_type, excluded):
            sizes[name] = sizes.get(name, 0) + count
            shown = examples.setdefault(name, [])
            if len(shown) < _EXAMPLES and text not in shown:
                shown.append(text)
        types = tuple(MemoryType(name, sizes[name], tuple(examples[name])) for name in sizes)
        with self._looking:
            if seen == self._seen:
                self._types[key] = types
            while len(self._types) > _TYPES_KEPT:
                self._types.popitem(last=False)
        return types

    def _read(self, found: Sequence[tuple[int, float]]) -> Recall:
        """Read tuples by the query layer; what was undone just now is not among them."""
        with self._looking:
            if self._reader is None:
                self._reader = self._open_reader()
            reader = self._reader
        evidence = []
        by_id: dict[int, Remembered] = {}
        ids = sorted(identifier for identifier, _ in found)
        for start in range(0, len(ids), _AT_ONCE):
            statement = self._statement(ids[start : start + _AT_ONCE])
            rows: Rows = reader.query(statement, _LIMITS)
            evidence.append(Evidence.of(statement, rows))
            by_id.update((int(str(row[0])), remembered(row)) for row in rows.rows)
        ordered = (
            replace(by_id[identifier], likeness=likeness)
            for identifier, likeness in found
            if identifier in by_id
        )
        return Recall(tuple(ordered), tuple(evidence))


def document(goal: str, history: str, observation: str) -> str:
    """Return the text whose words are compared."""
    return f"{observation}\n{history}\n{goal}"


def remembered(row: Sequence[Any]) -> Remembered:
    """Return a tuple from its `COLUMNS`."""
    identifier, batch, version, goal_type, observation_type, *said, source, step, reward = row
    goal, history, observation, action = map(str, said)
    content = StateAction(
        goal,
        history,
        observation,
        action,
        str(source),
        int(step),
        None if reward is None else float(reward),
    )
    placed = Placed(content, str(goal_type), str(observation_type))
    return Remembered(int(identifier), int(batch), int(version), placed)


def unknown_batch(location: str, batch: int, known: Sequence[int]) -> str:
    """Return what to say of a batch that is not there."""
    there = ", ".join(map(str, known)) or "none yet: 'dqa memory build' forms them"
    return f"The memory {location} has no batch {batch}. There are: {there}."


def _require_some(most: int) -> None:
    if most < 1:
        raise UsageError(f"Ask a memory for at least one tuple, not {most}.")
