"""Writes a situation into SQLite: one prepared INSERT a table, all in one transaction."""

from __future__ import annotations

import sqlite3
from functools import lru_cache

from dqa.core.errors import DataError
from dqa.core.situation import Schema, Situation
from dqa.databases.namespaces import TAG_TABLE, LoadedSituation
from dqa.databases.tables import create_table, define_tables, define_tag, quote, tag_row


def write(
    situation: Situation, connection: sqlite3.Connection, tag: LoadedSituation | None = None
) -> None:
    """Create the situation's tables and fill them, in one transaction.

    Rows are numbered (``rowid``) in the order they have in the situation: no key is an INTEGER
    PRIMARY KEY, which would take the place of that number. A missing float is NULL. Foreign keys
    are declared for whoever reads the schema, and SQLite does not enforce them.

    Parameters
    ----------
    situation
        What to write.
    connection
        An empty database that nobody else reads yet.
    tag
        Written beside it, where there is one.

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
            if tag is not None:
                connection.execute(create_table(define_tag(), "sqlite"))
                connection.execute(_insert(TAG_TABLE, 4), tag_row(tag))
    except sqlite3.IntegrityError as error:
        raise DataError(
            f"Situation '{situation.name}' breaks the keys of its schema: {error}."
        ) from error


@lru_cache(maxsize=64)
def _statements(schema: Schema) -> tuple[tuple[str, str, str], ...]:
    """Return ``(CREATE TABLE, INSERT, table)`` for each table of the schema."""
    tables = define_tables(schema, "declared", numbered=False)
    return tuple(
        (
            create_table(tables[table.name], "sqlite", foreign_keys=True),
            _insert(table.name, len(table.columns)),
            table.name,
        )
        for table in schema.tables
    )


def _insert(table: str, columns: int) -> str:
    return f"INSERT INTO {quote('sqlite', table)} VALUES ({', '.join('?' * columns)})"  # noqa: S608
