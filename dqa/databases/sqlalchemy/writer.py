"""Writes a situation through SQLAlchemy into whatever it has a dialect for.

Nothing is known of the server but what SQL has in common. So tables have a column `ROW_COLUMN`, the
only order that every server keeps, and no foreign keys, which would be enforced.
"""

from __future__ import annotations

from math import isnan
from typing import Any

from sqlalchemy import Connection, insert
from sqlalchemy.schema import CreateTable

from dqa.core.situation import Cell, Situation, Table
from dqa.databases.base import LoadedSituation
from dqa.databases.tables import ROW_COLUMN, define_tables, define_tag, tag_row

__all__ = ["write"]


def write(
    connection: Connection, schema: str | None, tag: LoadedSituation, situation: Situation
) -> None:
    """Make the tables in a schema and fill them, the tag last, within one transaction."""
    tables = define_tables(situation.schema, "omitted", namespace=schema, numbered=True)
    tag_table = define_tag(schema)
    for table in (tag_table, *tables.values()):
        connection.execute(CreateTable(table))
    for name, rows in situation.tables.items():
        if len(rows):
            connection.execute(insert(tables[name]), _rows(rows))
    connection.execute(insert(tag_table).values(tag_row(tag)))


def _rows(table: Table) -> list[dict[str, Any]]:
    names = table.schema.column_names
    return [
        {**dict(zip(names, map(_stored, row), strict=True)), ROW_COLUMN: number}
        for number, row in enumerate(table.rows())
    ]


def _stored(cell: Cell) -> Cell:
    return None if isinstance(cell, float) and isnan(cell) else cell
