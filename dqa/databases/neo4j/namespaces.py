"""Write situations into Neo4j, each under a label of its own, and drop them.

Indexes come first, then nodes, then relationships, which find their ends by the ids of the new
nodes. The tag of a situation is locked while anything is written, so two loaders of one situation
wait for each other. Batches of rows are committed under a tag that says ``loading``. A load that
fails removes them; after a crash the next load does. The tag says ``loaded`` in the transaction
that completes it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from dqa.core.errors import UsageError
from dqa.core.schema import quote_name
from dqa.core.situation import Cell, NodeSchema, Situation, StoredType
from dqa.databases.engine_session import EngineSession
from dqa.databases.graph_rows import GraphRows, graph_rows, pack_order, require_graph
from dqa.databases.namespaces import (
    LoadedSituation,
    NamespaceContent,
    Namespaces,
    OtherContent,
)
from dqa.databases.neo4j.server import FAILURES, ORDER, TAG, Address, Server
from dqa.databases.neo4j.session import Neo4j
from dqa.guard.check import split

if TYPE_CHECKING:
    import neo4j

_BATCH = 10_000
"""Rows of one transaction: the server holds a transaction in memory until it ends."""
_TYPES: Mapping[StoredType, str] = {
    "text": "STRING",
    "float": "FLOAT",
    "integer": "INTEGER",
    "boolean": "BOOLEAN",
}
_LOCK = (
    f"MERGE (t:{TAG} {{place: $namespace}}) ON CREATE SET t.state = 'loading' "
    "ON MATCH SET t.locked = true RETURN t.state AS state"
)
_CLAIM = f"MERGE (t:{TAG} {{place: $namespace}}) ON CREATE SET t.state = 'loading'"
_HIDE = f"MERGE (t:{TAG} {{place: $namespace}}) SET t.state = 'loading'"
_FINISH = f"MATCH (t:{TAG} {{place: $namespace}}) SET t = $tag"
_UNTAG = f"MATCH (t:{TAG} {{place: $namespace}}) DELETE t"
_UNIQUE = f"CREATE CONSTRAINT {TAG}_place IF NOT EXISTS FOR (n:{TAG}) REQUIRE n.place IS UNIQUE"
_LABELS = "UNWIND $labels AS label CALL db.createLabel(label) RETURN count(*)"
_CLEAR = f"MATCH (n:{{}}) WITH n LIMIT {_BATCH} DETACH DELETE n RETURN count(*) AS deleted"

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
        """Connect to a database; errors of the driver become errors of this project."""
        with closing(Server(Address.parse(location))) as server:
            try:
                yield cls(server)
            except FAILURES as error:
                raise server.failure(error) from error

    def situations(self) -> Iterator[LoadedSituation]:
        """Yield the situations that tags describe."""
        tags = self._server.rows(
            f"MATCH (t:{TAG}) WHERE t.state = 'loaded' RETURN properties(t) AS tag ORDER BY t.place"
        )
        return (_loaded(row["tag"]) for row in tags)

    def read(self, namespace: str) -> NamespaceContent:
        """Return the content of a label; an unfinished load is None, as it is written anew."""
        (found,) = self._server.rows(
            "CALL db.labels() YIELD label WITH collect(label) AS labels "
            f"OPTIONAL MATCH (t:{TAG} {{place: $namespace}}) "
            "RETURN properties(t) AS tag, $namespace IN labels AS is_known",
            namespace=namespace,
        )
        if found["tag"] is not None:
            return _loaded(found["tag"]) if found["tag"]["state"] == "loaded" else None
        # A label stays known when its last node is deleted.
        nodes = f"MATCH (n:{quote_name(namespace)}) RETURN 1 LIMIT 1"
        if found["is_known"] and self._server.rows(nodes):
            return OtherContent.FOREIGN
        return None

    def create(self, situation: Situation, tag: LoadedSituation) -> None:
        """Write everything, the tag last, unless it is there; drop it if that fails."""
        parts = graph_rows(situation)
        namespace, write = tag.namespace, self._server.write
        rows = [_rows(found) for found in parts]
        nodes = [found.part for found in parts if isinstance(found.part, NodeSchema)]
        orders = {
            ORDER + found.part.table: pack_order(own)
            for found, own in zip(parts, rows, strict=True)
        }
        described = {"place": namespace, "state": "loaded", "schema": _schema_text(parts)}

        def complete(transaction: neo4j.ManagedTransaction) -> None:
            (found,) = transaction.run(_LOCK, namespace=namespace).data()
            if found["state"] == "loaded":
                return
            # Labels of a node are in the order of their creation: the namespace's is last.
            write(_LABELS, labels=[node.label for node in nodes])
            for name in dict.fromkeys(node.key for node in nodes):
                write(
                    f"CREATE INDEX {quote_name(f'{namespace}_{name}')} IF NOT EXISTS "
                    f"FOR (n:{quote_name(namespace)}) ON (n.{quote_name(name)})"
                )
            self._clear(namespace)
            self._fill(namespace, parts, rows)
            properties = {**asdict(tag), **described, **orders}
            transaction.run(_FINISH, namespace=namespace, tag=properties).consume()

        write(_UNIQUE)
        write(_CLAIM, namespace=namespace)
        try:
            with self._server.writing() as session:
                session.execute_write(complete)
        except BaseException:
            with suppress(*FAILURES):
                self._remove(namespace)
            raise

    def replace(self, situation: Situation, tag: LoadedSituation) -> None:
        """Drop the content only if the situation can be written as a graph."""
        require_graph(situation)
        super().replace(situation, tag)

    def drop(self, namespace: str) -> None:
        """Drop a label's nodes, its tag, constraints and indexes, and nothing else."""
        self._server.write(_HIDE, namespace=namespace)
        self._remove(namespace)

    def _remove(self, namespace: str) -> None:
        """Drop a namespace unless it is loaded by now."""
        write = self._server.write

        def remove(transaction: neo4j.ManagedTransaction) -> bool:
            (found,) = transaction.run(_LOCK, namespace=namespace).data()
            if found["state"] == "loaded":  # someone has loaded it again
                return False
            self._clear(namespace)
            transaction.run(_UNTAG, namespace=namespace).consume()
            return True

        with self._server.writing() as session:
            if not session.execute_write(remove):
                return
        for kind, kinds in (("CONSTRAINT", "CONSTRAINTS"), ("INDEX", "INDEXES")):
            shown = (
                f"SHOW {kinds} YIELD name, labelsOrTypes AS on WHERE $namespace IN on RETURN name"
            )
            for row in write(shown, namespace=namespace):
                write(f"DROP {kind} {quote_name(row['name'])} IF EXISTS")

    def _clear(self, namespace: str) -> None:
        """Remove the nodes of a namespace."""
        while self._server.write(_CLEAR.format(quote_name(namespace)))[0]["deleted"]:
            pass

    def _fill(
        self, namespace: str, parts: Sequence[GraphRows], whole: Sequence[list[_Row]]
    ) -> None:
        """Create nodes, then relationships, which find their ends by the ids of the new nodes."""
        ids: dict[str, dict[Cell, str]] = {}
        write = self._server.write
        for found, rows in zip(parts, whole, strict=True):
            part, names = found.part, [name for name, _ in found.properties]
            if isinstance(part, NodeSchema):
                create = (
                    "UNWIND $rows AS row CREATE "
                    f"(n:{quote_name(part.label)}:{quote_name(namespace)} {_map(names, 0)}) "
                    "RETURN elementId(n) AS id"
                )
                new = [row["id"] for batch in _batches(rows) for row in write(create, rows=batch)]
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
                write(create, rows=batch)

    @classmethod
    def run_script(cls, location: str, script: str) -> None:
        """Run a script as the user of the URL; `DataError` if it is refused."""
        with closing(Server(Address.parse(location))) as server:
            try:
                for statement in split(script, "neo4j"):
                    server.write(statement.text)
            except FAILURES as error:
                raise server.failure(error) from error

    def select(self, more: Collection[str] = ()) -> str | None:  # noqa: ARG002
        """Return the label of ``?namespace=``, which must be loaded."""
        name = self._server.address.namespace
        if name is not None and not isinstance(self.read(name), LoadedSituation):
            raise UsageError(f"'{name}' in {self.location} holds no situation; load it first.")
        return name

    def open(self, namespace: str | None) -> EngineSession:
        """Return a session of a situation, or of the whole database."""
        address = self._server.address
        if namespace is None:
            (found,) = self._server.rows("CALL db.info() YIELD name RETURN name")
            return EngineSession(Neo4j(address), address.name, search_path=(found["name"],))
        tag = f"MATCH (t:{TAG} {{place: $namespace}}) RETURN properties(t) AS tag"
        (found,) = self._server.rows(tag, namespace=namespace)
        settings = Neo4j(address, found["tag"])
        return EngineSession(settings, address.named(namespace), namespace=namespace)


def _loaded(tag: dict[str, Any]) -> LoadedSituation:
    names = ("place", "scenario", "name", "content_hash", "rows")
    return LoadedSituation(*(tag[name] for name in names))


def _rows(found: GraphRows) -> list[_Row]:
    """Return rows of plain values; a missing float is None."""
    columns = [array.tolist() for array, _ in found.columns]
    return [[None if cell != cell else cell for cell in row] for row in zip(*columns, strict=True)]  # noqa: PLR0124


def _schema_text(parts: Sequence[GraphRows]) -> str:
    """Return the schema of a graph as JSON; it also has what no node shows."""
    nodes, edges = [], []
    for found in parts:
        part = found.part
        shown = {
            "label": part.label,
            "properties": [(name, _TYPES[kind]) for name, kind in found.properties],
        }
        if isinstance(part, NodeSchema):
            nodes.append({**shown, "key": part.key})
        else:
            edges.append({**shown, "source": part.source[0], "target": part.target[0]})
    return json.dumps({"nodes": nodes, "edges": edges}, ensure_ascii=False)


def _map(names: Sequence[str], skipped: int) -> str:
    """Return a map of properties, each from its position in a row."""
    inside = ", ".join(f"{quote_name(name)}: row[{at}]" for at, name in enumerate(names, skipped))
    return f"{{{inside}}}"


def _batches(rows: Sequence[_Row]) -> Iterator[Sequence[_Row]]:
    return (rows[start : start + _BATCH] for start in range(0, len(rows), _BATCH))
