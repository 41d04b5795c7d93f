"""Writes a situation through SQLAlchemy into whatever it has a dialect for.

Nothing is known of the server but what SQL has in common. So tables have a column `ROW_COLUMN`, the
only order that every server keeps, and no foreign keys, which would be enforced. Where definitions
commit by themselves, a place whose tag is missing is a load that was never finished.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Double,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    insert,
)
from sqlalchemy.types import TypeEngine

from dqa.core.situation import Cell, ColumnType, Schema, Situation, TableSchema
from dqa.core.situation import Table as SituationTable
from dqa.databases.base import Loaded
from dqa.databases.relational_writer import ROW_COLUMN, TAG_TABLE

__all__ = ["definitions", "tag_table", "write"]

_TYPES: Mapping[ColumnType, TypeEngine[Any]] = {
    "text": Text(),
    "float": Double(),
    "integer": BigInteger(),
    "boolean": Boolean(),
}
_KEY_TEXT = String(255)


def definitions(schema: Schema, place: str | None) -> MetaData:
    """Return the tables of a schema, and the tag's, as SQLAlchemy knows them."""
    metadata = MetaData(schema=place)
    tag_table(metadata)
    for table in schema.tables:
        _table(table, metadata)
    return metadata


def tag_table(metadata: MetaData) -> Table:
    """Return the table with the tag."""
    return Table(
        TAG_TABLE,
        metadata,
        Column("place", Text),
        Column("scenario", Text),
        Column("name", Text),
        Column("content_hash", Text),
        Column("row_count", BigInteger),
    )


def write(connection: Connection, metadata: MetaData, tag: Loaded, situation: Situation) -> None:
    """Make the tables and fill them, the tag last, within the connection's transaction."""
    metadata.create_all(connection, checkfirst=False)
    tables = {table.name: table for table in metadata.sorted_tables}
    for name, rows in situation.tables.items():
        if len(rows):
            connection.execute(insert(tables[name]), _rows(rows))
    values = {
        "place": tag.place,
        "scenario": tag.scenario,
        "name": tag.name,
        "content_hash": tag.content_hash,
        "row_count": tag.rows,
    }
    connection.execute(insert(tables[TAG_TABLE]), values)


def _table(table: TableSchema, metadata: MetaData) -> None:
    columns: list[Column[Any]] = [
        Column(
            column.name,
            _KEY_TEXT
            if column.type == "text" and column.name in table.key
            else _TYPES[column.type],
            primary_key=column.name in table.key,
            autoincrement=False,
        )
        for column in table.columns
    ]
    Table(table.name, metadata, *columns, Column(ROW_COLUMN, Integer, nullable=False))


def _rows(table: SituationTable) -> list[dict[str, Any]]:
    names = table.schema.column_names
    return [
        {**dict(zip(names, map(_stored, row), strict=True)), ROW_COLUMN: number}
        for number, row in enumerate(table.rows())
    ]


def _stored(cell: Cell) -> Cell:
    return None if isinstance(cell, float) and isnan(cell) else cell
