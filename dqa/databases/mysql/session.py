"""A read-only database of a MySQL or MariaDB server, over PyMySQL.

Sessions are read-only and commit by themselves, so every statement is a read-only transaction
without a round trip more; how long it may take and how many rows it may give are variables of the
session, sent only when they change. Rows are streamed. Nothing stops a server from sending all of a
result but breaking the connection, so that is what happens where a result is cut and more is on its
way.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, cast

from pymysql.connections import Connection
from pymysql.constants import FIELD_TYPE
from pymysql.converters import conversions
from pymysql.cursors import SSCursor
from sqlalchemy import URL, create_engine
from sqlalchemy.pool import PoolProxiedConnection

from dqa.core.database import Limits, Rows
from dqa.core.errors import UsageError
from dqa.core.examination import Examination
from dqa.core.schema import DatabaseSchema
from dqa.databases.examining import asker
from dqa.databases.failures import driver_reads, one_line, with_version
from dqa.databases.faults import Failure, Fault
from dqa.databases.mysql.advice import examine
from dqa.databases.mysql.codes import fault_of
from dqa.databases.mysql.describing import COLUMNS, KEYS, LINKS, TABLES, schema_of
from dqa.databases.mysql.server import (
    Flavour,
    code_of,
    connect,
    new_connection,
)
from dqa.databases.rows import fetch_rows
from dqa.databases.server_session import ServerSession
from dqa.databases.servers import POOL, display_name

_READING = conversions | {FIELD_TYPE.TIME: str}
"""How values are read: lengths of time as the server writes them, and not in Python's days."""
_UNKNOWN = re.compile(r"(?:Unknown column|Table) '([^']+)'")
_VERSION = re.compile(r"(?<!\d)(?!5\.5\.5-)\d+\.\d+\.\d+")
"""Of a server: MariaDB's begins with another one for old clients."""
_READS = "SHOW SESSION STATUS LIKE 'Handler\\_read%'"
"""How many rows the session has gone through so far, by the ways there are; this adds some, too."""
_MEMORY_OPTION = re.compile("max-(?:session|thread)-mem-used")


class MysqlSession(ServerSession):
    """A read-only database of a MySQL or MariaDB server.

    Parameters
    ----------
    url
        Where it is; names a database.
    flavour
        Which of the two servers it is.
    """

    def __init__(self, url: URL, flavour: Flavour) -> None:
        # The guard reads statements as this mode does, whatever the server's own is.
        settings = f"SET SESSION sql_mode = '{flavour.mode}', time_zone = '+00:00'"
        engine = create_engine(
            url,
            creator=partial(connect, url, conv=_READING, init_command=settings + flavour.session),
            pool_reset_on_return=None,  # there is nothing to roll back
            **POOL,
        )
        super().__init__(engine, flavour.dialect, display_name(url))
        self.language = f"SQL ({flavour.title})"
        self._flavour = flavour
        self._version = ""
        self._url = url
        self.schemas = self.search_path = (url.database or "",)

    def examine(self) -> Examination:
        """Return what the server says of itself, of the user and of its limits."""
        return examine(asker(self.run), self._flavour)

    def _prepare(self, connection: PoolProxiedConnection, limits: Limits) -> None:
        """Send what differs from what the session has."""
        wanted = self._flavour.limit(limits)
        if connection.info.get("limits") != wanted:
            with _driver_of(connection).cursor() as cursor:
                if "limits" not in connection.info:
                    cursor.execute("SET SESSION TRANSACTION READ ONLY")
                cursor.execute(f"SET SESSION {wanted}")
            connection.info["limits"] = wanted

    def _described(self) -> DatabaseSchema:
        place = (self._url.database or "",)
        with (
            self._engine.connect() as connection,
            _driver_of(connection.connection).cursor() as cursor,
        ):

            def rows(statement: str, *values: str) -> list[Any]:
                cursor.execute(statement, values)
                return list(cursor.fetchall())

            return schema_of(
                rows(TABLES, *place),
                rows(COLUMNS, *place),
                rows(KEYS, *place),
                rows(LINKS, *place * 2),
            )

    def _mark_of(self, connection: PoolProxiedConnection) -> str:
        driver: Any = _driver_of(connection)
        told = _VERSION.search(driver.get_server_info())
        self._version = told[0] if told else ""
        return str(int(driver.thread_id()))

    def _descriptor(self, connection: PoolProxiedConnection) -> int:
        wire = _driver_of(connection)._sock  # type: ignore[attr-defined]  # noqa: SLF001
        return -1 if wire is None else int(wire.fileno())

    def _end(self, mark: str, tell: Callable[[], None]) -> None:
        with suppress(UsageError, self._driver_error):
            other = new_connection(self._url)
            tell()
            with other, other.cursor() as cursor:
                cursor.execute(f"KILL CONNECTION {int(mark):d}")

    def _rows(
        self, connection: PoolProxiedConnection, statement: str, limits: Limits, started: float
    ) -> Rows:
        before = self._reads(connection) if limits.scans else None
        cursor = SSCursor(_driver_of(connection))
        is_clean = False
        try:
            with driver_reads():
                cursor.execute(statement)
            rows = fetch_rows(
                *(cursor, limits, started, self._driver_error, _is_json),
                stop=self._stopper(connection),
            )
        finally:
            is_clean = _is_clean(cursor)
            if is_clean:
                cursor.close()
            else:
                self._drop_later(connection)
        if before is None or not is_clean:
            return rows
        after = self._reads(connection)
        own = self._reads(connection) - after
        return replace(rows, scanned=max(after - before - own, 0))

    def _reads(self, connection: PoolProxiedConnection) -> int:
        with _driver_of(connection).cursor() as cursor:
            cursor.execute(_READS)
            return sum(int(count) for _, count in cursor.fetchall())

    def _failure(self, error: Exception) -> Failure:
        problem, fault = one_line(error), fault_of(code_of(error))
        if fault is Fault.REFUSED and _MEMORY_OPTION.search(problem):
            fault = Fault.MEMORY  # "running with the option ... so it cannot execute this"
        if fault is Fault.NOT_UNDERSTOOD and self._version:
            problem = with_version(problem, f"{self._flavour.title} {self._version}")
        unknown = _UNKNOWN.match(problem) if fault is Fault.UNKNOWN_NAME else None
        return Failure(fault, problem, unknown and unknown[1])


def _driver_of(connection: PoolProxiedConnection) -> Connection[Any]:
    return cast("Connection[Any]", connection.driver_connection)


def _is_json(kind: object) -> bool:
    return bool(kind == FIELD_TYPE.JSON)


def _is_clean(cursor: Any) -> bool:  # noqa: ANN401  (a cursor's insides)
    """Whether its connection may be used again.

    It may not where rows are still to come, which the cursor is kept from reading, as it does at
    its end; and not after anything but a query: what that did to the session ends with it.
    """
    result = cursor._result  # noqa: SLF001
    if result is None or (cursor.description is not None and not result.unbuffered_active):
        return True
    result.unbuffered_active = False
    cursor.connection = None
    return False
