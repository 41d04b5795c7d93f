"""Writes situations into Neo4j, each under a label of its own, and takes them out again.

Constraints and indexes come first, then nodes, then relationships, which find their ends by the ids
that making the nodes gave. A situation's tag is locked as long as anything is written, so two
loaders of one situation wait for each other, and it says ``loaded`` only in the transaction that
completes it. A situation of up to `_AT_ONCE` rows is written in that very transaction; of a larger
one, batches are committed before, under a tag that says ``loading``, and what a crash leaves of
them is removed by the next load.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from dqa.core.cypher import quote_name
from dqa.core.errors import DataError
from dqa.core.situation import Cell, EdgeSchema, NodeSchema, Situation, StoredType
from dqa.databases.graphs import require_graph

if TYPE_CHECKING:
    import neo4j

TAG = "dqa_situation"
"""Label of the tags: no statement on a situation can reach it, because it lacks the namespace's."""

_AT_ONCE = 50_000
"""Rows that one transaction takes: the server holds a transaction in memory until it ends."""
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
_NAMES = "UNWIND $labels AS label CALL db.createLabel(label) RETURN count(*)"
_CLEAR = f"MATCH (n:{{0}}) WITH n LIMIT {_BATCH} DETACH DELETE n RETURN count(*) AS gone"

_Row: TypeAlias = list[Cell]
_Run: TypeAlias = "Callable[[Callable[[neo4j.ManagedTransaction], Any]], Any]"
"""Runs a piece of work in a transaction and returns what it returns."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A situation as Neo4j takes it: rows by label, the tag, and which properties identify nodes.

    A row of a relationship begins with the keys of its two ends.
    """

    namespace: str
    nodes: tuple[tuple[NodeSchema, list[_Row]], ...]
    edges: tuple[tuple[EdgeSchema, list[_Row]], ...]
    unique: tuple[str, ...]
    indexed: tuple[str, ...]
    tag: dict[str, Any]


def prepare(situation: Situation, namespace: str) -> Prepared:
    """Return what is to be written, checked before the server sees anything.

    Raises
    ------
    DataError
        The situation does not read as a graph: a table is not mapped, a key occurs twice, or an
        edge ends at a node that is not there.
    """
    schema = situation.schema
    require_graph(schema)
    nodes = tuple((node, _rows(situation, node)) for node in schema.nodes)
    edges = tuple((e, _rows(situation, e, e.source[1], e.target[1])) for e in schema.edges)
    keys = {node.label: _keys(situation, node) for node in schema.nodes}
    for edge, rows in edges:
        for end, label in enumerate((edge.source[0], edge.target[0])):
            lost = {row[end] for row in rows} - keys[label]
            if lost:
                raise DataError(
                    f"Situation '{situation.name}' cannot be written as a graph: a row of "
                    f"'{edge.table}' ends at {label} {min(lost, key=str)!r}, which is not there."
                )
    unique, indexed = _identifying(schema.nodes, keys)
    return Prepared(namespace, nodes, edges, unique, indexed, _tag(situation, namespace))


def write(prepared: Prepared, driver: neo4j.Driver, database: str | None) -> None:
    """Write a situation, unless its namespace holds it by now.

    Parameters
    ----------
    prepared
        What to write.
    driver, database
        Where to.

    Raises
    ------
    neo4j.exceptions.Neo4jError, neo4j.exceptions.DriverError
        The server failed; nothing of the situation can be seen, and the next load begins anew.
    """
    run = _runner(driver, database)
    run(partial(_do, _unique(TAG, "place")))
    small = prepared.tag["rows"] <= _AT_ONCE
    if not small:
        run(partial(_do, _CLAIM, namespace=prepared.namespace))
    run(partial(_complete, prepared=prepared, run=run, small=small))


def _complete(tag: neo4j.ManagedTransaction, prepared: Prepared, run: _Run, small: bool) -> None:
    """Write a situation while its tag is locked; begin again where an earlier load stopped."""
    namespace = prepared.namespace
    state = tag.run(_LOCK, namespace=namespace).single(strict=True)["state"]
    if state == "loaded":
        return
    _declare(tag, prepared, run)
    if state != "new":
        _clear(namespace, run)
    _fill(prepared, (lambda work: work(tag)) if small else run)
    _do(_FINISH, tag, namespace=namespace, tag=prepared.tag)


def drop(namespace: str, driver: neo4j.Driver, database: str | None) -> None:
    """Remove a namespace: its tag, its nodes, its constraints and indexes, and nothing else.

    Raises
    ------
    neo4j.exceptions.Neo4jError, neo4j.exceptions.DriverError
        The server failed; the namespace holds no situation any more, or still all of it.
    """
    run = _runner(driver, database)
    run(partial(_do, _HIDE, namespace=namespace))
    if not run(partial(_remove, namespace=namespace, run=run)):
        return
    for kind, kinds in (("CONSTRAINT", "CONSTRAINTS"), ("INDEX", "INDEXES")):
        shown = f"SHOW {kinds} YIELD name, labelsOrTypes AS on WHERE $namespace IN on RETURN name"
        for row in run(partial(_rows_of, shown, namespace)):
            run(partial(_do, f"DROP {kind} {quote_name(row['name'])} IF EXISTS"))


def _remove(tag: neo4j.ManagedTransaction, namespace: str, run: _Run) -> bool:
    """Remove nodes and tag while that is locked, unless somebody has loaded the namespace again."""
    if tag.run(_LOCK, namespace=namespace).single(strict=True)["state"] == "loaded":
        return False
    _clear(namespace, run)
    _do(f"MATCH (t:{TAG} {{place: $namespace}}) DELETE t", tag, namespace=namespace)
    return True


def _rows(situation: Situation, part: NodeSchema | EdgeSchema, *ends: str) -> list[_Row]:
    """Return a part's rows: the keys of its ends, then its properties; a missing float is None."""
    table = situation[part.table]
    columns = [table[name].tolist() for name in (*ends, *(name for _, name in part.properties))]
    return [[None if cell != cell else cell for cell in row] for row in zip(*columns, strict=True)]  # noqa: PLR0124


def _keys(situation: Situation, node: NodeSchema) -> set[Cell]:
    values = situation[node.table][node.key_column].tolist()
    keys = set(values)
    if len(keys) < len(values):
        twice = next(key for key in values if values.count(key) > 1)
        raise DataError(
            f"Situation '{situation.name}' cannot be written as a graph: two rows of "
            f"'{node.table}' have the key {twice!r}."
        )
    return keys


def _identifying(
    nodes: Sequence[NodeSchema], keys: Mapping[str, set[Cell]]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the key properties that are unique in the whole situation, and those that are not.

    A constraint holds for the namespace's label, which nodes of all labels share. Where two labels
    have the same key property, or one has another's as an ordinary one, their values may be the
    same.
    """
    unique: list[str] = []
    indexed: list[str] = []
    for name in dict.fromkeys(node.key for node in nodes):
        holders = [node for node in nodes if name in dict(node.properties)]
        values = [keys[node.label] for node in holders]
        apart = len(set().union(*values)) == sum(map(len, values))
        (unique if apart and all(n.key == name for n in holders) else indexed).append(name)
    return tuple(unique), tuple(indexed)


def _tag(situation: Situation, namespace: str) -> dict[str, Any]:
    return {
        "place": namespace,
        "state": "loaded",
        "scenario": situation.schema.scenario,
        "name": situation.name,
        "content_hash": situation.content_hash,
        "rows": situation.row_count,
        "schema": _described(situation),
    }


def _described(situation: Situation) -> str:
    """Return labels, properties and types as JSON: what holds no value leaves no other trace."""
    schema = situation.schema

    def fields(part: NodeSchema | EdgeSchema) -> list[tuple[str, str]]:
        table = schema.table(part.table)
        return [(name, _TYPES[table.column(column).stored]) for name, column in part.properties]

    described = {
        "nodes": [
            {"label": node.label, "key": node.key, "properties": fields(node)}
            for node in schema.nodes
        ],
        "edges": [
            {
                "label": edge.label,
                "source": edge.source[0],
                "target": edge.target[0],
                "properties": fields(edge),
            }
            for edge in schema.edges
        ],
    }
    return json.dumps(described, ensure_ascii=False)


def _declare(tag: neo4j.ManagedTransaction, prepared: Prepared, run: _Run) -> None:
    """Make labels, constraints and indexes, each unless it is there.

    A node's labels come in the order in which they were made: the namespace's after the others.
    """
    _do(_NAMES, tag, labels=[node.label for node, _ in prepared.nodes])
    namespace = prepared.namespace
    statements = [_unique(namespace, name) for name in prepared.unique]
    statements += [
        f"CREATE INDEX {quote_name(f'{namespace}_{name}')} IF NOT EXISTS "
        f"FOR (n:{quote_name(namespace)}) ON (n.{quote_name(name)})"
        for name in prepared.indexed
    ]
    run(partial(_do_all, statements))


def _unique(label: str, name: str) -> str:
    return (
        f"CREATE CONSTRAINT {quote_name(f'{label}_{name}')} IF NOT EXISTS "
        f"FOR (n:{quote_name(label)}) REQUIRE n.{quote_name(name)} IS UNIQUE"
    )


def _runner(driver: neo4j.Driver, database: str | None) -> _Run:
    """Return what runs each piece of work in a transaction, again after a failure that passes."""

    def run(work: Callable[[neo4j.ManagedTransaction], Any]) -> Any:  # noqa: ANN401
        with driver.session(database=database) as session:
            return session.execute_write(work)

    return run


def _do(statement: str, tx: neo4j.ManagedTransaction, **given: Any) -> None:  # noqa: ANN401
    tx.run(statement, given).consume()


def _do_all(statements: Iterable[str], tx: neo4j.ManagedTransaction) -> None:
    for statement in statements:
        _do(statement, tx)


def _rows_of(statement: str, namespace: str, tx: neo4j.ManagedTransaction) -> list[dict[str, Any]]:
    return tx.run(statement, namespace=namespace).data()


def _clear(namespace: str, run: _Run) -> None:
    """Remove what a load that did not end has left."""
    statement = _CLEAR.format(quote_name(namespace))
    while run(lambda tx: tx.run(statement).single(strict=True)["gone"]):
        pass


def _fill(prepared: Prepared, run: _Run) -> None:
    ids: dict[str, dict[Cell, str]] = {}
    for node, rows in prepared.nodes:
        create = (
            "UNWIND $rows AS row "
            f"CREATE (n:{quote_name(node.label)}:{quote_name(prepared.namespace)} {_map(node, 0)}) "
            "RETURN collect(elementId(n)) AS ids"
        )
        key = [name for name, _ in node.properties].index(node.key)
        known: dict[Cell, str] = {}
        ids[node.label] = known
        for batch in _batches(rows):
            new = run(partial(_make, create=create, rows=batch))
            known.update(zip((row[key] for row in batch), new, strict=True))
    for edge, rows in prepared.edges:
        create = (
            "UNWIND $rows AS row MATCH (a) WHERE elementId(a) = row[0] "
            "MATCH (b) WHERE elementId(b) = row[1] "
            f"CREATE (a)-[:{quote_name(edge.label)} {_map(edge, 2)}]->(b)"
        )
        sources, targets = ids[edge.source[0]], ids[edge.target[0]]
        linked = [[sources[row[0]], targets[row[1]], *row[2:]] for row in rows]
        for batch in _batches(linked):
            run(partial(_do, create, rows=batch))


def _make(tx: neo4j.ManagedTransaction, create: str, rows: list[_Row]) -> list[str]:
    ids: list[str] = tx.run(create, rows=rows).single(strict=True)["ids"]
    return ids


def _map(part: NodeSchema | EdgeSchema, skipped: int) -> str:
    """Return a map of the part's properties, each from its position in a row."""
    names = (name for name, _ in part.properties)
    inside = ", ".join(f"{quote_name(name)}: row[{at}]" for at, name in enumerate(names, skipped))
    return f"{{{inside}}}"


def _batches(rows: list[_Row]) -> Iterator[list[_Row]]:
    return (rows[start : start + _BATCH] for start in range(0, len(rows), _BATCH))
