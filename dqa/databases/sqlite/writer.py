"""Writes a situation into SQLite: one prepared INSERT a table, all in one transaction."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from uuid import uuid4

from dqa.core.errors import DataError, UsageError
from dqa.core.situation import Schema, Situation
from dqa.databases.base import Loaded
from dqa.databases.relational_writer import TAG_COLUMNS, TAG_TABLE, Style

__all__ = ["write", "write_file"]

# BIGINT and not INTEGER: an INTEGER PRIMARY KEY would take the place of the row number, which
# keeps the order of the rows.
_STYLE = Style(
    types={"text": "TEXT", "float": "DOUBLE", "integer": "BIGINT", "boolean": "BOOLEAN"},
    key_text="TEXT",
)


def write(situation: Situation, connection: sqlite3.Connection, tag: Loaded | None = None) -> None:
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
                connection.execute(f"CREATE TABLE {TAG_TABLE} ({', '.join(TAG_COLUMNS)})")
                connection.execute(
                    f"INSERT INTO {TAG_TABLE} VALUES (?, ?, ?, ?)",  # noqa: S608
                    (tag.scenario, tag.name, tag.content_hash, tag.rows),
                )
    except sqlite3.IntegrityError as error:
        raise DataError(
            f"Situation '{situation.name}' breaks the keys of its schema: {error}."
        ) from error


def write_file(situation: Situation, path: Path, tag: Loaded, replace: bool = False) -> None:
    """Write a situation into a file, which appears only with everything in it.

    Parameters
    ----------
    situation, tag
        What to write.
    path
        The file.
    replace
        Whether it takes the place of one that is there.

    Raises
    ------
    FileExistsError
        The file exists and is not to be replaced.
    UsageError
        The file cannot be made.
    """
    with closing(sqlite3.connect(":memory:")) as connection:
        write(situation, connection, tag)
        image = connection.serialize()
    new = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        new.write_bytes(image)
        if replace:
            new.replace(path)
        else:
            # A link, unlike a rename, leaves alone what somebody made there in the meantime.
            path.hardlink_to(new)
    except FileExistsError:
        raise
    except OSError as error:
        raise UsageError(f"'{path}' cannot be written: {error.strerror}.") from error
    finally:
        new.unlink(missing_ok=True)


@lru_cache(maxsize=64)
def _statements(schema: Schema) -> tuple[tuple[str, str, str], ...]:
    """Return ``(CREATE TABLE, INSERT, table)`` for each table of the schema."""
    return tuple(
        (
            _STYLE.table(table, schema, foreign_keys=True),
            f"INSERT INTO {_STYLE.quoted(table.name)} VALUES ({_marks(len(table.columns))})",  # noqa: S608
            table.name,
        )
        for table in schema.tables
    )


def _marks(number: int) -> str:
    return ", ".join("?" * number)
