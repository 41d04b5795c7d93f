"""A read-only schema of a DuckDB database: of a file, or of memory that all threads share.

Its own driver opens it and not SQLAlchemy, whose dialects for it know neither its streams nor its
interrupts; `store` says how databases share a file.

Every statement runs in a read-only transaction, in a session that reaches no file, no network, no
extension and no Python object, and whose settings are locked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from time import perf_counter
from typing import Any

import duckdb

from dqa.core.database import Kind, Limits, Rows
from dqa.core.errors import DatabaseUnavailableError, DqaError
from dqa.core.schema import DatabaseSchema, Field, TableInfo
from dqa.core.session import Session
from dqa.databases.duckdb.codes import fault_of, may_end_database
from dqa.databases.duckdb.store import Store, first_line, release_store
from dqa.databases.failures import driver_reads, failed, refused, with_version
from dqa.databases.faults import Attempts, Failure, Fault, error_of
from dqa.databases.namespaces import TAG_TABLE
from dqa.databases.relational import commented_reference, own_comment
from dqa.databases.rows import fetch_rows
from dqa.databases.tables import quote
from dqa.databases.watchdog import WATCHDOG

# A BIT is a string of bits there, and one bit, a truth value, in every other database.
_COLUMNS = (
    "SELECT table_name, column_name, CASE data_type WHEN 'BIT' THEN 'BITSTRING' ELSE data_type "
    "END, comment FROM duckdb_columns() WHERE schema_name = ? "
    "AND database_name = current_database() AND NOT internal "
    "ORDER BY table_name, column_index"
)
_TABLES = (
    "SELECT table_name, comment FROM duckdb_tables() WHERE schema_name = ? "
    "AND database_name = current_database() AND comment IS NOT NULL UNION ALL "
    "SELECT view_name, comment FROM duckdb_views() WHERE schema_name = ? "
    "AND database_name = current_database() AND comment IS NOT NULL"
)
_CONSTRAINTS = (
    "SELECT table_name, constraint_type, constraint_column_names, referenced_table, "
    "referenced_column_names FROM duckdb_constraints() "
    "WHERE schema_name = ? AND database_name = current_database() ORDER BY constraint_index"
)
_COMMENTS = r"(?>(?:\s|--[^\n]*\n|/\*.*?\*/)*)"
_QUERIES = re.compile(
    rf"{_COMMENTS}(?:explain\b{_COMMENTS}(?:analyze\b|\([^()]*\))?{_COMMENTS})?"
    rf"(?>(?:\({_COMMENTS})*)(?:select|from|with|values|table|pivot|unpivot|summarize|describe)\b",
    re.IGNORECASE | re.DOTALL,
)
"""How a query begins, or what explains one."""
_DESCRIBES = re.compile(
    rf"{_COMMENTS}pragma\b{_COMMENTS}(?:collations|database_list|database_size|functions|platform"
    r"|show_tables|show_tables_expanded|table_info|version)\b[^=]*",
    re.IGNORECASE | re.DOTALL,
)
_UNKNOWN = re.compile(
    r"(?:Catalog Error: Table with name (?P<table>\S+) does not exist"
    r'|Binder Error: (?:Table|Values list) "(?P<of>[^"]+)" does not have a column named '
    r'"(?P<own>[^"]+)"'
    r'|Binder Error: .*?[Cc]olumn "?(?P<column>[^" ]+)"? (?:not found|that is not))'
)


class DuckdbSession(Session):
    """A read-only schema of a DuckDB database.

    Parameters
    ----------
    store
        Where it is; in use by this object from now on.
    namespace
        The schema.
    name
        What to call it.
    """

    kind: Kind = "relational"
    dialect = "duckdb"
    language = "SQL (DuckDB)"

    def __init__(self, store: Store, namespace: str, name: str) -> None:
        super().__init__()
        self.name = name
        self.namespace: str = namespace
        self.schemas = self.search_path = (namespace,)
        self._store = store
        self._closed = False
        self._attempts = Attempts(self._run_once, "SELECT 1")

    def close(self) -> None:
        """Leave the file to others; a database in memory is gone."""
        if not self._closed:
            self._closed = True
            release_store(self._store)

    def run(self, statement: str, limits: Limits) -> Rows:
        """Run a query in a read-only transaction."""
        return self._attempts.run(statement, limits)

    def _run_once(self, statement: str, limits: Limits) -> Rows:
        started = perf_counter()
        if self.is_broken:
            raise failed(self.name, "the engine met a bug of its own, and memory was all it had")
        try:
            with (
                self._store.reading() as cursor,
                WATCHDOG.after(limits.seconds, cursor.interrupt),
            ):
                with driver_reads():
                    parsed = cursor.extract_statements(statement)
                if len(parsed) != 1 or not _is_reading(parsed[0]):
                    raise refused("it is not one query, and this database can only be read")
                cursor.execute("BEGIN TRANSACTION READ ONLY")
                cursor.execute(f"USE {quote('duckdb', self.namespace)}")
                with driver_reads():
                    cursor.execute(parsed[0])
                return fetch_rows(
                    cursor, limits, started, duckdb.Error, _is_json, stop=cursor.interrupt
                )
        except duckdb.Error as error:
            if may_end_database(error):
                self.is_broken = not self._store.recover()
            raise self._translate(error, limits) from error

    def _translate(self, error: duckdb.Error, limits: Limits) -> DqaError:
        problem, fault = first_line(error), fault_of(error)
        unknown = _UNKNOWN.match(problem)
        if fault is Fault.NOT_UNDERSTOOD and unknown is None:
            problem = with_version(problem, f"DuckDB {duckdb.__version__}")
        failure = Failure(fault, problem)
        if unknown is not None:
            name = unknown["table"] or unknown["column"] or f"{unknown['of']}.{unknown['own']}"
            failure = Failure(Fault.UNKNOWN_NAME, problem, name)
        return error_of(failure, error, self.name, self.kind, limits)

    def read_schema(self) -> DatabaseSchema:
        """Read the schema's tables."""
        try:
            with self._store.reading() as cursor:
                columns = cursor.execute(_COLUMNS, [self.namespace]).fetchall()
                constraints = cursor.execute(_CONSTRAINTS, [self.namespace]).fetchall()
                comments = cursor.execute(_TABLES, [self.namespace] * 2).fetchall()
        except duckdb.Error as error:
            raise DatabaseUnavailableError(
                f"The schema of database '{self.name}' cannot be read: {first_line(error)}."
            ) from error
        return _schema(columns, constraints, dict(comments))


def _is_json(kind: object) -> bool:
    return kind == "JSON"


def _is_reading(parsed: duckdb.Statement) -> bool:
    """Whether a statement is a query, one to be explained, or a PRAGMA that describes."""
    kinds = duckdb.StatementType
    try:
        kind = parsed.type
    except ValueError:  # the client has no name for some kinds, as UPDATE EXTENSIONS
        return False
    if kind == kinds.PRAGMA:
        return _DESCRIBES.fullmatch(parsed.query) is not None
    # A PIVOT whose columns are still to be found is several statements to the engine.
    return kind == kinds.SELECT or (
        kind in {kinds.EXPLAIN, kinds.MULTI} and _QUERIES.match(parsed.query) is not None
    )


def _schema(
    columns: list[Any], constraints: list[Any], comments: Mapping[str, str]
) -> DatabaseSchema:
    fields: dict[str, list[Field]] = {}
    links: dict[str, list[tuple[str, str, str]]] = {}
    keys: dict[str, tuple[str, ...]] = {}
    for table, name, kind, comment in columns:
        fields.setdefault(table, []).append(Field(name, kind, comment=own_comment(comment)))
        links.setdefault(table, []).extend(commented_reference(name, comment))
    for table, kind, names, other, others in constraints:
        if kind == "PRIMARY KEY":
            keys[table] = tuple(names)
        elif kind == "FOREIGN KEY":
            pairs = zip(names, others, strict=True)
            links.setdefault(table, []).extend((one, other, two) for one, two in pairs)
    return DatabaseSchema(
        tables=tuple(
            TableInfo(
                *(table, tuple(fields[table]), keys.get(table, ())),
                references=tuple(links.get(table, ())),
                comment=comments.get(table, ""),
            )
            for table in fields
            if table != TAG_TABLE
        )
    )
