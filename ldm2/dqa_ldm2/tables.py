"""The database tables of a memory, and the version of their schema."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any, Final

import sqlalchemy as sa

from dqa.core.distribution import own_version
from dqa.core.errors import DataError, UsageError
from dqa.core.run_stores import MEMORY_TABLE, is_store_table
from dqa.core.text import well_formed
from dqa.databases.store_locations import (
    LONG_TEXT,
    NUMBER,
    TABLE_OPTIONS,
    StoreLocation,
    lock_schema,
)
from dqa_ldm2.records import OTHER, StateAction

SCHEMA_VERSION: Final = 3
LONGEST_NAME: Final = 200
"""The maximum number of characters in the name of a type."""
_LOCK: Final = 7_136_453

METADATA: Final = sa.MetaData()
MEMORY: Final = sa.Table(
    MEMORY_TABLE,
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("schema_version", sa.Integer, nullable=False),
    sa.Column("written_by", sa.String(60), nullable=False),
    **TABLE_OPTIONS,
)
"""A table with a single row. Every writer locks this row."""
VERSIONS: Final = sa.Table(
    f"{MEMORY_TABLE}_versions",
    METADATA,
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("making", sa.String(20), nullable=False),
    sa.Column("source", LONG_TEXT, nullable=False),
    sa.Column("model", LONG_TEXT, nullable=False),
    sa.Column("added", sa.BigInteger, nullable=False),
    sa.Column("batches", LONG_TEXT, nullable=False),  # a JSON list
    sa.Column("undone_after", sa.BigInteger),  # NULL, except in an undone version
    **TABLE_OPTIONS,
)
TUPLES: Final = sa.Table(
    f"{MEMORY_TABLE}_tuples",
    METADATA,
    sa.Column("id", NUMBER, primary_key=True),
    sa.Column("batch", sa.BigInteger, nullable=False),
    sa.Column("version", sa.BigInteger, nullable=False, index=True),
    sa.Column("goal_type", sa.String(LONGEST_NAME), nullable=False),
    sa.Column("observation_type", sa.String(LONGEST_NAME), nullable=False),
    sa.Column("goal", LONG_TEXT, nullable=False),
    sa.Column("history", LONG_TEXT, nullable=False),
    sa.Column("subgoals", LONG_TEXT, nullable=False),
    sa.Column("observation", LONG_TEXT, nullable=False),
    sa.Column("action", LONG_TEXT, nullable=False),
    sa.Column("source", LONG_TEXT, nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("reward", sa.Double),
    sa.Column("digest", sa.String(64), nullable=False, index=True),  # a hash of state and action
    sa.Index(f"{MEMORY_TABLE}_by_type", "batch", "goal_type", "observation_type"),
    **TABLE_OPTIONS,
)
"""All tuples of all versions. Equal tuples of a batch are read as one tuple."""
BOTH: Final = TUPLES.join(VERSIONS, VERSIONS.c.number == TUPLES.c.version)
LIVE: Final = VERSIONS.c.undone_after.is_(None)
FIELDS: Final = tuple(column for column in TUPLES.c if column.name != "digest")


def create_memory(connection: sa.Connection, location: StoreLocation) -> None:
    """Create the tables if there is no memory. Raise `UsageError` if there are other tables."""
    if sa.inspect(connection).has_table(MEMORY.name):
        return
    with lock_schema(connection, _LOCK, MEMORY_TABLE):
        names = sa.inspect(connection).get_table_names()
        others = sorted(name for name in names if not is_store_table(name))
        if others:
            raise UsageError(
                f"{location.shown} is not a memory: the database has other tables "
                f"({', '.join(others[:3])}). Name a new file such as memory.db, or an empty "
                "database."
            )
        METADATA.create_all(connection)
        if connection.execute(sa.select(MEMORY.c.id)).first() is None:
            row = {"id": 1, "schema_version": SCHEMA_VERSION, "written_by": own_version()}
            connection.execute(sa.insert(MEMORY).values(**row))


def require_memory(connection: sa.Connection, location: StoreLocation) -> None:
    """Check that a database contains a memory of this version.

    Raises
    ------
    UsageError
        The database does not contain a memory, or contains a memory of another version.
    DataError
        The memory is damaged.
    """
    names = set(sa.inspect(connection).get_table_names())
    if MEMORY.name not in names:
        raise UsageError(f"{location.shown} does not contain a memory. {location.hint}")
    row = connection.execute(sa.select(MEMORY.c.schema_version, MEMORY.c.written_by)).first()
    if row is not None and row.schema_version != SCHEMA_VERSION:
        raise UsageError(
            f"{location.shown} is a memory of version {row.schema_version}, written by dqa "
            f"{row.written_by}. This dqa {own_version()} reads version {SCHEMA_VERSION}. Build the "
            "memory again."
        )
    missing = [table.name for table in METADATA.sorted_tables if table.name not in names]
    if row is None or missing:
        raise DataError(
            f"The memory {location.shown} is damaged: it lacks "
            f"{', '.join(missing) or 'its version'}. Restore a copy, or build the memory again."
        )


def stored_name(name: str) -> str:
    """Return the form in which a type's name is stored: one line of limited length, never empty."""
    return " ".join(stored_text(name).split())[:LONGEST_NAME].rstrip() or OTHER


def stored_row(one: StateAction) -> dict[str, Any]:
    """Return the row that stores a state-action tuple, with the digest of its state and action."""
    if not one.source.strip():
        raise UsageError("A tuple has no source. The source is the name of the trajectory.")
    row = {name: getattr(one, name) for name in StateAction.__dataclass_fields__}
    row |= {name: stored_text(text) for name, text in row.items() if isinstance(text, str)}
    row |= {name: stored_name(row[name]) for name in ("goal_type", "observation_type")}
    parts = [row[name] for name in ("goal", "history", "observation", "action")]
    row["source"] = row["source"].strip()
    return row | {"digest": sha256(json.dumps(parts).encode()).hexdigest()}


def stored_text(text: str) -> str:
    """Return a text that every database can store.

    NUL characters and lone surrogates are replaced.
    """
    return well_formed(text).replace("\0", "\N{REPLACEMENT CHARACTER}")
