"""Read-only databases of MySQL and MariaDB servers, over PyMySQL.

Sessions are read-only and commit each statement, so every statement is a read-only transaction.
Variables of the session limit its time and rows; they are sent only when they change. Rows are
streamed. Only breaking the connection stops a server from sending the rest of a result that is cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, cast

from pymysql.connections import Connection as Driver
from pymysql.constants import FIELD_TYPE
from pymysql.converters import conversions
from pymysql.cursors import SSCursor
from pymysql.err import MySQLError
from sqlalchemy import URL

from dqa.core.database import Limits
from dqa.core.schema import DatabaseSchema
from dqa.databases.catalogue import (
    Catalogue,
    CatalogueColumn,
    CatalogueReference,
    rows_of,
)
from dqa.databases.examining import asker
from dqa.databases.failures import driver_reads, one_line, with_version
from dqa.databases.faults import Failure, Fault
from dqa.databases.mysql.advice import examine
from dqa.databases.mysql.server import Flavour, code_of, connect
from dqa.databases.rows import columns_of, rows_from
from dqa.databases.servers import display_name
from dqa.databases.sql_session import (
    USED_UP,
    Connection,
    EngineSettings,
    Result,
    ServerSettings,
    SqlSession,
    pooled,
)
from dqa.databases.values import loaded

_READING = conversions | {FIELD_TYPE.TIME: str}
"""A TIME is a duration: it stays the server's text."""
_UNKNOWN = re.compile(r"(?:Unknown column|Table) '([^']+)'")
_VERSION = re.compile(r"(?<!\d)(?!5\.5\.5-)\d+\.\d+\.\d+")
"""A version; MariaDB writes 5.5.5 before its own for old clients."""
_READS = "SHOW SESSION STATUS LIKE 'Handler\\_read%'"
_MEMORY_OPTION = re.compile("max-(?:session|thread)-mem-used")

_NUMBERS: dict[Fault, str] = {
    Fault.NOT_UNDERSTOOD: "1064 1128 1149 1305 1630",  # syntax and unknown functions
    Fault.UNKNOWN_NAME: "1054 1109 1146",
    Fault.REFUSED: "1044 1142 1143 1227 1345 1370 1207 1223 1290 1792 1836 1874",
    Fault.TIME: "1317 1969 3024",
    Fault.MEMORY: "5 1037 1038 1041 1257 2008 3015 3044 3170",
    # Files; no room left, perhaps for temporary tables; a foreign server.
    Fault.UNCLEAR: "1004 1005 1016 1017 1023 1024 1105 1296 1297 1815 1021 1026 1028 1030 1114 "
    "1429 1430 1431",
    Fault.PASSING: "1020 1205 1213 1412 1637 1689 3572",  # locks and changes by others
    Fault.CONNECTION: "1053 1077 1079 1080 1152 1184 1927 3032 3168 3169 4031 1154 1155 1156 1157 "
    "1158 1159 1160 1161 1835 2000 2006 2013 2014 2018 2026 2027 2048 2050 2055",
    # Damaged data; no more connections; no server.
    Fault.SERVER: "1033 1034 1035 1194 1195 1244 1457 1459 1547 1548 1712 1728 1805 1812 1814 1817 "
    "1877 1932 1983 1040 1042 1043 1081 1129 1135 1203 2001 2002 2003 2004 2005 2007 2009 2012 "
    "2015 2016 2017 2047 2070",
    Fault.ACCESS: "1045 1130 1226 1251 1275 1524 1698 1820 1862 3118 4151 2049 2059 2061",
    Fault.STATEMENT: "2020 2032",  # too large for a packet; cut
}
"""Numbers of the server (from 1000) and of the client (from 2000) with another fault than the rest.
https://dev.mysql.com/doc/mysql-errors/en/server-error-reference.html"""
_FAULTS = {int(code): fault for fault, codes in _NUMBERS.items() for code in codes.split()}
_CLIENT, _SERVER = range(2000, 3000), range(1000, 10_000)


def fault_of(code: int) -> Fault:
    """Return the fault of a number."""
    if code in _FAULTS:
        return _FAULTS[code]
    if code in _CLIENT:
        return Fault.OURS
    return Fault.STATEMENT if code in _SERVER else Fault.UNCLEAR


def open_mysql(url: URL, flavour: Flavour) -> SqlSession:
    """Open a database.

    Parameters
    ----------
    url
        Names the database.
    flavour
        MySQL or MariaDB.
    """
    database = url.database or ""
    # The guard reads statements in this mode, whatever the server's own is.
    mode = f"SET SESSION sql_mode = '{flavour.mode}', time_zone = '+00:00'{flavour.session}"
    settings = EngineSettings(
        dialect=flavour.dialect,
        language=f"SQL ({flavour.title})",
        error=MySQLError,
        pool=pooled(partial(connect, url, conv=_READING, init_command=mode)),
        execute=_execute,
        failure=partial(_failure, flavour),
        describe=partial(_describe, database),
        prepare=partial(_prepare, flavour),
        count_reads=_count_reads,
        examine=lambda run: examine(asker(run), flavour),
        server=ServerSettings(
            identify=lambda connection: str(int(_driver(connection).thread_id())),
            descriptor=_descriptor,
            end=partial(_end, url),
        ),
    )
    return SqlSession(
        settings,
        display_name(url),
        namespace=database or None,
        schemas=(database,),
        search_path=(database,),
    )


def _driver(connection: Connection) -> Any:  # noqa: ANN401  (half of its methods are not typed)
    return cast("Driver[Any]", connection.driver_connection)


def _descriptor(connection: Connection) -> int:
    wire = _driver(connection)._sock  # noqa: SLF001
    return -1 if wire is None else int(wire.fileno())


def _end(url: URL, mark: str) -> None:
    with suppress(MySQLError), connect(url) as other, other.cursor() as cursor:
        cursor.execute(f"KILL CONNECTION {int(mark):d}")


def _prepare(flavour: Flavour, connection: Connection, limits: Limits) -> None:
    """Send the settings that have changed."""
    wanted = flavour.limit(limits)
    if connection.info.get("limits") != wanted:
        with _driver(connection).cursor() as cursor:
            if "limits" not in connection.info:
                cursor.execute("SET SESSION TRANSACTION READ ONLY")
            cursor.execute(f"SET SESSION {wanted}")
        connection.info["limits"] = wanted


@contextmanager
def _execute(connection: Connection, statement: str) -> Iterator[Result]:
    """Stream a result; afterwards the connection is used again only if all of it has arrived."""
    cursor: Any = SSCursor(_driver(connection))
    try:
        with driver_reads():
            cursor.execute(statement)
        columns = columns_of(cursor)
        is_json = (column[1] == FIELD_TYPE.JSON for column in cursor.description)
        yield columns, rows_from(cursor, {n: loaded for n, is_one in enumerate(is_json) if is_one})
    finally:
        result = cursor._result  # noqa: SLF001
        if result is None or (cursor.description is not None and not result.unbuffered_active):
            cursor.close()
        else:
            result.unbuffered_active = False  # else the cursor reads the rest when it ends
            cursor.connection = None
            connection.info[USED_UP] = True


def _count_reads(connection: Connection) -> int:
    with _driver(connection).cursor() as cursor:
        return sum(int(count) for _, count in rows_of(cursor, _READS))


def _failure(flavour: Flavour, error: Exception, connection: Connection) -> Failure:
    problem, fault = one_line(error), fault_of(code_of(error))
    if fault is Fault.REFUSED and _MEMORY_OPTION.search(problem):
        fault = Fault.MEMORY  # "running with the option ... so it cannot execute this"
    if fault is Fault.NOT_UNDERSTOOD:
        version = _VERSION.search(_driver(connection).get_server_info())
        problem = with_version(problem, f"{flavour.title} {version[0] if version else ''}".strip())
    unknown = _UNKNOWN.match(problem) if fault is Fault.UNKNOWN_NAME else None
    return Failure(fault, problem, unknown and unknown[1])


_TABLES = """
SELECT table_name, table_type, table_comment FROM information_schema.tables WHERE table_schema = %s
"""
_COLUMNS = """
SELECT table_name, column_name, column_type, column_comment FROM information_schema.columns
WHERE table_schema = %s AND FIND_IN_SET('select', privileges) ORDER BY table_name, ordinal_position
"""
_KEYS = """
SELECT table_name, column_name FROM information_schema.statistics
WHERE table_schema = %s AND index_name = 'PRIMARY' ORDER BY table_name, seq_in_index
"""
_LINKS = """
SELECT table_name, column_name, referenced_table_name, referenced_column_name
FROM information_schema.key_column_usage WHERE table_schema = %s AND referenced_table_schema = %s
ORDER BY table_name, constraint_name, ordinal_position
"""
_AVAILABLE = """
SELECT DISTINCT table_schema FROM information_schema.tables WHERE table_schema NOT IN
('information_schema', 'mysql', 'performance_schema', 'sys') ORDER BY table_schema
"""
_VALUES = re.compile(r"(enum|set)(?=\()", re.IGNORECASE)
_INT = re.compile(r"\bINT\b")


def _describe(database: str, connection: Connection) -> DatabaseSchema:
    """Read the schema by four statements for all tables."""
    with _driver(connection).cursor() as cursor:
        tables = rows_of(cursor, _TABLES, database)
        sequences = [name for name, kind, _ in tables if kind == "SEQUENCE"]
        columns = [row for row in rows_of(cursor, _COLUMNS, database) if row[0] not in sequences]
        described = {table for table, *_ in columns}
        broken = [name for name, kind, _ in tables if kind == "VIEW" and name not in described]
        catalogue = Catalogue(
            columns=[
                CatalogueColumn((database, table), name, _spelled(kind), comment)
                for table, name, kind, comment in columns
            ],
            keys=[((database, table), name) for table, name in rows_of(cursor, _KEYS, database)],
            references=[
                CatalogueReference((database, table), column, (database, other), other_column)
                for table, column, other, other_column in rows_of(
                    cursor, _LINKS, database, database
                )
            ],
            comments={(database, name): said for name, kind, said in tables if kind != "VIEW"},
            omitted={"sequences": sequences, "views of missing tables": broken},
            available=[] if tables else [name for (name,) in rows_of(cursor, _AVAILABLE)],
            hint="Name one as the database: .../{}",
        )
    return catalogue.to_schema([database], "`")


def _spelled(kind: str) -> str:
    """Return a type in capitals, except the values that it lists."""
    if _VALUES.match(kind):
        return _VALUES.sub(lambda found: found[0].upper(), kind)
    return _INT.sub("INTEGER", kind.upper())
