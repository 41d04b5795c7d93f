"""DuckDB's namespaces: schemas of a file, with the tag in a table; and situations in memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Self
from urllib.parse import parse_qs

import duckdb
from duckdb import DuckDBPyConnection

from dqa.core.errors import DatabaseUnavailableError, DataError, UsageError
from dqa.core.examination import Examination
from dqa.core.situation import Situation
from dqa.databases.duckdb.session import open_duckdb
from dqa.databases.duckdb.store import Store, acquire_store, first_line, use_store
from dqa.databases.duckdb.writer import write
from dqa.databases.failures import refused_script
from dqa.databases.files import existing_file, file_path, require_folder
from dqa.databases.namespaces import (
    TAG_TABLE,
    LoadedSituation,
    NamespaceContent,
    Namespaces,
    namespace_for,
    tag_of,
    tagged_content,
)
from dqa.databases.servers import schema_names
from dqa.databases.sql_session import SqlSession
from dqa.databases.tables import TAG_COLUMNS, quote

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
"""How much a statement could name there, whatever its own schema is."""


class DuckdbNamespaces(Namespaces):
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

    def __init__(self, store: Store, path: Path, wanted: str | None) -> None:
        self.location = str(path)
        self._store = store
        self._path = path
        self._wanted = wanted
        self._writer: DuckDBPyConnection | None = None

    @classmethod
    @contextmanager
    def connect(cls, location: str) -> Iterator[Self]:
        """Give the schemas of a file; the engine's errors come out as this project's."""
        where, _, query = location.partition("?")
        path, wanted = file_path(where, "duckdb"), parse_qs(query).get("schema", [None])[0]
        with use_store(path) as store:
            try:
                yield cls(store, path, wanted)
            except duckdb.Error as error:
                raise DatabaseUnavailableError(
                    f"'{path}' cannot be used: {first_line(error)}."
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
    def load_in_memory(cls, situation: Situation) -> SqlSession:
        """Write a situation into memory that all threads share."""
        memory = Store(None)
        memory.users = 1
        tag = tag_of(situation, namespace_for(situation))
        with memory.writing() as connection:
            write(connection, tag, situation)
        return open_duckdb(memory, [tag.namespace], situation.name)

    @classmethod
    def run_script(cls, script: str) -> SqlSession:
        """Run a script in memory that all threads share."""
        memory = Store(None)
        memory.users = 1
        try:
            with memory.writing() as connection:
                connection.execute(script)
        except duckdb.Error as error:
            raise refused_script("DuckDB", error) from error
        return open_duckdb(memory, [_MAIN], "temporary")

    def names(self) -> Iterable[str]:
        """Return the schemas that have a tag."""
        existing_file(self._path, "duckdb")
        return [name for name, tables in self._tables().items() if TAG_TABLE in tables]

    def read(self, namespace: str) -> NamespaceContent:
        """Return what a schema holds; `UsageError` where the file is none of DuckDB's."""
        if self._writer is None:
            if not self._path.exists():
                return None
            try:
                existing_file(self._path, "duckdb")
            except DataError as error:
                raise UsageError(f"{error} Nothing is overwritten; name another file.") from error
        columns, table = quote("duckdb", *TAG_COLUMNS), quote("duckdb", TAG_TABLE)
        statement = f"SELECT {columns} FROM {quote('duckdb', namespace)}.{table}"  # noqa: S608
        with self._connection() as connection:
            return tagged_content(
                namespace,
                self._tables().get(namespace),
                lambda: connection.execute(statement).fetchone(),
            )

    def create(self, situation: Situation, tag: LoadedSituation) -> None:
        """Make the schema and fill it, within the transaction of `locked`."""
        with self._connection() as connection:
            write(connection, tag, situation)

    def drop(self, namespace: str) -> None:
        """Drop a schema, within the transaction of `locked`."""
        with self._connection() as connection:
            connection.execute(f"DROP SCHEMA {quote('duckdb', namespace)} CASCADE")

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

    def open(self, namespace: str | None) -> SqlSession:
        """Return a schema; its own user of the file, which stays open as long as it is."""
        schema = namespace or _MAIN
        name = str(self._path) if schema == _MAIN else f"duckdb:///{self._path}?schema={schema}"
        schemas = schema_names(schema)
        with self._connection() as connection:
            ((in_main,),) = connection.execute(_IN_MAIN, [_MAIN]).fetchall()
        # The engine looks in `main`, whatever the session sets.
        path = (*schemas, _MAIN) if in_main and _MAIN not in schemas else schemas
        session = open_duckdb(acquire_store(self._path), schemas, name, search_path=path)
        session.file = self._path
        return session

    def examine(self) -> Examination:
        """Open the file and look."""
        existing_file(self._path, "duckdb")
        with self._connection():
            may_write = os.access(self._path, os.W_OK)
        return Examination(self.engine_version(), may_write=may_write)

    @contextmanager
    def locked(self, namespace: str) -> Iterator[None]:  # noqa: ARG002
        """Keep everybody from the file, in a transaction that ends with the context."""
        require_folder(self._path)
        with self._store.writing() as connection:
            self._writer = connection
            try:
                yield
            finally:
                self._writer = None

    def _connection(self) -> AbstractContextManager[DuckDBPyConnection]:
        return self._store.reading() if self._writer is None else nullcontext(self._writer)

    def _tables(self) -> dict[str, list[str]]:
        """Return the tables of each schema."""
        with self._connection() as connection:
            found = connection.execute(_TABLES).fetchall()
        return {schema: tables or [] for schema, tables in found}
