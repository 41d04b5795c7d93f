"""MySQL and MariaDB, over PyMySQL; which of the two it is, is found out on connecting.

A situation's place is a database of its own. Sessions are read-only and commit by themselves, so
every statement is a read-only transaction without a round trip more; how long it may take and how
many rows it may give are variables of the session, sent only when they change. Rows are streamed.
Nothing stops a server from sending all of a result but breaking the connection, so that is what
happens where a result is cut and more is on its way.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import URL, create_engine
from sqlalchemy.pool import PoolProxiedConnection

from dqa.core.database import Database, Kind, Limits, Rows
from dqa.core.errors import (
    DatabaseUnavailableError,
    DqaError,
    RefusedStatementError,
    StatementError,
    UsageError,
)
from dqa.core.schema import DatabaseSchema
from dqa.core.situation import Situation
from dqa.databases import hints
from dqa.databases.base import Backend, Examination, Loaded, place_name
from dqa.databases.mysql.server import (
    BEGUN,
    CONNECT_SECONDS,
    FULL,
    NO_URL,
    Flavour,
    asked,
    code_of,
    connected,
    drop,
    failures,
    flavour_of,
    held_by,
    locked,
    security,
    server_url,
    tables_of,
    writes,
)
from dqa.databases.relational import (
    NotUnderstoodError,
    PooledDatabase,
    one_line,
    taken,
    timed_out,
)
from dqa.databases.relational_writer import REFERENCES, TAG_TABLE, in_the_way, tag_of
from dqa.databases.servers import GRACE, POOL, has_scheme, shown
from dqa.databases.watchdog import WATCHDOG

if TYPE_CHECKING:
    from pymysql.connections import Connection

__all__ = ["BACKEND", "MysqlBackend", "MysqlDatabase"]


_TIMED_OUT = frozenset({1317, 1969, 3024})
_LOST = frozenset({1053, 1927, 2006, 2013, 2014, 2055, 4031})
_READ_ONLY = frozenset({1044, 1142, 1143, 1227, 1370, 1792, 1290})
_UNKNOWN = re.compile(r"(?:Unknown column|Table) '([^']+)'")
_UNKNOWN_NAMES = frozenset({1054, 1146, 1109})
_NOT_UNDERSTOOD = frozenset({1064, 1305, 1128, 1630})
_COMMENTS = (
    "SELECT table_name, column_name, column_comment FROM information_schema.columns "
    "WHERE table_schema = DATABASE() AND column_comment LIKE %s "
    "ORDER BY table_name, ordinal_position"
)


class MysqlDatabase(PooledDatabase):
    """A read-only database of a MySQL or MariaDB server.

    Parameters
    ----------
    url
        Where it is; names a database.
    flavour
        Which of the two servers it is.
    """

    def __init__(self, url: URL, flavour: Flavour) -> None:
        engine = create_engine(
            url,
            connect_args={
                "autocommit": True,
                "charset": "utf8mb4",
                "connect_timeout": CONNECT_SECONDS,
                **security(url),
                # The guard reads statements as this mode does, whatever the server's own is.
                "init_command": f"SET SESSION sql_mode = '{flavour.mode}', time_zone = '+00:00'"
                + flavour.session,
            },
            pool_reset_on_return=None,  # there is nothing to roll back
            **POOL,
        )
        super().__init__(engine, flavour.dialect, shown(url))
        self.language = f"SQL ({flavour.title})"
        self._flavour = flavour
        self._url = url

    @contextmanager
    def _limited(self, connection: PoolProxiedConnection, limits: Limits) -> Iterator[None]:
        driver = cast("Connection[Any]", connection.driver_connection)
        wanted = self._flavour.limits(limits)
        if connection.info.get("limits") != wanted:
            with driver.cursor() as cursor:
                if "limits" not in connection.info:
                    cursor.execute("SET SESSION TRANSACTION READ ONLY")
                cursor.execute(f"SET SESSION {wanted}")
            connection.info["limits"] = wanted
        number = driver.thread_id()  # type: ignore[no-untyped-call]
        with WATCHDOG.after(limits.seconds + GRACE, lambda: self._kill(driver, number)) as alarm:
            try:
                yield
            except self._driver_error as error:
                if not alarm.rang:
                    raise
                raise timed_out(limits) from error
            finally:
                if alarm.rang:
                    connection.invalidate()

    def _kill(self, driver: Connection[Any], number: int) -> None:
        """Stop what a server does not stop by itself, and stop waiting for it."""
        with suppress(DqaError, self._driver_error):
            other = connected(self._url)
            with other, other.cursor() as cursor:
                cursor.execute(f"KILL CONNECTION {number:d}")
        with suppress(OSError, AttributeError):
            driver._sock.shutdown(socket.SHUT_RDWR)  # type: ignore[attr-defined]  # noqa: SLF001

    def _rows(
        self, connection: PoolProxiedConnection, statement: str, limits: Limits, started: float
    ) -> Rows:
        from pymysql.cursors import SSCursor

        driver = cast("Connection[Any]", connection.driver_connection)
        cursor = SSCursor(driver)
        try:
            cursor.execute(statement)
            if cursor.description is None:
                raise StatementError("The statement returned no rows; write a query that does.")
            rows = taken(cursor, limits, started)  # type: ignore[arg-type]
            if rows.cut is not None:
                cursor.fetchone()  # notices where no more than the limit's one row was sent
        finally:
            if _is_clean(cursor):
                cursor.close()
            else:
                connection.invalidate()
        return rows

    def _read_schema(self) -> DatabaseSchema:
        """Add what the comments of columns say that they refer to, as the writer put it down."""
        schema = super()._read_schema()
        connection = self._connect()
        try:
            driver = cast("Connection[Any]", connection.driver_connection)
            comments = asked(driver, _COMMENTS, f"{REFERENCES}%")
        except self._driver_error as error:
            raise DatabaseUnavailableError(
                f"The schema of database '{self.name}' cannot be read: {one_line(error)}."
            ) from error
        finally:
            connection.close()
        links: dict[str, list[tuple[str, str, str]]] = {}
        for table, column, comment in comments:
            other, _, other_column = comment.removeprefix(REFERENCES).partition(".")
            links.setdefault(table, []).append((column, other, other_column))
        return replace(
            schema,
            tables=tuple(
                replace(table, references=(*table.references, *links.get(table.name, ())))
                for table in schema.tables
            ),
        )

    def _is_lost(self, error: Exception, connection: PoolProxiedConnection) -> bool:
        return code_of(error) in _LOST or super()._is_lost(error, connection)

    def _meaning(self, error: Exception, limits: Limits) -> DqaError:
        code, problem = code_of(error), one_line(error)
        if code in _TIMED_OUT:
            return timed_out(limits)
        if code in _READ_ONLY:
            return RefusedStatementError(f"The statement was not run: {problem}.")
        if code in FULL:
            return DatabaseUnavailableError(f"Database '{self.name}' failed: {problem}.")
        if code in _NOT_UNDERSTOOD:
            return NotUnderstoodError(f"{problem}.")
        unknown = _UNKNOWN.match(problem)
        if code in _UNKNOWN_NAMES and unknown is not None:
            return StatementError(hints.with_tables(problem, unknown[1], self.schema()))
        return StatementError(f"{problem}.")


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


class MysqlBackend:
    """Opens databases of MySQL and MariaDB servers, and loads situations into new ones."""

    name = "mysql"
    kind: Kind = "relational"
    dialect = "mysql"
    embedded = False

    def accepts(self, location: str) -> bool:
        """Whether `location` is a ``mysql://`` or ``mariadb://`` URL, whatever driver it names."""
        return has_scheme(location, "mysql", "mariadb")

    def open(self, location: str) -> Database:
        """Open the database that the URL names, read-only.

        Raises
        ------
        UsageError
            The URL names no database or one that is not there, user or password are wrong, the
            server is too old, or a load of the database was never finished.
        DatabaseUnavailableError
            The server cannot be reached.
        """
        url = server_url(location)
        if not url.database:
            raise UsageError(
                f"'{shown(url)}' names no database; append its name, such as "
                f"{shown(url)}dqa_locating_q1_0123456789ab."
            )
        with connected(url) as connection:
            begun = held_by(connection, url.database) == BEGUN
            if begun and TAG_TABLE in tables_of(connection, url.database):
                raise UsageError(
                    f"'{url.database}' is a load that was never finished; load it again."
                )
            return MysqlDatabase(url, flavour_of(connection, url))

    def load(
        self, situation: Situation, location: str | None = None, replace: str | None = None
    ) -> Database:
        """Write a situation into a database of its own and open that read-only.

        The location's database, if it names one, is only where the user logs in.

        Raises
        ------
        UsageError
            The place holds something else and `replace` does not name it, or as `open`.
        DataError
            The situation breaks its keys, or holds a value that the server cannot hold.
        DatabaseUnavailableError
            The server cannot be reached, or its disk is full.
        """
        from dqa.databases.mysql import writer

        if location is None:
            raise UsageError(NO_URL)
        url, place = server_url(location), place_name(situation)
        with connected(url) as connection:
            flavour = flavour_of(connection, url)
            with failures(url, place), locked(connection, place):
                held = held_by(connection, place)
                tag = tag_of(situation, place)
                if not isinstance(held, Loaded) or held.content_hash != tag.content_hash:
                    _make_room(connection, place, held, situation, replace)
                    try:
                        writer.write(connection, tag, situation, flavour.collation)
                    except BaseException:
                        # What is begun may be large, and the disk full of it.
                        with suppress(connection.Error):
                            drop(connection, place)
                        raise
        return MysqlDatabase(url.set(database=place), flavour)

    def loaded(self, location: str) -> tuple[Loaded, ...]:
        """List the situations on the server that the user may see, by place."""
        url = server_url(location)
        with connected(url) as connection, failures(url, None):
            places = asked(
                connection,
                "SELECT table_schema FROM information_schema.tables WHERE table_name = %s "
                "AND table_schema LIKE 'dqa\\_%%' ORDER BY table_schema",
                TAG_TABLE,
            )
            found = (held_by(connection, place) for (place,) in places)
            return tuple(held for held in found if isinstance(held, Loaded))

    def examine(self, location: str | None = None) -> Examination:
        """Connect and look: `DqaError` says what is wrong with the connection."""
        if location is None:
            raise UsageError(NO_URL)
        url = server_url(location)
        with connected(url) as connection, failures(url, None):
            flavour = flavour_of(connection, url)
            ((version, role),) = asked(connection, "SELECT VERSION(), CURRENT_USER()")
            grants = [str(grant) for (grant,) in asked(connection, "SHOW GRANTS")]
            may_write = any(map(writes, grants))
            return Examination(f"{flavour.title} {version}", str(role), may_write)

    def unload(self, location: str, place: str) -> Loaded:
        """Drop a place and return what it held; `UsageError` where it holds no situation."""
        url = server_url(location)
        with connected(url) as connection, failures(url, place), locked(connection, place):
            held = held_by(connection, place)
            if not isinstance(held, Loaded):
                raise UsageError(f"'{place}' on {shown(url)} holds no situation.")
            drop(connection, place)
            return held


def _make_room(
    connection: Connection[Any],
    place: str,
    held: Loaded | str | None,
    situation: Situation,
    replace: str | None,
) -> None:
    """Drop what may be dropped of what a place holds; `UsageError` where that is not all."""
    if held is None:
        return
    ours = {TAG_TABLE, *situation.tables}
    begun_by_us = held == BEGUN and tables_of(connection, place) <= ours
    if not begun_by_us and replace != place:
        raise in_the_way(place, held if isinstance(held, str) else f"situation '{held.name}'")
    drop(connection, place)


BACKEND: Backend = MysqlBackend()
