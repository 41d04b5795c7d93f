"""A memory in Neo4j: batches have goal types, these observation types, and these hold tuples.

::

    (:MemoryBatch)-[:HAS]->(:GoalType)-[:HAS]->(:ObservationType)-[:HOLDS]->(:StateAction)

Several memories share a database: every node says in ``memory`` whose it is, and the location which
one is meant (``?namespace=NAME``). Whoever writes locks the memory's node first, so writers wait
for each other.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

import neo4j
from neo4j.exceptions import DriverError, Neo4jError

from dqa import plugins
from dqa.core.distribution import own_version
from dqa.core.errors import UsageError
from dqa.databases.neo4j.server import Address, Server
from dqa.guard import GuardedDatabase, Policy
from dqa_ldm2.memory import graph_statements as statements
from dqa_ldm2.memory.base import Difference, Making, Origin, Placed, Remembered, Version
from dqa_ldm2.memory.graph_writing import GraphWriting, retire
from dqa_ldm2.memory.keeping import (
    SCHEMA_VERSION,
    Prepared,
    kept_text,
    no_version,
    other_version,
    prepare,
    refuse_again,
    undone_already,
)
from dqa_ldm2.memory.retrieving import (
    COLUMNS,
    RetrievingMemory,
    Scope,
    document,
    remembered,
    unknown_batch,
)
from dqa_ldm2.memory.writing import Numbers

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,100}")
_USUAL: Final = "memory"
_PAGE: Final = 2_000
_MAKING: Final = 60.0
_AGAIN: Final = 0.2
"""Seconds for which constraints are made where others make them too, and between two attempts."""
_FAILURES: Final = (Neo4jError, DriverError, OSError)


class GraphMemory(RetrievingMemory):
    """A memory in Neo4j.

    Parameters
    ----------
    location
        The server's URL; ``?namespace=NAME`` names one of several memories.
    making
        Whether it is made where there is none.

    Raises
    ------
    UsageError
        There is no such memory, or one of another version; the URL or the user is wrong.
    DatabaseUnavailableError
        The server cannot be reached.
    """

    def __init__(self, location: str, *, making: bool) -> None:
        super().__init__()
        address = Address.parse(location)
        self._memory = address.namespace or _USUAL
        if not _NAME.fullmatch(self._memory):
            raise UsageError(
                f"'{self._memory}' names no memory: write ?namespace=NAME with letters, digits, _ "
                "and - alone."
            )
        self._whole = _without_namespace(location)
        self.location = address.named(self._memory)
        self._server = Server(address)
        try:
            if making:
                self._make()
            self._require()
        except BaseException:
            self._server.close()
            raise

    def _make(self) -> None:
        first = {"schema_version": SCHEMA_VERSION, "written_by": own_version(), "revision": 0}
        numbers = {"next_tuple": 1, "next_type": 1, "next_batch": 1}
        with self._told(), self._server.writing() as session:
            _make_constraints(session)
            begin = {"memory": self._memory, "first": first | numbers}
            session.run(statements.BEGIN, begin).consume()

    def _require(self) -> None:
        rows = self._rows("MATCH (m:dqa_memory) WHERE m.name = $memory RETURN properties(m) AS m")
        if not rows:
            raise UsageError(
                f"{self.location} holds no memory: 'dqa memory build' makes one. Name another by "
                "?namespace=NAME."
            )
        found = rows[0]["m"]
        if found["schema_version"] != SCHEMA_VERSION:
            raise UsageError(
                other_version(self.location, found["schema_version"], found["written_by"])
            )

    def add(self, tuples: Sequence[Placed], origin: Origin, batch: int | None = None) -> Version:
        """Add tuples in one transaction: to a batch, or as a new one; see `Memory.add`."""
        return self._add([(batch, prepare(tuples))], origin)

    def add_batches(self, batches: Sequence[Sequence[Placed]], origin: Origin) -> Version:
        """Add each of several sequences as a new batch, in one transaction and one version."""
        return self._add([(None, prepare(each)) for each in batches], origin)

    def _add(self, parts: Sequence[tuple[int | None, list[Prepared]]], origin: Origin) -> Version:
        with self._writing() as (transaction, numbers):
            rows = transaction.run(statements.VERSIONS, {"memory": self._memory}).data()
            refuse_again(self.location, (_version(row["v"]) for row in rows), origin)
            number = self._newest(transaction) + 1
            writing = GraphWriting(transaction, self._memory, numbers, number)
            writing.begin(
                {
                    "making": origin.making,
                    "source": kept_text(origin.source),
                    "model": kept_text(origin.model),
                }
            )
            for batch, tuples in parts:
                if batch is not None:
                    self._require_there(transaction, batch)
                taken: Collection[str] = ()
                if batch is None and origin.making == "formation":
                    taken = self._read_sources("formation", transaction)
                writing.add(batch, tuples, taken)
            writing.finish()
            return Version(
                number,
                Origin(origin.making, kept_text(origin.source), kept_text(origin.model)),
                writing.added,
                tuple(writing.batches),
            )

    def versions(self) -> tuple[Version, ...]:
        """Return every addition, in order."""
        return tuple(_version(row["v"]) for row in self._rows(statements.VERSIONS))

    def undo(self, version: int) -> Version:
        """Take an addition back; see `Memory.undo`."""
        with self._writing() as (transaction, numbers):
            given = {"memory": self._memory, "version": version}
            newest = self._newest(transaction)
            if not 1 <= version <= newest:
                raise no_version(self.location, version, newest)
            match = "MATCH (v:MemoryVersion {memory: $memory, number: $version})"
            (row,) = transaction.run(f"{match} RETURN properties(v) AS v", given).data()
            known = _version(row["v"])
            if known.is_undone:
                raise undone_already(self.location, known)
            revision = numbers.revision + 1
            transaction.run(
                f"{match} SET v.undone_after = $newest, v.revision = $revision "
                "WITH v MATCH (m:dqa_memory {name: $memory}) SET m.revision = $revision",
                given | {"newest": newest, "revision": revision},
            ).consume()
            following = retire(transaction, self._memory, version, newest, numbers.next_tuple)
            transaction.run(
                "MATCH (m:dqa_memory {name: $memory}) SET m.next_tuple = $following",
                {"memory": self._memory, "following": following},
            ).consume()
            return Version(version, known.origin, known.added, known.batches, is_undone=True)

    def tuples(
        self, *, version: int | None = None, sources: Collection[str] | None = None
    ) -> Iterator[Remembered]:
        """Return every tuple in the order of ids; see `Memory.tuples`."""
        which = "t.live"
        if version is not None:
            self._require_version(version)
            which = statements.STATE.format("$one")
        return self._each(which, None if sources is None else frozenset(sources), one=version)

    def _each(
        self,
        which: str,
        sources: frozenset[str] | None = None,
        **given: Any,  # noqa: ANN401
    ) -> Iterator[Remembered]:
        last = 0
        statement = (
            f"{statements.PLACED} WHERE t.id > $last "
            "MATCH (v:MemoryVersion {memory: $memory, number: t.version}) "
            f"WITH b, g, o, t, v WHERE {which} {statements.COLUMNS} LIMIT {_PAGE}"
        )
        while True:
            rows = self._rows(statement, last=last, **given)
            for row in rows:
                each = remembered([row[name] for name in COLUMNS])
                if sources is None or each.placed.content.source in sources:
                    yield each
            if len(rows) < _PAGE:
                return
            last = rows[-1]["id"]

    def _read_sources(
        self, making: Making | None, transaction: neo4j.Transaction | None = None
    ) -> frozenset[str]:
        found: set[str] = set()
        for statement in statements.SOURCES:
            if transaction is None:
                rows = self._rows(statement, making=making)
            else:
                given = {"memory": self._memory, "making": making}
                rows = transaction.run(statement, given).data()
            found.update(row["source"] for row in rows)
        return frozenset(found)

    def diff(self, before: int, after: int) -> Difference:
        """Return what differs between the states after two versions; version 0 is empty."""
        for each in (before, after):
            self._require_version(each)
        was, now = statements.STATE.format("$before"), statements.STATE.format("$after")
        added, removed = (
            tuple(self._each(which, before=before, after=after))
            for which in (f"{now} AND NOT {was}", f"{was} AND NOT {now}")
        )
        return Difference(added, removed)

    def close(self) -> None:
        """Close its connections."""
        super().close()
        self._server.close()

    # What retrieval asks for.

    def _revision(self) -> int:
        (row,) = self._rows("MATCH (m:dqa_memory {name: $memory}) RETURN m.revision AS revision")
        return int(row["revision"])

    def _changed(self, since: int) -> set[int]:
        rows = self._rows(
            "MATCH (v:MemoryVersion {memory: $memory}) WHERE v.revision > $since "
            "UNWIND v.batches AS batch RETURN DISTINCT batch",
            since=since,
        )
        return {row["batch"] for row in rows}

    def _batch_numbers(self) -> Sequence[int]:
        rows = self._rows(
            "MATCH (t:StateAction {memory: $memory}) WHERE t.live "
            "RETURN DISTINCT t.batch AS batch ORDER BY batch"
        )
        return [row["batch"] for row in rows]

    def _read_goals(self) -> Iterator[tuple[str, str]]:
        for row in self._rows(statements.GOALS):
            yield row["goal"], row["source"]

    def _documents(self, scope: Scope) -> Iterator[tuple[int, str, str]]:
        rows = self._rows(
            f"{statements.PLACED} WHERE {_within(scope)} RETURN t.id AS id, t.source AS source, "
            "t.goal AS goal, t.history AS history, t.observation AS observation ORDER BY id",
            **_given(scope),
        )
        for row in rows:
            text = document(row["goal"], row["history"], row["observation"])
            yield row["id"], row["source"], text

    def _texts(
        self, batch: int, goal_type: str | None, excluded: Collection[str]
    ) -> Iterator[tuple[str, str, int]]:
        scope = (batch, goal_type, None)
        named, said = ("g", "t.goal") if goal_type is None else ("o", "t.observation")
        rows = self._rows(
            f"{statements.PLACED} WHERE {_within(scope)} AND NOT t.source IN $excluded "
            f"WITH {named}.id AS type, {named}.name AS name, {said} AS text, "
            "count(*) AS size, min(t.id) AS first "
            "RETURN name, text, size ORDER BY type, first",
            excluded=sorted(excluded),
            **_given(scope),
        )
        for row in rows:
            yield row["name"], row["text"], row["size"]

    def _statement(self, ids: Sequence[int]) -> str:
        return statements.READ.format(
            memory=self._memory, ids=", ".join(f"{each:d}" for each in ids)
        )

    def _open_reader(self) -> GuardedDatabase:
        policy = Policy(
            labels=frozenset(statements.LABELS), relationship_types=frozenset({"HAS", "HOLDS"})
        )
        return plugins.backend("neo4j").open(self._whole, policy=policy, isolation="none")

    # Transactions, and what is looked up in one.

    def _rows(self, statement: str, **given: Any) -> list[dict[str, Any]]:  # noqa: ANN401
        return self._server.rows(statement, memory=self._memory, **given)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except _FAILURES as error:
            raise self._server.failure(error) from error

    @contextmanager
    def _writing(self) -> Iterator[tuple[neo4j.Transaction, Numbers]]:
        """Give a transaction in which nobody else writes to this memory."""
        with (
            self._told(),
            self._server.writing() as session,
            session.begin_transaction() as transaction,
        ):
            (row,) = transaction.run(statements.LOCK, {"memory": self._memory}).data()
            names = ("revision", "next_tuple", "next_type", "next_batch")
            yield transaction, Numbers(*(row["m"][name] for name in names))
            transaction.commit()
        self._look_again()

    def _newest(self, transaction: neo4j.Transaction) -> int:
        (row,) = transaction.run(
            "MATCH (v:MemoryVersion {memory: $memory}) RETURN coalesce(max(v.number), 0) AS newest",
            {"memory": self._memory},
        ).data()
        return int(row["newest"])

    def _require_version(self, version: int) -> None:
        newest = len(self.versions())
        if not 0 <= version <= newest:
            raise no_version(self.location, version, newest)

    def _require_there(self, transaction: neo4j.Transaction, batch: int) -> None:
        found = transaction.run(
            "MATCH (b:MemoryBatch {memory: $memory, number: $batch}) RETURN 1 LIMIT 1",
            {"memory": self._memory, "batch": batch},
        ).data()
        if not found:
            raise UsageError(unknown_batch(self.location, batch, self._batch_numbers()))


def _make_constraints(session: neo4j.Session) -> None:
    """Make the constraints that are not there; of several that do, the server lets some wait."""
    until = time.monotonic() + _MAKING
    done: set[str] = set()  # one that somebody gave another name serves as well
    while True:
        made = done | {row["name"] for row in session.run(statements.MADE).data()}
        missing = [name for name in statements.MAKE if name not in made]
        if not missing:
            return
        try:
            session.run(statements.MAKE[missing[0]]).consume()
            done.add(missing[0])
        except Neo4jError as error:
            is_made = str(error.code).endswith("SchemaRuleAlreadyExists")
            if not (is_made or error.is_retryable()) or time.monotonic() > until:
                raise
            time.sleep(_AGAIN)


def _without_namespace(location: str) -> str:
    """Return a URL of the whole database."""
    parts = urlsplit(location)
    kept = [(k, v) for k, v in parse_qsl(parts.query) if k not in {"namespace", "place"}]
    return parts._replace(query=urlencode(kept)).geturl()


def _within(scope: Scope) -> str:
    """Return the condition of a scope: no more than what it names, so that an index serves it."""
    named = ("b.number = $batch", "g.name = $goal_type", "o.name = $observation_type")
    wanted = (text for text, given in zip(named, scope, strict=True) if given is not None)
    return " AND ".join(["t.live", *wanted])


def _given(scope: Scope) -> Mapping[str, Any]:
    return dict(zip(("batch", "goal_type", "observation_type"), scope, strict=True))


def _version(found: Mapping[str, Any]) -> Version:
    return Version(
        number=found["number"],
        origin=Origin(found["making"], found["source"], found["model"]),
        added=found["added"],
        batches=tuple(found["batches"]),
        is_undone=found.get("undone_after") is not None,
    )
