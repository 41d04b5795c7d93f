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
from functools import partial
from typing import Any, cast

from pymysql.connections import Connection
from pymysql.constants import FIELD_TYPE
from pymysql.cursors import SSCursor
from sqlalchemy import URL, create_engine
from sqlalchemy.pool import PoolProxiedConnection

from dqa.core.database import Limits, Rows
from dqa.core.errors import (
    DqaError,
    NotUnderstoodError,
    StatementError,
    UnknownReferenceError,
    UsageError,
)
from dqa.databases.failures import failed, one_line, refused, timed_out
from dqa.databases.mysql.server import (
    FULL,
    Flavour,
    code_of,
    connect,
    new_connection,
)
from dqa.databases.rows import fetch_rows
from dqa.databases.server_session import ServerSession
from dqa.databases.servers import POOL, display_name

_TIMED_OUT = frozenset({1317, 1969, 3024})
_LOST = frozenset({1053, 1927, 2006, 2013, 2014, 2055, 4031})
_READ_ONLY = frozenset({1044, 1142, 1143, 1227, 1370, 1792, 1290})
_UNKNOWN = re.compile(r"(?:Unknown column|Table) '([^']+)'")
_UNKNOWN_NAMES = frozenset({1054, 1146, 1109})
_NOT_UNDERSTOOD = frozenset({1064, 1305, 1128, 1630})


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
            creator=partial(connect, url, init_command=settings + flavour.session),
            pool_reset_on_return=None,  # there is nothing to roll back
            **POOL,
        )
        super().__init__(engine, flavour.dialect, display_name(url))
        self.language = f"SQL ({flavour.title})"
        self._flavour = flavour
        self._url = url

    def _prepare(self, connection: PoolProxiedConnection, limits: Limits) -> None:
        """Send what differs from what the session has."""
        wanted = self._flavour.limit(limits)
        if connection.info.get("limits") != wanted:
            with _driver_of(connection).cursor() as cursor:
                if "limits" not in connection.info:
                    cursor.execute("SET SESSION TRANSACTION READ ONLY")
                cursor.execute(f"SET SESSION {wanted}")
            connection.info["limits"] = wanted

    def _mark_of(self, connection: PoolProxiedConnection) -> str:
        return str(int(_driver_of(connection).thread_id()))  # type: ignore[no-untyped-call]

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
        cursor = SSCursor(_driver_of(connection))
        try:
            cursor.execute(statement)
            return fetch_rows(
                *(cursor, limits, started, self._driver_error, _is_json),
                stop=self._stopper(connection),
            )
        finally:
            if _is_clean(cursor):
                cursor.close()
            else:
                self._discard(connection)

    def _is_lost(self, error: Exception, connection: PoolProxiedConnection) -> bool:
        return code_of(error) in _LOST or super()._is_lost(error, connection)

    def _translate(self, error: Exception, limits: Limits) -> DqaError:
        code, problem = code_of(error), one_line(error)
        unknown = _UNKNOWN.match(problem) if code in _UNKNOWN_NAMES else None
        if code in _TIMED_OUT:
            return timed_out(limits, self.kind)
        if code in _READ_ONLY:
            return refused(problem)
        if code in FULL:
            return failed(self.name, problem)
        if code in _NOT_UNDERSTOOD:
            return NotUnderstoodError(f"{problem}.")
        if unknown is not None:
            return UnknownReferenceError(problem, unknown[1])
        return StatementError(f"{problem}.")


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
