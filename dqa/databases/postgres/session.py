"""Read-only PostgreSQL databases, or some schemas of one, over psycopg.

The search path holds only the schemas that are shown. Sessions are read-only and commit each
statement, so every statement is a read-only transaction. The server reports a change of that
setting, so a session that could write is noticed before the next statement. Statements are sent by
the extended protocol, which takes one at a time. Rows are streamed, and a statement is cancelled if
its result is cut.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from typing import Any, cast
from uuid import uuid4

import psycopg
from psycopg import Connection as Driver
from psycopg import generators, waiting
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap, Loader, Transformer
from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.pq.abc import PGconn
from psycopg.types.json import set_json_loads
from psycopg.types.string import TextLoader
from sqlalchemy import URL

from dqa.core.database import Limits
from dqa.core.errors import StatementError
from dqa.databases.doctor import asker, examine_postgres
from dqa.databases.errors import Failure, Fault, one_line
from dqa.databases.postgres.describing import describe
from dqa.databases.rows import Deadline
from dqa.databases.servers import display_name
from dqa.databases.sql_session import (
    Connection,
    EngineSettings,
    Result,
    ServerSettings,
    SqlSession,
    shut,
)
from dqa.databases.tables import quote
from dqa.databases.values import iso_text, loaded

CONNECT_SECONDS = 10
_CANCEL_SECONDS = 0.5
_BATCH = 128
"""Rows that the driver holds at once."""
_INTERVAL = 0.1
"""Seconds between two looks for signals such as Ctrl-C during a wait."""
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
_OPEN = frozenset({TransactionStatus.INTRANS, TransactionStatus.INERROR})
_UNKNOWN = re.compile(
    r'column (?:reference )?"?(?P<column>[^" ]+)"? does not exist|relation "(?P<table>[^"]+)"'
)

_CODES: dict[Fault, str] = {
    Fault.REFUSED: "25001 25006 42501",
    Fault.OURS: "25P01 25P02",
    Fault.CONNECTION: "08 25P03 57P01 57P02 57P03 57P05",
    Fault.TIME: "25P04 57014",
    Fault.NOT_UNDERSTOOD: "0A 42601 42704 42883 42P02",
    Fault.UNKNOWN_NAME: "42703 42P01",
    Fault.MEMORY: "53200 HV001",
    Fault.SERVER: "53300 57P04 58030 F0 XX001 XX002",
    Fault.STATEMENT: "00 01 02 03 09 0B 0F 0L 0P 0Z 10 20 21 22 23 24 25 26 27 2B 2D 2F 34 38 39 "
    "3B 3D 3F 42 44 53400 54 55 P0",
    Fault.PASSING: "40 55P03 72",
    Fault.ACCESS: "28",
    # Parameters without values; no room left; the system; a foreign server; internal errors.
    Fault.UNCLEAR: "08P01 53 57 58 HV XX",
}
"""Codes, and classes of codes by their first two characters,
https://www.postgresql.org/docs/current/errcodes-appendix.html"""
_FAULTS = {code: fault for fault, codes in _CODES.items() for code in codes.split()}


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
        server=ServerSettings(
            identify=lambda driver: f"{driver.info.backend_pid} {application}",
            descriptor=_descriptor,
            end=partial(_end, url),
        ),
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


def _descriptor(driver: Driver[Any]) -> int:
    try:
        return driver.pgconn.socket
    except psycopg.Error:
        return -1


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
    driver = connection.driver
    is_undone = _QUERY.match(statement) is None
    if is_undone:
        driver.execute(b"BEGIN READ ONLY")
    results = _streamed(driver, statement)
    try:
        columns, first = next(results)
        if columns is None:
            connection.is_used_up = True  # its effects end with the session
            raise StatementError("The statement returned no rows; write a query that does.")
        yield columns, chain(first, (row for _, more in results for row in more))
    finally:
        results.close()
        if is_undone and driver.pgconn.transaction_status in _OPEN:
            with suppress(psycopg.Error):
                driver.execute(b"ROLLBACK")
        if driver.pgconn.transaction_status != TransactionStatus.IDLE:
            connection.is_used_up = True


def _streamed(
    driver: Driver[Any], statement: str
) -> Generator[tuple[list[str] | None, list[tuple[Any, ...]]], None, None]:
    """Yield the columns and some rows at once; closing it cancels the rest.

    `psycopg.Cursor.stream` takes twice the time of a small query, and names no columns of a result
    without rows. The columns are None after a statement that is not a query.
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
                    _fetched(wire)  # the end of the results
                    raise error_from_result(result)
                if result.status not in {ExecStatus.TUPLES_OK, ExecStatus.TUPLES_CHUNK}:
                    wire.finish()  # a COPY would continue
                    yield None, []
                    return
                rows.set_pgresult(result, set_loaders=names is None)
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


def _wait(wire: PGconn, steps: Any) -> Any:  # noqa: ANN401  (a generator of the driver)
    """Wait for the server without Python's lock, so that another thread can end the statement.

    Ctrl-C ends the wait at once; `Connection.wait` would wait for the server's answer first.
    """
    return waiting.wait(steps, wire.socket, _INTERVAL)


def _cancel(driver: Driver[Any]) -> None:
    """Cancel the statement and read its rest; break the connection if that is slow."""
    wire = driver.pgconn
    with (
        suppress(psycopg.Error),
        Deadline(_CANCEL_SECONDS, lambda: shut(_descriptor(driver))),
    ):
        driver.cancel_safe(timeout=_CANCEL_SECONDS)
        while _fetched(wire):
            pass


def _failure(error: Exception, driver: Driver[Any]) -> Failure:
    code, problem = code_of(error), message_of(error)
    if code:
        fault = fault_of(code)
    elif driver.closed or driver.broken:
        fault = Fault.CONNECTION
    else:
        # Values that Python lacks, and statements that cannot be sent.
        is_statement = isinstance(error, (psycopg.DataError, psycopg.ProgrammingError))
        fault = Fault.STATEMENT if is_statement else Fault.UNCLEAR
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
