"""Open the databases in which dqa stores runs and memories: SQLite files and servers.

Several processes may write to a store at the same time.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.dialects.mysql import LONGBLOB, LONGTEXT
from sqlalchemy.exc import DataError as ValueRefusedError
from sqlalchemy.exc import InterfaceError, OperationalError, ProgrammingError, SQLAlchemyError

from dqa.core import errors
from dqa.core.files import file_errors, open_private
from dqa.core.secrets import redact
from dqa.databases.errors import one_line
from dqa.databases.servers import make_engine, parse_url

LONG_TEXT: Final = sa.Text().with_variant(LONGTEXT(), "mysql", "mariadb")
LONG_BLOB: Final = sa.LargeBinary().with_variant(LONGBLOB(), "mysql", "mariadb")
NUMBER: Final = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
"""The type of a number that the database generates."""
TABLE_OPTIONS: Final[Mapping[str, Any]] = {
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_bin",
    "mysql_engine": "InnoDB",
}
"""Options of every table. They make MySQL distinguish texts that differ only in case."""

_BUSY_SECONDS: Final = 60.0
"""The maximum number of seconds that a process waits while another process writes to a file."""
_WRITES: Final = "dqa_writes"
_PERMANENT: Final = ("readonly", "is full", "unable to open", "malformed")
"""Words in SQLite's messages about failures that a repetition cannot fix."""


@dataclass(frozen=True, slots=True)
class StoreLocation:
    """The location of a store, and how messages describe it.

    Attributes
    ----------
    url
        The URL with the password, which is never shown.
    file
        The SQLite file; None for a server.
    what
        The noun that messages use for the store, such as ``"store"``.
    hint
        A sentence about the location to use instead.
    after_outage
        A sentence about the content of the store after an outage of its server.
    """

    url: str = field(repr=False)
    file: Path | None
    what: str
    hint: str
    after_outage: str = ""

    @property
    def shown(self) -> str:
        """The location without the password."""
        return redact(self.url) if self.file is None else str(self.file)


def store_address(text: str, what: str) -> tuple[str, Path | None]:
    """Return the URL of a store with its password, and its SQLite file (None for a server).

    Parameters
    ----------
    text
        The path of a file, or the URL of a SQL database.
    what
        See `StoreLocation`.

    Raises
    ------
    UsageError
        The URL is malformed, or names a database in memory.
    """
    if "://" not in text:
        return text, Path(text)
    url = parse_url(text)
    whole = url.render_as_string(hide_password=False)
    if url.get_backend_name() != "sqlite":
        return whole, None
    if not url.database or url.database == ":memory:":
        raise errors.UsageError(
            f"A database in memory is lost when dqa ends. Name a file, such as {what}.db."
        )
    return whole, Path(url.database)


def open_store(location: StoreLocation, *, writing: bool) -> sa.Engine:
    """Connect to a store; create a missing SQLite file for writing.

    Raises
    ------
    UsageError
        The file does not exist, or the user may not write to it.
    DataError
        The file is not an SQLite database.
    MissingKeyError
        The driver is not installed.
    """
    if location.file is not None:
        return _open_file(location.file, location, writing=writing)
    url = parse_url(location.url)
    engine = make_engine(url, pool_pre_ping=True, pool_size=4, max_overflow=12)
    if engine.dialect.name in {"mysql", "mariadb"}:
        sa.event.listen(engine, "connect", _refuse_long_values)
        # With the default isolation level, a process would not see new claims of other processes.
        engine = engine.execution_options(isolation_level="READ COMMITTED")
    return engine


def _refuse_long_values(connection: Any, _: object) -> None:  # noqa: ANN401
    # In another mode, a server may shorten values, so two keys could become equal.
    with closing(connection.cursor()) as cursor:
        cursor.execute("SET SESSION sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')")


@contextmanager
def write(engine: sa.Engine) -> Iterator[sa.Connection]:
    """Yield a transaction that writes. An SQLite file allows one such transaction at a time."""
    with engine.execution_options(**{_WRITES: True}).begin() as connection:
        yield connection


@contextmanager
def lock_schema(connection: sa.Connection, number: int, name: str) -> Iterator[None]:
    """Let only one process at a time change the tables of a server.

    A file needs no lock, because it has only one writer at a time.
    """
    dialect = connection.dialect.name
    if dialect == "postgresql":
        connection.execute(sa.text(f"SELECT pg_advisory_xact_lock({number})"))
        yield
    elif dialect in {"mysql", "mariadb"}:  # definitions commit automatically
        connection.execute(sa.text(f"SELECT GET_LOCK('{name}_{number}', 120)"))
        try:
            yield
            connection.execute(sa.text("COMMIT"))  # the next process must see the new rows
        finally:
            connection.execute(sa.text(f"SELECT RELEASE_LOCK('{name}_{number}')"))
    else:
        yield


def is_transient(error: SQLAlchemyError) -> bool:
    """Return whether the transaction may succeed if it is repeated."""
    return isinstance(error, OperationalError | InterfaceError) and not any(
        words in str(error.orig) for words in _PERMANENT
    )


@contextmanager
def translate_errors(location: StoreLocation, *, under_way: bool = False) -> Iterator[None]:
    """Translate the errors of a driver to errors with advice.

    Parameters
    ----------
    location
        The store.
    under_way
        Whether the store is already in use. Only then does the message about an outage contain
        `StoreLocation.after_outage`.
    """
    try:
        yield
    except SQLAlchemyError as error:
        raise _translate(location, error, under_way=under_way) from error


def _translate(
    location: StoreLocation, error: SQLAlchemyError, *, under_way: bool
) -> errors.DqaError:
    problem, shown, what = one_line(error), location.shown, location.what
    if location.file is None:
        if isinstance(error, ProgrammingError | ValueRefusedError):
            is_value = isinstance(error, ValueRefusedError)
            why = "a value does not fit (perhaps a name is too long): " if is_value else ""
            return errors.UsageError(f"{shown} cannot be used as a {what}: {why}{problem}.")
        after = f" {location.after_outage}" if under_way and location.after_outage else ""
        return errors.DatabaseUnavailableError(f"{shown} cannot be used: {problem}.{after}")
    if any(words in problem for words in ("not a database", "malformed", "encrypted")):
        problem = f"{shown} is not a {what}, or is damaged ({problem}). {location.hint}"
        return errors.DataError(problem)
    if "readonly" in problem or "read-only" in problem:
        return _may_not_write(location)
    if "is full" in problem or "I/O error" in problem:  # a write-ahead log reports an I/O error
        problem = "the disk is full or broken. Free some space, and try again"
    return errors.InfrastructureError(f"{shown} cannot be written or read: {problem}.")


def require_right(location: StoreLocation) -> None:
    """Raise `UsageError` if the user may not write to the file of a store."""
    if not may_write(location.file):
        raise _may_not_write(location)


def may_write(file: Path | None) -> bool:
    """Return whether the user may write to a file and its folder; True for a server (None)."""
    return file is None or all(os.access(path, os.W_OK) for path in (file, file.absolute().parent))


def _may_not_write(location: StoreLocation) -> errors.UsageError:
    return errors.UsageError(
        f"You may not write to {location.file}. Ask for the right to write, or choose another "
        f"{location.what}."
    )


def _open_file(file: Path, location: StoreLocation, *, writing: bool) -> sa.Engine:
    _require_file(file, location, writing=writing)
    if writing:
        require_right(location)
    mode, wal = "rw", file.with_name(f"{file.name}-wal")
    if not may_write(file):  # a file with an open journal cannot be opened as immutable
        mode = "ro" if wal.exists() and wal.stat().st_size else "ro&immutable=1"
    uri = f"file:{quote(str(file.absolute()))}?mode={mode}"

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(
            uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        if writing:  # readers do not wait, and committed transactions survive a kill
            _use_write_ahead_log(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
        else:
            connection.execute("PRAGMA query_only = ON")
        return connection

    engine = sa.create_engine("sqlite://", creator=connect, poolclass=sa.QueuePool)
    sa.event.listen(engine, "begin", _begin)
    return engine


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    # SQLite itself does not wait here for another process that creates the log of the same file.
    until, mode = time.monotonic() + _BUSY_SECONDS, None
    while mode is None:
        try:
            mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.02)


def _begin(connection: sa.Connection) -> None:
    # A transaction that reads before it writes would fail if another transaction wrote in between.
    writes = connection.get_execution_options().get(_WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _require_file(file: Path, location: StoreLocation, *, writing: bool) -> None:
    """Require an SQLite file. For writing, create a missing file that only its owner may read."""
    with file_errors(file, writing=writing):
        if not writing and not file.exists():
            raise errors.UsageError(f"{file} does not exist. {location.hint}")
        if writing:
            with suppress(FileExistsError):
                os.close(open_private(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        if not file.is_file():
            raise errors.UsageError(f"{file} is not a file. {location.hint}")
