"""A read-only PostgreSQL database, or one schema of it, over psycopg.

The search path of a connection to a schema holds nothing else. Sessions are read-only and commit by
themselves, so every statement is a read-only transaction without a round trip more. The server
tells its clients when a session's default changes, so a session that somehow could write is noticed
before the next statement, at no cost. Statements are sent by the extended protocol, which takes one
at a time; rows are streamed, and a statement whose result is cut is cancelled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from contextlib import suppress
from itertools import chain
from typing import Any, cast
from uuid import uuid4

import psycopg
from psycopg import Connection, generators, waiting
from psycopg.adapt import Transformer
from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.pq.abc import PGconn
from sqlalchemy import URL, create_engine
from sqlalchemy.pool import PoolProxiedConnection

from dqa.core.database import Limits, Rows
from dqa.core.errors import DatabaseUnavailableError, StatementError
from dqa.core.examination import Examination
from dqa.databases.examining import asker
from dqa.databases.failures import one_line, with_version
from dqa.databases.faults import Failure, Fault
from dqa.databases.leaving import shut
from dqa.databases.postgres.advice import examine
from dqa.databases.postgres.codes import fault_of
from dqa.databases.postgres.loaders import adapters
from dqa.databases.rows import collect
from dqa.databases.server_session import ServerSession
from dqa.databases.servers import POOL, display_name
from dqa.databases.tables import quote
from dqa.databases.watchdog import WATCHDOG

CONNECT_SECONDS = 10
_CANCEL_SECONDS = 0.5
_BATCH = 8
"""Rows that are held at once: few, as each may have many megabytes; more are hardly faster."""
_INTERVAL = 0.1
"""Seconds between two looks for signals such as Ctrl-C while a server is waited for."""
_END = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %s AND application_name = %s
"""
_SESSION = (
    # The guard reads texts as the first one says, whatever the server's own setting is.
    "SET standard_conforming_strings = on; SET timezone = 'UTC'; "
    "SET intervalstyle = postgres; "
    "SET default_transaction_read_only = on; SET search_path TO {}"
)

_QUERY = re.compile(r"[\s(]*+(?:select|with|values|table)\b", re.IGNORECASE)
"""What changes nothing in a read-only session. Whatever else there is has a transaction of its own,
which is undone: EXPLAIN ANALYZE makes tables and materialized views in such a session, too."""
_SYNTAX = "42601"
_PROTOCOL = "08P01"
"""What a statement with parameters violates, for it is sent with none."""
_OPEN = frozenset({TransactionStatus.INTRANS, TransactionStatus.INERROR})
_UNKNOWN = re.compile(
    r'column (?:reference )?"?(?P<column>[^" ]+)"? does not exist|relation "(?P<table>[^"]+)"'
)


class PostgresSession(ServerSession):
    """A read-only PostgreSQL database, or one schema of it.

    Parameters
    ----------
    url
        Where it is.
    namespace
        The schema to show, and to find unqualified names in; None for the user's own.
    """

    language = "SQL (PostgreSQL)"

    def __init__(self, url: URL, namespace: str | None = None) -> None:
        given = url.query.get("application_name")
        # By its name a connection is known for this session's when its number has been given anew.
        self._application = given if isinstance(given, str) else f"dqa-{uuid4().hex[:16]}"
        engine = create_engine(
            url,
            connect_args={
                "connect_timeout": CONNECT_SECONDS,
                "autocommit": True,
                "application_name": self._application,
                "context": adapters(),
            },
            pool_reset_on_return=None,  # there is nothing to roll back
            **POOL,
        )
        self._url = url
        self._version = ""
        super().__init__(engine, "postgres", display_name(url, namespace), namespace)
        if namespace is not None:
            self.schemas = self.search_path = (namespace,)

    def examine(self) -> Examination:
        """Return what the server says of itself, of the role and of its limits."""
        return examine(asker(self.run))

    def _prepare(self, connection: PoolProxiedConnection, limits: Limits) -> None:
        """Send what differs from what the session has."""
        settings = []
        info, driver = connection.info, _driver_of(connection)
        if driver.info.parameter_status("default_transaction_read_only") != "on" or (
            "limit" not in info
        ):
            path = quote("postgres", self._shown) if self._shown else "DEFAULT"
            settings.append(_SESSION.format(path))
        limit = max(round(limits.seconds * 1_000), 1)
        if info.get("limit") != limit:
            settings.append(f"SET statement_timeout = {limit}")
        if settings:
            driver.execute("; ".join(settings).encode())
            info["limit"] = limit

    def _mark_of(self, connection: PoolProxiedConnection) -> str:
        info = _driver_of(connection).info
        self._version = (info.parameter_status("server_version") or "").partition(" ")[0]
        return f"{info.backend_pid} {self._application}"

    def _descriptor(self, connection: PoolProxiedConnection) -> int:
        return _descriptor_of(_driver_of(connection))

    def _end(self, mark: str, tell: Callable[[], None]) -> None:
        number, _, application = mark.partition(" ")
        arguments, given = self._url.get_dialect()().create_connect_args(self._url)
        options = {**given, "autocommit": True, "connect_timeout": CONNECT_SECONDS}
        try:
            with psycopg.connect(*arguments, **options) as other:
                tell()
                other.execute(_END, (int(number), application))
        except psycopg.OperationalError as error:
            raise DatabaseUnavailableError(str(error)) from error
        except psycopg.Error:
            return

    def _rows(
        self, connection: PoolProxiedConnection, statement: str, limits: Limits, started: float
    ) -> Rows:
        driver = _driver_of(connection)
        is_undone = _QUERY.match(statement) is None
        if is_undone:
            driver.execute(b"BEGIN READ ONLY")
        results = _streamed(driver, statement)
        try:
            columns, first = next(results)
            if columns is None:
                self._drop_later(connection)  # what it did to the session ends with it
                raise StatementError("The statement returned no rows; write a query that does.")
            rows = chain(first, (row for _, more in results for row in more))
            return collect(
                *(columns, rows, limits, started),
                failures=self._driver_error,
                stop=self._stopper(connection),
            )
        finally:
            results.close()
            if is_undone and driver.pgconn.transaction_status in _OPEN:
                with suppress(psycopg.Error):
                    driver.execute(b"ROLLBACK")
            if driver.pgconn.transaction_status != TransactionStatus.IDLE:
                self._drop_later(connection)

    def _failure(self, error: Exception) -> Failure:
        code, problem = code_of(error), message_of(error)
        fault = fault_of(code) if code else _without_code(error)
        if fault is Fault.NOT_UNDERSTOOD:
            place = code == _SYNTAX and cast("psycopg.Error", error).diag.statement_position
            told = f"{problem} at character {place}" if place else problem
            problem = with_version(told, f"PostgreSQL {self._version}") if self._version else told
        if code == _PROTOCOL:
            problem = f"{problem}. Write values, where it has parameters such as $1"
        unknown = _UNKNOWN.match(problem) if fault is Fault.UNKNOWN_NAME else None
        return Failure(fault, problem, unknown and (unknown["column"] or unknown["table"]))


def _without_code(error: Exception) -> Fault:
    """Return what an error of the driver's own means."""
    # Values that Python does not have, and questions that cannot be sent.
    is_told = isinstance(error, (psycopg.DataError, psycopg.ProgrammingError))
    return Fault.STATEMENT if is_told else Fault.UNCLEAR


def _driver_of(connection: PoolProxiedConnection) -> Connection[Any]:
    return cast("Connection[Any]", connection.driver_connection)


def _descriptor_of(driver: Connection[Any]) -> int:
    try:
        return driver.pgconn.socket
    except psycopg.Error:
        return -1


def _streamed(
    driver: Connection[Any], statement: str
) -> Generator[tuple[list[str] | None, list[tuple[Any, ...]]], None, None]:
    """Yield the columns and some rows at once; closing it cancels what is left.

    As `psycopg.Cursor.stream`, which takes twice the time of a small query and tells no columns
    where there are no rows. The columns are None where the statement is no query.
    """
    wire, rows = driver.pgconn, Transformer(driver)
    names: list[str] | None = None
    with driver.lock:
        wire.send_query_params(statement.encode(), None)
        wire.set_chunked_rows_mode(_BATCH)
        try:
            _wait(wire, generators.send(wire))
            while result := _fetched(wire):
                if result.status == ExecStatus.FATAL_ERROR:
                    _fetched(wire)  # nothing more
                    raise error_from_result(result)
                if result.status not in {ExecStatus.TUPLES_OK, ExecStatus.TUPLES_CHUNK}:
                    wire.finish()  # a COPY would go on for ever
                    yield None, []
                    return
                rows.set_pgresult(result)
                if names is None:
                    names = [
                        (result.fname(n) or b"").decode(errors="replace")
                        for n in range(result.nfields)
                    ]
                yield names, rows.load_rows(0, result.ntuples, tuple)
        finally:
            if wire.transaction_status == TransactionStatus.ACTIVE:
                _cancel(driver)


def _fetched(wire: PGconn) -> Any:  # noqa: ANN401
    return _wait(wire, generators.fetch(wire))


def _wait(wire: PGconn, steps: Any) -> Any:  # noqa: ANN401  (a generator of the driver's)
    """Wait for the server, as nothing of libpq's own does: without Python's lock.

    Were it held, no thread would go on, not even the one that is to end the statement. Ctrl-C ends
    the waiting, where `Connection.wait` would first wait for the server to take notice.
    """
    return waiting.wait(steps, wire.socket, _INTERVAL)


def _cancel(driver: Connection[Any]) -> None:
    """Cancel what runs, and read what is on its way; after some time, break the connection."""
    wire = driver.pgconn
    with (
        suppress(psycopg.Error),
        WATCHDOG.after(_CANCEL_SECONDS, lambda: shut(_descriptor_of(driver))),
    ):
        driver.cancel_safe(timeout=_CANCEL_SECONDS)
        while _fetched(wire):
            pass


def code_of(error: Exception) -> str:
    """Return the server's code of an error, or nothing."""
    return (error.sqlstate or "") if isinstance(error, psycopg.Error) else ""


def message_of(error: Exception) -> str:
    """Return the server's message without the statement that it quotes, with its hint."""
    told = error.diag if isinstance(error, psycopg.Error) else None
    if told is None or told.message_primary is None:
        return one_line(error)
    hint = f". {told.message_hint}" if told.message_hint else ""
    return one_line(told.message_primary + hint)
