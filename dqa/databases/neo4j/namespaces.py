"""Write situations into Neo4j, each under its own label, and drop them.

A load creates the indexes first. Then one transaction locks the tag, and writes the nodes, the
relationships and the tag. If two processes load the same situation, the lock makes the second
process wait.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from dqa.core.errors import DatabaseUnavailableError, UsageError
from dqa.core.schema import quote_name
from dqa.core.situation import Cell, NodeSchema, Situation, StoredType
from dqa.databases.graph_rows import GraphRows, graph_rows, pack_order
from dqa.databases.namespaces import LoadedSituation, NamespaceContent, Namespaces, OtherContent
from dqa.databases.neo4j.server import FAILURES, ORDER, TAG, Address, Server
from dqa.databases.neo4j.session import Neo4j
from dqa.databases.tables import plain_rows
from dqa.guard.check import split

if TYPE_CHECKING:
    import neo4j

_BATCH = 10_000
"""The maximum number of rows that one statement writes."""
_TYPES: Mapping[StoredType, str] = {
    "text": "STRING",
    "float": "FLOAT",
    "integer": "INTEGER",
    "boolean": "BOOLEAN",
}
_LOCK = f"MERGE (t:{TAG} {{place: $namespace}}) SET t.locked = true RETURN t.state AS state"
_FINISH = f"MATCH (t:{TAG} {{place: $namespace}}) SET t = $tag"
_UNTAG = f"MATCH (t:{TAG} {{place: $namespace}}) DELETE t"
_UNIQUE = f"CREATE CONSTRAINT {TAG}_place IF NOT EXISTS FOR (n:{TAG}) REQUIRE n.place IS UNIQUE"
_LABELS = "UNWIND $labels AS label CALL db.createLabel(label) RETURN count(*)"
_CLEAR = "MATCH (n:{}) DETACH DELETE n"

_Row: TypeAlias = list[Cell]


class Neo4jNamespaces(Namespaces):
    """The loaded situations of a database.

    Parameters
    ----------
    server
        The open server.
    """

    def __init__(self, server: Server) -> None:
        self.location = server.address.name
        self._server = server

    @classmethod
    @contextmanager
    def connect(cls, location: str) -> Iterator[Self]:
        """Connect to a database, and translate the driver's errors."""
        with closing(Server(Address.parse(location))) as server:
            try:
                yield cls(server)
            except FAILURES as error:
                raise server.failure(error) from error

    def situations(self) -> Iterator[LoadedSituation]:
        """Yield the loaded situations."""
        tags = self._server.rows(
            f"MATCH (t:{TAG}) WHERE t.state = 'loaded' RETURN properties(t) AS tag ORDER BY t.place"
        )
        return (_loaded(row["tag"]) for row in tags)

    def read(self, namespace: str) -> NamespaceContent:
        """Return the content of a label.

        None if no node has the label, or if a load of the label is unfinished.
        """
        (found,) = self._server.rows(
            "CALL db.labels() YIELD label WITH collect(label) AS labels "
            f"OPTIONAL MATCH (t:{TAG} {{place: $namespace}}) "
            "RETURN properties(t) AS tag, $namespace IN labels AS is_known",
            namespace=namespace,
        )
        if found["tag"] is not None:
            return _loaded(found["tag"]) if found["tag"]["state"] == "loaded" else None
        # The server still lists a label after its last node was deleted.
        nodes = f"MATCH (n:{quote_name(namespace)}) RETURN 1 LIMIT 1"
        if found["is_known"] and self._server.rows(nodes):
            return OtherContent.FOREIGN
        return None

    def create(self, situation: Situation, tag: LoadedSituation) -> None:
        """Write the graph and its tag in one transaction, unless the database contains them.

        Labels and indexes are created in separate transactions while the tag is locked.
        """
        parts = graph_rows(situation)
        namespace, write = tag.namespace, self._server.write
        rows = [list(map(list, plain_rows(array for array, _ in p.columns))) for p in parts]
        nodes = [found.part for found in parts if isinstance(found.part, NodeSchema)]
        orders = {
            ORDER + found.part.table: pack_order(own)
            for found, own in zip(parts, rows, strict=True)
        }
        described = {"place": namespace, "state": "loaded", "schema": _schema_text(parts)}

        def fill(transaction: neo4j.ManagedTransaction) -> None:
            (found,) = transaction.run(_LOCK, namespace=namespace).data()
            if found["state"] == "loaded":  # another process has just written the graph
                return
            # A node lists its labels in the order of their creation. The label of the namespace
            # must be the last label.
            write(_LABELS, labels=[node.label for node in nodes])
            for name in dict.fromkeys(node.key for node in nodes):
                write(
                    f"CREATE INDEX {quote_name(f'{namespace}_{name}')} IF NOT EXISTS "
                    f"FOR (n:{quote_name(namespace)}) ON (n.{quote_name(name)})"
                )
            transaction.run(_CLEAR.format(quote_name(namespace))).consume()
            _fill(transaction, namespace, parts, rows)
            properties = {**asdict(tag), **described, **orders}
            transaction.run(_FINISH, namespace=namespace, tag=properties).consume()

        write(_UNIQUE)
        try:
            with self._server.writing() as session:
                session.execute_write(fill)
        except BaseException:
            with suppress(*FAILURES):
                if self.read(namespace) is None:
                    self._drop_indexes(namespace)
            raise

    def drop(self, namespace: str) -> None:
        """Drop a namespace: its nodes, its tag, and the constraints and indexes of its label."""

        def remove(transaction: neo4j.ManagedTransaction) -> None:
            transaction.run(_CLEAR.format(quote_name(namespace))).consume()
            transaction.run(_UNTAG, namespace=namespace).consume()

        with self._server.writing() as session:
            session.execute_write(remove)
        self._drop_indexes(namespace)

    def _drop_indexes(self, namespace: str) -> None:
        write = self._server.write
        for kind, kinds in (("CONSTRAINT", "CONSTRAINTS"), ("INDEX", "INDEXES")):
            shown = (
                f"SHOW {kinds} YIELD name, labelsOrTypes AS on WHERE $namespace IN on RETURN name"
            )
            for row in write(shown, namespace=namespace):
                write(f"DROP {kind} {quote_name(row['name'])} IF EXISTS")

    @classmethod
    def run_script(cls, location: str, script: str) -> None:
        """Run a script as the user in the URL; raise `DataError` if the server refuses it."""
        with closing(Server(Address.parse(location))) as server:
            try:
                for statement in split(script, "neo4j"):
                    server.write(statement.text)
            except FAILURES as error:
                raise server.failure(error) from error

    def select(self, more: Collection[str] = ()) -> str | None:  # noqa: ARG002
        """Return the label in ``?namespace=``, which must be the label of a loaded situation."""
        name = self._server.address.namespace
        if name is not None and not isinstance(self.read(name), LoadedSituation):
            raise UsageError(
                f"'{name}' in {self.location} does not contain a situation. Load one first."
            )
        return name

    def open(self, namespace: str | None) -> Neo4j:
        """Return a session of a situation, or of the whole database."""
        statement = (
            f"OPTIONAL MATCH (t:{TAG} {{place: $namespace}}) WITH properties(t) AS tag "
            "CALL db.info() YIELD name RETURN tag, name"
        )
        (found,) = self._server.rows(statement, namespace=namespace)
        if namespace is not None and found["tag"] is None:
            raise DatabaseUnavailableError(
                f"The situation '{namespace}' is no longer in {self.location}. Load it again."
            )
        return Neo4j(self._server.address, found["tag"], found["name"])


def _fill(
    transaction: neo4j.ManagedTransaction,
    namespace: str,
    parts: Sequence[GraphRows],
    whole: Sequence[list[_Row]],
) -> None:
    """Create the nodes. Then create the relationships between the ids that the server returned."""
    ids: dict[str, dict[Cell, str]] = {}
    for found, rows in zip(parts, whole, strict=True):
        part, names = found.part, [name for name, _ in found.properties]
        if isinstance(part, NodeSchema):
            create = (
                "UNWIND $rows AS row CREATE "
                f"(n:{quote_name(part.label)}:{quote_name(namespace)} {_map(names, 0)}) "
                "RETURN elementId(n) AS id"
            )
            new = [
                row["id"] for batch in _batches(rows) for row in transaction.run(create, rows=batch)
            ]
            key = names.index(part.key)
            ids[part.label] = dict(zip((row[key] for row in rows), new, strict=True))
            continue
        create = (
            "UNWIND $rows AS row MATCH (a) WHERE elementId(a) = row[0] "
            "MATCH (b) WHERE elementId(b) = row[1] "
            f"CREATE (a)-[:{quote_name(part.label)} {_map(names, 2)}]->(b)"
        )
        sources, targets = ids[part.source[0]], ids[part.target[0]]
        for batch in _batches([[sources[row[0]], targets[row[1]], *row[2:]] for row in rows]):
            transaction.run(create, rows=batch).consume()


def _loaded(tag: dict[str, Any]) -> LoadedSituation:
    names = ("place", "scenario", "name", "content_hash", "rows")
    return LoadedSituation(*(tag[name] for name in names))


def _schema_text(parts: Sequence[GraphRows]) -> str:
    """Return the schema of a graph as JSON, including parts without nodes or values."""
    schema: dict[str, list[object]] = {"nodes": [], "edges": []}
    for found in parts:
        part, fields = found.part, [(name, _TYPES[kind]) for name, kind in found.properties]
        shown = {"label": part.label, "properties": fields}
        if isinstance(part, NodeSchema):
            schema["nodes"].append({**shown, "key": part.key})
        else:
            ends = {"source": part.source[0], "target": part.target[0]}
            schema["edges"].append({**shown, **ends})
    return json.dumps(schema, ensure_ascii=False)


def _map(names: Sequence[str], skipped: int) -> str:
    """Return a map in Cypher that reads each property from a row, from position `skipped` on."""
    inside = ", ".join(f"{quote_name(name)}: row[{at}]" for at, name in enumerate(names, skipped))
    return f"{{{inside}}}"


def _batches(rows: Sequence[_Row]) -> Iterator[Sequence[_Row]]:
    return (rows[start : start + _BATCH] for start in range(0, len(rows), _BATCH))
