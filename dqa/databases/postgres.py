"""Read-only PostgreSQL databases, or some of their schemas, through psycopg.

The search path contains only the visible schemas. Every statement runs in a read-only transaction
that is rolled back, which also undoes settings that the statement changed. Statements are sent with
the extended protocol, which accepts only one statement at a time. Rows are streamed. If a limit
cuts a result, the statement is cancelled.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, islice
from typing import Any, cast
from uuid import uuid4

import psycopg
from psycopg import Connection as Driver
from psycopg import IsolationLevel
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap, Loader
from psycopg.pq import TransactionStatus
from psycopg.types.json import set_json_loads
from psycopg.types.string import TextLoader
from sqlalchemy import URL

from dqa.core.database import Limits
from dqa.core.schema import DatabaseSchema
from dqa.core.session import Examination
from dqa.core.situation import Table
from dqa.databases.catalogue import Relation, enumeration, flat, rows_of, schema_of
from dqa.databases.doctor import asker, examine_postgres
from dqa.databases.engine_session import Connection, EngineSession, Result
from dqa.databases.errors import Fault, one_line, read_faults
from dqa.databases.rows import columns_of, no_result
from dqa.databases.servers import display_name, schema_names
from dqa.databases.sql_namespaces import LOCK_SECONDS, ServerNamespaces
from dqa.databases.tables import plain_rows, quote
from dqa.databases.values import iso_text, loaded

_RELATIONS = """
SELECT c.oid, n.nspname, c.relname, c.relispartition, c.relispopulated,
    has_table_privilege(c.oid, 'SELECT')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND n.nspname = ANY(%s)
    AND has_any_column_privilege(c.oid, 'SELECT')
"""
_UNPOPULATED = "materialized views without data: REFRESH MATERIALIZED VIEW fills them"
_COLUMNS = """
SELECT attrelid, attnum, attname, atttypid, atttypmod FROM pg_attribute
WHERE attrelid = ANY(%s::oid[]) AND attnum > 0 AND NOT attisdropped
    AND (attrelid <> ALL(%s::oid[]) OR has_column_privilege(attrelid, attnum, 'SELECT'))
ORDER BY attrelid, attnum
"""
_COMMENTS = """
SELECT objoid, objsubid, description FROM pg_description
WHERE objoid = ANY(%s::oid[]) AND classoid = 'pg_class'::regclass
"""
# A user-defined type has a kind, and parts: e (enumeration, labels), d (domain, base type) or c
# (composite, fields).
_TYPES = """
SELECT w.type, w.modifier, format_type(w.type, w.modifier), u.typtype,
    CASE u.typtype WHEN 'd' THEN ARRAY[format_type(u.typbasetype, u.typtypmod)]
    WHEN 'e' THEN ARRAY(SELECT enumlabel::text FROM pg_enum WHERE enumtypid = u.oid
        ORDER BY enumsortorder)
    WHEN 'c' THEN ARRAY(SELECT quote_ident(f.attname) || ' '
            || format_type(f.atttypid, f.atttypmod) FROM pg_attribute f
        WHERE f.attrelid = u.typrelid AND f.attnum > 0 AND NOT f.attisdropped ORDER BY f.attnum)
    END
FROM unnest(%s::oid[], %s::int[]) w (type, modifier) JOIN pg_type t ON t.oid = w.type
LEFT JOIN pg_type u ON u.oid = CASE t.typcategory WHEN 'A' THEN t.typelem ELSE t.oid END
    AND u.typtype IN ('e', 'd', 'c') AND u.typnamespace NOT IN (
        SELECT oid FROM pg_namespace WHERE nspname IN ('pg_catalog', 'information_schema'))
"""


def _names(table: str, numbers: str) -> str:
    """Return an SQL expression for the names of a partition's key columns; NULL for other tables.

    Names are needed because a column may have different numbers in a partition and its parent.
    """
    return f"""CASE WHEN pg_partition_root({table}) IS NOT NULL THEN ARRAY(
        SELECT attname::text FROM unnest({numbers}) WITH ORDINALITY k (number, place)
        JOIN pg_attribute ON attrelid = {table} AND attnum = k.number ORDER BY k.place) END"""  # noqa: S608


# A foreign key from or to a partition counts for the parent table, but a primary key of a partition
# does not.
_KEYS = f"""
SELECT contype = 'p', coalesce(pg_partition_root(conrelid)::oid, conrelid), conkey,
    {_names("conrelid", "conkey")},
    coalesce(pg_partition_root(confrelid)::oid, confrelid), confkey,
    {_names("confrelid", "confkey")}
FROM pg_constraint WHERE contype IN ('p', 'f') AND conparentid = 0
    AND (contype = 'f' OR coalesce(pg_partition_root(conrelid), conrelid) = conrelid)
    AND connamespace = ANY(SELECT oid FROM pg_namespace WHERE nspname = ANY(%s))
ORDER BY conname
"""  # noqa: S608
_AVAILABLE = """
SELECT DISTINCT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND n.nspname !~ '^pg_'
    AND n.nspname <> 'information_schema' AND has_schema_privilege(n.oid, 'USAGE')
    AND has_table_privilege(c.oid, 'SELECT') ORDER BY n.nspname
"""
_CHARACTER = re.compile(r"\bCHARACTER( VARYING)?\b")


def _spelled(kind: str, category: str | None, parts: Sequence[str]) -> str:
    """Return a built-in type in capitals, or a user-defined type with its parts."""
    if category == "e":
        return enumeration(kind, parts)
    if category == "d":
        array = "[]" if kind.endswith("[]") else ""
        return f"{_capital(parts[0])}{array} (domain {kind.removesuffix('[]')})"
    if category == "c":
        return f"{kind} ROW({', '.join(parts)})"
    return _capital(kind) if kind == kind.lower() and '"' not in kind else kind


def _capital(kind: str) -> str:
    kind = kind.upper().replace(",", ", ")
    return _CHARACTER.sub(lambda found: "VARCHAR" if found[1] else "CHAR", kind)


def read_catalogue(cursor: Any, schemas: Sequence[str]) -> Iterable[Relation]:  # noqa: ANN401
    """Read the readable relations of some schemas.

    The queries join little, and return numbers instead of names, because a catalogue may have
    thousands of tables.
    """
    relations: dict[int, Relation] = {}
    columns: dict[int, dict[int, str]] = {}
    partly: list[int] = []
    partitions: list[Relation] = []  # without columns, because their rows belong to their parents
    for row in rows_of(cursor, _RELATIONS, list(schemas)):
        oid, schema, name, is_partition, is_populated, is_readable = row
        if is_partition:
            partitions.append(Relation(schema, name))
            continue
        relations[oid] = Relation(schema, name, omitted="" if is_populated else _UNPOPULATED)
        columns[oid] = {}
        partly.extend([] if is_readable else [oid])
    oids = f"{{{','.join(map(str, relations))}}}"  # the driver takes longer to write a list
    found = rows_of(cursor, _COLUMNS, oids, partly)
    comments = {(oid, n): text for oid, n, text in rows_of(cursor, _COMMENTS, oids)}
    wanted = {row[3:] for row in found}
    kinds, modifiers = [kind for kind, _ in wanted], [modifier for _, modifier in wanted]
    types = {
        (kind, modifier): _spelled(*spelled)
        for kind, modifier, *spelled in rows_of(cursor, _TYPES, kinds, modifiers)
    }
    for oid, number, name, kind, modifier in found:
        columns[oid][number] = name
        relations[oid].add(name, types[kind, modifier], comments.get((oid, number)))
    for oid, relation in relations.items():
        relation.comment = comments.get((oid, 0))
    for is_primary, oid, numbers, names, *other in rows_of(cursor, _KEYS, list(schemas)):
        if oid not in relations:
            continue
        own = names or [columns[oid].get(number, "") for number in numbers]
        if is_primary:
            relations[oid].key.extend(own)
        elif (to := other[0]) in relations:
            targets = other[2] or [columns[to].get(number, "") for number in other[1]]
            end = relations[to].schema, relations[to].name
            relations[oid].links.extend(
                (column, *end, target) for column, target in zip(own, targets, strict=True)
            )
    return [*relations.values(), *partitions]


CONNECT_SECONDS = 10
_BATCH = 128
"""The number of rows that the driver reads at a time."""
_END = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %s AND application_name = %s
"""
_SESSION = (
    # The guard assumes the first setting when it reads backslashes. A server may use another value.
    "SET standard_conforming_strings = on; SET timezone = 'UTC'; "
    "SET intervalstyle = postgres; SET datestyle = ISO; "
    "SET default_transaction_read_only = on; SET search_path TO {}"
)
_SYNTAX, _PROTOCOL = "42601", "08P01"


def fault_of(code: str) -> Fault:
    """Return the `Fault` for an error code, or for the class of the code."""
    faults = read_faults("postgres")
    return faults.get(code) or faults.get(code[:2], Fault.UNCLEAR)


class Postgres(EngineSession):
    """A session of some schemas of a database.

    Parameters
    ----------
    url
        The URL of the database.
    schemas
        The schemas to show; if empty, the schemas of the user's search path are shown.
    own
        The schemas of the user's search path; empty if `schemas` is not empty.
    """

    dialect = "postgres"
    language = "SQL (PostgreSQL)"
    errors = (psycopg.Error,)
    is_server = True
    unknown = re.compile(
        r'column (?:reference )?"?([^" ]+)"? does not exist|relation "([^"]+)" does not exist'
        r"|permission denied for (?:table|view|materialized view)"
    )

    def __init__(self, url: URL, schemas: tuple[str, ...], own: tuple[str, ...]) -> None:
        shown = schemas or tuple(name for name in own if name not in _SYSTEM)
        super().__init__(
            display_name(url, ",".join(schemas)),
            namespace=next(iter(shown), None),
            schemas=shown,
            # If the path lacks the catalogue, the server searches the catalogue first. The guard
            # knows the names in the catalogue.
            search_path=schemas or tuple(name for name in own if name != "pg_catalog"),
        )
        self._url, self._shown = url, shown
        self._path = quote("postgres", *schemas) if schemas else "DEFAULT"
        # A server reuses the numbers of connections, so the mark of a session also contains a
        # unique name.
        self._application = f"dqa-{uuid4().hex[:16]}"

    def connect(self) -> Driver[Any]:
        """Connect under the application name of this session."""
        driver = connect(self._url, application_name=self._application, context=_adapters())
        driver.execute(_SESSION.format(self._path).encode())
        return driver

    def prepare(self, connection: Connection, limits: Limits) -> None:
        """Begin the transaction of a statement, with its time limit."""
        limit = max(round(limits.seconds * 1_000), 1)
        begin = f"BEGIN READ ONLY; SET LOCAL statement_timeout = {limit}"
        connection.driver.execute(begin.encode())

    @contextmanager
    def execute(self, connection: Connection, statement: str) -> Iterator[Result]:
        """Stream a result with the extended protocol, which accepts only one statement."""
        driver: Driver[Any] = connection.driver
        cursor = driver.cursor()
        rows = cursor.stream(statement.encode(), size=_BATCH)
        try:
            first = list(islice(rows, 1))
            if first:
                columns = columns_of(cursor)
            else:  # the driver does not return the columns of an empty result
                driver.pgconn.prepare(b"", statement.encode())
                found = driver.pgconn.describe_prepared(b"")
                columns = [(found.fname(n) or b"").decode() for n in range(found.nfields)]
            yield Result(columns, chain(first, rows))
        except psycopg.ProgrammingError as error:
            if code_of(error) or "stream()" not in str(error):
                raise
            raise no_result() from error
        finally:
            rows.close()  # type: ignore[attr-defined]
            with suppress(psycopg.Error):
                driver.rollback()
            if driver.pgconn.transaction_status != TransactionStatus.IDLE:
                connection.is_used_up = True

    def identify(self, driver: Driver[Any]) -> str:
        """Return the mark of a connection: the server's number for it, and the application name."""
        return f"{driver.info.backend_pid} {self._application}"

    def descriptor(self, driver: Driver[Any]) -> int:
        """Return the file descriptor of a connection."""
        return -1 if driver.closed else driver.pgconn.socket

    def end_statements(self, mark: str) -> None:
        """Terminate the connection with this mark."""
        number, _, application = mark.partition(" ")
        with suppress(psycopg.Error), connect(self._url) as other:
            other.execute(_END, (int(number), application))

    def examine(self) -> Examination:
        """Return the version of the server, the rights of the role and the limits."""
        return examine_postgres(asker(self.run))

    def failure(self, error: Exception) -> tuple[Fault, str]:
        """Classify an error by its code."""
        code, problem = code_of(error), message_of(error)
        fault = fault_of(code)
        # A value that Python cannot represent, or a statement that cannot be sent.
        if not code and isinstance(error, (psycopg.DataError, psycopg.ProgrammingError)):
            fault = Fault.STATEMENT
        if code == _SYNTAX and (position := cast("psycopg.Error", error).diag.statement_position):
            problem = f"{problem} at character {position}"
        if code == _PROTOCOL:
            problem = f"{problem}. Write values instead of parameters such as $1"
        return fault, problem

    def describe(self, driver: Driver[Any]) -> DatabaseSchema:
        """Read the tables and views of the schemas."""
        try:
            cursor = driver.cursor()
            return schema_of(
                read_catalogue(cursor, self._shown),
                self._shown,
                database=driver.info.dbname,
                folds_case=True,
                available=lambda: flat(rows_of(cursor, _AVAILABLE)),
            )
        finally:
            driver.rollback()


_SYSTEM = frozenset({"pg_catalog", "information_schema"})


def connect(url: URL, **options: Any) -> Driver[Any]:  # noqa: ANN401
    """Connect with a commit after each statement; raise the driver's errors."""
    arguments, of_url = url.get_dialect()().create_connect_args(url)
    wanted = {**of_url, "autocommit": True, "connect_timeout": CONNECT_SECONDS, **options}
    return psycopg.connect(*arguments, **wanted)


def code_of(error: Exception) -> str:
    """Return the server's error code, or an empty string."""
    return (error.sqlstate or "") if isinstance(error, psycopg.Error) else ""


def message_of(error: Exception) -> str:
    """Return the server's message and hint, without the statement that the server quotes."""
    report = error.diag if isinstance(error, psycopg.Error) else None
    if report is None or report.message_primary is None:
        return one_line(error)
    hint = f". {report.message_hint}" if report.message_hint else ""
    return one_line(report.message_primary + hint)


_RANGES = ("int4", "int8", "num", "date", "ts", "tstz")


def _adapters() -> AdaptersMap:
    """Return loaders that read times as ISO 8601.

    Values that Python cannot represent, such as months and infinite dates, remain text.
    """
    adapters = AdaptersMap(psycopg.adapters)
    ranges = (f"{kind}{ending}" for kind in _RANGES for ending in ("range", "multirange"))
    for name in ("interval", "date", *ranges):
        adapters.register_loader(name, TextLoader)
    for name in ("time", "timetz", "timestamp", "timestamptz"):
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
    drivername = "postgresql+psycopg"
    errors = (psycopg.Error, psycopg.ProgrammingError)
    is_atomic = True
    # A refused login has no error code.
    no_access = (
        r"no password supplied|FATAL: .*(?:authentication failed|pg_hba\.conf|does not exist|"
        r"not permitted to log in|permission denied for database)"
    )
    no_right = "^(?:InsufficientPrivilege|ReadOnlySqlTransaction) "
    right = "create schemas: GRANT CREATE ON DATABASE"
    contents = """
        SELECT c.relname FROM pg_namespace n LEFT JOIN pg_class c
            ON c.relnamespace = n.oid AND c.relkind IN ('r', 'v', 'm', 'f', 'p')
        WHERE n.nspname = %s
    """
    names = "SELECT nspname FROM pg_namespace"
    lock = f"""
        SELECT set_config('lock_timeout', '{LOCK_SECONDS}s', true),
            pg_advisory_xact_lock(hashtextextended(%s, 0))
    """
    drop_option = " WITH (FORCE)"

    @classmethod
    def open_driver(cls, url: URL, *, autocommit: bool = False) -> Driver[Any]:
        """Connect. Each statement of a transaction sees the committed data of other loads."""
        driver = connect(url, autocommit=autocommit)
        driver.isolation_level = IsolationLevel.READ_COMMITTED
        return driver

    def _product(self) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
        major, minor = divmod(self._driver.info.server_version, 10_000)
        # Older versions are not tested.
        return self.title, (major, minor), (14,)

    def _fill(self, table: str, rows: Table) -> None:
        """Insert rows with COPY and collect statistics."""
        names = quote("postgres", *rows.schema.column_names)
        with self._driver.cursor() as cursor:
            with cursor.copy(f"COPY {table} ({names}) FROM STDIN".encode()) as copy:
                for row in plain_rows(rows.columns.values()):
                    copy.write_row(row)
            cursor.execute(f"ANALYZE {table}".encode())

    def select(self, more: Collection[str] = ()) -> str | None:
        """Return the schemas in ``?schema=a,b`` and in `more`, separated by commas."""
        shown = super().select()
        names = flat(sorted(self._run(self.names))) if more else []
        named = [name for name in names if name.casefold() in more and name not in _SYSTEM]
        own = (*(self._wanted or self._own_schemas()), *named)
        return ",".join(dict.fromkeys(own)) if named else shown

    def _own_schemas(self) -> list[str]:
        """Return the schemas of the user's search path."""
        ((path,),) = self._run("SELECT current_schemas(false)::text[]")
        return list(path)

    def open(self, namespace: str | None) -> Postgres:
        """Open a session that sees the schemas of the URL, or those of the user's search path."""
        schemas = schema_names(namespace or "")
        return Postgres(self._url, schemas, () if schemas else tuple(self._own_schemas()))
