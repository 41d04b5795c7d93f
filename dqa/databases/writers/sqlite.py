"""Writes a situation into SQLite: one prepared INSERT a table, all in one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from functools import lru_cache
from pathlib import Path

from dqa.errors import DataError, UsageError
from dqa.situation import ColumnType, Schema, Situation, TableSchema

__all__ = ["write", "write_file"]

# BIGINT and not INTEGER: an INTEGER PRIMARY KEY would take the place of the row number, which
# keeps the order of the rows.
_TYPES: Mapping[ColumnType, str] = {
    "text": "TEXT",
    "float": "DOUBLE",
    "integer": "BIGINT",
    "boolean": "BOOLEAN",
}


def write(situation: Situation, connection: sqlite3.Connection) -> None:
    """Create the situation's tables and fill them, in one transaction.

    Rows are numbered (``rowid``) in the order they have in the situation. A missing float is NULL.
    Primary keys are enforced. Foreign keys are declared where the graph reading implies them, for
    whoever reads the schema, and not enforced: real data breaks them.

    Parameters
    ----------
    situation
        What to write.
    connection
        An empty database that nobody else reads yet.

    Raises
    ------
    DataError
        Two rows of a table have the same key.
    """
    try:
        with connection:
            for create, insert, table in _statements(situation.schema):
                connection.execute(create)
                connection.executemany(insert, situation[table].rows())
    except sqlite3.IntegrityError as error:
        raise DataError(
            f"Situation '{situation.name}' breaks the keys of its schema: {error}."
        ) from error


def write_file(situation: Situation, path: Path) -> None:
    """Write a situation into a new file, which appears only with everything in it.

    Raises
    ------
    UsageError
        The file exists or cannot be made.
    """
    with closing(sqlite3.connect(":memory:")) as connection:
        write(situation, connection)
        image = connection.serialize()
    try:
        with path.open("xb") as file:
            file.write(image)
    except FileExistsError:
        raise UsageError(f"'{path}' already exists, and nothing is overwritten.") from None
    except OSError as error:
        path.unlink(missing_ok=True)
        raise UsageError(f"'{path}' cannot be written: {error.strerror}.") from error


@lru_cache(maxsize=64)
def _statements(schema: Schema) -> tuple[tuple[str, str, str], ...]:
    """Return ``(CREATE TABLE, INSERT, table)`` for each table of the schema."""
    return tuple(
        (
            _create(table, schema),
            f"INSERT INTO {_quoted(table.name)} VALUES ({', '.join('?' * len(table.columns))})",  # noqa: S608
            table.name,
        )
        for table in schema.tables
    )


def _create(table: TableSchema, schema: Schema) -> str:
    parts = [f"{_quoted(column.name)} {_TYPES[column.type]}" for column in table.columns]
    if table.key:
        parts.append(f"PRIMARY KEY ({', '.join(map(_quoted, table.key))})")
    for edge in schema.edges:
        if edge.table != table.name:
            continue
        for label, column in (edge.source, edge.target):
            node = schema.node(label)
            parts.append(
                f"FOREIGN KEY ({_quoted(column)}) "
                f"REFERENCES {_quoted(node.table)} ({_quoted(node.key_column)})"
            )
    return f"CREATE TABLE {_quoted(table.name)} ({', '.join(parts)})"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
