"""A memory of state-action tuples in a SQL database, with batches, two indices and versions.

A *batch* is formed from B trajectories and is independent of other batches. Every tuple of a batch
has a goal type, and an observation type within this goal type. Every operation that adds tuples is
a *version*. A version can be undone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final, Self, TypeAlias, TypeVar

import sqlalchemy as sa

from dqa.core.errors import UsageError
from dqa.core.files import require_new_file
from dqa.databases.store_locations import (
    StoreLocation,
    may_write,
    open_store,
    translate_errors,
    write,
)
from dqa_ldm2.location import locate
from dqa_ldm2.records import (
    Goal,
    Making,
    MemoryType,
    Origin,
    Remembered,
    State,
    StateAction,
    Version,
)
from dqa_ldm2.search import Texts, WordIndex
from dqa_ldm2.tables import (
    BOTH,
    FIELDS,
    LIVE,
    MEMORY,
    TUPLES,
    VERSIONS,
    create_memory,
    require_memory,
    stored_row,
    stored_text,
)

_Value = TypeVar("_Value")

_EXAMPLES: Final = 3
_INDEXED: Final = tuple(
    TUPLES.c[name] for name in ("id", "source", "digest", "batch", "goal", "history", "observation")
)
_CACHED: Final = 1_000
"""The maximum number of indices and lists of types in RAM."""

Scope: TypeAlias = tuple[int | None, str | None, str | None]
"""A batch, a goal type and an observation type. None means all batches, or all types."""


class Memory:
    """State-action tuples in a SQL database. Several threads and processes can share a memory.

    Parameters
    ----------
    location
        The location of the database.
    create
        Whether to create the memory in an empty database.

    Attributes
    ----------
    location
        The location of the database, without a password.
    """

    def __init__(self, location: StoreLocation, *, create: bool = False) -> None:
        self.location = location.shown
        self._store = location
        self._may_write = create or may_write(location.file)
        self._revision: tuple[int, int] | None = None
        self._cache: dict[Any, Any] = {}
        with translate_errors(location):
            self._engine = open_store(location, writing=self._may_write)
            try:
                if create:
                    with write(self._engine) as connection:
                        create_memory(connection, location)
                with self._engine.connect() as connection:
                    require_memory(connection, location)
            except BaseException:
                self._engine.dispose()
                raise

    # Read

    def batches(self) -> tuple[int, ...]:
        """Return the numbers of the batches in ascending order."""
        found = _live(TUPLES.c.batch).distinct().order_by(TUPLES.c.batch)
        return self._cached("batches", found, lambda rows: tuple(int(row.batch) for row in rows))

    def goal_types(
        self, batch: int, excluded: Collection[str] = frozenset()
    ) -> tuple[MemoryType, ...]:
        """Return the goal types of a batch, in the order of their first tuples.

        Tuples of the sources in `excluded` are neither counted nor used as examples. If the batch
        does not exist, `UsageError` is raised.
        """
        return self._types((batch, None, None), frozenset(excluded))

    def observation_types(
        self, batch: int, goal_type: str, excluded: Collection[str] = frozenset()
    ) -> tuple[MemoryType, ...]:
        """Return the observation types of a goal type; see `goal_types`."""
        return self._types((batch, goal_type, None), frozenset(excluded))

    def find(
        self, batch: int, goal_type: str, observation_type: str, state: State, most: int
    ) -> tuple[Remembered, ...]:
        """Return the tuples of two types, sorted by similarity to a state, the most similar first.

        If no tuple has both types, the search covers all tuples of the goal type. If there are none
        either, it covers the whole batch. Equally similar tuples are in the order of their ids.

        Raises
        ------
        UsageError
            The batch does not exist, or `most` is less than 1.
        """
        self._require_batch(batch)
        about = state.goal, state.history, state.observation
        types = ((goal_type, observation_type), (goal_type, None), (None, None))
        found = (self._nearest((batch, *one), about, most, state.excluded) for one in types)
        return next(filter(None, found), ())

    def search(
        self, words: str, most: int, excluded: Collection[str] = frozenset()
    ) -> tuple[Remembered, ...]:
        """Search all batches. Return the tuples that contain the largest share of the words."""
        found = self._nearest((None, None, None), words, most, excluded)
        return tuple(one for one in found if one.likeness > 0.0)

    def tuples(self, *, sources: Collection[str] | None = None) -> list[Remembered]:
        """Return tuples in the order of their ids, including equal tuples of different sources.

        Parameters
        ----------
        sources
            Return only tuples of these sources; None for all sources.
        """
        if sources is None:
            return self._read(LIVE)
        return self._read(sa.and_(LIVE, TUPLES.c.source.in_(sorted(sources))))

    def goals(self) -> tuple[Goal, ...]:
        """Return every pair of a goal and a source, in the order of their first tuples."""
        columns = (TUPLES.c.goal, TUPLES.c.source)
        found = _live(*columns, sa.func.max(TUPLES.c.reward), sa.func.min(TUPLES.c.number))
        found = found.group_by(*columns).order_by(sa.func.min(TUPLES.c.id))
        return self._cached("goals", found, lambda rows: tuple(Goal(*row) for row in rows))

    def sources(self, making: Making | None = None) -> frozenset[str]:
        """Return the sources of all tuples, or of the tuples that the operation `making` added."""
        with self._reading() as connection:
            return _sources(connection, making)

    def versions(self) -> tuple[Version, ...]:
        """Return all versions, in order."""
        with self._reading() as connection:
            return _versions(connection)

    # Write

    def add(
        self, tuples: Sequence[StateAction], origin: Origin, batch: int | None = None
    ) -> Version:
        """Add tuples to a batch in one transaction. If `batch` is None, create a new batch.

        A formation adds a new batch. The formation skips the tuples of trajectories that an earlier
        formation added, so two processes that form the same memory add every trajectory only once.
        If all tuples are skipped, there is no new batch.

        Raises
        ------
        UsageError
            The batch does not exist, a tuple has no source, or the memory is read-only.
        DatabaseUnavailableError
            The server cannot be reached.
        """
        if batch is not None:
            self._require_batch(batch)
        rows = [stored_row(one) for one in tuples]
        with self._writing() as connection:
            number = len(_versions(connection)) + 1
            if batch is None and origin.making == "formation":
                taken = _sources(connection, "formation")
                rows = [row for row in rows if row["source"] not in taken]
            if batch is None:
                newest = connection.execute(sa.select(sa.func.max(TUPLES.c.batch))).scalar()
                batch = 1 + (newest or 0)
            added, batches = 0, [batch] if rows else []
            if rows:
                added = _count_new(connection, batch, rows)
                of_batch = {"batch": batch, "version": number}
                connection.execute(sa.insert(TUPLES), [row | of_batch for row in rows])
            texts = {name: stored_text(text) for name, text in asdict(origin).items()}
            row = {"number": number, "added": added, "batches": json.dumps(batches)}
            connection.execute(sa.insert(VERSIONS).values(**row, **texts))
        return Version(number, origin, added, tuple(batches))

    def undo(self, version: int) -> Version:
        """Undo a version: the tuples that it added are no longer found.

        A tuple that another version also added is still found. Nothing is deleted.

        Raises
        ------
        UsageError
            The version does not exist, or was already undone.
        """
        with self._writing() as connection:
            known = _versions(connection)
            if not 1 <= version <= len(known):
                available = f"versions 1 to {len(known)}" if known else "no versions yet"
                raise UsageError(
                    f"The memory {self.location} has no version {version}. It has {available}."
                )
            undone = known[version - 1]
            if undone.is_undone:
                raise UsageError(
                    f"Version {version} of the memory {self.location} was already undone. Nothing "
                    "changed."
                )
            which = VERSIONS.c.number == version
            connection.execute(sa.update(VERSIONS).where(which).values(undone_after=len(known)))
        return replace(undone, is_undone=True)

    def close(self) -> None:
        """Close the connections to the database."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Parts

    def _cached(
        self, key: Hashable, found: sa.Select[Any], read: Callable[[Sequence[Any]], _Value]
    ) -> _Value:
        """Return a cached value.

        If a process has changed the memory since the value was cached, read the value again.
        """
        with self._reading() as connection:
            counts = sa.select(
                sa.func.count(VERSIONS.c.number), sa.func.count(VERSIONS.c.undone_after)
            )
            number, undone = connection.execute(counts).one()
            revision = (int(number), int(undone))
            if revision != self._revision or len(self._cache) > _CACHED:
                self._cache, self._revision = {}, revision
            cache = self._cache  # another thread may replace the cache after a change
            if key not in cache:
                cache[key] = read(connection.execute(found).all())
        value: _Value = cache[key]
        return value

    def _require_batch(self, batch: int) -> None:
        known = self.batches()
        if batch not in known:
            batches = f"Its batches are: {', '.join(map(str, known))}."
            hint = batches if known else "It is empty. Run 'dqa memory build'."
            raise UsageError(f"The memory {self.location} has no batch {batch}. {hint}")

    def _types(self, scope: Scope, excluded: frozenset[str]) -> tuple[MemoryType, ...]:
        self._require_batch(scope[0] or 0)
        of_goals = scope[1] is None
        name = TUPLES.c.goal_type if of_goals else TUPLES.c.observation_type
        text = TUPLES.c.goal if of_goals else TUPLES.c.observation
        found = _live(name, text, sa.func.count(sa.distinct(TUPLES.c.digest)), scope=scope)
        found = found.where(TUPLES.c.source.not_in(sorted(excluded)))
        found = found.group_by(name, text).order_by(sa.func.min(TUPLES.c.id))
        return self._cached(("types", scope, excluded), found, _types_of)

    def _nearest(
        self, scope: Scope, about: Texts | str, most: int, excluded: Collection[str]
    ) -> tuple[Remembered, ...]:
        if most < 1:
            raise UsageError(f"The number of tuples to find must be at least 1, not {most}.")
        found = _live(*_INDEXED, scope=scope).order_by(TUPLES.c.id)
        index = self._cached(("index", scope), found, _index_of)
        best = index.best(about, most, excluded)
        which = sa.and_(LIVE, TUPLES.c.id.in_([number for number, _ in best]))
        near = {one.id: one for one in self._read(which)} if best else {}
        # Skip tuples that another process has undone in the meantime.
        return tuple(replace(near[one], likeness=like) for one, like in best if one in near)

    def _read(self, which: sa.ColumnElement[bool]) -> list[Remembered]:
        found = sa.select(*FIELDS).select_from(BOTH).where(which).order_by(TUPLES.c.id)
        with self._reading() as connection:
            return [Remembered(**row) for row in connection.execute(found).mappings()]

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        with translate_errors(self._store), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        """Open a transaction that blocks other writers until its end."""
        if not self._may_write:
            raise UsageError(
                f"You may not write to the memory {self.location}. Get write permission, or name a "
                "different memory."
            )
        with translate_errors(self._store, under_way=True), write(self._engine) as connection:
            connection.execute(sa.select(MEMORY.c.id).with_for_update())
            yield connection


def open_memory(location: str | Path, *, create: bool = False) -> Memory:
    """Open a memory.

    Parameters
    ----------
    location
        A SQLite file, or the URL of a database with a SQLAlchemy dialect.
    create
        Whether to create the memory in a missing file or an empty database.

    Raises
    ------
    UsageError
        The memory does not exist, its version is not supported, or the location cannot be used.
    DataError
        The file is damaged, or is not a database.
    MissingKeyError
        The driver of the database is not installed.
    DatabaseUnavailableError
        The server cannot be reached.
    """
    return Memory(locate(location), create=create)


def require_place(location: str | Path) -> None:
    """Check that `open_memory` can open or create a memory, without creating a file."""
    located = locate(location)
    if located.file is None or located.file.exists():
        Memory(located, create=True).close()
    else:
        require_new_file(located.file)


def _live(*columns: sa.ColumnElement[Any], scope: Scope = (None, None, None)) -> sa.Select[Any]:
    """Return a query for the tuples in a scope, without the tuples of undone versions."""
    of = (TUPLES.c.batch, TUPLES.c.goal_type, TUPLES.c.observation_type)
    pairs = zip(of, scope, strict=True)
    within = [column == value for column, value in pairs if value is not None]
    return sa.select(*columns).select_from(BOTH).where(LIVE, *within)


def _types_of(rows: Sequence[Any]) -> tuple[MemoryType, ...]:
    sizes: Counter[str] = Counter()
    examples: dict[str, list[str]] = {}
    for name, example, count in rows:
        sizes[name] += int(count)
        examples.setdefault(name, []).append(example)
    return tuple(MemoryType(name, sizes[name], tuple(examples[name][:_EXAMPLES])) for name in sizes)


def _index_of(rows: Sequence[Any]) -> WordIndex:
    return WordIndex(
        [(int(row.id), row.source, (row.batch, row.digest), tuple(row[4:])) for row in rows]
    )


def _versions(connection: sa.Connection) -> tuple[Version, ...]:
    return tuple(
        Version(
            row.number,
            Origin(row.making, row.source, row.model),
            row.added,
            tuple(json.loads(row.batches)),
            row.undone_after is not None,
        )
        for row in connection.execute(sa.select(VERSIONS).order_by(VERSIONS.c.number))
    )


def _sources(connection: sa.Connection, making: Making | None) -> frozenset[str]:
    found = _live(TUPLES.c.source).distinct()
    found = found if making is None else found.where(VERSIONS.c.making == making)
    return frozenset(connection.execute(found).scalars())


def _count_new(connection: sa.Connection, batch: int, rows: Iterable[dict[str, Any]]) -> int:
    found = _live(TUPLES.c.digest, scope=(batch, None, None))
    return len({row["digest"] for row in rows} - set(connection.execute(found).scalars()))
