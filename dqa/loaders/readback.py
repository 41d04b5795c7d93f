"""Reads a loaded database back into the situation it was written from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dqa.databases.base import Database, Limits
from dqa.errors import DataError, UnknownNameError
from dqa.situation import Cell, EdgeSchema, NodeSchema, Schema, Situation, Table, TableSchema

__all__ = ["read_situation"]

_ALL = Limits(rows=10**12, bytes=10**15, seconds=3_600.0)

_ROW_ORDER: Mapping[str, str] = {
    "ladybug": "offset(id({0}))",
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
        Nobody knows how this kind of database keeps row order.
    DataError
        The database holds something else than the schema says.
    QueryError, DatabaseUnavailableError
        As `Database.query` does.
    """
    if database.dialect not in _ROW_ORDER:
        raise UnknownNameError("dialect to read situations from", database.dialect, _ROW_ORDER)
    read = _read_rows if database.kind == "relational" else _read_graph
    return Situation(schema, name, {t.name: read(database, schema, t) for t in schema.tables})


def _read_rows(database: Database, _schema: Schema, table: TableSchema) -> Table:
    columns = ", ".join(_quoted(name) for name in table.column_names)
    order = _ROW_ORDER[database.dialect]
    rows = database.query(
        f"SELECT {columns} FROM {_quoted(table.name)} ORDER BY {order}",  # noqa: S608
        _ALL,
    ).rows
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
    returned = ", ".join(f"n.{_ticked(name)}" for name, _ in node.properties)
    order = _ROW_ORDER[database.dialect].format("n")
    rows = database.query(
        f"MATCH (n:{_ticked(node.label)}) RETURN {returned} ORDER BY {order}", _ALL
    ).rows
    return _table(table, [column for _, column in node.properties], rows)


def _read_edges(database: Database, edge: EdgeSchema, schema: Schema, table: TableSchema) -> Table:
    (source, source_column), (target, target_column) = edge.source, edge.target
    returned = [
        f"a.{_ticked(schema.node(source).key)}",
        f"b.{_ticked(schema.node(target).key)}",
        *(f"r.{_ticked(name)}" for name, _ in edge.properties),
    ]
    order = _ROW_ORDER[database.dialect].format("r")
    rows = database.query(
        f"MATCH (a:{_ticked(source)})-[r:{_ticked(edge.label)}]->(b:{_ticked(target)}) "
        f"RETURN {', '.join(returned)} ORDER BY {order}",
        _ALL,
    ).rows
    columns = [source_column, target_column, *(column for _, column in edge.properties)]
    return _table(table, columns, rows)


def _table(table: TableSchema, columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Table:
    values = list(zip(*rows, strict=True)) or [()] * len(columns)
    # A missing float is null in a database and NaN in a situation, which is what NumPy makes of
    # None among floats.
    return Table(table, dict(zip(columns, values, strict=True)))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _ticked(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
