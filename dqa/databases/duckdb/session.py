"""Read-only schemas of a DuckDB database: of a file, or of memory that all threads share.

Every statement runs in a read-only transaction. A
session reaches no other file, no network, no extension and no Python object, and its settings are
locked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from threading import Event
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, cast

import duckdb
from duckdb import DuckDBPyConnection

from dqa.core.errors import DatabaseUnavailableError, DataError
from dqa.core.schema import DatabaseSchema, quoted
from dqa.databases.catalogue import Catalogue, rows_of
from dqa.databases.errors import Failure, Fault, driver_reads, first_line, one_line, refused
from dqa.databases.rows import columns_of, rows_from
from dqa.databases.sql_session import Connection, EngineSettings, Result, SqlSession
from dqa.databases.values import iso_text, loaded

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_LOCK_SECONDS = 10.0
"""How long to wait for another process that locks a file."""
FILLING: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "memory_limit": "1GB",
    "python_enable_replacements": "false",
    "temp_directory": "",
}
"""Settings of a database in memory while files are read into it."""
_SETTINGS = FILLING | {"enable_external_access": "false"}
LOCK = "SET lock_configuration = true"
"""Prevents later changes of the settings."""


def connect(path: Path | None, *, read_only: bool = False) -> DuckDBPyConnection:
    """Connect to a file, or to new memory; wait a little for other processes.

    Raises
    ------
    DatabaseUnavailableError
        Another process holds the file open, or the file cannot be read.
    DataError
        It is not a database of this version, or this process has it open for something else.
    """
    deadline = monotonic() + _LOCK_SECONDS
    while True:
        try:
            return duckdb.connect(
                ":memory:" if path is None else str(path), read_only=read_only, config=_SETTINGS
            )
        except duckdb.IOException as error:
            is_locked = "lock" in str(error)
            if not is_locked or monotonic() > deadline:
                problem = "Another process holds it open" if is_locked else one_line(error)
                raise DatabaseUnavailableError(f"'{path}' cannot be opened: {problem}.") from error
            sleep(0.01)
        except duckdb.Error as error:
            raise DataError(f"'{path}' cannot be opened: {first_line(error)}.") from error


@contextmanager
def write_file(path: Path) -> Iterator[DuckDBPyConnection]:
    """Give the only connection to a file, in a transaction that ends with the context."""
    is_new = not path.exists()
    with closing(connect(path)) as connection:
        try:
            if is_new:
                path.chmod(0o600)  # before anything is in it
            connection.execute("BEGIN")
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            if is_new:
                path.unlink(missing_ok=True)  # while no other process can open it
            raise


_DESCRIBES = re.compile(
    r"\s*pragma\s+(?:collations|database_list|database_size|functions|platform|show_tables"
    r"|show_tables_expanded|table_info|version)\b[^=]*",
    re.IGNORECASE | re.DOTALL,
)
_UNKNOWN = re.compile(
    r"(?:Catalog Error: Table with name (?P<table>\S+) does not exist"
    r'|Binder Error: (?:Table|Values list) "(?P<of>[^"]+)" does not have a column named '
    r'"(?P<own>[^"]+)"'
    r'|Binder Error: .*?[Cc]olumn "?(?P<column>[^" ]+)"? (?:not found|that is not))'
)
_CLASSES: Sequence[tuple[tuple[str, ...], Fault]] = (
    (("InterruptException",), Fault.TIME),
    (("OutOfMemoryException",), Fault.MEMORY),
    (("PermissionException", "TransactionException", "HTTPException"), Fault.REFUSED),
    (("ParserException", "CatalogException"), Fault.NOT_UNDERSTOOD),
    # A bug of the engine that this statement meets, after which it takes no others.
    (("FatalException", "InternalException"), Fault.STATEMENT),
    (("ConnectionException", "IOException", "InternalError"), Fault.UNCLEAR),
    (("DataError", "IntegrityError", "NotSupportedError", "ProgrammingError"), Fault.STATEMENT),
    (("DependencyException", "SequenceException", "SerializationException"), Fault.STATEMENT),
)
"""Faults of exception classes and their subclasses; the first that fits counts."""
_DAMAGED = re.compile("[Cc]hecksum|Corrupt database|[Cc]ould not read|No such file")
_INVALIDATED = "database has been invalidated"


def open_duckdb(
    database: DuckDBPyConnection,
    schemas: Sequence[str],
    name: str,
    *,
    search_path: Sequence[str] = (),
    is_confined: bool = True,
) -> SqlSession:
    """Open some schemas of a database.

    Parameters
    ----------
    database
        The open database, with locked settings; the session closes it.
    schemas
        In the order in which tables are looked for.
    name
        The name in messages.
    search_path
        Where the engine looks for tables; the schemas by default.
    is_confined
        Whether the database has schemas of others.
    """
    invalidated = Event()
    settings = EngineSettings(
        dialect="duckdb",
        language="SQL (DuckDB)",
        errors=(duckdb.Error,),
        connect=database.cursor,
        execute=partial(_execute, schemas),
        failure=partial(_failure, invalidated),
        describe=partial(_describe, schemas),
        interrupt=lambda connection: connection.driver.interrupt,
        is_broken=invalidated.is_set,
    )
    return SqlSession(
        settings,
        name,
        namespace=schemas[0],
        schemas=tuple(schemas) if is_confined else None,
        search_path=tuple(search_path or schemas),
        on_close=database.close,
    )


@contextmanager
def _execute(schemas: Sequence[str], connection: Connection, statement: str) -> Iterator[Result]:
    cursor: DuckDBPyConnection = connection.driver
    connection.is_used_up = True  # its transaction ends with it
    with driver_reads():
        parsed = cursor.extract_statements(statement)
    if len(parsed) != 1 or not _is_reading(parsed[0]):
        raise refused("it is not one query, and this database can only be read")
    path = ",".join(quoted(schema, '"') for schema in schemas)
    cursor.execute(f"SET search_path = {quoted(path, chr(39))}")
    with driver_reads():
        columns, query, readers = _exact(cursor, parsed[0])
        cursor.execute("BEGIN TRANSACTION READ ONLY")
        cursor.execute(query)
    yield columns or columns_of(cursor), rows_from(cursor, readers)


_Reader = Callable[[Any], Any]


def _exact(
    cursor: Any,  # noqa: ANN401
    parsed: Any,  # noqa: ANN401
) -> tuple[list[str], Any, dict[int, _Reader]]:
    """Return columns, query and readers that keep values which the driver would change.

    The driver turns months into 30 days, infinite times into the year 9999, and drops nanoseconds.
    Such columns are read as text.
    """
    if parsed.type not in {duckdb.StatementType.SELECT, duckdb.StatementType.MULTI}:
        return [], parsed, {}
    query = parsed.query.rstrip("; \t\r\n")
    try:
        described = rows_of(cursor, f"DESCRIBE {query}")
    except duckdb.Error:
        return [], parsed, {}  # the statement itself has the error, or cannot be described
    cells: list[str] = []
    readers: dict[int, _Reader] = {}
    for number, (_, kind, *_) in enumerate(described):
        cell = f"#{number + 1}"
        exact = _TEMPORAL.sub("VARCHAR", kind)
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
    r"\b(?:DATE|TIMESTAMP(?:_\w+)?(?: WITH TIME ZONE)?|TIME_NS|INTERVAL)(?=[,)\[]|$)"
)
"""Types of times within any type; a name in a STRUCT is followed by a space."""


def _is_reading(parsed: duckdb.Statement) -> bool:
    """Whether a statement is a query, its explanation, or a PRAGMA that describes."""
    kinds = duckdb.StatementType
    try:
        kind = parsed.type
    except ValueError:  # the client has no name for some kinds, as UPDATE EXTENSIONS
        return False
    if kind == kinds.PRAGMA:
        return _DESCRIBES.fullmatch(parsed.query) is not None
    # A PIVOT is several statements to the engine. An EXPLAIN ANALYZE that writes fails in the
    # read-only transaction.
    return kind in {kinds.SELECT, kinds.EXPLAIN, kinds.MULTI}


def fault_of(error: duckdb.Error) -> Fault:
    """Return the fault of an exception."""
    message = str(error)
    if _INVALIDATED in message:
        return Fault.UNCLEAR  # by another statement; the database is opened anew
    if isinstance(error, duckdb.BinderException) and "No function matches" in message:
        return Fault.NOT_UNDERSTOOD
    if isinstance(error, duckdb.IOException) and _DAMAGED.search(message):
        return Fault.SERVER
    kinds = {kind.__name__ for kind in type(error).__mro__}
    return next((fault for names, fault in _CLASSES if kinds & set(names)), Fault.UNCLEAR)


def _failure(invalidated: Event, error: Exception, _: DuckDBPyConnection) -> Failure:
    problem, fault = first_line(error), fault_of(cast("duckdb.Error", error))
    if _INVALIDATED in str(error) or isinstance(
        error, (duckdb.FatalException, duckdb.InternalException)
    ):
        invalidated.set()  # until it is opened anew
    unknown = _UNKNOWN.match(problem)
    if unknown is not None:
        name = unknown["table"] or unknown["column"] or f"{unknown['of']}.{unknown['own']}"
        return Failure(Fault.UNKNOWN_NAME, problem, name)
    if fault is Fault.NOT_UNDERSTOOD:
        problem = f"{problem}; this is DuckDB {duckdb.__version__}"
    return Failure(fault, problem)


_SHOWN = "database_name = current_database() AND list_contains(?, schema_name)"
# A BIT is a string of bits here, and a truth value in other databases.
_COLUMNS = f"""
SELECT schema_name, table_name, column_name,
    CASE data_type WHEN 'BIT' THEN 'BITSTRING' ELSE data_type END, comment
FROM duckdb_columns() WHERE {_SHOWN} AND NOT internal ORDER BY table_name, column_index
"""  # noqa: S608
_TABLES = f"""
SELECT schema_name, table_name, comment, false FROM duckdb_tables() WHERE {_SHOWN}
UNION ALL SELECT schema_name, view_name, comment, true FROM duckdb_views()
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


def _describe(schemas: Sequence[str], cursor: DuckDBPyConnection) -> DatabaseSchema:
    """Read the schemas by four statements, and try every view."""
    shown = list(schemas)
    relations = rows_of(cursor, _TABLES, shown, shown)
    broken = {
        (schema, name)
        for schema, name, _, is_view in relations
        if is_view and not _can_read(cursor, schema, name)
    }
    columns = rows_of(cursor, _COLUMNS, shown)
    catalogue = Catalogue(
        columns=[row for row in columns if row[:2] not in broken],
        keys=rows_of(cursor, _KEYS, shown),
        references=rows_of(cursor, _LINKS, shown),
        comments=[row[:3] for row in relations],
        omitted={"views of missing tables": sorted(name for _, name in broken)},
        available=[] if columns else [name for (name,) in rows_of(cursor, _AVAILABLE)],
    )
    return catalogue.to_schema(schemas)


def _can_read(cursor: Any, schema: str, view: str) -> bool:  # noqa: ANN401
    try:
        named = f"{quoted(schema, chr(34))}.{quoted(view, chr(34))}"
        cursor.execute(f"SELECT * FROM {named} LIMIT 0").fetchall()  # noqa: S608
    except (duckdb.CatalogException, duckdb.BinderException):
        return False
    return True
