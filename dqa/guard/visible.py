"""The schema that a reader sees: the part that a policy shows, with descriptions."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import replace

from dqa.core.schema import (
    DatabaseSchema,
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
        tables = [t for t in schema.tables if t.name.casefold() not in hidden]
        shown = tuple(_visible_table(table, policy, hidden) for table in tables)
        schema = replace(schema, tables=shown, notes=())  # notes may name a hidden table
    return _visible_graph(schema, dialect, policy) if policy.limits_graph else schema


def _visible_table(table: TableInfo, policy: Policy, hidden: set[str]) -> TableInfo:
    columns = [c for c in table.columns if policy.allows_column(table.name, c.name)]
    names = {column.name for column in columns}
    hidden = hidden | {c.name.casefold() for c in table.columns if c.name not in names}
    return replace(
        table,
        columns=tuple(replace(c, comment=_without(c.comment, hidden)) for c in columns),
        comment=_without(table.comment, hidden),
        key=table.key if names.issuperset(table.key) else (),
        references=tuple(
            (column, other, key)
            for column, other, key in table.references
            if column in names and policy.shows_table(other) and policy.allows_column(other, key)
        ),
    )


def _without(comment: str, hidden: Collection[str]) -> str:
    """Return a comment, unless it has a hidden name."""
    return "" if set(hidden) & set(map(str.casefold, _NAME.findall(comment))) else comment


def _visible_graph(schema: DatabaseSchema, dialect: str, policy: Policy) -> DatabaseSchema:
    from dqa.guard.cypher import VisibleGraph

    fold: Callable[[str], str] = str.lower if dialect == "ladybug" else str
    shown = VisibleGraph.of(policy, fold=dialect == "ladybug")

    def visible(part: Part) -> Part:
        fields = [f for f in part.fields if shown.shows(fold(part.name), fold(f.name))]
        hidden = {f.name.casefold() for f in part.fields if f not in fields}
        changes: dict[str, str | None] = {"comment": _without(part.comment, hidden)}
        if isinstance(part, NodeInfo) and (part.key or "").casefold() in hidden:
            changes["key"] = None
        return replace_fields(part, fields, **changes)

    parts: list[Part] = [n for n in schema.nodes if shown.shows_label(fold(n.label))]
    parts += [
        e
        for e in schema.edges
        if shown.shows_type(fold(e.label))
        and shown.shows_label(fold(e.source))
        and shown.shows_label(fold(e.target))
    ]
    return schema.replace_parts([*schema.tables, *map(visible, parts)])


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
