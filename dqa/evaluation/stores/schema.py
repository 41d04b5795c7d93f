"""The version of a store's schema: made, migrated step by step, or refused where it is newer."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Engine, String, column, inspect, select, table

from dqa.core.distribution import own_version
from dqa.core.errors import UsageError
from dqa.core.run_stores import VERSION_TABLE, is_store_table
from dqa.databases.store_locations import lock_schema
from dqa.evaluation.stores.engine import open_engine, write
from dqa.evaluation.stores.places import StorePlace
from dqa.evaluation.stores.tables import RUNS

VERSION: Final = "0003"
"""Of the newest migration."""

_MIGRATIONS: Final = Path(__file__).parent / "migrations"
_LOCK: Final = 7_136_452
_TABLES_SHOWN: Final = 3


def require_schema(engine: Engine, place: StorePlace, *, making: bool) -> None:
    """Bring a store to today's version.

    Parameters
    ----------
    engine
        Of the store.
    place
        The same, for messages.
    making
        Whether a database that is no store yet becomes one.

    Raises
    ------
    UsageError
        It is no store, or one of a newer version; or it holds other tables and would become one.
    """
    with engine.connect() as connection:
        found = _version(connection)
    if found == VERSION:
        return
    if found is None and not making:
        raise UsageError(f"{place.store} holds no runs: name a store of 'dqa eval --out'.")
    writable = engine if making else open_engine(place, writing=True)
    try:
        with write(writable) as connection, lock_schema(connection, _LOCK, "dqa_store"):
            _migrate(connection, place)
    finally:
        if writable is not engine:
            writable.dispose()


def require_free(connection: Connection, place: StorePlace) -> None:
    """Raise `UsageError` where a database that is no store yet holds something else."""
    tables = inspect(connection).get_table_names()
    others = sorted(name for name in tables if not is_store_table(name))
    if others:
        more = ", ..." if len(others) > _TABLES_SHOWN else ""
        named = f"{', '.join(others[:_TABLES_SHOWN])}{more}"
        instead = "a new file, such as runs.db"
        if place.file is None:
            instead = "an empty database, or give the store a schema or a database of its own"
        raise UsageError(
            f"{place.store} is a database with tables of its own ({named}), and no store of runs: "
            f"name {instead}."
        )


def is_store(connection: Connection) -> bool:
    """Whether a database is a store of runs."""
    return inspect(connection).has_table(VERSION_TABLE)


def _version(connection: Connection) -> str | None:
    if not is_store(connection):
        return None
    version = column("version_num", String)
    found: str | None = connection.execute(
        select(version).select_from(table(VERSION_TABLE))
    ).scalar()
    return found


def _migrate(connection: Connection, place: StorePlace) -> None:
    """Take the steps that are missing; another process may have taken them just now."""
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    found = _version(connection)
    if found == VERSION:
        return
    if found is None:
        require_free(connection, place)
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found is not None and found not in known:
        raise UsageError(
            f"{place.store} is a store of version {found}, written by dqa {_writer(connection)}; "
            f"this dqa {own_version()} reads versions up to {VERSION}: use the newer one."
        )
    command.upgrade(config, "head")


def _writer(connection: Connection) -> str:
    latest = select(RUNS.c.dqa).order_by(RUNS.c.id.desc()).limit(1)
    try:
        return connection.execute(latest).scalar() or "of an unknown version"
    except Exception:  # noqa: BLE001  (nobody knows what a newer version calls its columns)
        return "of an unknown version"
