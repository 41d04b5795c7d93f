"""Read-only PostgreSQL databases, or some schemas of one, over psycopg.

The search path holds only the schemas that are shown. Sessions are read-only and commit each
statement, so every statement is a read-only transaction. The server reports a change of that
setting, so a session that could write is noticed before the next statement. Statements are sent by
the extended protocol, which takes one at a time. Rows are streamed, and a statement is cancelled if
its result is cut.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain, islice
from typing import Any, TypeAlias, cast
from uuid import uuid4

import psycopg
from psycopg import Connection as Driver
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap, Loader
from psycopg.pq import TransactionStatus
from psycopg.types.json import set_json_loads
from psycopg.types.string import TextLoader
from sqlalchemy import URL, Table, inspect

from dqa.core import situation as content
from dqa.core.database import Limits
from dqa.core.errors import StatementError
from dqa.core.schema import DatabaseSchema
from dqa.databases.catalogue import Catalogue, enumeration, rows_of
from dqa.databases.doctor import asker, examine_postgres
from dqa.databases.errors import Failure, Fault, one_line, read_faults
from dqa.databases.rows import columns_of
from dqa.databases.servers import display_name, schema_names
from dqa.databases.sql_namespaces import ServerNamespaces
from dqa.databases.sql_session import Connection, EngineSettings, Result, SqlSession
from dqa.databases.tables import plain_rows, quote
from dqa.databases.values import iso_text, loaded

# A partition belongs to its parent. A materialized view without data cannot be read.
_RELATIONS = """
SELECT c.oid, n.nspname, c.relname, d.description, c.relispopulated,
    has_table_privilege(c.oid, 'SELECT')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_description d
    ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass
WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND n.nspname = ANY(%s) AND NOT c.relispartition
    AND (has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'))
"""
_COLUMNS = """
SELECT a.attrelid, a.attnum, a.attname, CASE t.typcategory WHEN 'A' THEN t.typelem
    ELSE t.oid END, format_type(a.atttypid, a.atttypmod), d.description
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_description d
    ON d.objoid = a.attrelid AND d.objsubid = a.attnum AND d.classoid = 'pg_class'::regclass
WHERE a.attrelid = ANY(%s) AND a.attnum > 0 AND NOT a.attisdropped
    AND (a.attrelid <> ALL(%s) OR has_column_privilege(a.attrelid, a.attnum, 'SELECT'))
ORDER BY a.attrelid, a.attnum
"""
_KEYS = """
SELECT conrelid, conkey FROM pg_constraint WHERE contype = 'p' AND conrelid = ANY(%s)
"""
# A foreign key of or to a partition is one of its parent.
_LINKS = """
SELECT coalesce(pg_partition_root(conrelid)::oid, conrelid), a.attname,
    coalesce(pg_partition_root(confrelid)::oid, confrelid), b.attname
FROM pg_constraint CROSS JOIN LATERAL unnest(conkey, confkey) WITH ORDINALITY pair (one, two, place)
JOIN pg_attribute a ON a.attrelid = conrelid AND a.attnum = one
JOIN pg_attribute b ON b.attrelid = confrelid AND b.attnum = two
WHERE contype = 'f' AND conparentid = 0 AND connamespace IN (
    SELECT oid FROM pg_namespace WHERE nspname = ANY(%s))
ORDER BY conname, place
"""
_TYPES = """
SELECT t.oid, t.typtype, format_type(t.typbasetype, t.typtypmod),
    (SELECT array_agg(e.enumlabel ORDER BY e.enumsortorder) FROM pg_enum e
        WHERE e.enumtypid = t.oid),
    (SELECT string_agg(quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod), ', '
        ORDER BY a.attnum) FROM pg_attribute a
        WHERE a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped)
FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace WHERE t.oid = ANY(%s)
    AND t.typtype IN ('e', 'd', 'c') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
"""
_AVAILABLE = """
SELECT DISTINCT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND n.nspname !~ '^pg_'
    AND n.nspname <> 'information_schema' AND has_schema_privilege(n.oid, 'USAGE')
    AND has_table_privilege(c.oid, 'SELECT') ORDER BY n.nspname
"""
_SHORT = ((re.compile(r"\bCHARACTER VARYING\b"), "VARCHAR"), (re.compile(r"\bCHARACTER\b"), "CHAR"))


_Type: TypeAlias = tuple[str, str, Sequence[str] | None, str | None]
"""A type that a user has defined: its kind, base type, labels and fields."""


def describe(driver: Driver[Any], schemas: Sequence[str]) -> DatabaseSchema:
    """Read the tables and views of some schemas by a few statements for all tables."""
    shown = list(schemas)
    with driver.cursor() as cursor:
        found = rows_of(cursor, _RELATIONS, shown)
        relations: dict[int, tuple[str, str]] = {
            oid: (schema, name) for oid, schema, name, _, has_data, _ in found if has_data
        }
        in_part = [oid for oid, *_, is_readable in found if not is_readable]
        columns = rows_of(cursor, _COLUMNS, list(relations), in_part)
        types: dict[int, _Type] = {
            oid: (*rest,)
            for oid, *rest in rows_of(cursor, _TYPES, list({row[3] for row in columns}))
        }
        keys = rows_of(cursor, _KEYS, list(relations))
        links = rows_of(cursor, _LINKS, shown)
        available = [] if relations else [name for (name,) in rows_of(cursor, _AVAILABLE)]
    kinds = {(kind, element) for _, _, _, element, kind, _ in columns}
    names = {(oid, number): name for oid, number, name, *_ in columns}
    spelled = {both: _spelled(both[0], types.get(both[1])) for both in kinds}
    catalogue = Catalogue(
        columns=[
            (*relations[oid], name, spelled[kind, element], comment)
            for oid, _, name, element, kind, comment in columns
        ],
        keys=[
            (*relations[oid], names.get((oid, number), ""))  # a column that cannot be read
            for oid, numbers in keys
            for number in numbers
        ],
        references=[
            (*relations[oid], name, *relations[other], other_name)
            for oid, name, other, other_name in links
            if oid in relations and other in relations
        ],
        comments=[row[1:4] for row in found],
        omitted={
            "materialized views without data: REFRESH MATERIALIZED VIEW fills them": [
                name for _, _, name, _, has_data, _ in found if not has_data
            ]
        },
        available=available,
    )
    return catalogue.to_schema(schemas, folds_case=True)


def _spelled(kind: str, defined: _Type | None) -> str:
    """Return a type in capitals; for a defined one its name and its parts."""
    if defined is None:
        return _capital(kind) if kind == kind.lower() and '"' not in kind else kind
    category, base, labels, fields = defined
    if category == "e":
        return enumeration(kind, labels or ())
    if category == "d":
        array = "[]" if kind.endswith("[]") else ""
        return f"{_capital(base)}{array} (domain {kind.removesuffix('[]')})"
    return f"{kind} ROW({fields})"


def _capital(kind: str) -> str:
    kind = kind.upper().replace(",", ", ")
    for long, short in _SHORT:
        kind = long.sub(short, kind)
    return kind


CONNECT_SECONDS = 10
_BATCH = 128
"""Rows that the driver holds at once."""
_END = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %s AND application_name = %s
"""
_SESSION = (
    # The guard reads texts by the first setting, whatever the server's own is.
    "SET standard_conforming_strings = on; SET timezone = 'UTC'; "
    "SET intervalstyle = postgres; SET datestyle = ISO; "
    "SET default_transaction_read_only = on; SET search_path TO {}"
)
_QUERY = re.compile(r"[\s(]*+(?:select|with|values|table)\b", re.IGNORECASE)
"""Statements that change nothing in a read-only session. Others run in a transaction that is rolled
back: EXPLAIN ANALYZE creates tables and materialized views in such a session, too."""
_SYNTAX, _PROTOCOL = "42601", "08P01"
_UNKNOWN = re.compile(
    r'column (?:reference )?"?(?P<column>[^" ]+)"? does not exist|relation "(?P<table>[^"]+)"'
)

_CODES: dict[Fault, str] = {
    Fault.REFUSED: "25001 25006 42501",
    Fault.TIME: "25P04 57014",
    Fault.NOT_UNDERSTOOD: "0A 42601 42704 42883 42P02",
    Fault.UNKNOWN_NAME: "42703 42P01",
    Fault.MEMORY: "53200 HV001",
    Fault.SERVER: "28 53300 57P04 58030 F0 XX001 XX002",
    Fault.STATEMENT: "00 01 02 03 09 0B 0F 0L 0P 0Z 10 20 21 22 23 24 25 26 27 2B 2D 2F 34 38 39 "
    "3B 3D 3F 42 44 53400 54 55 P0",
    # Connections; no room left; the system; a foreign server; internal errors.
    Fault.UNCLEAR: "08 25P03 53 57 58 HV XX",
    Fault.PASSING: "40 55P03 72",
}
"""Codes, and classes of codes by their first two characters,
https://www.postgresql.org/docs/current/errcodes-appendix.html"""
_FAULTS = read_faults(_CODES)


def fault_of(code: str) -> Fault:
    """Return the fault of a code: its own, or that of its class."""
    return _FAULTS.get(code) or _FAULTS.get(code[:2], Fault.UNCLEAR)


def open_postgres(url: URL, schemas: Sequence[str] = (), own: Sequence[str] = ()) -> SqlSession:
    """Open a database.

    Parameters
    ----------
    url
        Where it is.
    schemas
        The schemas to show, in the order in which tables are looked for; none for the search path
        of the user.
    own
        The search path of the user; only for no `schemas`.
    """
    shown = tuple(schemas or (name for name in own if name not in SYSTEM))
    given = url.query.get("application_name")
    # A server may give the number of a connection again; its name shows whose connection it is.
    application = given if isinstance(given, str) else f"dqa-{uuid4().hex[:16]}"
    path = quote("postgres", *schemas) if schemas else "DEFAULT"
    settings = EngineSettings(
        dialect="postgres",
        language="SQL (PostgreSQL)",
        errors=(psycopg.Error,),
        connect=partial(connect, url, application_name=application, context=_adapters()),
        execute=_execute,
        failure=_failure,
        describe=lambda driver: describe(driver, shown),
        prepare=partial(_prepare, path),
        examine=lambda run: examine_postgres(asker(run)),
        interrupt=lambda connection: connection.driver.cancel,
        descriptor=lambda driver: -1 if driver.closed else driver.pgconn.socket,
        identify=lambda driver: f"{driver.info.backend_pid} {application}",
        end=partial(_end, url),
    )
    return SqlSession(
        settings,
        display_name(url, ",".join(schemas) or None),
        namespace=next(iter(shown), None),
        schemas=shown,
        # An unnamed catalogue comes first, and the guard knows its names.
        search_path=tuple(schemas or (name for name in own if name != "pg_catalog")),
    )


SYSTEM = frozenset({"pg_catalog", "information_schema"})


def connect(url: URL, **options: Any) -> Driver[Any]:  # noqa: ANN401
    """Connect with the driver's errors, committing each statement."""
    arguments, of_url = url.get_dialect()().create_connect_args(url)
    wanted = {**of_url, "autocommit": True, "connect_timeout": CONNECT_SECONDS, **options}
    return psycopg.connect(*arguments, **wanted)


def _end(url: URL, mark: str) -> None:
    number, _, application = mark.partition(" ")
    with suppress(psycopg.Error), connect(url) as other:
        other.execute(_END, (int(number), application))


def _prepare(path: str, connection: Connection, limits: Limits) -> None:
    """Send the settings that have changed."""
    settings = []
    driver = connection.driver
    is_read_only = driver.info.parameter_status("default_transaction_read_only") == "on"
    if not is_read_only or connection.limits is None:
        settings.append(_SESSION.format(path))
    limit = max(round(limits.seconds * 1_000), 1)
    if connection.limits != limit:
        settings.append(f"SET statement_timeout = {limit}")
    if settings:
        driver.execute("; ".join(settings).encode())
        connection.limits = limit


@contextmanager
def _execute(connection: Connection, statement: str) -> Iterator[Result]:
    driver: Driver[Any] = connection.driver
    is_undone = _QUERY.match(statement) is None
    if is_undone:
        driver.execute(b"BEGIN READ ONLY")
    cursor = driver.cursor()
    rows = cursor.stream(statement.encode(), size=_BATCH)
    try:
        first = list(islice(rows, 1))
        if first:
            columns = columns_of(cursor)
        else:  # the driver describes no result without rows
            driver.pgconn.prepare(b"", statement.encode())
            found = driver.pgconn.describe_prepared(b"")
            columns = [(found.fname(n) or b"").decode() for n in range(found.nfields)]
        yield columns, chain(first, rows)
    except psycopg.ProgrammingError as error:
        if code_of(error) or "stream()" not in str(error):
            raise
        connection.is_used_up = True  # its effects end with the session
        raise StatementError("The statement returned no rows; write a query that does.") from error
    finally:
        rows.close()  # type: ignore[attr-defined]
        if is_undone:
            with suppress(psycopg.Error):
                driver.execute(b"ROLLBACK")
        if driver.pgconn.transaction_status != TransactionStatus.IDLE:
            connection.is_used_up = True


def _failure(error: Exception, driver: Driver[Any]) -> Failure:
    code, problem = code_of(error), message_of(error)
    fault = fault_of(code)
    # Values that Python lacks, and statements that cannot be sent.
    if not code and isinstance(error, (psycopg.DataError, psycopg.ProgrammingError)):
        fault = Fault.STATEMENT
    if fault is Fault.NOT_UNDERSTOOD:
        place = code == _SYNTAX and cast("psycopg.Error", error).diag.statement_position
        version = (driver.info.parameter_status("server_version") or "").partition(" ")[0]
        problem = f"{problem} at character {place}" if place else problem
        problem = f"{problem}; this is PostgreSQL {version}"
    if code == _PROTOCOL:
        problem = f"{problem}. Write values instead of parameters such as $1"
    unknown = _UNKNOWN.match(problem) if fault is Fault.UNKNOWN_NAME else None
    return Failure(fault, problem, unknown and (unknown["column"] or unknown["table"]))


def code_of(error: Exception) -> str:
    """Return the server's code of an error, or nothing."""
    return (error.sqlstate or "") if isinstance(error, psycopg.Error) else ""


def message_of(error: Exception) -> str:
    """Return the server's message with its hint, without the statement that it quotes."""
    report = error.diag if isinstance(error, psycopg.Error) else None
    if report is None or report.message_primary is None:
        return one_line(error)
    hint = f". {report.message_hint}" if report.message_hint else ""
    return one_line(report.message_primary + hint)


_TIMES = ("time", "timetz", "timestamp", "timestamptz")
_RANGES = ("int4", "int8", "num", "date", "ts", "tstz")
_TEXTS = (
    *("interval", "date"),
    *(f"{kind}{ending}" for kind in _RANGES for ending in ("range", "multirange")),
)
"""Types with values that Python lacks: months, infinite times, years before 1 and after 9999."""


def _adapters() -> AdaptersMap:
    """Return the driver's loaders, with text for types with values that Python lacks."""
    adapters = AdaptersMap(psycopg.adapters)
    for name in _TEXTS:
        adapters.register_loader(name, TextLoader)
    for name in _TIMES:
        adapters.register_loader(name, _Time)
    set_json_loads(loaded, adapters)
    return adapters


class _Time(Loader):
    """Reads a time as ISO 8601."""

    def load(self, data: Buffer) -> str:
        return iso_text(bytes(data).decode())


class PostgresNamespaces(ServerNamespaces):
    """The schemas of a PostgreSQL database."""

    title = "PostgreSQL"
    dialect = "postgres"
    driver = "postgresql+psycopg"
    is_atomic = True
    no_access = "FATAL: "  # such an error has no code
    no_right = "^(?:InsufficientPrivilege|ReadOnlySqlTransaction) "
    right = "make schemas: GRANT CREATE ON DATABASE"
    lock = (
        "SELECT set_config('lock_timeout', :seconds || 's', true), "
        "pg_advisory_xact_lock(hashtextextended(:name, 0))"
    )
    drop_option = " WITH (FORCE)"

    @classmethod
    def connect_options(cls, url: URL) -> Mapping[str, Any]:  # noqa: ARG003
        """Return a time limit, and no look for the types of extensions."""
        return {
            "connect_args": {"connect_timeout": CONNECT_SECONDS},
            "isolation_level": "READ COMMITTED",
            "use_native_hstore": False,
        }

    def _product(self) -> tuple[str, tuple[int, ...]]:
        return self.title, (14,)  # the first that reports whether a session is read-only

    def _fill(self, table: Table, rows: content.Table) -> None:
        """Insert rows by COPY, and collect statistics."""
        target = f"{quote('postgres', table.schema or '')}.{quote('postgres', table.name)}"
        names = quote("postgres", *rows.schema.column_names)
        driver: Any = self._connection.connection.driver_connection
        with driver.cursor() as cursor:
            with cursor.copy(f"COPY {target} ({names}) FROM STDIN".encode()) as copy:
                for row in plain_rows(rows):
                    copy.write_row(row)
            cursor.execute(f"ANALYZE {target}".encode())

    def select(self, more: Collection[str] = ()) -> str | None:
        """Return the schemas of ``?schema=a,b``, with more of the database."""
        shown = super().select()
        names = inspect(self._connection).get_schema_names() if more else ()
        named = [name for name in names if name.casefold() in more and name != "information_schema"]
        if not named:
            return shown
        return ",".join(dict.fromkeys((*(self._wanted or self._own_schemas()), *named)))

    def _own_schemas(self) -> list[str]:
        """Return the schemas of the user's search path."""
        statement = "SELECT current_schemas(false)"
        path: list[str] = self._connection.exec_driver_sql(statement).scalar_one()
        return path

    def open(self, namespace: str | None) -> SqlSession:
        """Return a session of some schemas, or of those of the user's own search path."""
        if namespace is not None:
            return open_postgres(self._url, schema_names(namespace))
        return open_postgres(self._url, own=self._own_schemas())
