"""SQLite: files, and situations in memory that all threads share.

Booleans are what SQLite makes of them: a BOOLEAN column holds and shows 0 or 1, and compares with
TRUE and FALSE. Declared foreign keys describe the data and are not enforced.

Every connection is opened read-only, with writing switched off in the session and an authorizer
that knows nothing but reading: whatever passes the guard by mistake still cannot write.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from time import monotonic
from typing import cast

from sqlalchemy import QueuePool, create_engine
from sqlalchemy.pool import PoolProxiedConnection

from dqa.core.database import Database, Kind, Limits
from dqa.core.errors import (
    DatabaseUnavailableError,
    DataError,
    DqaError,
    RefusedStatementError,
    StatementError,
    UsageError,
)
from dqa.core.situation import Situation
from dqa.databases import hints
from dqa.databases.base import Backend, Examination, Loaded
from dqa.databases.locations import existing_file, is_ours, new_or_existing_file
from dqa.databases.relational import NotUnderstoodError, PooledDatabase, timed_out
from dqa.databases.relational_writer import TAG_COLUMNS, TAG_TABLE, in_the_way, tag_of

__all__ = ["BACKEND", "SqliteBackend", "SqliteDatabase"]

_SUFFIXES = (".db", ".sqlite", ".sqlite3")
_STEPS = 20_000
"""Virtual machine steps between two looks at the clock: a fraction of a millisecond."""
_LARGEST = 16_000_000
"""Bytes of the largest text or binary a statement may build."""

_UNAVAILABLE = frozenset(
    {
        *(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT),
        *(sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FULL),
    }
)
_REFUSED = frozenset({sqlite3.SQLITE_AUTH, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM})
_UNKNOWN = re.compile(r"no such (?:column|table): (.+)")
_NOT_UNDERSTOOD = re.compile(r"^no such function|syntax error|^unrecognized token")

_READING = frozenset(
    {
        *(sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION),
        sqlite3.SQLITE_RECURSIVE,
    }
)
_DESCRIBING = frozenset(
    {
        *("foreign_key_list", "index_info", "index_list", "table_info", "table_list"),
        *("table_xinfo", "read_uncommitted"),
    }
)
"""PRAGMAs that describe; the last one without an argument, as SQLAlchemy asks at the start."""
_LOADING = frozenset({"load_extension", "fts3_tokenizer"})

_numbers = count(1)


class SqliteDatabase(PooledDatabase):
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
    def _limited(self, connection: PoolProxiedConnection, limits: Limits) -> Iterator[None]:
        driver = cast("sqlite3.Connection", connection.driver_connection)
        deadline = monotonic() + limits.seconds
        driver.set_progress_handler(lambda: monotonic() > deadline, _STEPS)
        try:
            yield
        finally:
            driver.set_progress_handler(None, 0)

    def _meaning(self, error: Exception, limits: Limits) -> DqaError:
        problem = str(error).rstrip(".")
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_INTERRUPT:
            return timed_out(limits)
        if code in _REFUSED or problem.startswith("not authorized"):
            return RefusedStatementError(
                f"The statement was not run: {problem}; this database can only be read."
            )
        if code in _UNAVAILABLE:
            return DatabaseUnavailableError(f"Database '{self.name}' failed: {problem}.")
        unknown = _UNKNOWN.fullmatch(problem)
        if unknown is not None:
            return StatementError(hints.with_tables(problem, unknown[1], self.schema()))
        not_understood = _NOT_UNDERSTOOD.search(problem) is not None
        return (NotUnderstoodError if not_understood else StatementError)(f"{problem}.")


def _connector(uri: str) -> Callable[[], sqlite3.Connection]:
    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.execute("PRAGMA query_only = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.set_authorizer(_authorize)
        return connection

    return connect


def _authorize(
    action: int, first: str | None, second: str | None, _schema: str | None, _trigger: str | None
) -> int:
    """Allow what reads. SQLite asks while it compiles a statement, before anything runs."""
    if action == sqlite3.SQLITE_FUNCTION:
        allowed = (second or "").lower() not in _LOADING
    elif action == sqlite3.SQLITE_PRAGMA:
        allowed = (first or "").lower() in _DESCRIBING and (
            first != "read_uncommitted" or second is None
        )
    else:
        allowed = action in _READING
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


class SqliteBackend:
    """Opens SQLite files, and loads situations into new ones or into memory."""

    name = "sqlite"
    kind: Kind = "relational"
    dialect = "sqlite"
    embedded = True

    def accepts(self, location: str) -> bool:
        """Whether `location` is a ``sqlite:///`` URL, an SQLite file, or named like one."""
        return is_ours(location, "sqlite", _SUFFIXES)

    def open(self, location: str) -> Database:
        """Open an existing file read-only.

        Raises
        ------
        UsageError
            There is no such file.
        DataError
            The file is no SQLite database.
        """
        path = existing_file(location, "sqlite")
        database = SqliteDatabase(f"{path.absolute().as_uri()}?mode=ro", str(path))
        try:
            database.schema()
        except DatabaseUnavailableError as error:
            database.close()
            raise DataError(f"'{path}' cannot be read as an SQLite database: {error}") from error
        return database

    def load(
        self, situation: Situation, location: str | None = None, replace: str | None = None
    ) -> Database:
        """Write a situation into memory, or into a file of its own, and open that read-only.

        A file is a place: `replace` names it as `location` does.

        Raises
        ------
        UsageError
            Something else is at `location` and `replace` does not name it, or its folder is
            missing.
        """
        from dqa.databases.sqlite.writer import write, write_file

        if location is not None:
            path = new_or_existing_file(location, "sqlite")
            tag = tag_of(situation, str(path))
            if not _is(_held(path), tag):
                named = replace is not None and _same(replace, path)
                try:
                    write_file(situation, path, tag, named)
                except FileExistsError:
                    held = _held(path)  # perhaps what another has just loaded
                    if not _is(held, tag):
                        what = held if isinstance(held, str) else f"situation '{held.name}'"
                        raise in_the_way(str(path), what) from None
            return self.open(str(path))
        # The memdb file system shares a database among the connections of this process without
        # the locks of SQLite's shared cache; a name is used once.
        uri = f"file:/dqa-{next(_numbers)}?vfs=memdb"
        keeper = sqlite3.connect(uri, uri=True, check_same_thread=False)
        try:
            write(situation, keeper)
        except DataError:
            keeper.close()
            raise
        return SqliteDatabase(f"{uri}&mode=ro", situation.name, keeper)

    def loaded(self, location: str) -> tuple[Loaded, ...]:
        """Return the situation that the file holds, if it holds one."""
        held = _held(existing_file(location, "sqlite"))
        return (held,) if isinstance(held, Loaded) else ()

    def examine(self, location: str | None = None) -> Examination:
        """Open and look: `DqaError` says what is wrong with the file."""
        version = f"SQLite {sqlite3.sqlite_version}"
        if location is None:
            return Examination(version)
        with closing(self.open(location)):
            path = existing_file(location, "sqlite")
            return Examination(version, may_write=os.access(path, os.W_OK))

    def unload(self, location: str, place: str) -> Loaded:
        """Delete a file and return what it held; `UsageError` where it holds no situation."""
        path = existing_file(location, "sqlite")
        held = _held(path)
        if not isinstance(held, Loaded) or not _same(place, path):
            raise UsageError(f"'{place}' in {path} holds no situation.")
        path.unlink()
        return held


def _is(held: Loaded | str, tag: Loaded) -> bool:
    return isinstance(held, Loaded) and held.content_hash == tag.content_hash


def _same(place: str, path: Path) -> bool:
    return Path(place.removeprefix("sqlite:///")).resolve() == path.resolve()


def _held(path: Path) -> Loaded | str:
    """Return the situation that a file holds, or in words what else it is."""
    if not path.exists():
        return "nothing"
    try:
        with closing(
            sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        ) as connection:
            row = connection.execute(
                f"SELECT {', '.join(TAG_COLUMNS)} FROM {TAG_TABLE}"  # noqa: S608
            ).fetchone()
    except sqlite3.Error:
        row = None  # another database, or none
    return "what is not of this project" if row is None else Loaded(str(path), *row)


BACKEND: Backend = SqliteBackend()
