"""One addition to a relational memory, and what becomes of one that is undone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Select, Table, insert, select, update

from dqa_ldm2.memory.keeping import Prepared, sort_out
from dqa_ldm2.memory.tables import (
    GOAL_TYPES,
    MEMORY,
    OBSERVATION_TYPES,
    REPEATS,
    TUPLES,
    VERSIONS,
)

_CHUNK: Final = 500
"""Values that one statement looks for."""


class Writing:
    """One addition, within its transaction: it gives out numbers and writes rows.

    Parameters
    ----------
    connection
        In a transaction that holds the row of `MEMORY`.
    version
        The addition's number.

    Attributes
    ----------
    revision
        The memory's, once it is there.
    added, batches
        How many tuples were added, and to which batches.
    """

    def __init__(self, connection: Connection, version: int) -> None:
        self._connection = connection
        self._version = version
        row = connection.execute(select(MEMORY)).one()
        self.revision = int(row.revision) + 1
        self._next_tuple, self._next_type = int(row.next_tuple), int(row.next_type)
        self._next_batch = int(row.next_batch)
        self.added = 0
        self.batches: list[int] = []

    def add(self, batch: int | None, tuples: list[Prepared], taken: Collection[str]) -> None:
        """Write what of some tuples is new to a batch, or is to be one."""
        there = {} if batch is None else self._there(batch, tuples)
        addition = sort_out(tuples, there, taken)
        if batch is None:
            if not addition.new:
                return
            batch = self._next_batch
            self._next_batch += 1
        self.batches.append(batch)
        self.added += len(addition.new)
        first = self._next_tuple
        self._next_tuple += len(addition.new)
        places = self._places(batch, addition.new)
        rows = [
            {"id": first + place, "batch": batch, "version": self._version, "live": 1}
            | dict(zip(("goal_type_id", "observation_type_id"), at, strict=True))
            | _content(each)
            for place, (each, at) in enumerate(zip(addition.new, places, strict=True))
        ]
        repeats = [*addition.known, *((first + place, each) for place, each in addition.same)]
        again = [
            {"version": self._version, "tuple_id": identifier} | _whose(each)
            for identifier, each in repeats
        ]
        for table, written in ((TUPLES, rows), (REPEATS, again)):
            if written:
                self._connection.execute(insert(table), written)

    def finish(self) -> None:
        """Keep which numbers are next."""
        self._connection.execute(
            update(MEMORY).values(
                revision=self.revision,
                next_tuple=self._next_tuple,
                next_type=self._next_type,
                next_batch=self._next_batch,
            )
        )

    def _there(self, batch: int, tuples: Sequence[Prepared]) -> dict[str, int]:
        """Return the ids of those that a batch has, by digest."""
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

    def _places(self, batch: int, tuples: Iterable[Prepared]) -> list[tuple[int, int]]:
        """Return the numbers of the types of tuples; what is not there yet is named now."""
        goals = self._known(select(GOAL_TYPES).where(GOAL_TYPES.c.batch == batch))
        found: dict[int, dict[str, int]] = {}
        places = []
        for each in tuples:
            goal = goals.get(each.placed.goal_type)
            if goal is None:
                goal = goals[each.placed.goal_type] = self._name(
                    each.placed.goal_type, {"batch": batch}, GOAL_TYPES
                )
            if goal not in found:
                found[goal] = self._known(
                    select(OBSERVATION_TYPES).where(OBSERVATION_TYPES.c.goal_type_id == goal)
                )
            name = each.placed.observation_type
            if name not in found[goal]:
                found[goal][name] = self._name(name, {"goal_type_id": goal}, OBSERVATION_TYPES)
            places.append((goal, found[goal][name]))
        return places

    def _known(self, types: Select[Any]) -> dict[str, int]:
        return {row.name: int(row.id) for row in self._connection.execute(types)}

    def _name(self, name: str, parent: dict[str, int], table: Table) -> int:
        number = self._next_type
        self._next_type += 1
        self._connection.execute(insert(table).values(id=number, name=name, **parent))
        return number


def hand_over(connection: Connection, version: int) -> None:
    """Give tuples of an addition that is undone to the first that lives and brought them too."""
    brought = (
        select(REPEATS)
        .select_from(
            REPEATS.join(TUPLES, TUPLES.c.id == REPEATS.c.tuple_id).join(
                VERSIONS, VERSIONS.c.number == REPEATS.c.version
            )
        )
        .where(TUPLES.c.version == version, TUPLES.c.live == 1, VERSIONS.c.undone_after.is_(None))
        .order_by(REPEATS.c.tuple_id, REPEATS.c.version.desc(), REPEATS.c.step.desc())
    )
    heirs = {row.tuple_id: row for row in connection.execute(brought)}
    for identifier, row in heirs.items():
        whose = {"source": row.source, "step": row.step, "reward": row.reward}
        connection.execute(
            update(TUPLES).where(TUPLES.c.id == identifier).values(version=row.version, **whose)
        )


def _content(each: Prepared) -> dict[str, Any]:
    said = each.placed.content
    return {
        "goal": said.goal,
        "history": said.history,
        "observation": said.observation,
        "action": said.action,
        "digest": each.digest,
    } | _whose(each)


def _whose(each: Prepared) -> dict[str, Any]:
    said = each.placed.content
    return {"source": said.source, "step": said.number, "reward": said.reward}
