"""Parts of a schema: tables, node labels and relationship types, by name and as text.

What an agent looks up beside its prompt, and what other people's agents are told, is written here
once, so that both read the same and ask the same statements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from dqa.core.schema import (
    DatabaseSchema,
    EdgeInfo,
    Field,
    NodeInfo,
    TableInfo,
    cypher_name,
    sql_name,
)
from dqa.core.situation import Schema, TableSchema
from dqa.core.text import shortened

Part: TypeAlias = TableInfo | NodeInfo | EdgeInfo
PartKind: TypeAlias = Literal["table", "label", "relationship type"]

MOST_COLUMNS = 200
"""Columns of a part that are described, and selected where some of its rows are looked at."""
_BESIDE = 20
"""Tables that refer to one, or relationships of a label, that are told with it."""
_COMMENT = 200


def part_name(part: Part) -> str:
    """Return what a table, label or relationship type is called."""
    return part.name if isinstance(part, TableInfo) else part.label


def part_fields(part: Part) -> tuple[Field, ...]:
    """Return its columns or properties."""
    return part.columns if isinstance(part, TableInfo) else part.properties


def part_kind(part: Part) -> PartKind:
    """Return what it is."""
    if isinstance(part, TableInfo):
        return "table"
    return "label" if isinstance(part, NodeInfo) else "relationship type"


def schema_parts(schema: DatabaseSchema) -> tuple[Part, ...]:
    """Return all tables, node labels and relationship types."""
    return (*schema.tables, *schema.nodes, *schema.edges)


def replace_parts(schema: DatabaseSchema, parts: Sequence[Part]) -> DatabaseSchema:
    """Return a schema with other parts."""
    return replace(
        schema,
        tables=tuple(part for part in parts if isinstance(part, TableInfo)),
        nodes=tuple(part for part in parts if isinstance(part, NodeInfo)),
        edges=tuple(part for part in parts if isinstance(part, EdgeInfo)),
    )


def add_descriptions(schema: DatabaseSchema, told: Schema) -> DatabaseSchema:
    """Return a schema with what a scenario says of tables and columns, where the database is mute.

    Parameters
    ----------
    schema
        As a database describes itself.
    told
        A scenario's tables, nodes and edges; what the database does not have is left out.
    """
    tables = {table.name.casefold(): table for table in told.tables}
    of_label = {node.label: (node.table, dict(node.properties)) for node in told.nodes}
    of_type = {edge.label: (edge.table, dict(edge.properties)) for edge in told.edges}

    def described(part: Part) -> Part:
        if isinstance(part, TableInfo):
            table, columns = part.name, {field.name: field.name for field in part.columns}
        else:
            named = of_label if isinstance(part, NodeInfo) else of_type
            table, columns = named.get(part.label, ("", {}))
        known = tables.get(table.casefold())
        return part if known is None else _described(part, known, columns)

    return replace_parts(schema, [described(part) for part in schema_parts(schema)])


def _described(part: Part, table: TableSchema, columns: Mapping[str, str]) -> Part:
    said = {column.name.casefold(): column.description for column in table.columns}
    fields = tuple(
        replace(
            field, comment=field.comment or said.get(columns.get(field.name, "").casefold(), "")
        )
        for field in part_fields(part)
    )
    if isinstance(part, TableInfo):
        return replace(part, columns=fields, comment=part.comment or table.description)
    if isinstance(part, NodeInfo):
        return replace(part, properties=fields, comment=part.comment or table.description)
    return replace(part, properties=fields, comment=part.comment or table.description)


def kind_of_parts(schema: DatabaseSchema) -> str:
    """Return what the parts of a schema are, for a message about one that is not there."""
    return "label or relationship type" if schema.nodes or schema.edges else "table"


def find_parts(schema: DatabaseSchema, name: str) -> tuple[Part, ...]:
    """Return what is called so: several where a relationship type joins several labels.

    Parameters
    ----------
    schema
        Where to look.
    name
        As it is written in the schema or, failing that, in other letters; quotes around it, a
        colon and a schema's name before it are left out.
    """
    wanted = name.strip().strip("`\"'[]:()")
    for spelled in (wanted, wanted.rpartition(".")[2].strip("`\"'[]")):
        named = [part for part in schema_parts(schema) if _is_called(part, spelled)]
        if named:
            return tuple(part for part in named if part_name(part) == spelled) or tuple(named)
    return ()


def _is_called(part: Part, name: str) -> bool:
    return part_name(part).casefold() == name.casefold()


def describe_parts(schema: DatabaseSchema, parts: Sequence[Part]) -> tuple[str, ...]:
    """Return the lines that describe parts of one name, their first 200 columns each."""
    described = replace_parts(schema, [narrow_part(part) for part in parts[:_BESIDE]])
    return described.lines()


def describe_neighbours(schema: DatabaseSchema, parts: Sequence[Part]) -> Iterator[str]:
    """Yield the lines that say what refers to a table, or which relationships a label has."""
    names = {part_name(part) for part in parts}
    if isinstance(parts[0], TableInfo):
        found = [
            sql_name(table.name, schema.quote)
            for table in schema.tables
            if names & {other for _, other, _ in table.references}
        ]
        if found:
            more = f" and {len(found) - _BESIDE:,} more" if len(found) > _BESIDE else ""
            yield f"Referred to by: {', '.join(found[:_BESIDE])}{more}"
    elif isinstance(parts[0], NodeInfo):
        edges = [edge for edge in schema.edges if names & {edge.source, edge.target}]
        yield from describe_parts(schema, edges)


def describe_field(schema: DatabaseSchema, part: Part, field: Field) -> str:
    """Return the line that says where a column stands, its type and what is said of both."""
    names = part_name(part), field.name
    if isinstance(part, TableInfo):
        owner, column = (sql_name(name, schema.quote) for name in names)
    else:
        owner, column = map(cypher_name, names)
    said = [text for text in (field.comment, part.comment) if text]
    comment = f" /* {shortened('; of: '.join(said), _COMMENT)} */" if said else ""
    return f"{owner}.{column}: {field.type}{comment}".replace("\n", " ")


def narrow_part(part: Part) -> Part:
    """Return a part with no more columns than are described; `omitted` counts the others."""
    omitted = max(len(part_fields(part)) - MOST_COLUMNS, 0)
    if not omitted:
        return part
    if isinstance(part, TableInfo):
        return replace(part, columns=part.columns[:MOST_COLUMNS], omitted=omitted)
    return replace(part, properties=part.properties[:MOST_COLUMNS], omitted=omitted)


def look_at_rows(schema: DatabaseSchema, part: Part, rows: int, *, limited: bool = True) -> str:
    """Return the statement that looks at some rows of a part.

    Columns are selected by name, so that a policy that hides one does not hide the others.

    Parameters
    ----------
    schema
        Where it stands.
    part
        Which one.
    rows
        Most rows.
    limited
        Whether the statement says so; not where the dialect has no one word for it.
    """
    names = [field.name for field in part_fields(part)[:MOST_COLUMNS]]
    if isinstance(part, TableInfo):
        columns = ", ".join(sql_name(name, schema.quote) for name in names) or "*"
        most = f" LIMIT {rows}" if limited else ""
        return f"SELECT {columns} FROM {sql_name(part.name, schema.quote)}{most}"  # noqa: S608
    values = (f"e.{cypher_name(name)} AS {cypher_name(name)}" for name in names)
    returned = ", ".join(values) or "count(*) AS how_many"
    pattern = f"(e:{cypher_name(part_name(part))})"
    if isinstance(part, EdgeInfo):
        source, label, target = map(cypher_name, (part.source, part.label, part.target))
        pattern = f"(:{source})-[e:{label}]->(:{target})"
    return f"MATCH {pattern} RETURN {returned} LIMIT {rows}"
