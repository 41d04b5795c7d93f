"""Find, describe and sample parts of a schema: tables, node labels and relationship types."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from time import perf_counter

from dqa.core.database import Database, Limits
from dqa.core.display import MOST_TOKENS
from dqa.core.errors import QueryError
from dqa.core.events import WarningEvent
from dqa.core.fitting import FittedSchema, fit_schema
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
"""The maximum number of columns in the description or the sample of a part."""
_MOST_NEIGHBOURS = 20
"""The maximum number of neighbours of a part in its description."""
_COMMENT = 200


def kind_of_parts(schema: DatabaseSchema) -> str:
    """Return the noun for the parts of a schema, for messages."""
    return "label or relationship type" if schema.nodes or schema.edges else "table"


def find_parts(schema: DatabaseSchema, name: str) -> tuple[Part, ...]:
    """Return the parts with a name. A relationship type has one part for each pair of labels.

    Parameters
    ----------
    schema
        The schema to search.
    name
        The name. Case is ignored if no part has exactly this name. Quotes, a colon and a schema
        prefix are ignored.
    """
    wanted = name.strip().strip("`\"'[]:()")
    for spelling in (wanted, wanted.rpartition(".")[2].strip("`\"'[]")):
        found = [part for part in schema.parts if part.name.casefold() == spelling.casefold()]
        if found:
            return tuple([part for part in found if part.name == spelling] or found)
    return ()


def describe_parts(schema: DatabaseSchema, parts: Sequence[Part]) -> tuple[str, ...]:
    """Return a line for each part, with its first 200 columns."""
    return tuple(schema.describe(narrow_part(part)) for part in parts[:_MOST_NEIGHBOURS])


def describe_neighbours(schema: DatabaseSchema, parts: Sequence[Part]) -> Iterator[str]:
    """Yield lines about the tables that refer to a table, or about a label's relationships.

    Parameters
    ----------
    schema
        The whole schema.
    parts
        The result of `find_parts`: all parts with one name.
    """
    names = {part.name for part in parts}
    if isinstance(parts[0], NodeInfo):
        edges = [edge for edge in schema.edges if names & {edge.source, edge.target}]
        yield from describe_parts(schema, edges)
    elif isinstance(parts[0], TableInfo):
        referring = (
            one for one in schema.tables if names & {other for _, other, _ in one.references}
        )
        found = [schema.spell(one.name) for one in referring]
        more = len(found) - _MOST_NEIGHBOURS
        ending = f" and {more:,} more" if more > 0 else ""
        if found:
            yield visible(f"Referred to by: {', '.join(found[:_MOST_NEIGHBOURS])}{ending}")


def describe_field(schema: DatabaseSchema, part: Part, field: Field) -> str:
    """Return a line with the table, the name, the type and the comments of a column."""
    comments = [text for text in (field.comment, part.comment) if text]
    comment = f" /* {shortened('; of: '.join(comments), _COMMENT)} */" if comments else ""
    return visible(f"{schema.spell(part.name)}.{schema.spell(field.name)}: {field.type}{comment}")


def narrow_part(part: Part) -> Part:
    """Return a part with its first 200 columns and the number of omitted columns."""
    omitted = max(len(part.fields) - MOST_COLUMNS, 0)
    return replace_fields(part, part.fields[:MOST_COLUMNS], omitted=omitted) if omitted else part


def look_at_rows(database: Database, schema: DatabaseSchema, part: Part, rows: int) -> str:
    """Return the statement that selects some rows of a part of a schema.

    The statement names the columns instead of using ``*``, because a policy may hide some columns.
    """
    names = [field.name for field in part.fields[:MOST_COLUMNS]]
    if isinstance(part, TableInfo):
        columns = ", ".join(map(schema.spell, names)) or "*"
        return f"SELECT {columns} FROM {schema.spell(part.name)}{_limit(database, rows)}"  # noqa: S608
    values = (f"e.{cypher_name(name)} AS {cypher_name(name)}" for name in names)
    selected = ", ".join(values) or "count(*) AS how_many"
    return f"MATCH {_pattern(part)} RETURN {selected}{_limit(database, rows)}"


def _limit(database: Database, rows: int) -> str:
    """Return the clause that limits the number of rows; empty for the dialect ``ansi``."""
    return "" if database.dialect == "ansi" else f" LIMIT {rows}"


def _pattern(part: Part) -> str:
    """Return the pattern of a label or relationship type, with the variable ``e``."""
    element = f"e:{cypher_name(part.name)}"
    return edge_pattern(part, element) if isinstance(part, EdgeInfo) else f"({element})"


_SAMPLING = 30.0
"""The time limit in seconds for the samples of all columns together."""
_LONGEST = 40
"""The maximum number of characters of a sample."""
_TEXT = re.compile(r"char|text|string|clob|enum", re.IGNORECASE)
_SAMPLED = re.compile(
    rf"(?!.*(?:\[|list|map|struct)).*(?:{_TEXT.pattern}|bool|tinyint\(1\))", re.IGNORECASE
)
"""Matches the types whose columns get samples: texts and booleans, but no lists and maps."""


_NAMED = 8
"""The maximum number of names in the text of a warning. The warning's event contains all names."""


def warning_of(shown: FittedSchema) -> WarningEvent | None:
    """Return a warning about an incomplete schema; None for a complete schema."""
    left, briefly = len(shown.left_out), shown.shortened
    if shown.is_whole:
        return None
    names = ", ".join(shown.left_out[:_NAMED]) + (", ..." if left > _NAMED else "")
    return WarningEvent(
        about="schema",
        text=f"The prompt has no room for all {shown.total:,} tables or labels of the schema. It "
        f"describes {briefly:,} by keys, joins and comments only, and does not describe {left:,} "
        f"({names or 'none'}). Select the relevant tables (--tables, or the field 'tables' of a "
        "--policy), or increase --schema-tokens.",
        considered=shown.total - left,
        total=shown.total,
        left_out=shown.left_out,
    )


def shown_schema(
    database: Database,
    samples: int = 0,
    about: str = "",
    most: int = MOST_TOKENS,
    first: Collection[str] = (),
) -> FittedSchema:
    """Return the part of a schema that a prompt describes.

    Parameters
    ----------
    database
        The database.
    samples
        Number of sample values of each text and boolean column.
    about
        The texts of the question. If the schema is too long, tables that these texts name have
        priority.
    most
        The maximum number of tokens of the text, as estimated by `estimate_tokens`.
    first
        The names of the parts to describe first, such as the tables of a scenario.

    Raises
    ------
    InfrastructureError
        The database failed.
    """
    fitted = fit_schema(database.schema(), about, most, first=first)
    if not samples:
        return fitted
    # With samples, the described parts are longer, so the schema may have to shrink again.
    sampled = sampled_schema(database, samples, schema=fitted.schema)
    return fit_schema(sampled, about, most, first, fitted)


def sampled_schema(
    database: Database, samples: int, schema: DatabaseSchema | None = None
) -> DatabaseSchema:
    """Return a schema with the first values of each text and boolean column.

    One guarded statement per column reads the values, so a policy that hides a column hides its
    values. The values are distinct and sorted. In PostgreSQL, texts are sorted by character codes.
    All statements together have a time limit. A column has no samples if its statement takes more
    than a third of this limit, or if the limit has passed.

    Parameters
    ----------
    database
        The database.
    samples
        The number of values of each column. With 0, nothing is read.
    schema
        The parts to sample; None for the whole schema.

    Raises
    ------
    InfrastructureError
        The database failed.
    """
    schema = database.schema() if schema is None else schema
    if not samples:
        return schema
    until = perf_counter() + _SAMPLING

    def sampled(part: Part, field: Field) -> Field:
        left = min(_SAMPLING / 3.0, until - perf_counter())
        if not _SAMPLED.match(field.type) or left <= 0.0:
            return field
        statement = _sample_statement(database, schema, part, field, samples)
        try:
            rows = database.query(statement, Limits(samples, seconds=left, cell=_LONGEST)).rows
        except QueryError:
            return field
        return replace(field, samples=tuple(row[0] for row in rows))

    return schema.replace_parts(
        [replace_fields(part, [sampled(part, one) for one in part.fields]) for part in schema.parts]
    )


def _sample_statement(
    database: Database, schema: DatabaseSchema, part: Part, field: Field, rows: int
) -> str:
    """Return the statement that selects the first distinct values of a column."""
    if isinstance(part, TableInfo):
        column, table = schema.spell(field.name), schema.spell(part.name)
        # The order of texts of a server depends on its locale.
        by_code = database.dialect == "postgres" and _TEXT.search(field.type)
        value = f'{column} COLLATE "C"' if by_code else column
        chosen = f"SELECT DISTINCT {value} AS shown FROM {table} WHERE {column} IS NOT NULL"  # noqa: S608
    else:
        value = f"e.{cypher_name(field.name)}"
        found = f"MATCH {_pattern(part)} WHERE {value} IS NOT NULL"
        chosen = f"{found} RETURN DISTINCT {value} AS shown"
    return f"{chosen} ORDER BY shown{_limit(database, rows)}"
