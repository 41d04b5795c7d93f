"""One addition to a memory in Neo4j, and what becomes of one that is undone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import neo4j

from dqa_ldm2.memory.keeping import Prepared
from dqa_ldm2.memory.writing import Numbers, Writing

_PART: Final = 5_000
"""Rows that one statement writes."""

_THERE: Final = """
MATCH (t:StateAction {memory: $memory, batch: $batch})
WHERE t.live AND t.digest IN $digests
RETURN t.digest AS name, t.id AS id
"""
_GOAL_TYPES: Final = """
MATCH (:MemoryBatch {memory: $memory, number: $batch})-[:HAS]->(g:GoalType)
RETURN g.name AS name, g.id AS id
"""
_OBSERVATION_TYPES: Final = """
MATCH (:GoalType {memory: $memory, id: $goal_type})-[:HAS]->(o:ObservationType)
RETURN o.name AS name, o.id AS id
"""
_NAME_GOAL_TYPE: Final = """
MERGE (b:MemoryBatch {memory: $memory, number: $batch})
CREATE (b)-[:HAS]->(:GoalType {memory: $memory, id: $number, name: $name})
"""
_NAME_OBSERVATION_TYPE: Final = """
MATCH (g:GoalType {memory: $memory, id: $goal_type})
CREATE (g)-[:HAS]->(:ObservationType {memory: $memory, id: $number, name: $name})
"""
_WRITE: Final = """
UNWIND $rows AS row
MATCH (o:ObservationType {memory: $memory, id: row.observation_type_id})
CREATE (o)-[:HOLDS]->(t:StateAction)
SET t = row.properties, t.memory = $memory, t.live = true
"""
_REPEAT: Final = """
UNWIND $rows AS row
MATCH (t:StateAction {memory: $memory, id: row.tuple_id})
MATCH (v:MemoryVersion {memory: $memory, number: row.version})
CREATE (v)-[:REPEATED {source: row.source, step: row.step, reward: row.reward}]->(t)
"""
_VERSION: Final = """
CREATE (v:MemoryVersion {memory: $memory, number: $number}) SET v += $properties
"""
_COUNT: Final = "MATCH (m:dqa_memory {name: $memory}) SET m += $numbers"
_HEIRS: Final = """
MATCH (v:MemoryVersion {memory: $memory})-[r:REPEATED]->(t:StateAction {version: $version})
WHERE t.memory = $memory AND t.live AND v.undone_after IS NULL
WITH t, v, r ORDER BY v.number, r.step
WITH t, collect({version: v.number, source: r.source, step: r.step, reward: r.reward})[0] AS heir
RETURN t.id AS id, heir ORDER BY id
"""
_RETIRE: Final = """
MATCH (t:StateAction {memory: $memory, version: $version}) SET t.live = false
"""
_REVIVE: Final = """
UNWIND $rows AS row
MATCH (o:ObservationType {memory: $memory})-[:HOLDS]->(t:StateAction {memory: $memory, id: row.id})
CREATE (o)-[:HOLDS]->(again:StateAction)
SET again = t {.*, id: row.anew, version: row.heir.version, source: row.heir.source,
  step: row.heir.step, reward: row.heir.reward, since: $newest, live: true}
WITH t, again
MATCH (v:MemoryVersion)-[r:REPEATED]->(t)
CREATE (v)-[later:REPEATED]->(again)
SET later = properties(r)
DELETE r
"""


class GraphWriting(Writing):
    """One addition, within a transaction that holds the memory's node; see `Writing`."""

    def __init__(
        self, transaction: neo4j.Transaction, memory: str, numbers: Numbers, version: int
    ) -> None:
        super().__init__(numbers, version)
        self._transaction = transaction
        self._memory = memory

    def begin(self, properties: dict[str, Any]) -> None:
        """Write the version, which repeated tuples refer to."""
        self._run(_VERSION, number=self._version, properties=properties)

    def finish(self) -> None:
        """Write what the version came to, and which numbers are next."""
        numbers = self._numbers
        made = {"added": self.added, "batches": self.batches, "revision": numbers.revision}
        self._run(
            "MATCH (v:MemoryVersion {memory: $memory, number: $number}) SET v += $made",
            number=self._version,
            made=made,
        )
        self._run(
            _COUNT,
            numbers={
                "revision": numbers.revision,
                "next_tuple": numbers.next_tuple,
                "next_type": numbers.next_type,
                "next_batch": numbers.next_batch,
            },
        )

    def _run(self, statement: str, **given: object) -> list[dict[str, Any]]:
        return self._transaction.run(statement, {"memory": self._memory, **given}).data()

    def _named(self, statement: str, **given: object) -> dict[str, int]:
        return {row["name"]: row["id"] for row in self._run(statement, **given)}

    def _there(self, batch: int, tuples: Sequence[Prepared]) -> dict[str, int]:
        digests = sorted({each.digest for each in tuples})
        return self._named(_THERE, batch=batch, digests=digests)

    def _goal_types(self, batch: int) -> dict[str, int]:
        return self._named(_GOAL_TYPES, batch=batch)

    def _observation_types(self, goal_type: int) -> dict[str, int]:
        return self._named(_OBSERVATION_TYPES, goal_type=goal_type)

    def _name_goal_type(self, number: int, name: str, batch: int) -> None:
        self._run(_NAME_GOAL_TYPE, number=number, name=name, batch=batch)

    def _name_observation_type(self, number: int, name: str, goal_type: int) -> None:
        self._run(_NAME_OBSERVATION_TYPE, number=number, name=name, goal_type=goal_type)

    def _write(self, rows: list[dict[str, Any]], repeats: list[dict[str, Any]]) -> None:
        typed = ("goal_type_id", "observation_type_id")
        placed = [
            {
                "observation_type_id": row["observation_type_id"],
                "properties": {name: value for name, value in row.items() if name not in typed},
            }
            for row in rows
        ]
        for statement, written in ((_WRITE, placed), (_REPEAT, repeats)):
            for start in range(0, len(written), _PART):
                self._run(statement, rows=written[start : start + _PART])


def retire(
    transaction: neo4j.Transaction, memory: str, version: int, newest: int, first: int
) -> int:
    """Take the tuples of an addition that is undone out of what can be found.

    What the first addition that still counts brought too is there anew, as that one's. Nothing that
    earlier states show is changed: what was there is only no more.

    Parameters
    ----------
    transaction
        One that holds the memory's node.
    memory, version
        Which memory's which addition.
    newest
        The version after which it is undone.
    first
        The next number of a tuple.

    Returns
    -------
    int
        The next number of a tuple after that.
    """
    given = {"memory": memory, "version": version}
    heirs = transaction.run(_HEIRS, given).data()
    transaction.run(_RETIRE, given).consume()
    rows = [row | {"anew": number} for number, row in enumerate(heirs, first)]
    for start in range(0, len(rows), _PART):
        part = {"memory": memory, "newest": newest, "rows": rows[start : start + _PART]}
        transaction.run(_REVIVE, part).consume()
    return first + len(rows)
