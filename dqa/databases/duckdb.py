"""Read-only schemas of a DuckDB database in a file or in memory.

Every statement runs in a read-only transaction. A session cannot access other files, the network,
extensions or Python objects, and its settings are locked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast
from urllib.parse import parse_qs

import duckdb
from duckdb import DuckDBPyConnection

from dqa.core.errors import DatabaseUnavailableError, DataError, UsageError
from dqa.core.schema import DatabaseSchema, quoted
from dqa.databases.catalogue import Relation, asking, flat, read_relations, rows_of, schema_of
from dqa.databases.engine_session import Connection, EngineSession, Result
from dqa.databases.errors import (
    Fault,
    driver_reads,
    first_line,
    one_line,
    read_faults,
    refused,
    refused_script,
)
from dqa.databases.files import FileNamespaces, existing_file, file_path
from dqa.databases.namespaces import LoadedSituation
from dqa.databases.rows import columns_of, rows_from
from dqa.databases.servers import schema_names
from dqa.databases.tables import quote, table_name, write_situation
from dqa.databases.values import iso_text, loaded

if TYPE_CHECKING:
    from dqa.core.situation import Situation, Table


FILLING: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "memory_limit": "1GB",
    "python_enable_replacements": "false",
    "temp_directory": "",
}
"""The settings of a database in memory while it reads files."""
_SETTINGS = FILLING | {"enable_external_access": "false"}
LOCK = "SET lock_configuration = true"
"""A statement that prevents later changes of the settings."""


def connect(path: Path | None, *, read_only: bool = False) -> DuckDBPyConnection:
    """Connect to a file or to a new database in memory.

    Raises
    ------
    DatabaseUnavailableError
        Another process has locked the file, or the file cannot be read.
    DataError
        The file is not a database of this version, or this process opened it with other options.
    """
    where = ":memory:" if path is None else str(path)
    try:
        return duckdb.connect(where, read_only=read_only, config=_SETTINGS)
    except duckdb.IOException as error:
        problem = one_line(error)
        if "lock" in problem:
            problem = "another process has opened it. Try again when it has closed the file"
        raise DatabaseUnavailableError(f"'{path}' cannot be opened: {problem}.") from error
    except duckdb.Error as error:
        raise DataError(f"'{path}' cannot be opened: {first_line(error)}.") from error


_DAMAGED = re.compile("[Cc]hecksum|Corrupt database|[Cc]ould not read|No such file")
_INVALIDATED = "database has been invalidated"


class Duckdb(EngineSession):
    """A session of some schemas of an open database, whose settings are locked.

    Parameters
    ----------
    database
        The open database, which the session closes.
    schemas
        The schemas to show, in the order in which the engine looks for tables.
    name
        The name of the database in messages.
    search_path
        The schemas in which the engine looks for tables; by default `schemas`.
    is_confined
        Whether the database has schemas that the session must not read.
    """

    dialect = "duckdb"
    language = "SQL (DuckDB)"
    errors = (duckdb.Error,)
    unknown = re.compile(
        r"Catalog Error: Table with name (.+?) does not exist"
        r'|Binder Error: .*?[Cc]olumn "?([^"]+?)"? (?:not found|that is not)'
        r'|Binder Error: (?:Table|Values list) "([^"]+)" does not have a column named "([^"]+)"'
    )

    def __init__(
        self,
        database: DuckDBPyConnection,
        schemas: Sequence[str],
        name: str,
        *,
        search_path: Sequence[str] = (),
        is_confined: bool = True,
    ) -> None:
        super().__init__(
            name,
            namespace=schemas[0],
            schemas=tuple(schemas) if is_confined else None,
            search_path=tuple(search_path or schemas),
            on_close=database.close,
        )
        self._database, self._schemas = database, schemas

    def connect(self) -> DuckDBPyConnection:
        """Return a new connection to the open database."""
        return self._database.cursor()

    @contextmanager
    def execute(self, connection: Connection, statement: str) -> Iterator[Result]:
        """Run a query in a read-only transaction and close its connection afterwards."""
        cursor: DuckDBPyConnection = connection.driver
        connection.is_used_up = True
        with driver_reads():
            parsed = cursor.extract_statements(statement)
        if len(parsed) != 1 or not _is_reading(parsed[0]):
            raise refused("it is not a single query, and this database is read-only")
        path = ",".join(quoted(schema, '"') for schema in self._schemas)
        cursor.execute(f"SET search_path = {quoted(path, chr(39))}")
        with driver_reads():
            columns, query, readers = _exact(cursor, parsed[0])
            cursor.execute("BEGIN TRANSACTION READ ONLY")
            cursor.execute(query)
        yield Result(columns or columns_of(cursor), rows_from(cursor, readers))

    def failure(self, error: Exception) -> tuple[Fault, str]:
        """Classify an error by its class.

        After some errors, the database must be opened again.
        """
        fatal = (duckdb.FatalException, duckdb.InternalException)
        self.is_broken |= _INVALIDATED in str(error) or isinstance(error, fatal)
        return fault_of(cast("duckdb.Error", error)), first_line(error)

    def describe(self, driver: DuckDBPyConnection) -> DatabaseSchema:
        """Read the schemas, and check which views can be read."""

        def can_read(view: Relation) -> bool:
            name = table_name("duckdb", view.schema, view.name)
            try:
                driver.execute(f"SELECT * FROM {name} LIMIT 0").fetchall()  # noqa: S608
            except (duckdb.CatalogException, duckdb.BinderException):
                return False
            return True

        ask = asking(driver, list(self._schemas))
        found = read_relations(ask, _CATALOGUE, can_read=can_read)
        return schema_of(found, self._schemas, available=lambda: flat(ask(_AVAILABLE)))


_Reader = Callable[[Any], Any]


def _exact(
    cursor: Any,  # noqa: ANN401
    parsed: Any,  # noqa: ANN401
) -> tuple[list[str], Any, dict[int, _Reader]]:
    """Return the column names, the query to run, and converters of columns by position (from 0).

    The driver converts months to 30 days and infinite times to the year 9999, and it drops
    nanoseconds. The new query therefore returns such columns as text.
    """
    if parsed.type not in {duckdb.StatementType.SELECT, duckdb.StatementType.MULTI}:
        return [], parsed, {}
    query = parsed.query.rstrip("; \t\r\n")
    try:
        described = rows_of(cursor, f"DESCRIBE {query}")
    except duckdb.Error:
        return [], parsed, {}  # the statement is wrong, or cannot be described
    cells: list[str] = []
    readers: dict[int, _Reader] = {}
    for number, (_, kind, *_) in enumerate(described):
        cell = f"#{number + 1}"
        exact = _TEMPORAL.sub(lambda found: "VARCHAR" if found[1] else found[0], kind)
        if exact != kind:
            cell = f"CAST({cell} AS {exact})"
        if exact != kind and "(" not in kind:
            readers[number] = _iso
        elif kind == "JSON":
            readers[number] = loaded
        cells.append(cell)
    if all(cell.startswith("#") for cell in cells):
        return [], parsed, readers
    names = [name for name, *_ in described]
    return names, f"SELECT {', '.join(cells)} FROM ({query}\n)", readers  # noqa: S608


def _iso(value: Any) -> Any:  # noqa: ANN401
    """Return a time, or an array of times, as ISO 8601."""
    if isinstance(value, list):
        return list(map(_iso, value))
    return value if value is None else iso_text(value)


_TEMPORAL = re.compile(
    r"\"(?:[^\"]|\"\")*\"|'(?:[^']|'')*'"
    r"|\b(DATE|TIMESTAMP(?:_\w+)?(?: WITH TIME ZONE)?|TIME_NS|INTERVAL)(?=[,)\[]|$)"
)
"""Matches quoted names and texts, and the names of time types.

In a STRUCT, a space precedes the type of a field.
"""


def _is_reading(parsed: duckdb.Statement) -> bool:
    """Return whether a statement is a query or the explanation of a query."""
    kinds = duckdb.StatementType
    try:
        kind = parsed.type
    except ValueError:  # the client does not know some kinds, such as UPDATE EXTENSIONS
        return False
    # The engine parses a PIVOT into several statements. If EXPLAIN ANALYZE runs a statement that
    # writes, it fails in the read-only transaction.
    return kind in {kinds.SELECT, kinds.EXPLAIN, kinds.MULTI}


def fault_of(error: duckdb.Error) -> Fault:
    """Return the `Fault` for an exception, from its class or its message."""
    message = str(error)
    if _INVALIDATED in message:
        return Fault.PASSING  # an earlier statement broke the session, which is opened again
    if isinstance(error, duckdb.BinderException) and "No function matches" in message:
        return Fault.NOT_UNDERSTOOD
    if isinstance(error, duckdb.IOException) and _DAMAGED.search(message):
        return Fault.SERVER
    known = (read_faults("duckdb").get(kind.__name__) for kind in type(error).__mro__)
    return next(filter(None, known), Fault.UNCLEAR)


_SHOWN = "database_name = current_database() AND list_contains(?, schema_name)"
# In DuckDB a BIT is a bit string; in other databases it is a truth value.
_COLUMNS = f"""
SELECT schema_name, table_name, column_name,
    CASE data_type WHEN 'BIT' THEN 'BITSTRING' ELSE data_type END, comment
FROM duckdb_columns() WHERE {_SHOWN} AND NOT internal ORDER BY table_name, column_index
"""  # noqa: S608
_RELATIONS = f"""
SELECT schema_name, table_name, comment, '' FROM duckdb_tables() WHERE {_SHOWN}
UNION ALL SELECT schema_name, view_name, comment, 'view' FROM duckdb_views()
WHERE {_SHOWN} AND NOT internal
"""  # noqa: S608
_KEYS = f"""
SELECT schema_name, table_name, unnest(constraint_column_names)
FROM duckdb_constraints() WHERE {_SHOWN} AND constraint_type = 'PRIMARY KEY'
"""  # noqa: S608
_LINKS = f"""
SELECT schema_name, table_name, unnest(constraint_column_names), schema_name, referenced_table,
    unnest(referenced_column_names)
FROM duckdb_constraints() WHERE {_SHOWN} AND constraint_type = 'FOREIGN KEY'
ORDER BY constraint_index
"""  # noqa: S608
_AVAILABLE = """
SELECT DISTINCT schema_name FROM (
    SELECT database_name, schema_name FROM duckdb_tables() UNION ALL
    SELECT database_name, schema_name FROM duckdb_views() WHERE NOT internal)
WHERE database_name = current_database() ORDER BY ALL
"""


_CATALOGUE = (_RELATIONS, _COLUMNS, _KEYS, _LINKS)


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
"""Counts the tables, views and types in a schema that a statement could name."""
_ROWS = "dqa_rows"


class DuckdbFile(FileNamespaces):
    """A DuckDB file with a situation in its schema `main`, or with the schemas of a user.

    Parameters
    ----------
    path
        The path of an existing or new file.
    wanted
        The schemas that the location names.
    """

    kind = "duckdb"

    def __init__(self, path: Path, wanted: str = "") -> None:
        super().__init__(path)
        self._wanted = schema_names(wanted)

    @classmethod
    @contextmanager
    def connect(cls, location: str) -> Iterator[Self]:
        """Yield the namespaces of a file, and translate the engine's errors."""
        where, _, query = location.partition("?")
        path, wanted = file_path(where, "duckdb"), parse_qs(query).get("schema", [""])[0]
        try:
            yield cls(path, wanted)
        except duckdb.Error as error:
            raise DatabaseUnavailableError(
                f"'{path}' cannot be used: {first_line(error)}."
            ) from error

    @classmethod
    def open_in_memory(cls, content: Situation | str) -> Duckdb:
        """Open a database in memory with a situation or the result of a script."""
        memory = connect(None)
        try:
            if isinstance(content, str):
                memory.execute(content)
            else:
                _write(memory, content, None)
            memory.execute(LOCK)
        except (duckdb.Error, DataError) as error:
            memory.close()
            raise refused_script("DuckDB", error) from error
        name = "temporary" if isinstance(content, str) else content.name
        return Duckdb(memory, [_MAIN], name)

    def select(self, more: Collection[str] = ()) -> str:
        """Return the schemas of ``?schema=``, else ``main``, else the only schema with content.

        The schemas in `more` are added if they exist.
        """
        existing_file(self._path, "duckdb")
        with closing(connect(self._path, read_only=True)) as reader:
            tables = dict(reader.execute(_TABLES).fetchall())
        schemas = [name for name, listed in tables.items() if listed]
        available = f"It has: {', '.join(schemas[:20])}."
        if missing := sorted({*self._wanted} - {*schemas, _MAIN}):
            raise UsageError(f"'{self._path}' has no schema '{missing[0]}'. {available}")
        shown = self._wanted or ((_MAIN,) if _MAIN in schemas or not schemas else schemas)
        if not self._wanted and len(shown) > 1:
            raise UsageError(
                f"'{self._path}' has several schemas. Append the name of a schema, as in "
                f"duckdb:///{self._path}?schema={shown[0]}. {available}"
            )
        named = (name for name in tables if name.casefold() in more)
        return ",".join(dict.fromkeys((*shown, *named)))

    def open(self, namespace: str | None) -> Duckdb:
        """Return a session of some schemas, by default `main`. The session keeps the file open."""
        existing_file(self._path, "duckdb")
        schema = _MAIN if namespace in {None, self.location} else str(namespace)
        name = str(self._path) if schema == _MAIN else f"duckdb:///{self._path}?schema={schema}"
        schemas = schema_names(schema)
        connection = connect(self._path, read_only=True)
        with suppress(duckdb.InvalidInputException):  # another session has locked the settings
            connection.execute(LOCK)
        ((in_main,),) = connection.execute(_IN_MAIN, [_MAIN]).fetchall()
        # The engine always looks in `main`, even if the session sets another path.
        path = (*schemas, _MAIN) if in_main and _MAIN not in schemas else schemas
        session = Duckdb(connection, schemas, name, search_path=path)
        session.file = self._path
        return session

    def _write(self, situation: Situation, tag: LoadedSituation, path: Path) -> None:
        with closing(connect(path)) as connection:
            _write(connection, situation, tag)


def _write(
    connection: DuckDBPyConnection, situation: Situation, tag: LoadedSituation | None
) -> None:
    import pyarrow as pa

    def fill(table: str, rows: Table) -> None:
        """Insert rows as an Arrow table, because `executemany` would take minutes."""
        kinds = {c.name: pa.string() if c.stored == "text" else None for c in rows.schema.columns}
        arrays = {
            name: pa.array(rows[name], kind, from_pandas=True)  # NaN becomes NULL
            for name, kind in kinds.items()
        }
        names = quote("duckdb", *arrays)
        connection.register(_ROWS, pa.table(arrays))
        connection.execute(f"INSERT INTO {table} ({names}) SELECT {names} FROM {_ROWS}")  # noqa: S608
        connection.unregister(_ROWS)

    connection.execute("BEGIN")
    write_situation(situation, tag, "duckdb", run=connection.execute, fill=fill)
    connection.execute("COMMIT")
