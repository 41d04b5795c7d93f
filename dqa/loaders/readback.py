"""Read a database back into the situation that it holds."""

from __future__ import annotations

from collections.abc import Sequence

from dqa.core.database import Database, Limits
from dqa.core.display import Value, cell_of
from dqa.core.errors import DataError
from dqa.core.situation import Cell, Schema, Situation, Table, TableSchema
from dqa.scenarios.tables import live_table, order_of

_ALL = Limits(rows=10**12, bytes=10**15, seconds=3_600.0, cell=10**12)


def read_situation(database: Database, schema: Schema, name: str) -> Situation:
    """Read a whole situation from a database.

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
        What was written, with its rows in the order of `sort_rows`. Values without a column type
        of their own are texts: days and moments as ISO 8601, lists and maps as JSON.

    Raises
    ------
    DataError
        The database does not hold what the schema says.
    QueryError, DatabaseUnavailableError
        As `Database.query` does.
    """
    return Situation(schema, name, {t.name: read_table(database, schema, t) for t in schema.tables})


def read_table(database: Database, schema: Schema, table: TableSchema) -> Table:
    """Read one table of a situation; see `read_situation`."""
    live = live_table(schema, table.name, database)
    columns, selected = list(live.spelled), ", ".join(live.spelled.values())
    statement = (
        f"{live.source} RETURN {selected}" if live.is_graph else f"SELECT {selected} {live.source}"
    )
    return _sorted(_table(table, columns, database.query(statement, _ALL).rows))


def sort_rows(situation: Situation) -> Situation:
    """Return a situation with the rows of each table by its key, and then by all columns.

    Databases store no order of rows, so this is the order of all situations that are read back.
    """
    tables = {name: _sorted(table) for name, table in situation.tables.items()}
    return Situation(situation.schema, situation.name, tables)


def _sorted(table: Table) -> Table:
    names = table.schema.column_names
    places = [*(names.index(name) for name in table.schema.key), *range(len(names))]

    def by_key(row: Sequence[Cell]) -> list[tuple[bool, float, str]]:
        return [order_of(None if row[place] != row[place] else row[place]) for place in places]

    return Table.from_rows(table.schema, sorted(table.rows(), key=by_key))


def _table(table: TableSchema, columns: Sequence[str], rows: Sequence[tuple[Value, ...]]) -> Table:
    values = [*map(list, zip(*rows, strict=True))] or [[] for _ in columns]
    for name, cells in zip(columns, values, strict=True):
        column = table.column(name)
        if column.stored == "text":
            cells[:] = [cell if isinstance(cell, str) else _text(cell) for cell in cells]
        elif column.stored != "float" and None in cells:
            raise DataError(
                f"Column '{name}' of table '{table.name}' holds NULL, which is no "
                f"{column.type}: leave such rows out by a view, or describe the column as a float."
            )
    # A missing float is null in a database and NaN in a situation, which is what NumPy makes of
    # None among floats.
    return Table(table, dict(zip(columns, values, strict=True)))


def _text(cell: Value) -> str | None:
    return None if cell is None else str(cell_of(cell))
