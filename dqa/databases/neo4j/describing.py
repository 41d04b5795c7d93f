"""The schema of a Neo4j database that nobody declared: read from its data, bounded in time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from dqa.core.cypher import quote_name
from dqa.core.errors import StatementTimeoutError
from dqa.core.schema import DatabaseSchema, EdgeInfo, Field, NodeInfo
from dqa.databases.neo4j.writer import TAG

_SECONDS = 10.0
"""Seconds for reading every node, or every relationship; then a sample has to do."""
_SAMPLE = 1_000
_BASE = re.compile(r"__\w+__|_Bloom_\w+_")
"""Labels that graph builders and browsers give to nodes beside their own."""
_TYPES = {"Long": "INTEGER", "Double": "FLOAT"}
"""Names of types that Neo4j's procedures take from Java, as Cypher calls them."""

_Rows = Callable[..., list[dict[str, Any]]]


def schema_of_tag(schema: Mapping[str, Any]) -> DatabaseSchema:
    """Return the schema that a tag describes."""

    def fields(part: Mapping[str, Any]) -> tuple[Field, ...]:
        return tuple(Field(name, kind) for name, kind in part["properties"])

    return DatabaseSchema(
        nodes=tuple(NodeInfo(n["label"], fields(n), n["key"]) for n in schema["nodes"]),
        edges=tuple(
            EdgeInfo(e["label"], e["source"], e["target"], fields(e)) for e in schema["edges"]
        ),
    )


def read_schema(rows: _Rows) -> DatabaseSchema:
    """Return the labels and relationship types of a database, with their properties.

    Names stand in alphabetical order. Labels that this project made for itself are left out.

    Parameters
    ----------
    rows
        Runs a statement, given the most seconds and parameters, and returns rows by column.
    """
    hidden = {TAG, *(row["name"] for row in rows(f"MATCH (t:{TAG}) RETURN t.place AS name"))}
    listed = {row["label"] for row in rows("CALL db.labels() YIELD label RETURN label")} - hidden
    types = {
        row["type"]
        for row in rows("CALL db.relationshipTypes() YIELD relationshipType AS type RETURN type")
    }
    of_nodes, is_sample = _properties(rows, "node", listed, "(x:{0})")
    of_edges, _ = _properties(rows, "rel", types, "()-[x:{0}]->()")
    keys = _keys(rows)
    sampled = f"properties of a sample of {_SAMPLE} nodes" if is_sample else ""
    return DatabaseSchema(
        nodes=tuple(
            NodeInfo(label, of_nodes[label], keys.get(label), sampled or _shared(label))
            for label in sorted(listed)
            if label in of_nodes
        ),
        edges=tuple(
            EdgeInfo(kind, source, target, of_edges.get(kind, ()), comment)
            for kind in sorted(types)
            for source, target, comment in _ends(rows, kind, hidden)
        ),
    )


def _shared(label: str) -> str:
    return "on nodes that have other labels, too" if _BASE.fullmatch(label) else ""


def _without_base(labels: Iterable[str]) -> list[str]:
    """Return the labels of a node without those that a tool gives to every node."""
    found = sorted(labels)
    return [label for label in found if not _BASE.fullmatch(label)] or found


def _properties(
    rows: _Rows, what: str, names: Iterable[str], pattern: str
) -> tuple[dict[str, tuple[Field, ...]], bool]:
    """Return the properties of each label or type that anything has; whether of a sample alone."""
    column, owners = ("nodeLabels",) * 2 if what == "node" else ("relType", "[relType]")
    try:
        found = rows(
            f"CALL db.schema.{what}TypeProperties() "
            f"YIELD {column}, propertyName AS name, propertyTypes AS types "
            f"RETURN {owners} AS owners, name, types",
            _SECONDS,
        )
        is_sample = False
    except StatementTimeoutError:
        found = [row for name in names for row in _sampled(rows, name, pattern)]
        is_sample = True
    fields: dict[str, dict[str, set[str]]] = {
        name: {} for row in found for name in row["owners"] if _BASE.fullmatch(name)
    }
    for row in found:
        for owner in _without_base(row["owners"]):
            plain = owner.removeprefix(":`").removesuffix("`") if what == "rel" else owner
            types = fields.setdefault(plain, {})
            if row["name"] is not None:
                types.setdefault(row["name"], set()).update(row["types"] or ())
    return {
        owner: tuple(Field(name, _type(types[name])) for name in sorted(types))
        for owner, types in fields.items()
    }, is_sample


def _sampled(rows: _Rows, name: str, pattern: str) -> list[dict[str, Any]]:
    matched = pattern.format(quote_name(name))
    found = rows(
        f"MATCH {matched} WITH x LIMIT {_SAMPLE} "
        "UNWIND CASE keys(x) WHEN [] THEN [null] ELSE keys(x) END AS name "
        "RETURN DISTINCT name, ['ANY'] AS types",
        _SECONDS,
    )
    return [{**row, "owners": [name]} for row in found]


def _ends(rows: _Rows, kind: str, hidden: set[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the labels that a type joins, empty for none, and what is to be known of them."""
    most = 10 * _SAMPLE
    try:
        found = rows(
            f"MATCH (a)-[r:{quote_name(kind)}]->(b) WITH a, b LIMIT {most} "
            "RETURN DISTINCT labels(a) AS sources, labels(b) AS targets",
            _SECONDS,
        )
        counted = rows(f"MATCH ()-[r:{quote_name(kind)}]->() RETURN count(r) AS count", _SECONDS)
    except StatementTimeoutError:
        yield "", "", "what it joins could not be read in time"
        return
    count = counted[0]["count"]
    comment = f"what a sample of {most} of {count} joins" if count > most else ""
    pairs = {
        (source, target)
        for row in found
        for source in _without_base(set(row["sources"]) - hidden) or [""]
        for target in _without_base(set(row["targets"]) - hidden) or [""]
    }
    for source, target in sorted(pairs):
        yield source, target, comment


def _keys(rows: _Rows) -> dict[str, str]:
    """Return the property that a constraint on one property makes the key of its label."""
    found = rows(
        "SHOW CONSTRAINTS YIELD labelsOrTypes AS labels, properties, type, entityType "
        "WHERE entityType = 'NODE' AND size(properties) = 1 "
        "AND type IN ['UNIQUENESS', 'NODE_PROPERTY_UNIQUENESS', 'NODE_KEY'] "
        "RETURN labels, properties ORDER BY labels, properties"
    )
    return {row["labels"][0]: row["properties"][0] for row in reversed(found)}


def _type(names: Iterable[str]) -> str:
    kinds = {_TYPES.get(n, n).upper() for n in names if not _is_list(n)}
    lists = {_TYPES.get(n[:-5], n[:-5]).upper() for n in names if _is_list(n)}
    return " | ".join([*sorted(kinds), *(f"LIST<{kind}>" for kind in sorted(lists))]) or "ANY"


def _is_list(name: str) -> bool:
    return name.endswith("Array")
