"""DuckDB's namespaces: schemas of a file, with the tag in a table; and situations in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs

import duckdb
from duckdb import DuckDBPyConnection

from dqa.core.errors import DatabaseUnavailableError, DataError, UsageError
from dqa.core.schema import quoted
from dqa.core.situation import Situation
from dqa.databases.duckdb.session import LOCK, connect, open_duckdb, write_file
from dqa.databases.errors import first_line, refused_script
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

_ROWS = "dqa_rows"


class DuckdbNamespaces(Namespaces):
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
    def open_in_memory(cls, content: Situation | str) -> SqlSession:
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

    def create(self, situation: Situation, tag: LoadedSituation) -> None:
        """Create a schema, and insert rows as Arrow tables: `executemany` would take minutes."""
        import pyarrow as pa

        from dqa.databases.tables import define_tables, define_tag, definitions, tag_row, unfit

        assert self._writer is not None  # noqa: S101  (within `locked`)
        writer, schema = self._writer, quoted(tag.namespace, '"')
        # DuckDB enforces foreign keys, which real data breaks.
        metadata = define_tables(situation.schema, "commented", tag.namespace)
        writer.execute(f"CREATE SCHEMA {schema}")
        for tables in (define_tag(tag.namespace).metadata, metadata):
            writer.execute(";".join(definitions(tables, "duckdb")))
        try:
            for name, rows in situation.tables.items():
                kinds = {
                    c.name: pa.string() if c.stored == "text" else None for c in rows.schema.columns
                }
                arrays = {
                    column: pa.array(rows[column], kind, from_pandas=True)  # NaN is missing
                    for column, kind in kinds.items()
                }
                names = ", ".join(quoted(column, '"') for column in arrays)
                target = f"{schema}.{quoted(name, chr(34))}"
                writer.register(_ROWS, pa.table(arrays))
                writer.execute(f"INSERT INTO {target} ({names}) SELECT {names} FROM {_ROWS}")  # noqa: S608
                writer.unregister(_ROWS)
        except (duckdb.IntegrityError, duckdb.DataError, ValueError) as error:
            raise unfit(situation, error) from error
        writer.execute(f"INSERT INTO {schema}.{TAG_TABLE} VALUES (?, ?, ?, ?)", tag_row(tag))  # noqa: S608

    def drop(self, namespace: str) -> None:
        """Drop a schema with all that is in it."""
        self._execute(f"DROP SCHEMA {quoted(namespace, chr(34))} CASCADE")

    def names(self) -> Iterable[str]:
        """Return the schemas that have a tag."""
        existing_file(self._path, "duckdb")
        return [name for name, tables in self._tables().items() if TAG_TABLE in tables]

    def read(self, namespace: str) -> NamespaceContent:
        """Return the content of a schema; `UsageError` for a file of another kind."""
        if self._writer is None:
            if not self._path.exists():
                return None
            try:
                existing_file(self._path, "duckdb")
            except DataError as error:
                raise UsageError(f"{error} Nothing is overwritten; name another file.") from error
        tag = f"SELECT * FROM {quoted(namespace, chr(34))}.{TAG_TABLE}"  # noqa: S608
        return tagged_content(
            namespace,
            self._tables().get(namespace),
            lambda: next(iter(self._execute(tag)), None),
        )

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

    def _tables(self) -> dict[str, list[str]]:
        """Return the tables of each schema."""
        return {name: tables or [] for name, tables in self._execute(_TABLES)}

    def _execute(self, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement in the transaction of `locked`, or for reading."""
        if self._writer is not None:
            return self._writer.execute(statement).fetchall()
        with closing(connect(self._path, read_only=True)) as reader:
            return reader.execute(statement).fetchall()
