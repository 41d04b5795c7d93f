"""Find, describe and sample tables, node labels and relationship types by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dqa.core.schema import (
    DatabaseSchema,
    EdgeInfo,
    Field,
    NodeInfo,
    Part,
    TableInfo,
    cypher_name,
    edge_pattern,
    replace_fields,
)
from dqa.core.text import shortened, visible

MOST_COLUMNS = 200
"""Columns of a part that are described, and that a sample of its rows has."""
_MOST_NEIGHBOURS = 20
"""Tables that refer to one, or relationship types of a label, that are shown."""
_COMMENT = 200


def kind_of_parts(schema: DatabaseSchema) -> str:
    """Return the noun for the parts of a schema, for a message about an unknown one."""
    return "label or relationship type" if schema.nodes or schema.edges else "table"


def find_parts(schema: DatabaseSchema, name: str) -> tuple[Part, ...]:
    """Return the parts of a name: several where a relationship type joins several labels.

    Parameters
    ----------
    schema
        The schema to search.
    name
        The exact name or, failing that, in another case. Quotes, a colon and the name of a
        schema before it are ignored.
    """
    wanted = name.strip().strip("`\"'[]:()")
    for spelling in (wanted, wanted.rpartition(".")[2].strip("`\"'[]")):
        found = [part for part in schema.parts if part.name.casefold() == spelling.casefold()]
        if found:
            return tuple([part for part in found if part.name == spelling] or found)
    return ()


def describe_parts(schema: DatabaseSchema, parts: Sequence[Part]) -> tuple[str, ...]:
    """Return the lines that describe parts, with their first 200 columns each."""
    return tuple(schema.describe(narrow_part(part)) for part in parts[:_MOST_NEIGHBOURS])


def describe_neighbours(schema: DatabaseSchema, parts: Sequence[Part]) -> Iterator[str]:
    """Yield the lines that say which tables refer to a table, or which relationships a label has.

    Parameters
    ----------
    schema
        The whole schema.
    parts
        Parts of one name.
    """
    names = {part.name for part in parts}
    if isinstance(parts[0], TableInfo):
        found = [
            schema.spell(table.name)
            for table in schema.tables
            if names & {other for _, other, _ in table.references}
        ]
        if found:
            more = len(found) - _MOST_NEIGHBOURS
            ending = f" and {more:,} more" if more > 0 else ""
            yield visible(f"Referred to by: {', '.join(found[:_MOST_NEIGHBOURS])}{ending}")
    elif isinstance(parts[0], NodeInfo):
        edges = [edge for edge in schema.edges if names & {edge.source, edge.target}]
        yield from describe_parts(schema, edges)


def describe_field(schema: DatabaseSchema, part: Part, field: Field) -> str:
    """Return the line with a column's table, name, type and comments."""
    comments = [text for text in (field.comment, part.comment) if text]
    comment = f" /* {shortened('; of: '.join(comments), _COMMENT)} */" if comments else ""
    return visible(f"{schema.spell(part.name)}.{schema.spell(field.name)}: {field.type}{comment}")


def narrow_part(part: Part) -> Part:
    """Return a part with its first 200 columns; `omitted` counts the others."""
    omitted = max(len(part.fields) - MOST_COLUMNS, 0)
    return replace_fields(part, part.fields[:MOST_COLUMNS], omitted=omitted) if omitted else part


def look_at_rows(schema: DatabaseSchema, part: Part, rows: int, *, limited: bool = True) -> str:
    """Return the statement that selects some rows of a part.

    It selects columns by name, so that a policy that hides one does not hide the others.

    Parameters
    ----------
    schema
        The schema of the part.
    part
        A table, label or relationship type.
    rows
        Most rows.
    limited
        Whether the statement has a LIMIT; False for an SQL dialect that may lack it.
    """
    names = [field.name for field in part.fields[:MOST_COLUMNS]]
    if isinstance(part, TableInfo):
        columns = ", ".join(map(schema.spell, names)) or "*"
        limit = f" LIMIT {rows}" if limited else ""
        return f"SELECT {columns} FROM {schema.spell(part.name)}{limit}"  # noqa: S608
    values = (f"e.{cypher_name(name)} AS {cypher_name(name)}" for name in names)
    selected = ", ".join(values) or "count(*) AS how_many"
    return f"MATCH {match_pattern(part)} RETURN {selected} LIMIT {rows}"


def match_pattern(part: Part) -> str:
    """Return the pattern of a label or relationship type, whose variable is ``e``."""
    element = f"e:{cypher_name(part.name)}"
    return edge_pattern(part, element) if isinstance(part, EdgeInfo) else f"({element})"
