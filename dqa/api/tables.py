"""One table of a database, or label or relationship type of a graph: what it has, and some rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from dqa.api.looking import QueriedRows
from dqa.core.database import Database, Limits
from dqa.core.errors import QueryError, StatementError, UnknownNameError
from dqa.core.relevance import Part, part_fields, part_name
from dqa.core.records import Record
from dqa.core.schema import DatabaseSchema, EdgeInfo, NodeInfo, TableInfo, cypher_name, sql_name

PartKind: TypeAlias = Literal["table", "label", "relationship type"]

_COUNTING = Limits(rows=1, seconds=1.0)
"""What counting rows may cost: whoever needs the number of a large table asks for it."""
_WIDEST = 200
"""Columns that are described, and selected as samples."""
_LONGEST_CELL = 200
"""Characters of a cell in a sample."""


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
        How many rows, nodes or relationships there are; None where counting takes over a second.
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


def describe_table(database: Database, table: str) -> DescribedTable:
    """Describe one table, or label or relationship type: columns, types, keys, number of rows.

    Parameters
    ----------
    database
        An open one; what its policy hides is not described.
    table
        Its name, as the schema has it; in other letters, where only one is called so.

    Raises
    ------
    UnknownNameError
        There is none of that name that may be read.
    InfrastructureError
        The database failed.
    """
    schema = database.schema()
    parts = _find(schema, table)
    first = parts[0]
    columns = {column.name: column for part in parts for column in _columns(part)}
    shown = replace(
        schema,
        tables=tuple(
            replace(part, columns=part.columns[:_WIDEST])
            for part in parts
            if isinstance(part, TableInfo)
        ),
        nodes=tuple(
            replace(part, properties=part.properties[:_WIDEST])
            for part in parts
            if isinstance(part, NodeInfo)
        ),
        edges=tuple(
            replace(part, properties=part.properties[:_WIDEST])
            for part in parts
            if isinstance(part, EdgeInfo)
        ),
    )
    count = _count(database, first, schema.quote)
    notes = [] if len(columns) <= _WIDEST else [f"The first {_WIDEST} of {len(columns):,} columns."]
    notes.append("Rows: not counted within a second." if count is None else f"Rows: {count:,}.")
    return DescribedTable(
        database=database.name,
        name=part_name(first),
        kind=_kind(first),
        columns=tuple(columns.values())[:_WIDEST],
        column_count=len(columns),
        between=tuple(
            f"(:{cypher_name(part.source)})-[:{cypher_name(part.label)}]->"
            f"(:{cypher_name(part.target)})"
            for part in parts
            if isinstance(part, EdgeInfo)
        ),
        row_count=count,
        text="\n".join([shown.to_text(), *notes]),
    )


def sample_rows(database: Database, table: str, rows: int = 5) -> QueriedRows:
    """Return some rows of a table, or of the nodes or relationships that are called so.

    Which ones is the database's choice. The first 200 columns are selected, by name, so that a
    policy that hides one does not hide the others; long cells are cut.

    Parameters
    ----------
    database
        An open one.
    table
        As `describe_table` takes it.
    rows
        Most rows.

    Raises
    ------
    UnknownNameError
        There is none of that name that may be read.
    QueryError
        It has nothing to show, or the database cannot read it in time.
    InfrastructureError
        The database failed.
    """
    schema = database.schema()
    statement = _sampling(database, _find(schema, table)[0], schema.quote, rows)
    limits = Limits(rows=rows, cell=_LONGEST_CELL)
    return QueriedRows.of(database, statement, database.query(statement, limits))


def _find(schema: DatabaseSchema, name: str) -> tuple[Part, ...]:
    """Return what is called so: one table, or all that a relationship type joins."""
    parts: Sequence[Part] = (*schema.tables, *schema.nodes, *schema.edges)
    exact = tuple(part for part in parts if part_name(part) == name)
    if exact:
        return tuple(part for part in exact if type(part) is type(exact[0]))
    names = {part_name(part) for part in parts}
    alike = [known for known in names if known.casefold() == name.casefold()]
    if len(alike) == 1:
        return _find(schema, alike[0])
    what = "label or relationship type" if schema.nodes or schema.edges else "table"
    raise UnknownNameError(what, name, names)


def _kind(part: Part) -> PartKind:
    if isinstance(part, TableInfo):
        return "table"
    return "label" if isinstance(part, NodeInfo) else "relationship type"


def _columns(part: Part) -> tuple[DescribedColumn, ...]:
    keys: tuple[str | None, ...] = ()
    references: dict[str, list[str]] = {}
    if isinstance(part, TableInfo):
        keys = part.key
        for column, other, other_column in part.references:
            target = f"{other}.{other_column}" if other_column else other
            references.setdefault(column, []).append(target)
    elif isinstance(part, NodeInfo):
        keys = (part.key,)
    return tuple(
        DescribedColumn(
            name=field.name,
            type=field.type,
            is_key=field.name in keys,
            references=tuple(references.get(field.name, ())),
        )
        for field in part_fields(part)
    )


def _count(database: Database, part: Part, quote: str) -> int | None:
    if isinstance(part, TableInfo):
        statement = f"SELECT count(*) AS n FROM {sql_name(part.name, quote)}"  # noqa: S608
    elif isinstance(part, NodeInfo):
        statement = f"MATCH (e:{cypher_name(part.label)}) RETURN count(e) AS n"
    else:
        statement = f"MATCH ()-[e:{cypher_name(part.label)}]->() RETURN count(e) AS n"
    try:
        found = database.query(statement, _COUNTING).rows
    except QueryError:  # too many for a second, or a policy that lets nobody count them
        return None
    return int(str(found[0][0]))


def _sampling(database: Database, part: Part, quote: str, rows: int) -> str:
    """Return the statement that reads some rows."""
    names = [field.name for field in part_fields(part)[:_WIDEST]]
    if not names:
        raise StatementError(f"'{part_name(part)}' has no columns or properties to show.")
    if isinstance(part, TableInfo):
        listed = ", ".join(sql_name(name, quote) for name in names)
        most = "" if database.dialect == "ansi" else f" LIMIT {rows}"
        return f"SELECT {listed} FROM {sql_name(part.name, quote)}{most}"  # noqa: S608
    listed = ", ".join(f"e.{cypher_name(name)} AS {cypher_name(name)}" for name in names)
    label = cypher_name(part.label)
    if isinstance(part, NodeInfo):
        return f"MATCH (e:{label}) RETURN {listed} LIMIT {rows}"
    source, target = cypher_name(part.source), cypher_name(part.target)
    return f"MATCH (:{source})-[e:{label}]->(:{target}) RETURN {listed} LIMIT {rows}"
