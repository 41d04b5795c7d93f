"""Read the situation that a database contains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, cast

from dqa.core.database import Database, Limits
from dqa.core.display import Value, cell_of
from dqa.core.errors import DataError, StatementError
from dqa.core.situation import Cell, Schema, Situation, Table, TableSchema
from dqa.databases.graph_rows import restore_order
from dqa.guard import GuardedDatabase
from dqa.scenarios.tables import LiveTable, order_of, table_in

_Rows: TypeAlias = Sequence[tuple[Value, ...]]

_ALL = Limits(rows=10**12, bytes=10**15, seconds=3_600.0, cell=10**12)

_ROW_ORDER: Mapping[str, str] = {
    "duckdb": "rowid",
    "ladybug": "offset(id({0}))",
    "mariadb": "dqa_row",
    "mysql": "dqa_row",
    "postgres": "ctid",
    "sqlite": "rowid",
}
"""Expressions that sort rows in the order in which they were written, by dialect."""


def read_situation(database: Database, schema: Schema, name: str) -> Situation:
    """Read a whole situation from a database.

    If dqa wrote the database, rows have the order in which they were written. In any other
    database, such as a user's own, rows are read in the order of their keys.

    Parameters
    ----------
    database
        A relational or graph database.
    schema
        The schema of the situation.
    name
        The name of the situation.

    Returns
    -------
    Situation
        The situation. Values other than numbers are texts: dates and times as ISO 8601, lists and
        maps as JSON.

    Raises
    ------
    DataError
        The database does not match the schema.
    QueryError, DatabaseUnavailableError
        Errors of `Database.query`.
    """
    return Situation(schema, name, {t.name: read_table(database, schema, t) for t in schema.tables})


def read_table(database: Database, schema: Schema, table: TableSchema) -> Table:
    """Read one table of a situation; see `read_situation`."""
    live = table_in(schema, table.name, database.kind, database.dialect)
    columns, selected = list(live.spelled), ", ".join(live.spelled.values())
    statement = (
        f"{live.source} RETURN {selected}" if live.is_graph else f"SELECT {selected} {live.source}"
    )
    rows = _stored_order(database, statement, table)
    if rows is None:
        rows = _engine_order(database, statement, live)
    if rows is None:
        keys = [columns.index(name) for name in table.key if name in columns]
        rows = sorted(
            _all_rows(database, statement),
            key=lambda row: [order_of(cell_of(row[key])) for key in keys],
        )
    return _table(table, columns, rows)


def _stored_order(database: Database, statement: str, table: TableSchema) -> _Rows | None:
    """Return rows in the order that dqa stored with them; None if no order is stored."""
    order = database.row_order(table.name) if isinstance(database, GuardedDatabase) else None
    if order is None:
        return None
    rows = cast("Sequence[tuple[Cell, ...]]", _all_rows(database, statement))
    try:
        return restore_order(rows, order)
    except ValueError as error:
        raise DataError(
            f"Table '{table.name}' of '{database.name}' was changed: {error}."
        ) from error


def _engine_order(database: Database, statement: str, live: LiveTable) -> _Rows | None:
    """Return rows in the order of `_ROW_ORDER`; None if this fails, for example for a view."""
    order = _ROW_ORDER.get(database.dialect)
    if order is None:
        return None
    try:
        return _all_rows(database, f"{statement} ORDER BY {order.format(live.element)}")
    except StatementError:
        return None


def _all_rows(database: Database, statement: str) -> _Rows:
    return database.query(statement, _ALL).rows


def _table(table: TableSchema, columns: Sequence[str], rows: _Rows) -> Table:
    values = [*map(list, zip(*rows, strict=True))] or [[] for _ in columns]
    for name, cells in zip(columns, values, strict=True):
        column = table.column(name)
        if column.stored == "text":
            cells[:] = [cell if isinstance(cell, str) else _text(cell) for cell in cells]
        elif column.stored != "float" and None in cells:
            raise DataError(
                f"Column '{name}' of table '{table.name}' contains NULL, which is not a value of "
                f"type {column.type}. Use a view without these rows, or give the column the type "
                "float."
            )
    # A missing float is null in a database and NaN in a situation. NumPy converts None to NaN.
    return Table(table, dict(zip(columns, values, strict=True)))


def _text(cell: Value) -> str | None:
    return None if cell is None else str(cell_of(cell))
