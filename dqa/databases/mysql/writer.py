"""Writes a situation into MySQL or MariaDB: many rows an INSERT, tagged last.

Definitions commit by themselves there, so a namespace is begun with an empty table `TAG_TABLE`, and
its row is written in the same transaction as all others: no row, no situation.

Every foreign key costs an index that each row is entered into, and real data breaks it; so what a
column refers to is written down as its comment, which the schema reader of this project reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymysql.connections import Connection
from pymysql.err import DataError as DriverDataError
from pymysql.err import IntegrityError

from dqa.core.errors import DataError
from dqa.core.situation import Column, Schema, Situation, Table
from dqa.databases.namespaces import TAG_TABLE, LoadedSituation
from dqa.databases.tables import (
    ROW_COLUMN,
    TAG_COLUMNS,
    create_table,
    define_tables,
    define_tag,
    quote,
    tag_row,
)

_SESSION = (
    # Nothing cut or made up in silence, and no character in a text that means something else.
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_BACKSLASH_ESCAPES'"
)
_LARGEST = 1 << 20
"""Bytes of a statement, where the server takes as many."""
_OVERHEAD = 1_024
_ROWS = 10_000
"""Rows of a statement at most."""


def write(
    connection: Connection[Any], tag: LoadedSituation, situation: Situation, collation: str
) -> None:
    """Make the database and fill it.

    Parameters
    ----------
    connection
        In autocommit mode; its default database will be the new one.
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
    create(connection, tag.namespace, situation.schema, collation)
    fill(connection, tag, situation)


def create(connection: Connection[Any], namespace: str, schema: Schema, collation: str) -> None:
    """Make the database with empty tables; each statement commits by itself."""
    with connection.cursor() as cursor:
        cursor.execute(_SESSION)
        cursor.execute(
            f"CREATE DATABASE IF NOT EXISTS {quote('mysql', namespace)} "
            f"CHARACTER SET utf8mb4 COLLATE {collation}"
        )
        connection.select_db(namespace)
        for statement in _definitions(schema):
            cursor.execute(statement)


def fill(connection: Connection[Any], tag: LoadedSituation, situation: Situation) -> None:
    """Fill the tables, and tag it, in one transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT @@max_allowed_packet")
        size = min(int(cursor.fetchall()[0][0]) - _OVERHEAD, _LARGEST)
        connection.begin()
        try:
            for table in situation.tables.values():
                for statement in _inserts(table, size):
                    connection.query(statement)
            name, columns = quote("mysql", TAG_TABLE), quote("mysql", *TAG_COLUMNS)
            cursor.execute(
                f"INSERT INTO {name} ({columns}) VALUES (%s, %s, %s, %s)",  # noqa: S608
                tag_row(tag),
            )
            connection.commit()
        except (IntegrityError, DriverDataError, UnicodeEncodeError) as error:
            connection.rollback()
            raise DataError(
                f"Situation '{situation.name}' cannot be held: {error.args[-1]}."
            ) from error


@lru_cache(maxsize=64)
def _definitions(schema: Schema) -> tuple[str, ...]:
    tables = define_tables(schema, "commented", numbered=True).values()
    return tuple(create_table(table, "mysql") for table in (define_tag(), *tables))


def _inserts(table: Table, size: int) -> Iterator[bytes]:
    """Yield statements of at most `size` bytes with all rows of a table."""
    name = quote("mysql", table.schema.name)
    columns = quote("mysql", *table.schema.column_names, ROW_COLUMN)
    head = f"INSERT INTO {name} ({columns}) VALUES ("  # noqa: S608
    rows = _rows(table)
    for start in range(0, len(rows), _ROWS):
        yield from _cut(head.encode(), rows[start : start + _ROWS], size)


def _cut(head: bytes, rows: list[str], size: int) -> Iterator[bytes]:
    """Yield a statement with all rows, or several where it would be too large."""
    statement = head + "),(".join(rows).encode() + b")"
    if len(statement) <= size or len(rows) == 1:  # a row too large is the server's to refuse
        yield statement
    else:
        half = len(rows) // 2
        yield from _cut(head, rows[:half], size)
        yield from _cut(head, rows[half:], size)


def _rows(table: Table) -> list[str]:
    """Return each row as ``value,value,...``, its number last."""
    columns = [_literals(column, table[column.name]) for column in table.schema.columns]
    rows = list(map(",".join, zip(*columns, map(str, range(len(table))), strict=True)))
    # A table is kept in the order of its key and fills fastest in that order; keys come first in
    # most, so that this is that order or nearly.
    if table.schema.key:
        rows.sort()
    return rows


def _literals(column: Column, array: NDArray[Any]) -> list[str]:
    """Return the values of a column as SQL, each distinct text made only once."""
    values = array.tolist()
    if column.stored == "text":
        quoted = {value: "'" + value.replace("'", "''") + "'" for value in set(values)}
        return [quoted[value] for value in values]
    if column.stored != "float":
        return list(map(str, array.astype(np.int64).tolist()))
    if np.isfinite(array).all():
        return list(map(repr, values))
    if np.isinf(array).any():
        raise DataError(
            f"Column '{column.name}' is infinite somewhere, which MySQL and MariaDB cannot hold."
        )
    return ["NULL" if isnan(value) else repr(value) for value in values]
