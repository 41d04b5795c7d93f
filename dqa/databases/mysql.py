"""Read-only databases of MySQL and MariaDB servers through PyMySQL.

Sessions are read-only and in autocommit mode, so every statement is a read-only transaction.
Session variables limit the time and the rows of a statement. dqa sends these variables only when
they change. Rows are streamed. If a limit cuts a result, the connection is closed, because the
server cannot be stopped in another way from sending the remaining rows.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import pymysql
from pymysql.connections import Connection as Driver
from pymysql.constants import CLIENT, FIELD_TYPE
from pymysql.converters import conversions
from pymysql.cursors import SSCursor
from pymysql.err import MySQLError, ProgrammingError
from sqlalchemy import URL

from dqa.core.database import Limits
from dqa.core.errors import UsageError
from dqa.core.schema import DatabaseSchema
from dqa.core.session import Examination
from dqa.core.situation import Table
from dqa.databases.catalogue import asking, flat, read_relations, schema_of
from dqa.databases.doctor import asker, examine_mysql
from dqa.databases.engine_session import Connection, EngineSession, Result
from dqa.databases.errors import Fault, driver_reads, one_line, read_faults
from dqa.databases.namespaces import ROW_COLUMN
from dqa.databases.rows import columns_of, rows_from
from dqa.databases.servers import display_name
from dqa.databases.sql_namespaces import LOCK_SECONDS, ServerNamespaces
from dqa.databases.tables import insert_statements
from dqa.databases.values import loaded

CONNECT_SECONDS = 10.0
_SESSION_MEMORY = 1 << 30
"""The maximum memory of a session in bytes; only MariaDB has such a limit."""
_WHOLE_TEXTS = "group_concat_max_len = GREATEST(@@group_concat_max_len, 1048576)"
"""By default, MySQL silently cuts a text of GROUP_CONCAT after 1,024 bytes."""


@dataclass(frozen=True, slots=True)
class Flavour:
    """The differences between MySQL and MariaDB."""

    dialect: str
    title: str
    least: tuple[int, ...]
    collation: str
    mode: str
    session: str

    def limit(self, limits: Limits) -> str:
        """Return the assignments of session variables that limit a statement."""
        # The additional row shows whether the limit cuts the result.
        rows = f"sql_select_limit = {limits.rows + 1}"
        if self.dialect == "mariadb":
            return f"max_statement_time = {max(limits.seconds, 0.001):.3f}, {rows}"
        return f"max_execution_time = {max(round(limits.seconds * 1_000), 1)}, {rows}"


# The collations of both products compare the codes of characters, also of trailing spaces.
MYSQL = Flavour(
    dialect="mysql",
    title="MySQL",
    least=(8, 0, 23),
    collation="utf8mb4_0900_bin",
    mode="ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
    session=f", {_WHOLE_TEXTS}",
)
MARIADB = Flavour(
    dialect="mariadb",
    title="MariaDB",
    least=(10, 3),
    collation="utf8mb4_nopad_bin",
    mode="STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
    # By default, MariaDB silently ends a recursion after 1,000 steps.
    session=f", {_WHOLE_TEXTS}, max_session_mem_used = {_SESSION_MEMORY}, "
    "max_recursive_iterations = 4294967295",
)


def code_of(error: Exception) -> int:
    """Return the error number of the server, or 0."""
    code = error.args[0] if error.args else 0
    return code if isinstance(code, int) else 0


def encryption(url: URL) -> dict[str, bool]:
    """Return the driver's options for encryption; none if the URL already contains such options.

    By default, the driver encrypts if the server supports encryption. A connection to the same
    machine is not encrypted, because setting up encryption takes longer than loading a situation.
    """
    is_requested = any(name.startswith("ssl") for name in url.query)
    is_near = url.host in {None, "localhost", "127.0.0.1", "::1"}
    return {"ssl_disabled": True} if is_near and not is_requested else {}


def connect(url: URL, **options: object) -> Driver[Any]:
    """Connect within a time limit; raise the driver's errors."""
    arguments, of_url = url.get_dialect()().create_connect_args(url)
    wanted: dict[str, Any] = {
        **encryption(url),
        **of_url,
        "autocommit": True,
        "charset": "utf8mb4",
        **options,
        "connect_timeout": CONNECT_SECONDS,
        "read_timeout": CONNECT_SECONDS,
    }
    connection = pymysql.connect(*arguments, **wanted)
    # Statements have their own limits.
    connection._read_timeout = None  # type: ignore[attr-defined]  # noqa: SLF001
    return connection


_READING = conversions | {FIELD_TYPE.TIME: str}
"""The driver's converters. A TIME may be a duration, so the text of the server is unchanged."""
_MEMORY_OPTION = re.compile("max-(?:session|thread)-mem-used")

_CLIENT, _SERVER = range(2000, 3000), range(1000, 10_000)


def fault_of(code: int) -> Fault:
    """Return the `Fault` for an error number."""
    is_statement = code in _SERVER and code not in _CLIENT
    return read_faults("mysql").get(str(code), Fault.STATEMENT if is_statement else Fault.UNCLEAR)


class Mysql(EngineSession):
    """A database of a server.

    Parameters
    ----------
    url
        The URL with the name of the database.
    flavour
        MySQL or MariaDB.
    """

    errors = (MySQLError,)
    is_server = True
    unknown = re.compile(
        r"Unknown column '([^']+)'|Table '([^']+)' doesn't exist|SELECT command denied to user"
    )

    def __init__(self, url: URL, flavour: Flavour) -> None:
        self.dialect, self.language = flavour.dialect, f"SQL ({flavour.title})"
        database = url.database or ""
        super().__init__(
            display_name(url),
            namespace=database or None,
            schemas=(database,),
            search_path=(database,),
        )
        self._url, self._flavour = url, flavour

    def connect(self) -> Driver[Any]:
        """Connect, and set the SQL mode that the guard assumes."""
        mode = f"sql_mode = '{self._flavour.mode}', time_zone = '+00:00'{self._flavour.session}"
        return connect(self._url, conv=_READING, init_command=f"SET SESSION {mode}")

    def prepare(self, connection: Connection, limits: Limits) -> None:
        """Send the limits if they have changed."""
        wanted = self._flavour.limit(limits)
        if connection.limits != wanted:
            with connection.driver.cursor() as cursor:
                if connection.limits is None:
                    cursor.execute("SET SESSION TRANSACTION READ ONLY")
                cursor.execute(f"SET SESSION {wanted}")
            connection.limits = wanted

    @contextmanager
    def execute(self, connection: Connection, statement: str) -> Iterator[Result]:
        """Stream a result. The connection is used again only if the complete result has arrived."""
        cursor: Any = SSCursor(connection.driver)
        try:
            with driver_reads():
                cursor.execute(statement)
            columns = columns_of(cursor)
            is_json = [column[1] == FIELD_TYPE.JSON for column in cursor.description]
            readers = {n: loaded for n, found in enumerate(is_json) if found}
            yield Result(columns, rows_from(cursor, readers))
        finally:
            result = cursor._result  # noqa: SLF001
            if result is None or (cursor.description is not None and not result.unbuffered_active):
                cursor.close()
            else:
                # Otherwise the cursor would read the rest when it is closed.
                result.unbuffered_active, cursor.connection = False, None
                connection.is_used_up = True

    def identify(self, driver: Any) -> str:  # noqa: ANN401
        """Return the number of the connection."""
        return str(int(driver.thread_id()))

    def descriptor(self, driver: Any) -> int:  # noqa: ANN401
        """Return the file descriptor of the connection."""
        return driver._sock.fileno() if driver._sock else -1  # noqa: SLF001

    def end_statements(self, mark: str) -> None:
        """Kill the connection with this mark."""
        with suppress(MySQLError), connect(self._url) as other, other.cursor() as cursor:
            cursor.execute(f"KILL CONNECTION {int(mark):d}")

    def examine(self) -> Examination:
        """Return the version of the server, the rights of the user and the limits."""
        return examine_mysql(asker(self.run), self._flavour)

    def failure(self, error: Exception) -> tuple[Fault, str]:
        """Classify an error by its number."""
        problem, fault = one_line(error), fault_of(code_of(error))
        if fault is Fault.REFUSED and _MEMORY_OPTION.search(problem):
            fault = Fault.MEMORY  # the server refuses the statement because of the memory option
        return fault, problem

    def describe(self, driver: Driver[Any]) -> DatabaseSchema:
        """Read the schema."""
        database = self._url.database or ""
        with driver.cursor() as cursor:
            ask = asking(cursor, database)
            return schema_of(
                read_relations(ask, _CATALOGUE, _spelled),
                [database],
                "`",
                available=lambda: flat(ask(_AVAILABLE)),
                hint="Append the name of a database to the URL: .../{}",
            )


_TABLES = """
SELECT table_schema, table_name, IF(table_type = 'VIEW', '', table_comment),
    CASE table_type WHEN 'VIEW' THEN 'view' WHEN 'SEQUENCE' THEN 'sequences' ELSE '' END
FROM information_schema.tables WHERE table_schema = %s
"""
_COLUMNS = """
SELECT table_schema, table_name, column_name, column_type, column_comment
FROM information_schema.columns
WHERE table_schema = %s AND FIND_IN_SET('select', privileges) ORDER BY table_name, ordinal_position
"""
_KEYS = """
SELECT table_schema, table_name, column_name FROM information_schema.statistics
WHERE table_schema = %s AND index_name = 'PRIMARY' ORDER BY table_name, seq_in_index
"""
_LINKS = """
SELECT table_schema, table_name, column_name, referenced_table_schema, referenced_table_name,
    referenced_column_name
FROM information_schema.key_column_usage WHERE table_schema = %s AND referenced_table_schema = %s
ORDER BY table_name, constraint_name, ordinal_position
"""
_AVAILABLE = """
SELECT DISTINCT table_schema FROM information_schema.tables WHERE table_schema NOT IN
('information_schema', 'mysql', 'performance_schema', 'sys') ORDER BY table_schema
"""
_VALUES = re.compile(r"(enum|set)(?=\()", re.IGNORECASE)
_INT = re.compile(r"\bINT\b")


def _spelled(kind: str) -> str:
    """Return a type in capitals. The labels of an ENUM or SET do not change."""
    if _VALUES.match(kind):
        return _VALUES.sub(lambda found: found[0].upper(), kind)
    return _INT.sub("INTEGER", kind.upper())


_CATALOGUE = (_TABLES, _COLUMNS, _KEYS, _LINKS)


class MysqlNamespaces(ServerNamespaces):
    """The databases of a MySQL or MariaDB server."""

    title = "MySQL or MariaDB"
    dialect = "mysql"
    drivername = "mysql+pymysql"
    errors = (MySQLError, ProgrammingError)
    no_access = r"\((?:1044|1045|1049|1130|1698),"
    no_right = r"\((?:1044|1142|1227|1290|1370|1410|1836),"
    right = "create, fill and drop databases with names that begin with dqa_"
    contents = """
        SELECT t.table_name FROM information_schema.schemata s
        LEFT JOIN information_schema.tables t ON t.table_schema = s.schema_name
        WHERE s.schema_name = %s
    """
    names = "SHOW DATABASES"
    lock = f"SELECT 1, GET_LOCK(%s, {LOCK_SECONDS})"

    @classmethod
    def open_driver(cls, url: URL, *, autocommit: bool = True) -> Driver[Any]:
        """Connect in a mode that rejects values that do not fit their column.

        Each statement is its own transaction, apart from statements after BEGIN. The engine commits
        CREATE and DROP in any case.
        """
        del autocommit
        strict = "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'"
        return connect(url, init_command=strict, client_flag=CLIENT.MULTI_STATEMENTS)

    def _product(self) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
        version = self._driver.get_server_info().removeprefix("5.5.5-")  # of old MariaDB servers
        found = tuple(map(int, re.findall(r"\d+", version)[:3]))
        return self._flavour.title, found, self._flavour.least

    @property
    def _flavour(self) -> Flavour:
        return MARIADB if "mariadb" in self._driver.get_server_info().lower() else MYSQL

    @property
    def _options(self) -> str:
        """The options of a database whose texts are sorted by character codes."""
        return f" CHARACTER SET utf8mb4 COLLATE {self._flavour.collation}"

    def _fill(self, table: str, rows: Table) -> None:
        """Insert rows as literals. The driver would be slower: it escapes each value separately."""
        columns: list[tuple[Sequence[Any], str]] = [
            (rows[column.name].tolist(), column.stored) for column in rows.schema.columns
        ]
        names = [*rows.schema.column_names, ROW_COLUMN]
        columns.append((range(len(rows)), "integer"))
        for statement in insert_statements(table, names, columns, "mysql"):
            self._run(statement)

    def select(self, more: Collection[str] = ()) -> str:  # noqa: ARG002
        """Return the database in the URL; raise `UsageError` if it is not completely loaded."""
        if self._wanted:
            raise UsageError(
                f"{self.title} has no schemas inside a database: leave out ?schema=, and write the "
                f"name of the database at the end of the URL, as in .../{self._wanted[0]}."
            )
        if not self._url.database:
            raise UsageError(
                f"The location '{self.location}' does not contain the name of a database. Append "
                f"it, as in {self.location}dqa_harbours_q1_0123456789ab."
            )
        self._require_complete(self._url.database)
        return self._url.database

    def open(self, namespace: str | None) -> Mysql:
        """Return a session of a database."""
        return Mysql(self._url.set(database=namespace), self._flavour)
