"""The schema of a SQLite database by one statement for all tables, and one for all foreign keys.

SQLAlchemy's inspector asks four of each table, which takes half a minute for some thousands.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from typing import Final

from dqa.core.schema import DatabaseSchema, Field, TableInfo
from dqa.databases.namespaces import TAG_TABLE
from dqa.databases.sqlite.comments import read_comments

_NAMES = (
    "SELECT name, type, sql FROM sqlite_master WHERE type IN ('table', 'view') "
    "AND name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY name"
)
# Hidden by 1 are columns of virtual tables that `*` does not show.
_COLUMNS = (
    "SELECT m.name, c.name, c.type, c.pk FROM sqlite_master m "
    "JOIN pragma_table_xinfo(m.name) c WHERE c.hidden <> 1 AND "
)
_OF_KIND = "m.type = ? ORDER BY m.name, c.cid"
_OF_ONE = "m.type = ? AND m.name = ? ORDER BY c.cid"
# The last that is declared has number 0.
_LINKS = (
    'SELECT m.name, f."from", f."table", f."to", f.seq FROM sqlite_master m '
    "JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table' "
    "ORDER BY m.name, f.id DESC, f.seq"
)
_NOT_THERE = ("vtable constructor failed", "no such module", "not authorized")
"""What is said of a virtual table that cannot be read here, as its module puts it: one that is
declared late would change the schema, which no session that only reads may do."""

_NONE: Final[Mapping[str, str]] = {}


def read_schema(connection: sqlite3.Connection) -> DatabaseSchema:
    """Return the tables and views; of one that is broken no columns are known."""
    named = connection.execute(_NAMES).fetchall()
    kinds = {name: kind for name, kind, _ in named if name != TAG_TABLE}
    comments = {name: read_comments(text or "") for name, kind, text in named if kind == "table"}
    fields: dict[str, list[Field]] = {name: [] for name in kinds}
    keys: dict[str, dict[int, str]] = {}
    for table, name, kind, key in _columns(connection, kinds):
        if table in fields:
            comment = comments.get(table, _NONE).get(name.casefold(), "")
            fields[table].append(Field(name, kind, comment=comment))
            if key:
                keys.setdefault(table, {})[key] = name
    ordered = {table: tuple(key[n] for n in sorted(key)) for table, key in keys.items()}
    folded = {table.casefold(): key for table, key in ordered.items()}
    links: dict[str, list[tuple[str, str, str]]] = {}
    for table, column, other, other_column, place in connection.execute(_LINKS).fetchall():
        # A key that names no columns refers to the other's primary key.
        implied = folded.get(other.casefold(), ())
        found = other_column or (implied[place] if place < len(implied) else column)
        links.setdefault(table, []).append((column, other, found))
    return DatabaseSchema(
        tuple(
            TableInfo(
                name,
                tuple(fields[name]),
                ordered.get(name, ()),
                tuple(links.get(name, ())),
                comment=comments.get(name, _NONE).get("", ""),
            )
            for name in sorted(kinds)
        )
    )


def _columns(
    connection: sqlite3.Connection, kinds: Mapping[str, str]
) -> Iterator[tuple[str, str, str, int]]:
    """Yield each column with its table and its place in the key; a broken view has none.

    Nor has a virtual table whose module is not there, or may not run in a session that only reads.
    """
    for kind in ("table", "view"):
        names = [name for name, of in kinds.items() if of == kind]
        try:
            found = connection.execute(_COLUMNS + _OF_KIND, (kind,)).fetchall() if names else []
        except sqlite3.OperationalError:
            # One of them is broken; which one, only each by itself can tell.
            found = [one for name in names for one in _columns_of(connection, kind, name)]
        yield from found


def _columns_of(
    connection: sqlite3.Connection, kind: str, name: str
) -> list[tuple[str, str, str, int]]:
    try:
        return connection.execute(_COLUMNS + _OF_ONE, (kind, name)).fetchall()
    except sqlite3.OperationalError as error:
        if kind == "table" and not str(error).startswith(_NOT_THERE):
            raise  # a file that is locked, say, has no broken tables
        return []
