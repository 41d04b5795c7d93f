"""DuckDB's namespaces: schemas of a file, with the tag in a table; and situations in memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs

import duckdb
import pyarrow as pa
from duckdb import DuckDBPyConnection
from sqlalchemy import Connection, Table, text
from sqlalchemy.dialects.postgresql.base import PGDialect
from sqlalchemy.exc import SQLAlchemyError

from dqa.core import situation as content
from dqa.core.errors import DatabaseUnavailableError, DataError, UsageError
from dqa.core.examination import Examination
from dqa.databases.duckdb.session import DuckdbSession
from dqa.databases.duckdb.store import Store, acquire_store, first_line, use_store
from dqa.databases.failures import refused_script
from dqa.databases.files import existing_file, file_path, require_folder
from dqa.databases.namespaces import (
    TAG_TABLE,
    NamespaceContent,
    namespace_for,
    tag_of,
)
from dqa.databases.sql_namespaces import SqlNamespaces
from dqa.databases.sql_writer import core_connection, schema_of
from dqa.databases.tables import quote

_MAIN = "main"
_TABLES = (
    "SELECT schema_name, list(table_name) FILTER (table_name IS NOT NULL) "
    "FROM duckdb_schemas() LEFT JOIN duckdb_tables() USING (database_name, schema_name) "
    "WHERE database_name = current_database() GROUP BY ALL ORDER BY ALL"
)
_IN_MAIN = (
    "SELECT count(*) FROM (SELECT database_name, schema_name, internal FROM duckdb_tables() "
    "UNION ALL SELECT database_name, schema_name, internal FROM duckdb_views() "
    "UNION ALL SELECT database_name, schema_name, internal FROM duckdb_types()) "
    "WHERE database_name = current_database() AND schema_name = ? AND NOT internal"
)
"""How many objects of a schema a statement could name."""

# DuckDB reads PostgreSQL's definitions, and marks parameters as SQLite does.
_DIALECT = PGDialect(paramstyle="qmark", dbapi=duckdb)  # type: ignore[no-untyped-call]
_ROWS = "dqa_rows"


class _OneCursor:
    """A connection that is its own cursor: DuckDB's `cursor()` would be another transaction.

    Its `Store` ends the transaction and closes it.
    """

    def __init__(self, connection: DuckDBPyConnection) -> None:
        self._connection = connection
        self.cursor = lambda: self
        self.commit = self.rollback = self.close = lambda: None

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  (whatever the driver has)
        return getattr(self._connection, name)


def _insert_arrow(connection: Connection, table: Table, rows: content.Table) -> None:
    """Insert rows as an Arrow table: `executemany` would take minutes."""
    arrow = pa.table(
        {
            column.name: pa.array(
                rows[column.name],
                type=pa.string() if column.stored == "text" else None,
                from_pandas=True,  # a float that is not a number is missing
            )
            for column in rows.schema.columns
        }
    )
    target = f"{quote('duckdb', schema_of(connection) or _MAIN)}.{quote('duckdb', table.name)}"
    names = quote("duckdb", *rows.schema.column_names)
    driver: Any = connection.connection.driver_connection
    driver.register(_ROWS, arrow)
    connection.exec_driver_sql(f"INSERT INTO {target} ({names}) SELECT {names} FROM {_ROWS}")  # noqa: S608
    driver.unregister(_ROWS)


class DuckdbNamespaces(SqlNamespaces):
    """The schemas of a file.

    Parameters
    ----------
    store
        The file, as this process has it open.
    path
        Where it is, or is to be.
    wanted
        The schema that the location names.
    """

    title = "DuckDB"
    dialect = "duckdb"
    foreign_keys = "commented"  # DuckDB enforces foreign keys
    fill = staticmethod(_insert_arrow)
    has_atomic_definitions = True

    def __init__(self, store: Store, path: Path | None, wanted: str | None) -> None:
        self.location = str(path)
        self._store = store
        self._path = path or Path()
        self._wanted = wanted
        self._writer: DuckDBPyConnection | None = None

    @classmethod
    @contextmanager
    def connect(cls, location: str) -> Iterator[Self]:
        """Give the schemas of a file, and translate the engine's errors."""
        where, _, query = location.partition("?")
        path, wanted = file_path(where, "duckdb"), parse_qs(query).get("schema", [None])[0]
        with use_store(path) as store:
            try:
                yield cls(store, path, wanted)
            except (duckdb.Error, SQLAlchemyError) as error:
                original = getattr(error, "orig", None) or error
                raise DatabaseUnavailableError(
                    f"'{path}' cannot be used: {first_line(original)}."
                ) from error

    @classmethod
    def start(cls) -> None:
        """Open a database in memory for a moment."""
        duckdb.connect(":memory:").close()

    @classmethod
    def engine_version(cls) -> str:
        """Return DuckDB's version."""
        return f"DuckDB {duckdb.__version__}"

    @classmethod
    def load_in_memory(cls, situation: content.Situation) -> DuckdbSession:
        """Write a situation into memory that all threads share."""
        memory = Store(None)
        memory.users = 1
        tag = tag_of(situation, namespace_for(situation))
        namespaces = cls(memory, None, None)
        with namespaces._writing():
            namespaces.create(situation, tag)
        return DuckdbSession(memory, tag.namespace, situation.name)

    @classmethod
    def run_script(cls, script: str) -> DuckdbSession:
        """Run a script in memory that all threads share."""
        memory = Store(None)
        memory.users = 1
        try:
            with memory.writing() as connection:
                connection.execute(script)
        except duckdb.Error as error:
            raise refused_script("DuckDB", error) from error
        return DuckdbSession(memory, _MAIN, "temporary")

    @contextmanager
    def connected(self) -> Iterator[Connection]:
        """Give the connection of `locked`, or one for reading."""
        if self._writer is not None:
            with core_connection(_DIALECT, _OneCursor(self._writer)) as connection:
                yield connection
        else:
            with (
                self._store.reading() as reader,
                core_connection(_DIALECT, _OneCursor(reader)) as connection,
            ):
                yield connection

    def names(self) -> Iterable[str]:
        """Return the schemas that have a tag."""
        existing_file(self._path, "duckdb")
        return [name for name, tables in self._tables().items() if TAG_TABLE in tables]

    def read(self, namespace: str) -> NamespaceContent:
        """Return what a schema holds; `UsageError` for a file of another kind."""
        if self._writer is None:
            if not self._path.exists():
                return None
            try:
                existing_file(self._path, "duckdb")
            except DataError as error:
                raise UsageError(f"{error} Nothing is overwritten; name another file.") from error
        return super().read(namespace)

    def tables_of(self, connection: Connection, schema: str | None) -> list[str] | None:
        """Return the tables of a schema; None if there is no such schema."""
        return {name: tables or [] for name, tables in connection.execute(text(_TABLES))}.get(
            schema or _MAIN
        )

    def select(self) -> str:
        """Return the schema of ``?schema=``; else ``main``, or the only one that holds anything."""
        existing_file(self._path, "duckdb")
        schemas = [name for name, tables in self._tables().items() if tables]
        if self._wanted is not None:
            if self._wanted not in [*schemas, _MAIN]:
                raise UsageError(
                    f"'{self._path}' has no schema '{self._wanted}'. It has: {', '.join(schemas)}."
                )
            return self._wanted
        if _MAIN in schemas or not schemas:
            return _MAIN
        if len(schemas) > 1:
            raise UsageError(
                f"'{self._path}' has several schemas; append one, as in "
                f"duckdb:///{self._path}?schema={schemas[0]}. It has: {', '.join(schemas[:20])}."
            )
        return schemas[0]

    def open(self, namespace: str | None) -> DuckdbSession:
        """Return a session of a schema, which keeps the file open."""
        schema = namespace or _MAIN
        name = str(self._path) if schema == _MAIN else f"duckdb:///{self._path}?schema={schema}"
        session = DuckdbSession(acquire_store(self._path), schema, name)
        session.file = self._path
        with self._store.reading() as connection:
            ((in_main,),) = connection.execute(_IN_MAIN, [_MAIN]).fetchall()
        if in_main and schema != _MAIN:
            session.search_path = (schema, _MAIN)  # whatever the session sets
        return session

    def examine(self) -> Examination:
        """Open the file and look."""
        existing_file(self._path, "duckdb")
        with self._store.reading():
            return Examination(self.engine_version(), may_write=os.access(self._path, os.W_OK))

    def locked(self, namespace: str) -> AbstractContextManager[object]:  # noqa: ARG002
        """Keep everybody from the file, in a transaction that ends with the context."""
        require_folder(self._path)
        return self._writing()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._store.writing() as connection:
            self._writer = connection
            try:
                yield
            finally:
                self._writer = None

    def _tables(self) -> dict[str, list[str]]:
        """Return the tables of each schema."""
        with self.connected() as connection:
            return {name: tables or [] for name, tables in connection.execute(text(_TABLES))}
