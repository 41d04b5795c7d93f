"""A read-only SQLite database: a file, or a situation in memory that all threads share.

Booleans are what SQLite makes of them: a BOOLEAN column holds and shows 0 or 1, and compares with
TRUE and FALSE. Declared foreign keys describe the data and are not enforced.

Every connection is opened read-only, with writing switched off in the session and an authorizer
that knows nothing but reading: whatever passes the guard by mistake still cannot write.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from time import monotonic
from typing import cast

from sqlalchemy import QueuePool, create_engine
from sqlalchemy.pool import PoolProxiedConnection

from dqa.core.database import Limits
from dqa.core.schema import DatabaseSchema
from dqa.databases.failures import with_version
from dqa.databases.faults import Failure, Fault
from dqa.databases.relational import PooledSession
from dqa.databases.sqlite.codes import fault_of
from dqa.databases.sqlite.describing import read_schema
from dqa.databases.tables import quote

_STEPS = 20_000
"""Virtual machine steps between two looks at the clock: a fraction of a millisecond."""
_LARGEST = 16_000_000
"""Bytes of the largest text or binary a statement may build."""

_UNKNOWN = re.compile(r"no such (?:column|table): (.+)")
_NOT_UNDERSTOOD = re.compile(r"^no such function|syntax error|^unrecognized token")
_TEXT = partial(str, encoding="utf-8", errors="surrogateescape")
"""Keeps the bytes of a text that is no UTF-8, which a file may hold, for `values.readable`."""

_READING = frozenset(
    {
        *(sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION),
        sqlite3.SQLITE_RECURSIVE,
    }
)
_OF_TABLES = frozenset(
    {
        *("foreign_key_check", "foreign_key_list", "index_info", "index_list", "index_xinfo"),
        *("table_info", "table_list", "table_xinfo"),
    }
)
"""PRAGMAs that describe what their argument names."""
_DESCRIBING = frozenset(
    {
        *("application_id", "collation_list", "compile_options", "database_list", "encoding"),
        *("data_version", "freelist_count", "function_list", "module_list", "page_count"),
        "page_size",
        *("pragma_list", "read_uncommitted", "schema_version", "user_version"),
    }
)
"""PRAGMAs that describe, and that would set something if they had an argument. A full-text index
asks for the data's version itself, whenever it is read."""
_LOADING = frozenset({"load_extension", "fts3_tokenizer"})
_TABLE_FUNCTIONS = (
    *("json_each", "json_tree"),
    *(f"pragma_{name}" for name in sorted(_OF_TABLES)),
    *("pragma_collation_list", "pragma_compile_options", "pragma_database_list"),
    *("pragma_function_list", "pragma_module_list", "pragma_page_count", "pragma_pragma_list"),
)
"""Used once by every connection. SQLite declares them at their first use, in a way that an
authorizer cannot tell from a change of the schema, so they have to be there before it is."""
_VIRTUAL = "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND rootpage = 0"
_MODULES = re.compile(r"\bUSING\s+(?:fts[345]|rtree(?:_i32)?|geopoly)\b", re.IGNORECASE)
"""What SQLite brings along to search texts and places; nothing else of it reads but its tables."""


class SqliteSession(PooledSession):
    """A read-only SQLite database.

    Parameters
    ----------
    uri
        SQLite's own URI of the database, which every connection opens.
    name
        What to call it.
    keeper
        A connection that keeps a database in memory alive; closed with this object.
    """

    language = "SQL (SQLite)"

    def __init__(self, uri: str, name: str, keeper: sqlite3.Connection | None = None) -> None:
        engine = create_engine(
            "sqlite://", creator=_connector(uri), poolclass=QueuePool, pool_size=0
        )
        super().__init__(engine, "sqlite", name)
        self._keeper = keeper

    def close(self) -> None:
        """Close all connections; a database in memory is gone."""
        super().close()
        if self._keeper is not None:
            self._keeper.close()

    @contextmanager
    def _limit(self, connection: PoolProxiedConnection, limits: Limits) -> Iterator[None]:
        driver = cast("sqlite3.Connection", connection.driver_connection)
        deadline = monotonic() + limits.seconds
        driver.set_progress_handler(lambda: monotonic() > deadline, _STEPS)
        try:
            yield
        finally:
            driver.set_progress_handler(None, 0)

    def _stopper(self, connection: PoolProxiedConnection) -> Callable[[], None]:
        return cast("sqlite3.Connection", connection.driver_connection).interrupt

    def _described(self) -> DatabaseSchema:
        with self._engine.connect() as connection:
            driver = connection.connection.driver_connection
            return read_schema(cast("sqlite3.Connection", driver))

    def _failure(self, error: Exception) -> Failure:
        problem = str(error).rstrip(".")
        fault = fault_of(getattr(error, "sqlite_errorcode", 0))
        if fault is Fault.REFUSED or problem.startswith("not authorized"):
            return Failure(Fault.REFUSED, f"{problem}; this database can only be read")
        unknown = _UNKNOWN.fullmatch(problem)
        if unknown is not None:
            return Failure(Fault.UNKNOWN_NAME, problem, unknown[1])
        if fault is Fault.STATEMENT and _NOT_UNDERSTOOD.search(problem):
            fault = Fault.NOT_UNDERSTOOD
            problem = with_version(problem, f"SQLite {sqlite3.sqlite_version}")
        return Failure(fault, problem)


def _connector(uri: str) -> Callable[[], sqlite3.Connection]:
    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
        connection.text_factory = _TEXT
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.execute("PRAGMA query_only = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
        for name in _TABLE_FUNCTIONS:
            with suppress(sqlite3.OperationalError):  # what an older SQLite has not
                connection.execute(f"SELECT 1 FROM {name} LIMIT 0").fetchall()  # noqa: S608
        _declare(connection)
        connection.set_authorizer(_authorize)
        return connection

    return connect


def _declare(connection: sqlite3.Connection) -> None:
    """Use every full-text index and R-tree once: it is declared as the table functions are."""
    with suppress(sqlite3.OperationalError):  # told where the schema is read
        for name, text in connection.execute(_VIRTUAL).fetchall():
            if _MODULES.search(text or "") is not None:
                # Where it is damaged, or its name is no text, it has no columns.
                with suppress(sqlite3.DatabaseError, UnicodeError):
                    table = quote("sqlite", name)
                    connection.execute(f"SELECT 1 FROM {table} LIMIT 0").fetchall()  # noqa: S608


def _authorize(
    action: int, first: str | None, second: str | None, _schema: str | None, _trigger: str | None
) -> int:
    """Allow what reads. SQLite asks while it compiles a statement, before anything runs."""
    if action == sqlite3.SQLITE_FUNCTION:
        allowed = (second or "").lower() not in _LOADING
    elif action == sqlite3.SQLITE_PRAGMA:
        name = (first or "").lower()
        allowed = name in _OF_TABLES or (name in _DESCRIBING and second is None)
    else:
        allowed = action in _READING
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY
