"""One table of a database, or label or relationship type of a graph: what it has, and some rows."""

from __future__ import annotations

from dqa.api.looking import QueriedRows
from dqa.core.database import Database, Limits
from dqa.core.errors import QueryError, UnknownNameError
from dqa.core.fitting import rank_fields
from dqa.core.records import Record
from dqa.core.schema import (
    DatabaseSchema,
    EdgeInfo,
    NodeInfo,
    Part,
    PartKind,
    TableInfo,
    cypher_name,
    edge_pattern,
)
from dqa.deciders.parts import (
    MOST_COLUMNS,
    describe_field,
    describe_neighbours,
    describe_parts,
    find_parts,
    kind_of_parts,
    look_at_rows,
)

_COUNTING = Limits(rows=1, seconds=1.0)
"""What counting rows may cost: whoever needs the number of a large table asks for it."""
_LONGEST_CELL = 200
"""Characters of a cell in a sample."""
_MOST_FOUND = 20
"""Columns that are found, unless it is said otherwise."""


class DescribedColumn(Record):
    """A column or property.

    Attributes
    ----------
    type
        In the database's own words.
    is_key
        Whether it is part of the primary key, or identifies a node.
    references
        The columns that it refers to, as ``table.column``.
    """

    name: str
    type: str
    is_key: bool = False
    references: tuple[str, ...] = ()


class DescribedTable(Record):
    """A table, or a graph's label or relationship type.

    Attributes
    ----------
    columns
        Its columns or properties, the first 200.
    column_count
        How many it has.
    between
        The labels that a relationship type joins, as patterns.
    row_count
        How many rows, nodes or relationships there are; None if counting takes over a second.
    text
        All of this as a model reads it.
    """

    database: str
    name: str
    kind: PartKind
    columns: tuple[DescribedColumn, ...]
    column_count: int
    between: tuple[str, ...] = ()
    row_count: int | None = None
    text: str

    def to_text(self) -> str:
        """Return the description as a model reads it."""
        return self.text


class FoundColumn(Record):
    """A column or property, and the table, label or relationship type that has it."""

    table: str
    name: str
    type: str
    comment: str = ""


class FoundColumns(Record):
    """The columns that some words are about, the likeliest first.

    Attributes
    ----------
    text
        One a line, as a model reads them.
    """

    database: str
    columns: tuple[FoundColumn, ...]
    text: str

    def to_text(self) -> str:
        """Return the columns as a model reads them."""
        return self.text


def describe_table(database: Database, table: str) -> DescribedTable:
    """Describe one table, or label or relationship type: columns, types, keys, number of rows.

    Parameters
    ----------
    database
        An open one; what its policy hides is not described.
    table
        Its name as in the schema, or in another case if that is unique.

    Raises
    ------
    UnknownNameError
        There is none of that name that may be read.
    InfrastructureError
        The database failed.
    """
    schema = database.schema()
    parts = _find(schema, table)
    columns = {column.name: column for part in parts for column in _columns(part)}
    edges = [part for part in parts if isinstance(part, EdgeInfo)]
    count = _count(database, parts[0], schema)
    rows = "not counted within a second" if count is None else f"{count:,}"
    lines = (*describe_parts(schema, parts), *describe_neighbours(schema, parts))
    return DescribedTable(
        database=database.name,
        name=parts[0].name,
        kind=parts[0].kind,
        columns=tuple(columns.values())[:MOST_COLUMNS],
        column_count=len(columns),
        between=tuple(edge_pattern(edge, f":{cypher_name(edge.label)}") for edge in edges),
        row_count=count,
        text="\n".join([*lines, f"Rows: {rows}."]),
    )


def sample_rows(database: Database, table: str, rows: int = 5) -> QueriedRows:
    """Return some rows of a table, or of the nodes or relationships of a name.

    The database chooses which ones. The first 200 columns are selected, by name, so that a policy
    that hides one does not hide the others; long cells are cut.

    Parameters
    ----------
    database
        An open one.
    table
        As in `describe_table`.
    rows
        Most rows.

    Raises
    ------
    UnknownNameError
        There is none of that name that may be read.
    QueryError
        The database cannot read it in time, or nothing of it may be read.
    InfrastructureError
        The database failed.
    """
    schema = database.schema()
    limited = database.dialect != "ansi"
    statement = look_at_rows(schema, _find(schema, table)[0], rows, limited=limited)
    limits = Limits(rows=rows, cell=_LONGEST_CELL)
    return QueriedRows.of(database, statement, database.query(statement, limits))


def find_columns(database: Database, words: str, most: int = _MOST_FOUND) -> FoundColumns:
    """Find the columns or properties that some words are about, in any table.

    Names and comments count, those of a column more than those of its table (BM25).

    Parameters
    ----------
    database
        An open one; what its policy hides is not found.
    words
        The content of the column.
    most
        Most columns.

    Raises
    ------
    InfrastructureError
        The database failed.
    """
    schema = database.schema()
    found = rank_fields(schema, words, most)
    lines = [describe_field(schema, part, field) for part, field in found]
    return FoundColumns(
        database=database.name,
        columns=tuple(
            FoundColumn(table=part.name, name=field.name, type=field.type, comment=field.comment)
            for part, field in found
        ),
        text="\n".join(lines) or "No column matches these words. Try others, one at a time.",
    )


def _find(schema: DatabaseSchema, name: str) -> tuple[Part, ...]:
    """Return the parts of a name: one table, or all that a relationship type joins."""
    found = find_parts(schema, name)
    if len({part.name for part in found}) != 1:
        names = {part.name for part in schema.parts}
        raise UnknownNameError(kind_of_parts(schema), name, names)
    return tuple(part for part in found if type(part) is type(found[0]))


def _columns(part: Part) -> list[DescribedColumn]:
    keys = part.key if isinstance(part, TableInfo) else (getattr(part, "key", None),)
    references = part.references if isinstance(part, TableInfo) else ()
    return [
        DescribedColumn(
            name=field.name,
            type=field.type,
            is_key=field.name in keys,
            references=tuple(
                f"{table}.{column}" if column else table
                for own, table, column in references
                if own == field.name
            ),
        )
        for field in part.fields
    ]


def _count(database: Database, part: Part, schema: DatabaseSchema) -> int | None:
    if isinstance(part, TableInfo):
        statement = f"SELECT count(*) AS n FROM {schema.spell(part.name)}"  # noqa: S608
    else:
        element = f"e:{cypher_name(part.name)}"
        pattern = f"({element})" if isinstance(part, NodeInfo) else f"()-[{element}]->()"
        statement = f"MATCH {pattern} RETURN count(e) AS n"
    try:
        found = database.query(statement, _COUNTING).rows
    except QueryError:  # too many for a second, or a policy that forbids counting
        return None
    return int(str(found[0][0]))
