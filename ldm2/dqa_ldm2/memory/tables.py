"""The tables of a relational memory, and the version of their schema."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Double,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    String,
    Table,
    UniqueConstraint,
    insert,
    inspect,
    select,
)

from dqa.core.distribution import own_version
from dqa.core.errors import DataError, UsageError
from dqa.core.run_stores import MEMORY_TABLE, is_store_table
from dqa.databases.store_locations import (
    LONG_TEXT,
    TABLE_OPTIONS,
    StoreLocation,
    lock_schema,
)
from dqa_ldm2.memory.keeping import SCHEMA_VERSION, other_version

METADATA: Final = MetaData()
_LOCK: Final = 7_136_453
_SHOWN: Final = 3

MEMORY: Final = Table(
    MEMORY_TABLE,
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("schema_version", Integer, nullable=False),
    Column("written_by", String(60), nullable=False),
    Column("revision", BigInteger, nullable=False),  # of everything; who writes locks this row
    Column("next_tuple", BigInteger, nullable=False),  # no id is given twice
    Column("next_type", BigInteger, nullable=False),
    Column("next_batch", BigInteger, nullable=False),
    **TABLE_OPTIONS,
)
"""One row."""

VERSIONS: Final = Table(
    f"{MEMORY_TABLE}_versions",
    METADATA,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("making", String(20), nullable=False),
    Column("source", LONG_TEXT, nullable=False),
    Column("model", LONG_TEXT, nullable=False),
    Column("added", BigInteger, nullable=False),
    Column("batches", LONG_TEXT, nullable=False),  # a JSON list
    Column("undone_after", BigInteger),  # the newest version when it was undone
    Column("revision", BigInteger, nullable=False),  # in which it was changed last
    **TABLE_OPTIONS,
)

GOAL_TYPES: Final = Table(
    f"{MEMORY_TABLE}_goal_types",
    METADATA,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("batch", BigInteger, nullable=False, index=True),
    Column("name", LONG_TEXT, nullable=False),
    **TABLE_OPTIONS,
)

OBSERVATION_TYPES: Final = Table(
    f"{MEMORY_TABLE}_observation_types",
    METADATA,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("goal_type_id", BigInteger, nullable=False, index=True),
    Column("name", LONG_TEXT, nullable=False),
    **TABLE_OPTIONS,
)

TUPLES: Final = Table(
    f"{MEMORY_TABLE}_tuples",
    METADATA,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("batch", BigInteger, nullable=False),
    Column("version", BigInteger, nullable=False, index=True),
    Column("since", BigInteger, nullable=False),  # the first version after which it was there
    Column("goal_type_id", BigInteger, nullable=False),
    Column("observation_type_id", BigInteger, nullable=False, index=True),
    Column("goal", LONG_TEXT, nullable=False),
    Column("history", LONG_TEXT, nullable=False),
    Column("observation", LONG_TEXT, nullable=False),
    Column("action", LONG_TEXT, nullable=False),
    Column("source", LONG_TEXT, nullable=False),
    Column("step", Integer, nullable=False),
    Column("reward", Double),
    Column("digest", String(64), nullable=False),  # of state and action
    Column("live", SmallInteger),  # 1, or NULL where it is no more: NULLs are never the same
    UniqueConstraint("batch", "digest", "live", name=f"{MEMORY_TABLE}_once"),
    Index(f"{MEMORY_TABLE}_by_goal_type", "goal_type_id", "live"),
    **TABLE_OPTIONS,
)

REPEATS: Final = Table(
    f"{MEMORY_TABLE}_repeats",
    METADATA,
    Column("version", BigInteger, nullable=False),
    Column("tuple_id", BigInteger, nullable=False, index=True),
    Column("source", LONG_TEXT, nullable=False),
    Column("step", Integer, nullable=False),
    Column("reward", Double),
    **TABLE_OPTIONS,
)
"""What an addition brought that was there already: when the earlier one is undone, it is there anew
as this one's, `since` then."""


def require_tables(connection: Connection, place: StoreLocation, *, making: bool) -> None:
    """Make a memory's tables where there are none, or see that they are those of this version.

    Parameters
    ----------
    connection
        In a transaction; one that writes, where the memory is to be made.
    place
        The same, for messages.
    making
        Whether a database that is no memory yet becomes one.

    Raises
    ------
    UsageError
        It is no memory, or one of another version; or it holds other tables and would become one.
    DataError
        A table of it is missing.
    """
    if making and not inspect(connection).has_table(MEMORY.name):
        with lock_schema(connection, _LOCK, "dqa_memory"):
            _make(connection, place)
    names = set(inspect(connection).get_table_names())
    if MEMORY.name not in names:
        raise UsageError(
            f"{place.shown} holds no memory: 'dqa memory build' makes one. {place.hint}"
        )
    row = connection.execute(select(MEMORY.c.schema_version, MEMORY.c.written_by)).first()
    if row is not None and row.schema_version != SCHEMA_VERSION:
        raise UsageError(other_version(place.shown, row.schema_version, row.written_by))
    missing = [table.name for table in METADATA.sorted_tables if table.name not in names]
    if row is None or missing:
        lacks = f"has no table {missing[0]}" if missing else f"has an empty table {MEMORY.name}"
        raise DataError(
            f"The memory {place.shown} is damaged: it {lacks}. Put back a copy of it, or "
            "import an export of it into a new one ('dqa memory import')."
        )


def _make(connection: Connection, place: StoreLocation) -> None:
    names = inspect(connection).get_table_names()
    others = sorted(name for name in names if not is_store_table(name))
    if others:
        more = ", ..." if len(others) > _SHOWN else ""
        instead = "a new file, such as memory.db"
        if place.file is None:
            instead = "an empty database, or give the memory a schema or a database of its own"
        raise UsageError(
            f"{place.shown} is a database with tables of its own "
            f"({', '.join(others[:_SHOWN])}{more}), and no memory: name {instead}."
        )
    METADATA.create_all(connection)
    if connection.execute(select(MEMORY.c.id)).first() is None:
        first = {"id": 1, "schema_version": SCHEMA_VERSION, "written_by": own_version()}
        numbers = {"revision": 0, "next_tuple": 1, "next_type": 1, "next_batch": 1}
        connection.execute(insert(MEMORY).values(**first, **numbers))
