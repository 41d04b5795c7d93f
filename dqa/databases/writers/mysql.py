"""Writes a situation into MySQL or MariaDB: many rows an INSERT, tagged last.

Definitions commit by themselves there, so a place is begun with an empty table `TAG_TABLE`, and
its row is written in the same transaction as all others: no row, no situation.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import isnan
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymysql.connections import Connection
from pymysql.err import DataError as DriverDataError
from pymysql.err import IntegrityError

from dqa.databases.base import Loaded
from dqa.databases.writers.relational import ROW_COLUMN, TAG_COLUMNS, TAG_TABLE, Style
from dqa.errors import DataError
from dqa.situation import Column, Schema, Situation, Table

__all__ = ["create", "fill", "write"]

_STYLE = Style(
    types={"text": "LONGTEXT", "float": "DOUBLE", "integer": "BIGINT", "boolean": "BOOLEAN"},
    # An index holds 3,072 bytes, and a character takes four of them.
    key_text="VARCHAR(255)",
    quote="`",
    extra=(f"`{ROW_COLUMN}` INT NOT NULL DEFAULT 0 INVISIBLE",),
)
_SESSION = (
    # Nothing cut or made up in silence, and no character in a text that means something else.
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_BACKSLASH_ESCAPES', "
    "foreign_key_checks = 0"
)
_LARGEST = 1 << 20
"""Bytes of a statement, where the server takes as many."""
_OVERHEAD = 1_024


def write(connection: Connection[Any], tag: Loaded, situation: Situation, collation: str) -> None:
    """Make the place and fill it.

    Parameters
    ----------
    connection
        In autocommit mode; its default database will be the place.
    tag
        Written last.
    situation
        What to write.
    collation
        Of all texts: one that tells any two texts apart.

    Raises
    ------
    DataError
        A key occurs twice, or a value is one that the server cannot hold.
    pymysql.err.Error
        As the server says.
    """
    create(connection, tag.place, situation.schema, collation)
    fill(connection, tag, situation)


def create(connection: Connection[Any], place: str, schema: Schema, collation: str) -> None:
    """Make the place with empty tables; each statement commits by itself."""
    with connection.cursor() as cursor:
        cursor.execute(_SESSION)
        cursor.execute(
            f"CREATE DATABASE IF NOT EXISTS {_STYLE.quoted(place)} "
            f"CHARACTER SET utf8mb4 COLLATE {collation}"
        )
        connection.select_db(place)
        for statement in _definitions(schema):
            cursor.execute(statement)


def fill(connection: Connection[Any], tag: Loaded, situation: Situation) -> None:
    """Fill the place's tables, and tag it, in one transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT @@max_allowed_packet")
        size = min(int(cursor.fetchall()[0][0]) - _OVERHEAD, _LARGEST)
        connection.begin()
        try:
            for table in situation.tables.values():
                for statement in _inserts(table, size):
                    cursor.execute(statement)
            names = _STYLE.quoted(*TAG_COLUMNS)
            cursor.execute(
                f"INSERT INTO `{TAG_TABLE}` ({names}) VALUES (%s, %s, %s, %s)",  # noqa: S608
                (tag.scenario, tag.name, tag.content_hash, tag.rows),
            )
            connection.commit()
        except (IntegrityError, DriverDataError) as error:
            connection.rollback()
            raise DataError(
                f"Situation '{situation.name}' cannot be held: {error.args[-1]}."
            ) from error


@lru_cache(maxsize=64)
def _definitions(schema: Schema) -> tuple[str, ...]:
    tag = (
        f"CREATE TABLE `{TAG_TABLE}` (scenario TEXT, name TEXT, content_hash TEXT, "
        "row_count BIGINT)"
    )
    return (tag, *(_STYLE.table(table, schema, foreign_keys=True) for table in schema.tables))


def _inserts(table: Table, size: int) -> Iterator[str]:
    """Yield statements of at most about `size` bytes with all rows of a table."""
    names = _STYLE.quoted(*table.schema.column_names, ROW_COLUMN)
    head = f"INSERT INTO {_STYLE.quoted(table.schema.name)} ({names}) VALUES "  # noqa: S608
    rows = list(_rows(table))
    # Four bytes a character at most; a row too large for a statement is the server's to refuse.
    room = size - 4 * len(head)
    start, taken = 0, 0
    for number, row in enumerate(rows):
        length = len(row) + 1 if row.isascii() else len(row.encode()) + 1
        if taken + length > room and number > start:
            yield head + ",".join(rows[start:number])
            start, taken = number, 0
        taken += length
    if start < len(rows):
        yield head + ",".join(rows[start:])


def _rows(table: Table) -> Iterator[str]:
    """Yield each row as ``(value,value,...)``, its number last."""
    parts = [_part(column, table[column.name]) for column in table.schema.columns]
    pattern = "(" + "".join(f"{mark}," for mark, _ in parts) + "%d)"
    rows = zip(*(values for _, values in parts), range(len(table)), strict=True)
    key = [table.schema.column_names.index(name) for name in table.schema.key]
    # The table is kept in the order of its key, and fills fastest in that order.
    return map(pattern.__mod__, sorted(rows, key=itemgetter(*key)) if key else rows)


def _part(column: Column, array: NDArray[Any]) -> tuple[str, list[Any]]:
    """Return how the values of a column are formatted, and the values.

    What needs a closer look is found out for a whole column at once; most need none.
    """
    values = array.tolist()
    if column.type == "text":
        if any("'" in value for value in values):
            values = [value.replace("'", "''") for value in values]
        return "'%s'", values
    if column.type != "float":
        return "%d", values
    if np.isfinite(array).all():
        return "%r", values
    if np.isinf(array).any():
        raise DataError(
            f"Column '{column.name}' is infinite somewhere, which MySQL and MariaDB cannot hold."
        )
    return "%s", ["NULL" if isnan(value) else repr(value) for value in values]
