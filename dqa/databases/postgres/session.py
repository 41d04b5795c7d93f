"""A read-only PostgreSQL database, or one schema of it, over psycopg.

The search path of a connection to a schema holds nothing else. Sessions are read-only and commit by
themselves, so every statement is a read-only transaction without a round trip more. The server
tells its clients when a session's default changes, so a session that somehow could write is noticed
before the next statement, at no cost. Statements are sent by the extended protocol, which takes one
at a time; rows are streamed, and a statement whose result is cut is cancelled.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from typing import Any, cast

import psycopg
from psycopg import Connection, generators
from psycopg.adapt import Transformer
from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus
from sqlalchemy import URL, create_engine
from sqlalchemy.pool import PoolProxiedConnection

from dqa.core.database import Limits, Rows
from dqa.core.errors import StatementError
from dqa.databases.failures import one_line
from dqa.databases.faults import Failure, Fault
from dqa.databases.postgres.codes import fault_of
from dqa.databases.postgres.loaders import adapters
from dqa.databases.relational import PooledSession, discard
from dqa.databases.rows import collect
from dqa.databases.servers import POOL, display_name
from dqa.databases.tables import quote

CONNECT_SECONDS = 10
_CANCEL_SECONDS = 2.0
_BATCH = 256
_SESSION = (
    # The guard reads texts as the first one says, whatever the server's own setting is.
    "SET standard_conforming_strings = on; SET timezone = 'UTC'; "
    "SET intervalstyle = postgres; "
    "SET default_transaction_read_only = on; SET search_path TO {}"
)

_UNKNOWN = re.compile(
    r'column (?:reference )?"?(?P<column>[^" ]+)"? does not exist|relation "(?P<table>[^"]+)"'
)


class PostgresSession(PooledSession):
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
        engine = create_engine(
            url,
            connect_args={
                "connect_timeout": CONNECT_SECONDS,
                "autocommit": True,
                "context": adapters(),
            },
            pool_reset_on_return=None,  # there is nothing to roll back
            **POOL,
        )
        super().__init__(engine, "postgres", display_name(url, namespace), namespace)
        if namespace is not None:
            self.schemas = self.search_path = (namespace,)

    @contextmanager
    def _limit(self, connection: PoolProxiedConnection, limits: Limits) -> Iterator[None]:
        driver = cast("Connection[Any]", connection.driver_connection)
        self._prepare(connection, driver, limits)
        with self._watch(connection, limits, lambda: _stop(driver)):
            yield

    def _prepare(
        self, connection: PoolProxiedConnection, driver: Connection[Any], limits: Limits
    ) -> None:
        """Send what differs from what the session has."""
        settings = []
        info = connection.info
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

    def _rows(
        self, connection: PoolProxiedConnection, statement: str, limits: Limits, started: float
    ) -> Rows:
        driver = cast("Connection[Any]", connection.driver_connection)
        results = _streamed(driver, statement, min(limits.rows + 1, _BATCH))
        try:
            columns, first = next(results)
            if columns is None:
                # No query: whatever it did to the session ends with it.
                discard(connection)
                raise StatementError("The statement returned no rows; write a query that does.")
            rows = chain(first, (row for _, more in results for row in more))
            return collect(
                *(columns, rows, limits, started),
                failures=self._driver_error,
                stop=self._stopper(connection),
            )
        finally:
            results.close()

    def _stopper(self, connection: PoolProxiedConnection) -> Callable[[], None]:
        return partial(_cancel, cast("Connection[Any]", connection.driver_connection))

    def _failure(self, error: Exception) -> Failure:
        code, problem = code_of(error), message_of(error)
        fault = fault_of(code) if code else _without_code(error)
        unknown = _UNKNOWN.match(problem) if fault is Fault.UNKNOWN_NAME else None
        return Failure(fault, problem, unknown and (unknown["column"] or unknown["table"]))


def _without_code(error: Exception) -> Fault:
    """Return what an error of the driver's own means."""
    # Values that Python does not have, and questions that cannot be sent.
    is_told = isinstance(error, (psycopg.DataError, psycopg.ProgrammingError))
    return Fault.STATEMENT if is_told else Fault.UNCLEAR


def _streamed(
    driver: Connection[Any], statement: str, size: int
) -> Generator[tuple[list[str] | None, list[tuple[Any, ...]]], None, None]:
    """Yield the columns and so many rows at once; closing it cancels what is left.

    As `psycopg.Cursor.stream`, which takes twice the time of a small query and tells no columns
    where there are no rows. The columns are None where the statement is no query.
    """
    wire, rows = driver.pgconn, Transformer(driver)
    names: list[str] | None = None
    with driver.lock:
        wire.send_query_params(statement.encode(), None)
        wire.set_chunked_rows_mode(size)
        is_over = False
        try:
            # Its own `get_result` would wait with Python's lock held: no thread would go on, not
            # even the one that is to end the statement.
            driver.wait(generators.send(wire))
            while result := driver.wait(generators.fetch(wire)):
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
                    names = [
                        (result.fname(n) or b"").decode(errors="replace")
                        for n in range(result.nfields)
                    ]
                yield names, rows.load_rows(0, result.ntuples, tuple)
            is_over = True
        finally:
            if not is_over:
                _cancel(driver)
                while wire.get_result():
                    pass


def _cancel(driver: Connection[Any]) -> None:
    with suppress(psycopg.Error):
        driver.cancel_safe(timeout=_CANCEL_SECONDS)


def _stop(driver: Connection[Any]) -> None:
    """Stop what a server does not stop by itself, and stop waiting for it."""
    _cancel(driver)
    with (
        suppress(OSError, psycopg.Error),
        socket.socket(fileno=os.dup(driver.pgconn.socket)) as wire,
    ):
        wire.shutdown(socket.SHUT_RDWR)


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
