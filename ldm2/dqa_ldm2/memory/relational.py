"""A memory in a relational database: a SQLite file, or any that SQLAlchemy has a dialect for.

Whoever writes locks the memory's one row of `MEMORY` first (of a file, all of it), so writers wait
for each other, numbers have no gap, and what is there is known when something is added.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Row,
    and_,
    func,
    not_,
    or_,
    select,
    true,
    update,
)

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.databases.store_locations import StoreLocation, open_store, translate_errors, write
from dqa.guard import GuardedDatabase, Policy
from dqa_ldm2.memory.base import Difference, Making, Origin, Placed, Remembered, Version
from dqa_ldm2.memory.keeping import (
    Prepared,
    kept_text,
    no_version,
    prepare,
    refuse_again,
    undone_already,
)
from dqa_ldm2.memory.relational_writing import RelationalWriting, retire
from dqa_ldm2.memory.retrieving import (
    COLUMNS,
    RetrievingMemory,
    Scope,
    document,
    remembered,
    unknown_batch,
)
from dqa_ldm2.memory.tables import (
    GOAL_TYPES,
    MEMORY,
    OBSERVATION_TYPES,
    REPEATS,
    TUPLES,
    VERSIONS,
    require_tables,
)

_CHUNK: Final = 500
_PAGE: Final = 2_000
_LIVE: Final = TUPLES.c.live == 1
_NAMED: Final = TUPLES.join(GOAL_TYPES, GOAL_TYPES.c.id == TUPLES.c.goal_type_id).join(
    OBSERVATION_TYPES, OBSERVATION_TYPES.c.id == TUPLES.c.observation_type_id
)
_TYPE_NAMES: Final = {
    "goal_type": GOAL_TYPES.c.name.label("goal_type"),
    "observation_type": OBSERVATION_TYPES.c.name.label("observation_type"),
}
_COLUMNS: Final = tuple(
    _TYPE_NAMES[name] if name in _TYPE_NAMES else TUPLES.c[name] for name in COLUMNS
)
_READ: Final = f"""
SELECT t.id, t.batch, t.version, g.name AS goal_type, o.name AS observation_type, t.goal,
  t.history, t.observation, t.action, t.source, t.step, t.reward
FROM {TUPLES.name} t
JOIN {GOAL_TYPES.name} g ON g.id = t.goal_type_id
JOIN {OBSERVATION_TYPES.name} o ON o.id = t.observation_type_id
WHERE t.live = 1 AND t.id IN ({{ids}})
ORDER BY t.id
""".strip()  # noqa: S608  (names that are constants)


class RelationalMemory(RetrievingMemory):
    """A memory in a relational database.

    Parameters
    ----------
    place
        Where; of a file, whether it is there has been seen to.
    making
        Whether a database that is no memory yet becomes one.
    may_write
        Whether anything can be added.

    Raises
    ------
    UsageError
        It is no memory, one of another version, or a database with other tables.
    DataError
        It is damaged, or its file no database.
    MissingKeyError
        The driver is not installed.
    DatabaseUnavailableError
        The server cannot be reached.
    """

    def __init__(self, place: StoreLocation, *, making: bool, may_write: bool = True) -> None:
        super().__init__()
        self.location = place.shown
        self._place = place
        self._may_write = may_write
        with translate_errors(place):
            self._engine: Engine = open_store(place, writing=may_write)
            try:
                self._check(making=making)
            except BaseException:
                self._engine.dispose()
                raise

    def _check(self, *, making: bool) -> None:
        if making:
            with write(self._engine) as connection:
                require_tables(connection, self._place, making=True)
        with self._engine.connect() as connection:
            require_tables(connection, self._place, making=False)

    def add(self, tuples: Sequence[Placed], origin: Origin, batch: int | None = None) -> Version:
        """Add tuples in one transaction: to a batch, or as a new one; see `Memory.add`."""
        return self._add([(batch, prepare(tuples))], origin)

    def add_batches(self, batches: Sequence[Sequence[Placed]], origin: Origin) -> Version:
        """Add each of several sequences as a new batch, in one transaction and one version."""
        return self._add([(None, prepare(each)) for each in batches], origin)

    def _add(self, parts: Sequence[tuple[int | None, list[Prepared]]], origin: Origin) -> Version:
        with self._writing() as connection:
            refuse_again(self.location, self._versions(connection), origin)
            number = self._newest(connection) + 1
            writing = RelationalWriting(connection, number)
            for batch, tuples in parts:
                if batch is not None:
                    self._require_there(connection, batch)
                taken: Collection[str] = ()
                if batch is None and origin.making == "formation":
                    taken = self._sources_in(connection, "formation")
                writing.add(batch, tuples, taken)
            writing.finish(
                {
                    "number": number,
                    "making": origin.making,
                    "source": kept_text(origin.source),
                    "model": kept_text(origin.model),
                    "added": writing.added,
                    "batches": json.dumps(writing.batches),
                }
            )
            return self._version(connection, number)

    def versions(self) -> tuple[Version, ...]:
        """Return every addition, in order."""
        with self._reading() as connection:
            return self._versions(connection)

    def undo(self, version: int) -> Version:
        """Take an addition back; see `Memory.undo`."""
        with self._writing() as connection:
            newest = self._newest(connection)
            if not 1 <= version <= newest:
                raise no_version(self.location, version, newest)
            known = self._version(connection, version)
            if known.is_undone:
                raise undone_already(self.location, known)
            revision = _next_revision(connection)
            undone = {"undone_after": newest, "revision": revision}
            connection.execute(
                update(VERSIONS).where(VERSIONS.c.number == version).values(**undone)
            )
            retire(connection, version, newest)
            return self._version(connection, version)

    def tuples(
        self, *, version: int | None = None, sources: Collection[str] | None = None
    ) -> Iterator[Remembered]:
        """Return every tuple in the order of ids; see `Memory.tuples`."""
        with self._reading() as connection:
            which = _LIVE if version is None else self._state(connection, version)
        return self._each(which, None if sources is None else frozenset(sources))

    def _each(
        self, which: ColumnElement[bool], sources: frozenset[str] | None = None
    ) -> Iterator[Remembered]:
        """Yield tuples a page at a time, so that no transaction waits for whoever takes them."""
        last = 0
        while True:
            page = (
                select(*_COLUMNS)
                .select_from(_NAMED.join(VERSIONS, VERSIONS.c.number == TUPLES.c.version))
                .where(which, TUPLES.c.id > last)
                .order_by(TUPLES.c.id)
                .limit(_PAGE)
            )
            with self._reading() as connection:
                rows = connection.execute(page).all()
            for row in rows:
                each = remembered(row)
                if sources is None or each.placed.content.source in sources:
                    yield each
            if len(rows) < _PAGE:
                return
            last = rows[-1][0]

    def _read_sources(self, making: Making | None) -> frozenset[str]:
        with self._reading() as connection:
            return self._sources_in(connection, making)

    def diff(self, before: int, after: int) -> Difference:
        """Return what differs between the states after two versions; version 0 is empty."""
        with self._reading() as connection:
            was, now = (self._state(connection, each) for each in (before, after))
        added = tuple(self._each(and_(now, not_(was))))
        return Difference(added, tuple(self._each(and_(was, not_(now)))))

    def close(self) -> None:
        """Close its connections."""
        super().close()
        self._engine.dispose()

    # What retrieval asks for.

    def _revision(self) -> int:
        with self._reading() as connection:
            return int(connection.execute(_REVISION).scalar_one())

    def _changed(self, since: int) -> set[int]:
        with self._reading() as connection:
            found = select(VERSIONS.c.batches).where(VERSIONS.c.revision > since)
            return {batch for (told_,) in connection.execute(found) for batch in json.loads(told_)}

    def _batch_numbers(self) -> Sequence[int]:
        with self._reading() as connection:
            found = select(TUPLES.c.batch).distinct().where(_LIVE)
            return sorted(int(number) for (number,) in connection.execute(found))

    def _read_goals(self) -> Iterator[tuple[str, str]]:
        found = select(TUPLES.c.goal, TUPLES.c.source).distinct().where(_LIVE)
        with self._reading() as connection:
            yield from ((row.goal, row.source) for row in connection.execute(found))

    def _documents(self, scope: Scope) -> Iterator[tuple[int, str, str]]:
        content = TUPLES.c
        found = select(
            content.id, content.source, content.goal, content.history, content.observation
        )
        with self._reading() as connection:
            rows = connection.execute(found.where(_LIVE, _within(scope)).order_by(content.id))
            for row in rows:
                yield row.id, row.source, document(row.goal, row.history, row.observation)

    def _texts(
        self, batch: int, goal_type: str | None, excluded: Collection[str]
    ) -> Iterator[tuple[str, str, int]]:
        types = GOAL_TYPES if goal_type is None else OBSERVATION_TYPES
        said = TUPLES.c.goal if goal_type is None else TUPLES.c.observation
        wanted = [_LIVE, _within((batch, goal_type, None))]
        if excluded:
            wanted.append(TUPLES.c.source.not_in(sorted(excluded)))
        found = (
            select(types.c.name, said, func.count())
            .select_from(_NAMED)
            .where(*wanted)
            .group_by(types.c.id, types.c.name, said)
            .order_by(types.c.id, func.min(TUPLES.c.id))
        )
        with self._reading() as connection:
            for name, text, count in connection.execute(found):
                yield name, text, int(count)

    def _statement(self, ids: Sequence[int]) -> str:
        return _READ.format(ids=", ".join(f"{each:d}" for each in ids))

    def _open_reader(self) -> GuardedDatabase:
        policy = Policy(tables=frozenset({TUPLES.name, GOAL_TYPES.name, OBSERVATION_TYPES.name}))
        if self._place.file is not None:
            backend, location = plugins.backend("sqlite"), str(self._place.file)
        else:
            backend, location = plugins.backend_for(self._place.url), self._place.url
        # The statements are ours, and a process of their own would take longer than they do.
        return backend.open(location, policy=policy, isolation="none")

    # Transactions, and what is looked up in one.

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with translate_errors(self._place), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """Give a transaction in which nobody else writes."""
        if not self._may_write:
            raise UsageError(
                f"{self.location} may not be written by this user: ask for the right, or name "
                "another memory."
            )
        with translate_errors(self._place, under_way=True), write(self._engine) as connection:
            connection.execute(select(MEMORY.c.id).with_for_update())
            yield connection
        self._look_again()

    def _versions(self, connection: Connection) -> tuple[Version, ...]:
        found = connection.execute(select(VERSIONS).order_by(VERSIONS.c.number))
        return tuple(map(_version, found))

    def _newest(self, connection: Connection) -> int:
        return connection.execute(select(func.max(VERSIONS.c.number))).scalar() or 0

    def _version(self, connection: Connection, number: int) -> Version:
        found = select(VERSIONS).where(VERSIONS.c.number == number)
        return _version(connection.execute(found).one())

    def _require_there(self, connection: Connection, batch: int) -> None:
        found = select(TUPLES.c.id).where(TUPLES.c.batch == batch).limit(1)
        if connection.execute(found).first() is None:
            known = connection.execute(select(TUPLES.c.batch).distinct().where(_LIVE)).scalars()
            raise UsageError(unknown_batch(self.location, batch, sorted(known)))

    def _state(self, connection: Connection, version: int) -> ColumnElement[bool]:
        """Return the condition of what could be found after a version, before the next one."""
        newest = self._newest(connection)
        if not 0 <= version <= newest:
            raise no_version(self.location, version, newest)
        left = or_(VERSIONS.c.undone_after.is_(None), VERSIONS.c.undone_after > version)
        return and_(TUPLES.c.since <= version, left)

    def _sources_in(self, connection: Connection, making: Making | None) -> frozenset[str]:
        which = true() if making is None else VERSIONS.c.making == making
        own = (
            select(TUPLES.c.source)
            .distinct()
            .select_from(TUPLES.join(VERSIONS, VERSIONS.c.number == TUPLES.c.version))
            .where(_LIVE, which)
        )
        repeated = (
            select(REPEATS.c.source)
            .distinct()
            .select_from(REPEATS.join(VERSIONS, VERSIONS.c.number == REPEATS.c.version))
            .where(VERSIONS.c.undone_after.is_(None), which)
        )
        found = (connection.execute(each).scalars() for each in (own, repeated))
        return frozenset(source for sources in found for source in sources)


_REVISION: Final = select(MEMORY.c.revision)


def _within(scope: Scope) -> ColumnElement[bool]:
    batch, goal_type, observation_type = scope
    if batch is None:
        return true()
    if goal_type is None:
        return TUPLES.c.batch == batch
    goals = select(GOAL_TYPES.c.id).where(
        GOAL_TYPES.c.batch == batch, GOAL_TYPES.c.name == goal_type
    )
    if observation_type is None:
        return TUPLES.c.goal_type_id.in_(goals)
    places = select(OBSERVATION_TYPES.c.id).where(
        OBSERVATION_TYPES.c.goal_type_id.in_(goals), OBSERVATION_TYPES.c.name == observation_type
    )
    return TUPLES.c.observation_type_id.in_(places)


def _next_revision(connection: Connection) -> int:
    connection.execute(update(MEMORY).values(revision=MEMORY.c.revision + 1))
    return int(connection.execute(_REVISION).scalar_one())


def _version(row: Row[Any]) -> Version:
    return Version(
        number=int(row.number),
        origin=Origin(row.making, row.source, row.model),
        added=int(row.added),
        batches=tuple(json.loads(row.batches)),
        is_undone=row.undone_after is not None,
    )
