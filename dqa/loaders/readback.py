"""Reads a loaded database back into the situation it was written from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from dqa.core.cypher import quote_name
from dqa.core.database import Database, Limits
from dqa.core.errors import DataError, UnknownNameError
from dqa.core.situation import Cell, EdgeSchema, NodeSchema, Schema, Situation, Table, TableSchema
from dqa.databases.row_order import restore_order
from dqa.databases.tables import quote
from dqa.guard import GuardedDatabase

_ALL = Limits(rows=10**12, bytes=10**15, seconds=3_600.0, cell=10**12)

_ROW_ORDER: Mapping[str, str] = {
    "ansi": "dqa_row",
    "duckdb": "rowid",
    "ladybug": "offset(id({0}))",
    "mariadb": "dqa_row",
    "mysql": "dqa_row",
    "postgres": "ctid",
    "sqlite": "rowid",
}
"""By dialect, what a writer leaves behind that tells the order of the rows."""


def read_situation(database: Database, schema: Schema, name: str) -> Situation:
    """Read a whole situation from a database that a writer of this project has filled.

    Parameters
    ----------
    database
        Relational or graph; read through `Database.query` alone.
    schema
        The schema it was written with.
    name
        What to call the situation.

    Returns
    -------
    Situation
        Equal to the one written, row order included.

    Raises
    ------
    UnknownNameError
        The dialect's row order is unknown.
    DataError
        The database holds something else than the schema says.
    QueryError, DatabaseUnavailableError
        As `Database.query` does.
    """
    return Situation(schema, name, {t.name: read_table(database, schema, t) for t in schema.tables})


def read_table(database: Database, schema: Schema, table: TableSchema) -> Table:
    """Read one table of a situation; see `read_situation`."""
    read = _read_rows if database.kind == "relational" else _read_graph
    return read(database, schema, table)


def _read_rows(database: Database, _schema: Schema, table: TableSchema) -> Table:
    source = quote(database.dialect, table.name)
    # With the table's name: alone, a quoted column that is not there is a text in SQLite.
    names = (quote(database.dialect, name) for name in table.column_names)
    columns = ", ".join(f"{source}.{name}" for name in names)
    order = _row_order(database)
    rows = _all_rows(database, f"SELECT {columns} FROM {source} ORDER BY {order}")  # noqa: S608
    return _table(table, table.column_names, rows)


def _read_graph(database: Database, schema: Schema, table: TableSchema) -> Table:
    node = next((n for n in schema.nodes if n.table == table.name), None)
    edge = next((e for e in schema.edges if e.table == table.name), None)
    if node is not None:
        return _read_nodes(database, node, table)
    if edge is not None:
        return _read_edges(database, edge, schema, table)
    raise DataError(f"Table '{table.name}' is neither nodes nor edges of the graph.")


def _read_nodes(database: Database, node: NodeSchema, table: TableSchema) -> Table:
    returned = ", ".join(f"n.{quote_name(name)}" for name, _ in node.properties)
    statement = f"MATCH (n:{quote_name(node.label)}) RETURN {returned}"
    rows = _in_order(database, statement, "n", table)
    return _table(table, [column for _, column in node.properties], rows)


def _read_edges(database: Database, edge: EdgeSchema, schema: Schema, table: TableSchema) -> Table:
    (source, source_column), (target, target_column) = edge.source, edge.target
    returned = [
        f"a.{quote_name(schema.node(source).key)}",
        f"b.{quote_name(schema.node(target).key)}",
        *(f"r.{quote_name(name)}" for name, _ in edge.properties),
    ]
    statement = (
        f"MATCH (a:{quote_name(source)})-[r:{quote_name(edge.label)}]->(b:{quote_name(target)}) "
        f"RETURN {', '.join(returned)}"
    )
    rows = _in_order(database, statement, "r", table)
    columns = [source_column, target_column, *(column for _, column in edge.properties)]
    return _table(table, columns, rows)


def _in_order(
    database: Database, statement: str, element: str, table: TableSchema
) -> Sequence[tuple[Cell, ...]]:
    """Run a statement whose rows are a table's, and return them in the table's order."""
    kept = database.row_order(table.name) if isinstance(database, GuardedDatabase) else None
    if kept is None:
        order = _row_order(database).format(element)
        return _all_rows(database, f"{statement} ORDER BY {order}")
    rows = _all_rows(database, statement)
    try:
        return restore_order(rows, kept)
    except ValueError as error:
        raise DataError(f"'{database.name}' has for table '{table.name}' {error}.") from error


def _all_rows(database: Database, statement: str) -> Sequence[tuple[Cell, ...]]:
    # No column of a situation holds a list; where one does, `Table` says that it is no column's.
    return cast("Sequence[tuple[Cell, ...]]", database.query(statement, _ALL).rows)


def _table(table: TableSchema, columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Table:
    values = list(zip(*rows, strict=True)) or [()] * len(columns)
    # A missing float is null in a database and NaN in a situation, which is what NumPy makes of
    # None among floats.
    return Table(table, dict(zip(columns, values, strict=True)))


def _row_order(database: Database) -> str:
    if database.dialect not in _ROW_ORDER:
        raise UnknownNameError("dialect to read situations from", database.dialect, _ROW_ORDER)
    return _ROW_ORDER[database.dialect]
