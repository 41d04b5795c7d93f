"""SQLite's namespaces: one per file, with the tag in a table; and situations in memory."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import count
from pathlib import Path

from dqa.core.errors import DatabaseUnavailableError, DataError
from dqa.core.situation import Situation
from dqa.databases.errors import refused_script
from dqa.databases.files import FileNamespaces
from dqa.databases.namespaces import TAG_TABLE, LoadedSituation
from dqa.databases.sql_session import SqlSession
from dqa.databases.sqlite.session import open_sqlite

_numbers = count(1)


class SqliteFile(FileNamespaces):
    """A file that holds one situation, or is to hold one."""

    kind = "sqlite"

    @classmethod
    def engine_version(cls) -> str:
        """Return SQLite's version."""
        return f"SQLite {sqlite3.sqlite_version}"

    @classmethod
    def load_in_memory(cls, situation: Situation) -> SqlSession:
        """Write a situation into memory that all connections of this process share."""
        uri, connection = _new_memory()
        try:
            _write(connection, situation, None)
        except DataError:
            connection.close()
            raise
        return open_sqlite(f"{uri}&mode=ro", situation.name, connection)

    @classmethod
    def run_script(cls, script: str) -> SqlSession:
        """Run a script in memory that all connections of this process share."""
        uri, connection = _new_memory()
        try:
            connection.executescript(script)
            connection.commit()
        except sqlite3.Error as error:
            connection.close()
            raise refused_script("SQLite", error) from error
        return open_sqlite(f"{uri}&mode=ro", "temporary", connection)

    def open(self, namespace: str | None) -> SqlSession:  # noqa: ARG002
        """Open the file; `DataError` for a damaged one."""
        database = open_sqlite(_uri(self._path), str(self._path))
        database.file = self._path
        try:
            database.read_schema()
        except DatabaseUnavailableError as error:
            database.close()
            raise DataError(
                f"'{self._path}' cannot be read as an SQLite database: {error}"
            ) from error
        return database

    def _read_tag(self) -> LoadedSituation | None:
        try:
            with closing(sqlite3.connect(_uri(self._path), uri=True)) as connection:
                row = connection.execute(f"SELECT * FROM {TAG_TABLE}").fetchone()  # noqa: S608
        except sqlite3.Error:  # another database, or none
            return None
        return LoadedSituation(self.location, *row) if row else None

    def _write(self, situation: Situation, tag: LoadedSituation, path: Path) -> None:
        with closing(sqlite3.connect(":memory:")) as connection:
            _write(connection, situation, tag)
            path.write_bytes(connection.serialize())


def _write(
    connection: sqlite3.Connection, situation: Situation, tag: LoadedSituation | None
) -> None:
    from sqlalchemy import StaticPool, create_engine

    from dqa.databases.tables import define_tables, write_tables

    engine = create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)
    with engine.begin() as core:
        write_tables(core, situation, tag, define_tables(situation.schema, "declared"))


def _new_memory() -> tuple[str, sqlite3.Connection]:
    """Return a new database in memory, which lives as long as its connection."""
    # The memdb file system shares a database without the locks of SQLite's shared cache.
    uri = f"file:/dqa-{next(_numbers)}?vfs=memdb"
    return uri, sqlite3.connect(uri, uri=True, check_same_thread=False)


def _uri(path: Path) -> str:
    return f"{path.absolute().as_uri()}?mode=ro"
