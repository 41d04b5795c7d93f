"""DuckDB's namespaces: schemas of a file, with the tag in a table; and situations in memory."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs

import duckdb
from duckdb import DuckDBPyConnection
from sqlalchemy import Connection, Table, text
from sqlalchemy.dialects.postgresql.base import PGDialect
from sqlalchemy.exc import SQLAlchemyError

from dqa.core import situation as content
from dqa.core.errors import DatabaseUnavailableError, DataError, UsageError
from dqa.core.examination import Examination
from dqa.databases.duckdb.session import open_duckdb
from dqa.databases.duckdb.store import LOCK, connect, first_line, write_file
from dqa.databases.failures import refused_script
from dqa.databases.files import existing_file, file_path, require_folder
from dqa.databases.namespaces import (
    TAG_TABLE,
    NamespaceContent,
    namespace_for,
    tag_of,
)
from dqa.databases.servers import schema_names
from dqa.databases.sql_namespaces import SqlNamespaces
from dqa.databases.sql_session import SqlSession
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

    Its owner ends the transaction and closes it.
    """

    def __init__(self, connection: DuckDBPyConnection) -> None:
        self._connection = connection
        self.cursor = lambda: self
        self.commit = self.rollback = self.close = lambda: None

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  (whatever the driver has)
        return getattr(self._connection, name)


class DuckdbNamespaces(SqlNamespaces):
    """The schemas of a file.

    Parameters
    ----------
    path
        Where it is, or is to be; None for memory.
    wanted
        The schema that the location names.
    writer
        A connection to new memory.
    """

    title = "DuckDB"
    dialect = "duckdb"
    foreign_keys = "commented"  # DuckDB enforces foreign keys
    has_atomic_definitions = True

    def __init__(
        self,
        path: Path | None,
        wanted: str | None = None,
        writer: DuckDBPyConnection | None = None,
    ) -> None:
        self.location = str(path)
        self._path = path or Path()
        self._wanted = wanted
        self._writer = writer

    @classmethod
    @contextmanager
    def connect(cls, location: str) -> Iterator[Self]:
        """Give the schemas of a file, and translate the engine's errors."""
        where, _, query = location.partition("?")
        path, wanted = file_path(where, "duckdb"), parse_qs(query).get("schema", [None])[0]
        try:
            yield cls(path, wanted)
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
    def load_in_memory(cls, situation: content.Situation) -> SqlSession:
        """Write a situation into memory that all threads share."""
        memory = connect(None)
        tag = tag_of(situation, namespace_for(situation))
        try:
            memory.execute("BEGIN")
            cls(None, writer=memory).create(situation, tag)
            memory.execute("COMMIT")
            memory.execute(LOCK)
        except BaseException:
            memory.close()
            raise
        return open_duckdb(memory, [tag.namespace], situation.name)

    @classmethod
    def run_script(cls, script: str) -> SqlSession:
        """Run a script in memory that all threads share."""
        memory = connect(None)
        try:
            memory.execute(script)
            memory.execute(LOCK)
        except duckdb.Error as error:
            memory.close()
            raise refused_script("DuckDB", error) from error
        return open_duckdb(memory, [_MAIN], "temporary")

    @contextmanager
    def connected(self) -> Iterator[Connection]:
        """Give the connection of `locked`, or one for reading."""
        if self._writer is not None:
            with core_connection(_DIALECT, _OneCursor(self._writer)) as connection:
                yield connection
        else:
            with (
                closing(connect(self._path, read_only=True)) as reader,
                core_connection(_DIALECT, _OneCursor(reader)) as connection,
            ):
                yield connection

    def fill(self, connection: Connection, table: Table, rows: content.Table) -> None:
        """Insert rows as an Arrow table: `executemany` would take minutes."""
        import pyarrow as pa

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

    def select(self) -> str:
        """Return the schema of ``?schema=``; else ``main``, or the only one that holds anything."""
        existing_file(self._path, "duckdb")
        schemas = [name for name, tables in self._tables().items() if tables]
        for name in schema_names(self._wanted or ""):
            if name not in [*schemas, _MAIN]:
                raise UsageError(
                    f"'{self._path}' has no schema '{name}'. It has: {', '.join(schemas)}."
                )
        if self._wanted is not None:
            return self._wanted
        if _MAIN in schemas or not schemas:
            return _MAIN
        if len(schemas) > 1:
            raise UsageError(
                f"'{self._path}' has several schemas; append one, as in "
                f"duckdb:///{self._path}?schema={schemas[0]}. It has: {', '.join(schemas[:20])}."
            )
        return schemas[0]

    def with_schemas(self, namespace: str | None, more: Collection[str]) -> str:
        """Return a schema with others of the file."""
        named = (name for name in self._tables() if name.casefold() in more)
        return ",".join(dict.fromkeys((*schema_names(namespace or _MAIN), *named)))

    def open(self, namespace: str | None) -> SqlSession:
        """Return a session of a schema, which keeps the file open."""
        schema = namespace or _MAIN
        name = str(self._path) if schema == _MAIN else f"duckdb:///{self._path}?schema={schema}"
        schemas = schema_names(schema)
        connection = connect(self._path, read_only=True)
        connection.execute(LOCK)
        ((in_main,),) = connection.execute(_IN_MAIN, [_MAIN]).fetchall()
        # The engine looks in `main`, whatever the session sets.
        path = (*schemas, _MAIN) if in_main and _MAIN not in schemas else schemas
        session = open_duckdb(connection, schemas, name, search_path=path)
        session.file = self._path
        return session

    def examine(self) -> Examination:
        """Open the file and look."""
        existing_file(self._path, "duckdb")
        with closing(connect(self._path, read_only=True)):
            return Examination(self.engine_version(), may_write=os.access(self._path, os.W_OK))

    @contextmanager
    def locked(self, namespace: str) -> Iterator[None]:  # noqa: ARG002
        """Keep all others from the file, in a transaction that ends with the context."""
        require_folder(self._path)
        with write_file(self._path) as writer:
            self._writer = writer
            try:
                yield
            finally:
                self._writer = None

    def _tables(self) -> dict[str, list[str]]:
        """Return the tables of each schema."""
        with self.connected() as connection:
            return {name: tables or [] for name, tables in connection.execute(text(_TABLES))}
