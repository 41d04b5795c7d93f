"""The schema of a Neo4j database, read from its data within a limit of time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from dqa.core.cypher import quote_name
from dqa.core.errors import StatementTimeoutError
from dqa.core.schema import DatabaseSchema, EdgeInfo, Field, NodeInfo
from dqa.databases.neo4j.server import TAG

_SECONDS = 10.0
"""Seconds for reading the nodes of a label or the relationships of a type."""
_SAMPLE = 10_000
_BASE = re.compile(r"__\w+__|_Bloom_\w+_")
"""Labels that graph builders and browsers give to nodes in addition to their own."""
_PROPERTIES = (
    f"LIMIT {_SAMPLE} UNWIND CASE keys(x) WHEN [] THEN [null] ELSE keys(x) END AS name "
    "WITH *, CASE WHEN name IS NOT NULL THEN valueType(x[name]) END AS type "
    "RETURN name, collect(DISTINCT type) AS types, "
)
_Rows: TypeAlias = Callable[..., list[dict[str, Any]]]
_Types: TypeAlias = dict[str, set[str]]
"""Types by property."""


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

    Names are in alphabetical order. The labels of this project's situations are left out.

    Parameters
    ----------
    rows
        Runs a statement within so many seconds and returns rows by column.
    """
    hidden = {TAG, *(row["name"] for row in rows(f"MATCH (t:{TAG}) RETURN t.place AS name"))}
    labels = {row["name"] for row in rows("CALL db.labels() YIELD label AS name RETURN name")}
    types = rows("CALL db.relationshipTypes() YIELD relationshipType AS name RETURN name")
    keys = _keys(rows)
    nodes = (_node(rows, label, keys.get(label)) for label in sorted(labels - hidden))
    return DatabaseSchema(
        nodes=tuple(node for node in nodes if node is not None),
        edges=tuple(
            edge
            for kind in sorted(row["name"] for row in types)
            for edge in _edges(rows, kind, hidden)
        ),
    )


def _node(rows: _Rows, label: str, key: str | None) -> NodeInfo | None:
    """Return a label that some node has, with the properties of nodes that it is the name of."""
    found, comment = _sampled(
        rows, f"MATCH (x:{quote_name(label)})", "WITH x", "labels(x) AS labels"
    )
    if not (found or comment):
        return None
    properties: _Types = {}
    is_shared = True
    for row in found:
        if label in _without_base(row["labels"]):
            is_shared = False
            _add(properties, row)
    if is_shared and found:
        comment = "on nodes that have other labels, too"
    return NodeInfo(label, _fields(properties), key, comment)


def _edges(rows: _Rows, kind: str, hidden: set[str]) -> Iterable[EdgeInfo]:
    """Yield a type with each pair of labels that it joins; an empty label for a node without."""
    found, comment = _sampled(
        rows,
        f"MATCH (a)-[x:{quote_name(kind)}]->(b)",
        "WITH a, x, b",
        "labels(a) AS sources, labels(b) AS targets",
    )
    properties: _Types = {}
    pairs: set[tuple[str, str]] = set()
    for row in found:
        _add(properties, row)
        ends = (_without_base(set(row[end]) - hidden) or [""] for end in ("sources", "targets"))
        sources, targets = ends
        pairs |= {(source, target) for source in sources for target in targets}
    if comment and not found:
        pairs = {("", "")}
    for source, target in sorted(pairs):
        yield EdgeInfo(kind, source, target, _fields(properties), comment)


def _sampled(rows: _Rows, match: str, passed: str, ends: str) -> tuple[list[dict[str, Any]], str]:
    """Return the properties of nodes or relationships, and a comment unless all were read."""
    try:
        (counted,) = rows(f"{match} RETURN count(x) AS count", _SECONDS)
        found = rows(f"{match} {passed} {_PROPERTIES}{ends}", _SECONDS)
    except StatementTimeoutError:
        return [], "could not be read in time"
    count = counted["count"]
    return found, f"a sample of {_SAMPLE:,} of {count:,}" if count > _SAMPLE else ""


def _without_base(labels: Iterable[str]) -> list[str]:
    """Return the labels of a node without those that a tool gives to every node."""
    found = sorted(labels)
    return [label for label in found if not _BASE.fullmatch(label)] or found


def _add(properties: _Types, row: Mapping[str, Any]) -> None:
    if row["name"] is not None:
        types = {kind.replace(" NOT NULL", "") for kind in row["types"]}
        properties.setdefault(row["name"], set()).update(types)


def _fields(properties: _Types) -> tuple[Field, ...]:
    return tuple(
        Field(name, " | ".join(sorted(types, key=lambda kind: (kind.startswith("LIST"), kind))))
        for name, types in sorted(properties.items())
    )


def _keys(rows: _Rows) -> dict[str, str]:
    """Return the property that a constraint on one property makes the key of its label."""
    found = rows(
        "SHOW CONSTRAINTS YIELD labelsOrTypes AS labels, properties, type, entityType "
        "WHERE entityType = 'NODE' AND size(properties) = 1 "
        "AND type IN ['UNIQUENESS', 'NODE_PROPERTY_UNIQUENESS', 'NODE_KEY'] "
        "RETURN labels, properties ORDER BY labels, properties"
    )
    return {row["labels"][0]: row["properties"][0] for row in reversed(found)}
