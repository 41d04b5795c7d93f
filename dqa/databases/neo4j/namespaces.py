"""Write situations into Neo4j, each under a label of its own, and drop them.

Indexes come first, then nodes, then relationships, which find their ends by the ids of the new
nodes. The tag of a situation is locked while anything is written, so two loaders of one situation
wait for each other. It says ``loaded`` only in the transaction that completes it. A situation of up
to `_AT_ONCE` rows is written in that very transaction. Batches of a larger one are committed
before, under a tag that says ``loading``; the next load removes them after a crash.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
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

_AT_ONCE = 50_000
"""Rows of one transaction: the server holds a transaction in memory until it ends."""
_BATCH = 10_000
_TYPES: Mapping[StoredType, str] = {
    "text": "STRING",
    "float": "FLOAT",
    "integer": "INTEGER",
    "boolean": "BOOLEAN",
}
_LOCK = (
    f"MERGE (t:{TAG} {{place: $namespace}}) ON CREATE SET t.state = 'new' "
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
_Run: TypeAlias = Callable[..., list[dict[str, Any]]]
"""Runs a statement with parameters and returns its rows."""


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
        """Write the nodes and relationships, and the tag last, unless the namespace holds them."""
        parts = graph_rows(situation)
        namespace, is_small, run = tag.namespace, tag.rows <= _AT_ONCE, _runner(self._server)
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
            transaction.run(_LABELS, labels=[node.label for node in nodes]).consume()
            for name in dict.fromkeys(node.key for node in nodes):
                run(
                    f"CREATE INDEX {quote_name(f'{namespace}_{name}')} IF NOT EXISTS "
                    f"FOR (n:{quote_name(namespace)}) ON (n.{quote_name(name)})"
                )
            if found["state"] != "new":
                _clear(namespace, run)
            _fill(namespace, parts, rows, _within(transaction) if is_small else run)
            properties = {**asdict(tag), **described, **orders}
            transaction.run(_FINISH, namespace=namespace, tag=properties).consume()

        run(_UNIQUE)
        if not is_small:
            run(_CLAIM, namespace=namespace)
        with self._server.writing() as session:
            session.execute_write(complete)

    def replace(self, situation: Situation, tag: LoadedSituation) -> None:
        """Drop the content only if the situation can be written as a graph."""
        require_graph(situation)
        super().replace(situation, tag)

    def drop(self, namespace: str) -> None:
        """Drop a label's nodes, its tag, constraints and indexes, and nothing else."""
        run = _runner(self._server)

        def remove(transaction: neo4j.ManagedTransaction) -> bool:
            (found,) = transaction.run(_LOCK, namespace=namespace).data()
            if found["state"] == "loaded":  # someone has loaded it again
                return False
            _clear(namespace, run)
            transaction.run(_UNTAG, namespace=namespace).consume()
            return True

        run(_HIDE, namespace=namespace)
        with self._server.writing() as session:
            if not session.execute_write(remove):
                return
        for kind, kinds in (("CONSTRAINT", "CONSTRAINTS"), ("INDEX", "INDEXES")):
            shown = (
                f"SHOW {kinds} YIELD name, labelsOrTypes AS on WHERE $namespace IN on RETURN name"
            )
            for row in run(shown, namespace=namespace):
                run(f"DROP {kind} {quote_name(row['name'])} IF EXISTS")

    @classmethod
    def run_script(cls, location: str, script: str) -> None:
        """Run a script as the user of the URL; `DataError` if it is refused."""
        with closing(Server(Address.parse(location))) as server:
            run = _runner(server)
            try:
                for statement in split(script, "neo4j"):
                    run(statement.text)
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


def _runner(server: Server) -> _Run:
    """Return a function that runs each statement in a transaction, again after a deadlock."""

    def run(statement: str, **given: Any) -> list[dict[str, Any]]:  # noqa: ANN401
        with server.writing() as session:
            return session.execute_write(lambda tx: tx.run(statement, given).data())

    return run


def _within(transaction: neo4j.ManagedTransaction) -> _Run:
    return lambda statement, **given: transaction.run(statement, given).data()


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


def _clear(namespace: str, run: _Run) -> None:
    """Remove the nodes of a namespace."""
    while run(_CLEAR.format(quote_name(namespace)))[0]["deleted"]:
        pass


def _fill(
    namespace: str, parts: Sequence[GraphRows], whole: Sequence[list[_Row]], run: _Run
) -> None:
    ids: dict[str, dict[Cell, str]] = {}
    for found, rows in zip(parts, whole, strict=True):
        part, names = found.part, [name for name, _ in found.properties]
        if isinstance(part, NodeSchema):
            create = (
                "UNWIND $rows AS row CREATE "
                f"(n:{quote_name(part.label)}:{quote_name(namespace)} {_map(names, 0)}) "
                "RETURN elementId(n) AS id"
            )
            key = names.index(part.key)
            known = ids[part.label] = {}
            for batch in _batches(rows):
                made = run(create, rows=batch)
                known.update((row[key], new["id"]) for row, new in zip(batch, made, strict=True))
            continue
        create = (
            "UNWIND $rows AS row MATCH (a) WHERE elementId(a) = row[0] "
            "MATCH (b) WHERE elementId(b) = row[1] "
            f"CREATE (a)-[:{quote_name(part.label)} {_map(names, 2)}]->(b)"
        )
        sources, targets = ids[part.source[0]], ids[part.target[0]]
        for batch in _batches([[sources[row[0]], targets[row[1]], *row[2:]] for row in rows]):
            run(create, rows=batch)


def _map(names: Sequence[str], skipped: int) -> str:
    """Return a map of properties, each from its position in a row."""
    inside = ", ".join(f"{quote_name(name)}: row[{at}]" for at, name in enumerate(names, skipped))
    return f"{{{inside}}}"


def _batches(rows: Sequence[_Row]) -> Iterator[Sequence[_Row]]:
    return (rows[start : start + _BATCH] for start in range(0, len(rows), _BATCH))
