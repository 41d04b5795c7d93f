"""Return the part of a schema that a policy shows, with descriptions."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from dqa.core.errors import UsageError
from dqa.core.schema import DatabaseSchema, EdgeInfo, NodeInfo, Part, TableInfo, replace_fields
from dqa.core.situation import Schema
from dqa.guard.hints import closest
from dqa.guard.policy import OF_GRAPH, Policy

_NAME = re.compile(r"\w+")
_KINDS = {
    **dict.fromkeys(("tables", "unmasked", "row_filters"), "table"),
    **dict.fromkeys(("columns", "denied_columns", "masks"), "column"),
    "labels": "label",
    "relationship_types": "relationship type",
    **dict.fromkeys(("properties", "denied_properties"), "property"),
}
"""The attributes of a policy that name parts of a schema, with the kind of these parts."""


def visible_schema(schema: DatabaseSchema, dialect: str, policy: Policy) -> DatabaseSchema:
    """Return the tables, columns, labels, relationship types and properties that may be read."""
    hidden = {t.name.casefold() for t in schema.tables if not policy.shows_table(t.name)}
    if hidden or policy.restricts:
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
    """Return a comment, or an empty string if the comment contains a hidden name."""
    return "" if set(hidden) & set(map(str.casefold, _NAME.findall(comment))) else comment


def _visible_graph(schema: DatabaseSchema, dialect: str, policy: Policy) -> DatabaseSchema:
    is_folded = dialect == "ladybug"
    shown, form = (policy.in_small_letters, str.lower) if is_folded else (policy, str)

    def shows(part: Part) -> bool:
        if isinstance(part, EdgeInfo):
            ends = map(form, (part.source, part.target))
            return shown.shows_type(form(part.label)) and all(map(shown.shows_label, ends))
        return isinstance(part, TableInfo) or shown.shows_label(form(part.name))

    def visible(part: Part) -> Part:
        owner = form(part.name)
        fields = [f for f in part.fields if shown.shows_property(owner, form(f.name))]
        hidden = {field.name.casefold() for field in part.fields if field not in fields}
        changes: dict[str, str | None] = {"comment": _without(part.comment, hidden)}
        if isinstance(part, NodeInfo) and (part.key or "").casefold() in hidden:
            changes["key"] = None
        return part if isinstance(part, TableInfo) else replace_fields(part, fields, **changes)

    return schema.replace_parts([visible(part) for part in schema.parts if shows(part)])


def add_descriptions(schema: DatabaseSchema, scenario: Schema) -> DatabaseSchema:
    """Return a schema with a scenario's descriptions where the database has no comments.

    Parameters
    ----------
    schema
        The schema of the database.
    scenario
        The tables, nodes and edges of the scenario. Parts that the database lacks are ignored.
    """
    elements = {("label", node.label): node for node in scenario.nodes} | {
        ("relationship type", edge.label): edge for edge in scenario.edges
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
        found = [comments.get(columns.get(field.name, "").casefold(), "") for field in part.fields]
        pairs = zip(part.fields, found, strict=True)
        fields = [replace(field, comment=field.comment or comment) for field, comment in pairs]
        return replace_fields(part, fields, comment=part.comment or table.description)

    return schema.replace_parts([describe(part) for part in schema.parts])


def names_anything(policy: Policy) -> bool:
    """Return whether a policy names a table, a column or another part of a schema."""
    return any(getattr(policy, part) for part in _KINDS)


def require_known(policy: Policy, schemas: Sequence[DatabaseSchema], *, fold: bool = False) -> None:
    """Refuse a policy with unknown names, because a misspelt name protects nothing.

    Parameters
    ----------
    policy
        The policy. Attributes for a kind of database that has no schema here are not checked.
        A table with a schema prefix may be elsewhere in the database and is not checked, either.
    schemas
        The complete schemas of all databases to which the policy applies.
    fold
        Whether the names in a graph are compared without regard to case.

    Raises
    ------
    UsageError
        A name is in none of the schemas; the message suggests the most similar name.
    """
    elsewhere = {name.rpartition(".")[2] for name in policy.tables or () if "." in name}
    parts = [part for schema in schemas for part in schema.parts]
    for what, kind in _KINDS.items():
        is_of_graph = what in OF_GRAPH
        here = [part for part in parts if isinstance(part, TableInfo) is not is_of_graph]
        form = str if is_of_graph and not fold else str.casefold
        known = [name for part in here for name in _names_of(part, what)]
        there = set(map(form, known))
        for name in sorted(getattr(policy, what) or ()) if here else ():
            owner = name.rpartition(".")[0]
            is_elsewhere = owner in elsewhere or (what in {"tables", "unmasked"} and owner)
            if form(name) not in there and not is_elsewhere:
                hint = closest(name, known, whole=True)
                full = "table or view" if kind == "table" else kind
                raise UsageError(f"The policy's {what} has '{name}': no such {full}.{hint}")


def _names_of(part: Part, what: str) -> list[str]:
    """Return the names in a part of a schema that an attribute of a policy may contain."""
    if _KINDS[what] not in {"column", "property"}:
        return [part.name] if _KINDS[what] == part.kind else []
    names = [field.name for field in part.fields]
    return [f"{part.name}.{name}" for name in names] + names * what.startswith("denied")
