"""DuckDB's namespaces: schemas of a file, with the tag in a table; and situations in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs

import duckdb
from duckdb import DuckDBPyConnection
from sqlalchemy import Executable, Table
from sqlalchemy.schema import DropSchema

from dqa.core import situation as content
from dqa.core.errors import DatabaseUnavailableError, DataError, UsageError
from dqa.databases.duckdb.session import LOCK, connect, open_duckdb, write_file
from dqa.databases.errors import first_line, refused_script
from dqa.databases.files import existing_file, file_path, require_folder
from dqa.databases.namespaces import (
    TAG_TABLE,
    LoadedSituation,
    NamespaceContent,
    namespace_for,
    tag_of,
)
from dqa.databases.servers import schema_names
from dqa.databases.sql_namespaces import SqlNamespaces
from dqa.databases.sql_session import SqlSession
from dqa.databases.tables import quote, spelled

_MAIN = "main"
_TABLES = (
    "SELECT schema_name, coalesce(list(table_name) FILTER (table_name IS NOT NULL), []) "
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
_ROWS = "dqa_rows"


class DuckdbNamespaces(SqlNamespaces):
    """The schemas of a file.

    Parameters
    ----------
    path
        Where it is, or is to be; None for memory.
    wanted
        The schemas that the location names.
    writer
        A connection to new memory.
    """

    _dialect = "duckdb"

    def __init__(
        self,
        path: Path | None,
        wanted: str = "",
        writer: DuckDBPyConnection | None = None,
    ) -> None:
        self.location = str(path)
        self._path = path or Path()
        self._wanted = schema_names(wanted)
        self._writer = writer

    @classmethod
    @contextmanager
    def connect(cls, location: str) -> Iterator[Self]:
        """Give the schemas of a file, and translate the engine's errors."""
        where, _, query = location.partition("?")
        path, wanted = file_path(where, "duckdb"), parse_qs(query).get("schema", [""])[0]
        try:
            yield cls(path, wanted)
        except duckdb.Error as error:
            raise DatabaseUnavailableError(
                f"'{path}' cannot be used: {first_line(error)}."
            ) from error

    @classmethod
    def open_in_memory(cls, content: content.Situation | str) -> SqlSession:
        """Write a situation, or run a script, in memory that all threads share."""
        memory = connect(None)
        name, schema = "temporary", _MAIN
        try:
            if isinstance(content, str):
                memory.execute(content)
            else:
                name, schema = content.name, namespace_for(content)
                memory.execute("BEGIN")
                cls(None, writer=memory).create(content, tag_of(content, schema))
                memory.execute("COMMIT")
            memory.execute(LOCK)
        except (duckdb.Error, DataError) as error:
            memory.close()
            raise refused_script("DuckDB", error) from error
        return open_duckdb(memory, [schema], name)

    def _run(self, statement: Executable) -> list[Any]:
        return self._execute(spelled(statement, "duckdb"))

    def _fill(self, table: Table, rows: content.Table) -> None:
        """Insert rows as an Arrow table: `executemany` would take minutes."""
        import pyarrow as pa

        kinds = {c.name: pa.string() if c.stored == "text" else None for c in rows.schema.columns}
        arrays = {
            name: pa.array(rows[name], kind, from_pandas=True)  # NaN is missing
            for name, kind in kinds.items()
        }
        writer, names = self._writer, quote("duckdb", *arrays)
        target = f"{quote('duckdb', table.schema or '')}.{quote('duckdb', table.name)}"
        assert writer is not None  # noqa: S101  (within `locked`)
        writer.register(_ROWS, pa.table(arrays))
        writer.execute(f"INSERT INTO {target} ({names}) SELECT {names} FROM {_ROWS}")  # noqa: S608
        writer.unregister(_ROWS)

    def _tables(self, schema: str | None) -> Collection[str] | None:
        return self._schemas().get(schema or _MAIN)

    def _schemas(self) -> dict[str, list[str]]:
        """Return the tables of each schema."""
        return dict(self._execute(_TABLES))

    def situations(self) -> Iterator[LoadedSituation]:
        """Yield the situations in schemas that have a tag."""
        existing_file(self._path, "duckdb")
        for name, tables in self._schemas().items():
            found = self.read(name) if TAG_TABLE in tables else None
            if isinstance(found, LoadedSituation):
                yield found

    def read(self, namespace: str) -> NamespaceContent:
        """Return the content of a schema; `UsageError` for a file of another kind."""
        if self._writer is None:
            if not self._path.exists():
                return None
            try:
                existing_file(self._path, "duckdb")
            except DataError as error:
                raise UsageError(f"{error} Nothing is overwritten; name another file.") from error
        return super().read(namespace)

    def drop(self, namespace: str) -> None:
        """Drop a schema with all that is in it."""
        self._run(DropSchema(namespace, cascade=True))

    def select(self, more: Collection[str] = ()) -> str:
        """Return the schemas of ``?schema=``; else ``main``, or the only one that holds anything.

        Others that are named in `more` follow.
        """
        existing_file(self._path, "duckdb")
        tables = self._schemas()
        schemas = [name for name, listed in tables.items() if listed]
        for name in self._wanted:
            if name not in [*schemas, _MAIN]:
                raise UsageError(
                    f"'{self._path}' has no schema '{name}'. It has: {', '.join(schemas)}."
                )
        shown = self._wanted or ((_MAIN,) if _MAIN in schemas or not schemas else schemas)
        if not self._wanted and len(shown) > 1:
            raise UsageError(
                f"'{self._path}' has several schemas; append one, as in "
                f"duckdb:///{self._path}?schema={shown[0]}. It has: {', '.join(shown[:20])}."
            )
        named = (name for name in tables if name.casefold() in more)
        return ",".join(dict.fromkeys((*shown, *named)))

    def open(self, namespace: str | None) -> SqlSession:
        """Return a session of a schema, which keeps the file open."""
        existing_file(self._path, "duckdb")
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

    def _execute(self, statement: str) -> list[Any]:
        """Run a statement in the transaction of `locked`, or for reading."""
        if self._writer is not None:
            return self._writer.execute(statement).fetchall()
        with closing(connect(self._path, read_only=True)) as reader:
            return reader.execute(statement).fetchall()
