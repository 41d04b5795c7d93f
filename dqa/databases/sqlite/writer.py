"""Writes a situation into SQLite: many rows a statement, all in one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import Any

from dqa.core.errors import DataError
from dqa.core.situation import Schema, Situation
from dqa.databases.namespaces import TAG_TABLE, LoadedSituation
from dqa.databases.tables import create_table, define_tables, define_tag, quote, tag_row

_MOST_PARAMETERS = 900
"""Of one statement; SQLite refuses 1,000 in its older versions."""


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
            for create, table, columns in _statements(situation.schema):
                connection.execute(create)
                _fill(connection, table, columns, situation[table].rows())
            if tag is not None:
                connection.execute(create_table(define_tag(), "sqlite"))
                _fill(connection, TAG_TABLE, 4, [tag_row(tag)])
    except sqlite3.IntegrityError as error:
        raise DataError(
            f"Situation '{situation.name}' breaks the keys of its schema: {error}."
        ) from error


@lru_cache(maxsize=64)
def _statements(schema: Schema) -> tuple[tuple[str, str, int], ...]:
    """Return ``(CREATE TABLE, table, columns)`` for each table of the schema."""
    tables = define_tables(schema, "declared", numbered=False)
    return tuple(
        (
            create_table(tables[table.name], "sqlite", foreign_keys=True),
            table.name,
            len(table.columns),
        )
        for table in schema.tables
    )


def _fill(
    connection: sqlite3.Connection, table: str, columns: int, rows: Iterable[Sequence[Any]]
) -> None:
    """Insert rows, many a statement: at each one SQLite lets other threads take the interpreter."""
    most, left = max(1, _MOST_PARAMETERS // columns), iter(rows)
    while batch := [*islice(left, most)]:
        connection.execute(_insert(table, columns, len(batch)), [*chain.from_iterable(batch)])


@lru_cache(maxsize=64)
def _insert(table: str, columns: int, rows: int) -> str:
    row = f"({', '.join('?' * columns)})"
    return f"INSERT INTO {quote('sqlite', table)} VALUES {', '.join([row] * rows)}"  # noqa: S608
