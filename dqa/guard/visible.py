"""The schema that a reader sees: the part that a policy shows, with descriptions."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import replace

from dqa.core.schema import (
    DatabaseSchema,
    EdgeInfo,
    Field,
    NodeInfo,
    Part,
    TableInfo,
    replace_fields,
)
from dqa.core.situation import Schema
from dqa.guard.policy import Policy

_NAME = re.compile(r"\w+")


def visible_schema(schema: DatabaseSchema, dialect: str, policy: Policy) -> DatabaseSchema:
    """Return the tables, columns, labels, relationship types and properties that may be read."""
    if policy.restricts:
        hidden = {t.name.casefold() for t in schema.tables if not policy.shows_table(t.name)}
        tables = (
            _table(table, policy, hidden)
            for table in schema.tables
            if table.name.casefold() not in hidden
        )
        schema = replace(schema, tables=tuple(tables), notes=())  # notes may name a hidden table
    return _graph(schema, dialect, policy) if policy.limits_graph else schema


def _table(table: TableInfo, policy: Policy, hidden_tables: set[str]) -> TableInfo:
    columns = tuple(c for c in table.columns if policy.allows_column(table.name, c.name))
    names = {column.name for column in columns}
    hidden = {column.name.casefold() for column in table.columns if column.name not in names}
    hidden |= hidden_tables
    return replace(
        table,
        columns=tuple(replace(c, comment=_without(c.comment, hidden)) for c in columns),
        comment=_without(table.comment, hidden),
        key=table.key if names.issuperset(table.key) else (),
        references=tuple(
            (column, other, other_column)
            for column, other, other_column in table.references
            if column in names
            and policy.shows_table(other)
            and policy.allows_column(other, other_column)
        ),
    )


def _without(comment: str, hidden: Collection[str]) -> str:
    """Return a comment, unless it has a hidden name."""
    return "" if set(hidden) & set(map(str.casefold, _NAME.findall(comment))) else comment


def _graph(schema: DatabaseSchema, dialect: str, policy: Policy) -> DatabaseSchema:
    from dqa.guard.cypher_policy import VisibleGraph

    fold: Callable[[str], str] = str.lower if dialect == "ladybug" else str
    shown = VisibleGraph.of(policy, fold=dialect == "ladybug")

    def fields(owner: str, properties: tuple[Field, ...]) -> tuple[Field, ...]:
        return tuple(p for p in properties if shown.shows(fold(owner), fold(p.name)))

    def visible_node(node: NodeInfo) -> NodeInfo:
        seen = fields(node.label, node.properties)
        key = node.key if node.key in {field.name for field in seen} else None
        return replace(node, properties=seen, key=key, comment=_comment(node, seen))

    def visible_edge(edge: EdgeInfo) -> EdgeInfo:
        seen = fields(edge.label, edge.properties)
        return replace(edge, properties=seen, comment=_comment(edge, seen))

    return replace(
        schema,
        nodes=tuple(
            visible_node(node) for node in schema.nodes if shown.shows_label(fold(node.label))
        ),
        edges=tuple(
            visible_edge(edge)
            for edge in schema.edges
            if shown.shows_type(fold(edge.label))
            and shown.shows_label(fold(edge.source))
            and shown.shows_label(fold(edge.target))
        ),
    )


def _comment(part: NodeInfo | EdgeInfo, shown: tuple[Field, ...]) -> str:
    """Return the comment on a label or type, unless it names a hidden property."""
    visible = {field.name for field in shown}
    hidden = {field.name.casefold() for field in part.properties if field.name not in visible}
    return _without(part.comment, hidden)


def add_descriptions(schema: DatabaseSchema, scenario: Schema) -> DatabaseSchema:
    """Return a schema with a scenario's descriptions where the database has no comments.

    Parameters
    ----------
    schema
        The schema as the database describes it.
    scenario
        The scenario's tables, nodes and edges. Those that the database lacks are ignored.
    """
    elements = {
        (kind, element.label): element
        for kind, found in (("label", scenario.nodes), ("relationship type", scenario.edges))
        for element in found
    }
    tables = {table.name.casefold(): table for table in scenario.tables}

    def describe(part: Part) -> Part:
        element = elements.get((part.kind, part.name))
        name = part.name if isinstance(part, TableInfo) else element.table if element else ""
        table = tables.get(name.casefold())
        if table is None:
            return part
        columns = dict(element.properties) if element else {f.name: f.name for f in part.fields}
        comments = {column.name.casefold(): column.description for column in table.columns}
        fields = [
            replace(
                field,
                comment=field.comment or comments.get(columns.get(field.name, "").casefold(), ""),
            )
            for field in part.fields
        ]
        return replace_fields(part, fields, comment=part.comment or table.description)

    return schema.replace_parts([describe(part) for part in schema.parts])
