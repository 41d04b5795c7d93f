"""One addition to a relational memory, and what becomes of one that is undone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection, Select, insert, select, update

from dqa_ldm2.memory.keeping import Prepared
from dqa_ldm2.memory.tables import (
    GOAL_TYPES,
    MEMORY,
    OBSERVATION_TYPES,
    REPEATS,
    TUPLES,
    VERSIONS,
)
from dqa_ldm2.memory.writing import Numbers, Writing

_CHUNK: Final = 500
"""Values that one statement looks for."""


class RelationalWriting(Writing):
    """One addition, within a transaction that holds the row of `MEMORY`; see `Writing`."""

    def __init__(self, connection: Connection, version: int) -> None:
        self._connection = connection
        row = connection.execute(select(MEMORY)).one()
        given = (row.revision, row.next_tuple, row.next_type, row.next_batch)
        super().__init__(Numbers(*map(int, given)), version)

    def finish(self, row: dict[str, Any]) -> None:
        """Write the version, and which numbers are next."""
        numbers = self._numbers
        self._connection.execute(insert(VERSIONS).values(revision=numbers.revision, **row))
        self._connection.execute(
            update(MEMORY).values(
                revision=numbers.revision,
                next_tuple=numbers.next_tuple,
                next_type=numbers.next_type,
                next_batch=numbers.next_batch,
            )
        )

    def _there(self, batch: int, tuples: Sequence[Prepared]) -> dict[str, int]:
        digests = sorted({each.digest for each in tuples})
        there: dict[str, int] = {}
        for start in range(0, len(digests), _CHUNK):
            found = select(TUPLES.c.digest, TUPLES.c.id).where(
                TUPLES.c.batch == batch,
                TUPLES.c.digest.in_(digests[start : start + _CHUNK]),
                TUPLES.c.live == 1,
            )
            there.update((row.digest, int(row.id)) for row in self._connection.execute(found))
        return there

    def _goal_types(self, batch: int) -> dict[str, int]:
        return self._known(select(GOAL_TYPES).where(GOAL_TYPES.c.batch == batch))

    def _observation_types(self, goal_type: int) -> dict[str, int]:
        types = OBSERVATION_TYPES
        return self._known(select(types).where(types.c.goal_type_id == goal_type))

    def _known(self, types: Select[Any]) -> dict[str, int]:
        return {row.name: int(row.id) for row in self._connection.execute(types)}

    def _name_goal_type(self, number: int, name: str, batch: int) -> None:
        self._connection.execute(insert(GOAL_TYPES).values(id=number, name=name, batch=batch))

    def _name_observation_type(self, number: int, name: str, goal_type: int) -> None:
        row = {"id": number, "name": name, "goal_type_id": goal_type}
        self._connection.execute(insert(OBSERVATION_TYPES).values(row))

    def _write(self, rows: list[dict[str, Any]], repeats: list[dict[str, Any]]) -> None:
        if rows:
            self._connection.execute(insert(TUPLES), [row | {"live": 1} for row in rows])
        if repeats:
            self._connection.execute(insert(REPEATS), repeats)


def retire(connection: Connection, version: int, newest: int) -> None:
    """Take the tuples of an addition that is undone out of what can be found.

    What the first addition that still counts brought too is there anew, as that one's. Nothing that
    earlier states show is changed: what was there is only no more.

    Parameters
    ----------
    connection
        In a transaction that holds the row of `MEMORY`.
    version
        The addition.
    newest
        The version after which it is undone.
    """
    own = (TUPLES.c.version == version) & (TUPLES.c.live == 1)
    brought = (
        select(REPEATS)
        .select_from(
            REPEATS.join(TUPLES, TUPLES.c.id == REPEATS.c.tuple_id).join(
                VERSIONS, VERSIONS.c.number == REPEATS.c.version
            )
        )
        .where(own, VERSIONS.c.undone_after.is_(None))
        .order_by(REPEATS.c.tuple_id, REPEATS.c.version.desc(), REPEATS.c.step.desc())
    )
    heirs = {row.tuple_id: row for row in connection.execute(brought)}
    kept = [
        row
        for row in connection.execute(select(TUPLES).where(own).order_by(TUPLES.c.id)).mappings()
        if row["id"] in heirs
    ]
    connection.execute(update(TUPLES).where(own).values(live=None))
    first = int(connection.execute(select(MEMORY.c.next_tuple)).scalar_one())
    connection.execute(update(MEMORY).values(next_tuple=first + len(kept)))
    for number, row in enumerate(kept, first):
        heir = heirs[row["id"]]
        whose = {"source": heir.source, "step": heir.step, "reward": heir.reward}
        anew = {"id": number, "version": heir.version, "since": newest, "live": 1}
        connection.execute(insert(TUPLES).values(dict(row) | whose | anew))
        connection.execute(
            update(REPEATS).where(REPEATS.c.tuple_id == row["id"]).values(tuple_id=number)
        )
