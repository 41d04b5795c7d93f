"""PostgreSQL, over psycopg.

A situation's place is a schema of its own, and the search path of a connection to it holds nothing
else. Sessions are read-only and commit by themselves, so every statement is a read-only
transaction without a round trip more. The server tells its clients when a session's default
changes, so a session that somehow could write is noticed before the next statement, at no cost.
Statements are sent by the extended protocol, which takes one at a time; rows are streamed, and a
statement whose result is cut is cancelled.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from itertools import chain
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
from dqa.core.situation import Situation
from dqa.databases import hints
from dqa.databases.base import Backend, Examination, Loaded, place_name
from dqa.databases.bounded import collect
from dqa.databases.relational import NotUnderstoodError, PooledDatabase, one_line, timed_out
from dqa.databases.relational_writer import in_the_way, tag_of
from dqa.databases.servers import GRACE, POOL, has_scheme, parsed, require_driver, shown
from dqa.databases.watchdog import WATCHDOG

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = ["BACKEND", "PostgresBackend", "PostgresDatabase"]

_CONNECT_SECONDS = 10
_LOCK_SECONDS = 120
_CANCEL_SECONDS = 2.0
_LEAST = 14
"""The first version that tells its clients whether a session is read-only."""
_BATCH = 256
_SESSION = (
    # The guard reads texts as the first one says, whatever the server's own setting is.
    "SET standard_conforming_strings = on; SET timezone = 'UTC'; "
    "SET default_transaction_read_only = on; SET search_path TO {}"
)

_NO_URL = (
    "PostgreSQL holds nothing in memory; give the URL of a server: "
    "postgresql://user:password@host/database."
)
_WHO = """
SELECT current_setting('server_version'), current_user,
  has_database_privilege(current_database(), 'CREATE') OR EXISTS (
    SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
      AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE'))
"""

_TIMED_OUT = "57014"
_UNKNOWN = re.compile(
    r'column (?:reference )?"?(?P<column>[^" ]+)"? does not exist|relation "(?P<table>[^"]+)"'
)
_UNKNOWN_NAMES = frozenset({"42703", "42P01"})
_NOT_UNDERSTOOD = frozenset({"42601", "42883", "42704", "42P02", "0A000"})
_REFUSED = frozenset({"25006", "42501"})
_CANNOT_GO_ON = frozenset({"53", "58", "XX"})
"""Classes of errors: no room, the system's, the server's own."""


class PostgresDatabase(PooledDatabase):
    """A read-only PostgreSQL database, or one schema of it.

    Parameters
    ----------
    url
        Where it is.
    place
        The schema to show, and to find unqualified names in; None for the user's own.
    """

    language = "SQL (PostgreSQL)"

    def __init__(self, url: URL, place: str | None = None) -> None:
        engine = create_engine(
            url,
            connect_args={"connect_timeout": _CONNECT_SECONDS, "autocommit": True},
            pool_reset_on_return=None,  # there is nothing to roll back
            **POOL,
        )
        super().__init__(engine, "postgres", shown(url, place), place)

    @contextmanager
    def _limited(self, connection: PoolProxiedConnection, limits: Limits) -> Iterator[None]:
        driver = cast("Connection[Any]", connection.driver_connection)
        self._prepare(connection, driver, limits)
        seconds = limits.seconds + GRACE
        with WATCHDOG.after(seconds, lambda: _stop(driver)) as alarm:
            try:
                yield
            except self._driver_error as error:
                if not alarm.rang:
                    raise
                raise timed_out(limits) from error
            finally:
                if alarm.rang:
                    connection.invalidate()

    def _prepare(
        self, connection: PoolProxiedConnection, driver: Connection[Any], limits: Limits
    ) -> None:
        """Send what differs from what the session has."""
        from psycopg import sql

        settings = []
        info = connection.info
        if driver.info.parameter_status("default_transaction_read_only") != "on" or (
            "limit" not in info
        ):
            path = sql.Identifier(self._place) if self._place else sql.SQL('"$user", public')
            settings.append(sql.SQL(_SESSION).format(path))
        limit = max(round(limits.seconds * 1_000), 1)
        if info.get("limit") != limit:
            settings.append(sql.SQL("SET statement_timeout = {}").format(sql.Literal(limit)))
        if settings:
            driver.execute(sql.SQL("; ").join(settings))
            info["limit"] = limit

    def _rows(
        self, connection: PoolProxiedConnection, statement: str, limits: Limits, started: float
    ) -> Rows:
        driver = cast("Connection[Any]", connection.driver_connection)
        results = _streamed(driver, statement, min(limits.rows + 1, _BATCH))
        try:
            columns, first = next(results)
            if columns is None:
                # No query: whatever it did to the session ends with it.
                connection.invalidate()
                raise StatementError("The statement returned no rows; write a query that does.")
            rows = chain(first, (row for _, more in results for row in more))
            return collect(columns, rows, limits, started)
        finally:
            results.close()

    def _is_lost(self, error: Exception, connection: PoolProxiedConnection) -> bool:
        return _code(error).startswith("57P") or super()._is_lost(error, connection)

    def _meaning(self, error: Exception, limits: Limits) -> DqaError:
        code, problem = _code(error), _said(error)
        if code == _TIMED_OUT:
            return timed_out(limits)
        if code in _REFUSED:
            return RefusedStatementError(f"The statement was not run: {problem}.")
        if code[:2] in _CANNOT_GO_ON:
            return DatabaseUnavailableError(f"Database '{self.name}' failed: {problem}.")
        if code in _NOT_UNDERSTOOD:
            return NotUnderstoodError(f"{problem}.")
        unknown = _UNKNOWN.match(problem)
        if code in _UNKNOWN_NAMES and unknown is not None:
            name = unknown["column"] or unknown["table"]
            return StatementError(hints.with_tables(problem, name, self.schema()))
        return StatementError(f"{problem}.")


def _streamed(
    driver: Connection[Any], statement: str, size: int
) -> Generator[tuple[list[str] | None, list[tuple[Any, ...]]], None, None]:
    """Yield the columns and so many rows at once; closing it cancels what is left.

    As `psycopg.Cursor.stream`, which takes twice the time of a small query and tells no columns
    where there are no rows. The columns are None where the statement is no query.
    """
    import psycopg
    from psycopg.adapt import Transformer
    from psycopg.errors import error_from_result
    from psycopg.pq import ExecStatus

    wire, rows = driver.pgconn, Transformer(driver)
    names: list[str] | None = None
    with driver.lock:
        wire.send_query_params(statement.encode(), None)
        wire.set_chunked_rows_mode(size)
        is_over = False
        try:
            while result := wire.get_result():
                if result.status == ExecStatus.FATAL_ERROR:
                    is_over = wire.get_result() is None
                    raise error_from_result(result)
                if result.status not in {ExecStatus.TUPLES_OK, ExecStatus.TUPLES_CHUNK}:
                    wire.finish()  # a COPY would go on for ever
                    is_over = True
                    yield None, []
                    return
                rows.set_pgresult(result)
                if names is None:
                    names = [(result.fname(n) or b"").decode() for n in range(result.nfields)]
                yield names, rows.load_rows(0, result.ntuples, tuple)
            is_over = True
        finally:
            if not is_over:
                with suppress(psycopg.Error):
                    driver.cancel_safe(timeout=_CANCEL_SECONDS)
                while wire.get_result():
                    pass


def _stop(driver: Connection[Any]) -> None:
    """Stop what a server does not stop by itself, and stop waiting for it."""
    import psycopg

    with suppress(psycopg.Error):
        driver.cancel_safe(timeout=_CANCEL_SECONDS)
    with (
        suppress(OSError, psycopg.Error),
        socket.socket(fileno=os.dup(driver.pgconn.socket)) as wire,
    ):
        wire.shutdown(socket.SHUT_RDWR)


def _code(error: Exception) -> str:
    return getattr(error, "sqlstate", None) or ""


def _said(error: Exception) -> str:
    """Return the server's message without the statement that it quotes, with its hint."""
    told = getattr(error, "diag", None)
    if told is None or told.message_primary is None:
        return one_line(error)
    hint = f". {told.message_hint}" if told.message_hint else ""
    return one_line(told.message_primary + hint)


class PostgresBackend:
    """Opens PostgreSQL databases and schemas, and loads situations into new schemas."""

    name = "postgres"
    kind: Kind = "relational"
    dialect = "postgres"
    embedded = False

    def accepts(self, location: str) -> bool:
        """Whether `location` is a ``postgresql://`` URL, whatever driver it names."""
        return has_scheme(location, "postgresql", "postgres")

    def open(self, location: str) -> Database:
        """Open a database read-only; with ``?schema=name`` in the URL, only that schema.

        Raises
        ------
        UsageError
            User or password are wrong, the database or schema is not there, or the server is too
            old.
        DatabaseUnavailableError
            The server cannot be reached.
        """
        url, place = _url(location)
        with _connected(url) as connection, _failures(url, place):
            if place is not None and not _schemas(connection, place):
                raise UsageError(f"{shown(url)} has no schema '{place}' that this user may see.")
        return PostgresDatabase(url, place)

    def load(
        self, situation: Situation, location: str | None = None, replace: str | None = None
    ) -> Database:
        """Write a situation into a schema of its own, in one transaction, and open that read-only.

        Raises
        ------
        UsageError
            The schema holds something else and `replace` does not name it, the user may not make
            schemas, or as `open`.
        DataError
            The situation breaks its keys, or holds a value that the server cannot hold.
        DatabaseUnavailableError
            The server cannot be reached, or its disk is full.
        """
        from psycopg import sql

        from dqa.databases.postgres import writer

        if location is None:
            raise UsageError(_NO_URL)
        (url, _), place = _url(location), place_name(situation)
        tag = tag_of(situation, place)
        with _connected(url) as connection, _failures(url, place), connection.transaction():
            _lock(connection, place)
            held = _held(connection, place)
            if held is None or not _is(held, tag):
                if held is not None and replace != place:
                    raise in_the_way(place, held if isinstance(held, str) else _named(held))
                if held is not None:
                    drop = sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(place))
                    connection.execute(drop)
                writer.write(connection, tag, situation)
        return PostgresDatabase(url, place)

    def loaded(self, location: str) -> tuple[Loaded, ...]:
        """List the situations in the database, by place."""
        from dqa.databases.postgres.writer import read_tag

        url, _ = _url(location)
        with _connected(url) as connection, _failures(url, None):
            found = (read_tag(place, comment) for place, comment in _schemas(connection))
            return tuple(held for held in found if held is not None)

    def examine(self, location: str | None = None) -> Examination:
        """Connect and look: `DqaError` says what is wrong with the connection."""
        if location is None:
            raise UsageError(_NO_URL)
        url, _ = _url(location)
        with _connected(url) as connection, _failures(url, None):
            row = connection.execute(_WHO).fetchone() or ("", "", False)
            return Examination(f"PostgreSQL {row[0]}", str(row[1]), bool(row[2]))

    def unload(self, location: str, place: str) -> Loaded:
        """Drop a schema and return what it held; `UsageError` where it holds no situation."""
        from psycopg import sql

        url, _ = _url(location)
        with _connected(url) as connection, _failures(url, place), connection.transaction():
            _lock(connection, place)
            held = _held(connection, place)
            if not isinstance(held, Loaded):
                raise UsageError(f"'{place}' in {shown(url)} holds no situation.")
            connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(place)))
            return held


def _is(held: Loaded | str, tag: Loaded) -> bool:
    return isinstance(held, Loaded) and held.content_hash == tag.content_hash


def _named(held: Loaded) -> str:
    return f"situation '{held.name}'"


def _held(connection: Connection[Any], place: str) -> Loaded | str | None:
    """Return what a schema holds: a situation, something else in words, or None: nothing at all."""
    from dqa.databases.postgres.writer import read_tag

    found = _schemas(connection, place)
    if not found:
        return None
    return read_tag(place, found[0][1]) or "tables that are not of this project"


def _schemas(connection: Connection[Any], place: str | None = None) -> list[tuple[str, str | None]]:
    """Return ``(schema, comment)`` of one schema, or of all whose names begin as ours do."""
    named = "nspname = %s" if place is not None else r"nspname LIKE 'dqa\_%%' ORDER BY nspname"
    return connection.execute(
        f"SELECT nspname, obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE {named}",  # noqa: S608
        (place,) if place is not None else (),
    ).fetchall()


def _lock(connection: Connection[Any], place: str) -> None:
    """Keep others of this project from the place until the transaction ends."""
    connection.execute(f"SET LOCAL lock_timeout = '{_LOCK_SECONDS}s'")
    connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (place,))


def _url(location: str) -> tuple[URL, str | None]:
    """Return the URL for SQLAlchemy, and the schema that the location names in its query."""
    require_driver("psycopg", "postgres")
    url = parsed(location).set(drivername="postgresql+psycopg")
    place = url.query.get("schema")
    if place is not None and not isinstance(place, str):
        raise UsageError(f"{shown(url)} names several schemas; name one.")
    return url.difference_update_query(["schema"]), place or None


def _connected(url: URL) -> Connection[Any]:
    """Connect outside of any pool, for what is no query."""
    import psycopg

    arguments, options = url.get_dialect()().create_connect_args(url)
    try:
        connection = psycopg.connect(
            *arguments, **{**options, "autocommit": True, "connect_timeout": _CONNECT_SECONDS}
        )
    except psycopg.OperationalError as error:
        problem = one_line(error).rpartition("FATAL: ")
        if problem[1]:
            raise UsageError(
                f"{shown(url)} does not let you in: {problem[2].strip()}. "
                "Check user, password and the database's name."
            ) from None
        raise DatabaseUnavailableError(f"{shown(url)} cannot be reached: {problem[2]}.") from None
    except psycopg.Error as error:
        raise UsageError(f"{shown(url)} cannot be used: {one_line(error)}.") from None
    version = connection.info.server_version
    if version < _LEAST * 10_000:
        connection.close()
        raise UsageError(
            f"{shown(url)} is PostgreSQL {version // 10_000}; at least {_LEAST} is needed."
        )
    return connection


@contextmanager
def _failures(url: URL, place: str | None) -> Iterator[None]:
    """Say what the server's errors mean to who loads."""
    import psycopg

    where = f"'{place}' in {shown(url)}" if place else shown(url)
    try:
        yield
    except psycopg.Error as error:
        if _code(error) in _REFUSED:
            raise UsageError(
                f"{where} cannot be written: {_said(error)}. Ask for the right to make schemas: "
                "GRANT CREATE ON DATABASE."
            ) from error
        full = " The server has no room left." if _code(error) == "53100" else ""
        raise DatabaseUnavailableError(f"{where} failed: {_said(error)}.{full}") from error


BACKEND: Backend = PostgresBackend()
