"""Databases that this project keeps for itself: SQLite files with several writers, and servers.

What is asked is opened by a backend and read through the guard; what is kept (runs, memories) is
written here, and what its database raises becomes an error that says how to mend it.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import (
    IntegrityError,
    InterfaceError,
    NoSuchModuleError,
    OperationalError,
    ProgrammingError,
    SQLAlchemyError,
)

from dqa.core.distribution import install_command
from dqa.core.errors import (
    DatabaseUnavailableError,
    DataError,
    DqaError,
    InfrastructureError,
    MissingKeyError,
    UsageError,
)
from dqa.core.files import open_private
from dqa.core.paths import problem_of_path
from dqa.core.secrets import redact
from dqa.databases.failures import one_line
from dqa.databases.files import is_sqlite

_BUSY_SECONDS: Final = 60.0
"""How long a process waits for the others that write a file."""

_SILENT_SECONDS = 3.0
"""How long it waits before it says so."""

_LOG = logging.getLogger(__name__)

_WRITES: Final = "dqa_writes"


@dataclass(frozen=True, slots=True)
class Kept:
    """A database that is kept, and what to call it.

    Attributes
    ----------
    url
        Where it is, with its password, which is never shown.
    file
        The SQLite file, where it is one.
    what
        What is kept in it, as messages call it: ``"store"``.
    hint
        A sentence that says what to name instead of one that is none.
    kept
        What stays in it when its server goes away, as a sentence; empty for nothing to say.
    """

    url: str = field(repr=False)
    file: Path | None
    what: str
    hint: str
    kept: str = ""

    @property
    def shown(self) -> str:
        """What messages call it, without its password."""
        return redact(self.url) if self.file is None else str(self.file)


def open_kept(place: Kept, *, writing: bool) -> Engine:
    """Open a database; a SQLite file that is to be written is made where it is missing.

    Raises
    ------
    UsageError
        There is no such file, or it may not be written.
    DataError
        The file is no SQLite database.
    MissingKeyError
        The database's driver is not installed.
    """
    if place.file is not None:
        return _open_file(place.file, place, writing=writing)
    try:
        engine = create_engine(place.url, pool_pre_ping=True, pool_size=4, max_overflow=12)
    except NoSuchModuleError as error:
        raise UsageError(
            f"{place.shown}: SQLAlchemy knows no such database ({one_line(error)})."
        ) from error
    except ImportError as error:
        raise MissingKeyError(
            f"{place.shown} needs a driver that is not installed ({error.name}): "
            f"{install_command('servers')}."
        ) from error
    if engine.dialect.name in {"mysql", "mariadb"}:  # as others do; else claims see what was
        engine = engine.execution_options(isolation_level="READ COMMITTED")
    return engine


@contextmanager
def write(engine: Engine) -> Iterator[Connection]:
    """Give a transaction that writes; of a file, no other one writes meanwhile."""
    with engine.execution_options(**{_WRITES: True}).begin() as connection:
        yield connection


def is_transient(error: SQLAlchemyError) -> bool:
    """Whether the same transaction may succeed once it is made again."""
    if isinstance(error, IntegrityError):
        return False
    return isinstance(error, OperationalError | InterfaceError) and not _is_final(str(error.orig))


def _is_final(said: str) -> bool:
    """Whether SQLite says what no waiting changes."""
    return any(words in said for words in ("readonly", "is full", "unable to open", "malformed"))


@contextmanager
def told(place: Kept, *, under_way: bool = False) -> Iterator[None]:
    """Make what a database raises an error that says what a user can do about it.

    Parameters
    ----------
    place
        The database.
    under_way
        Whether it is being written, which the same command goes on with.
    """
    try:
        yield
    except SQLAlchemyError as error:
        raise _told(place, error, under_way=under_way) from error


def _told(place: Kept, error: SQLAlchemyError, *, under_way: bool) -> DqaError:
    said = one_line(getattr(error, "orig", None) or error)
    if place.file is not None:
        return _told_of_file(place.file, place, said)
    if isinstance(error, ProgrammingError):
        return UsageError(f"{place.shown} cannot be used as a {place.what}: {said}.")
    told = f"{place.shown} cannot be used: {said}{'' if said.endswith('?') else '.'}"
    kept = f" {place.kept}" if under_way and place.kept else ""
    return DatabaseUnavailableError(told + kept)


def _told_of_file(file: Path, place: Kept, said: str) -> DqaError:
    if "not a database" in said or "malformed" in said or "encrypted" in said:
        return DataError(f"{file} is no {place.what}, or a damaged one ({said}). {place.hint}")
    if "readonly" in said or "read-only" in said:
        return UsageError(
            f"{file} may not be written by this user: ask for the right, or name another "
            f"{place.what}."
        )
    if "is full" in said:
        return InfrastructureError(
            f"{file} cannot be written: the disk is full. Free some room, and try again."
        )
    return InfrastructureError(f"{file} cannot be used: {said}.")


def _open_file(file: Path, place: Kept, *, writing: bool) -> Engine:
    """Open a SQLite file, whose owner alone may read it where it is new."""
    _require_file(file, place, writing=writing)
    may_write = os.access(file, os.W_OK) and os.access(file.absolute().parent, os.W_OK)
    if writing and not may_write:
        raise UsageError(
            f"{file} may not be written by this user: ask for the right, or name another "
            f"{place.what}."
        )
    wal = file.with_name(f"{file.name}-wal")
    mode = "rw"
    if not may_write:  # what only another process is still writing needs its other files
        mode = "ro" if wal.exists() and wal.stat().st_size else "ro&immutable=1"
    uri = f"file:{quote(str(file.absolute()))}?mode={mode}"

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(
            uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )

    engine = create_engine("sqlite://", creator=connect, poolclass=_pool())
    event.listen(engine, "connect", _prepare if writing else _prepare_reading)
    event.listen(engine, "begin", partial(_begin, _Waiting(file)))
    return engine


def _pool() -> Any:  # noqa: ANN401  (a class)
    from sqlalchemy.pool import QueuePool

    return QueuePool


def _require_file(file: Path, place: Kept, *, writing: bool) -> None:
    try:
        if not writing and not file.exists():
            raise UsageError(f"{file} does not exist. {place.hint}")
        if writing:
            with suppress(FileExistsError):
                os.close(open_private(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        if not file.is_file():
            raise UsageError(f"{file} is no file. {place.hint}")
        if not is_sqlite(file):
            raise DataError(f"{file} is no SQLite database. {place.hint}")
    except DqaError:
        raise
    except OSError as error:
        raise UsageError(f"{problem_of_path(file, error, writing=writing)}.") from error


def _prepare(connection: sqlite3.Connection, _: object) -> None:
    """Let readers read while one process writes, and keep what is committed if that is killed."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")


def _prepare_reading(connection: sqlite3.Connection, _: object) -> None:
    connection.execute("PRAGMA query_only = ON")


class _Waiting:
    """Says once that a file is locked; a run without a handler of logs says it on stderr."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._said = False

    def tell(self) -> None:
        """Say it, unless it was said before."""
        if not self._said:
            self._said = True
            _LOG.warning("%s is being written by another process: waiting for it.", self._file)


def _begin(waiting: _Waiting, connection: Connection) -> None:
    # A transaction that reads first and then writes would fail where another has written meanwhile.
    if not connection.get_execution_options().get(_WRITES):
        connection.exec_driver_sql("BEGIN")
    elif not _begins_soon(connection.connection.driver_connection, waiting):
        connection.exec_driver_sql("BEGIN IMMEDIATE")  # what it raises is SQLAlchemy's


def _begins_soon(connection: Any, waiting: _Waiting) -> bool:  # noqa: ANN401  (the driver's)
    """Whether a transaction that writes has begun; else it is told where another one writes."""
    connection.execute(f"PRAGMA busy_timeout = {round(1000 * _SILENT_SECONDS)}")
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
            waiting.tell()
        return False
    finally:
        connection.execute(f"PRAGMA busy_timeout = {round(1000 * _BUSY_SECONDS)}")
    return True


@contextmanager
def alone(connection: Connection, lock: int, name: str) -> Iterator[None]:
    """Let one process at a time change a server's tables; a file has one writer anyway.

    Parameters
    ----------
    connection
        In a transaction.
    lock, name
        What processes that change the same tables agree on.
    """
    dialect = connection.dialect.name
    if dialect == "postgresql":
        connection.execute(text(f"SELECT pg_advisory_xact_lock({lock})"))
        yield
    elif dialect in {"mysql", "mariadb"}:  # where definitions commit by themselves
        connection.execute(text(f"SELECT GET_LOCK('{name}_{lock}', 120)"))
        try:
            yield
        finally:
            connection.execute(text(f"SELECT RELEASE_LOCK('{name}_{lock}')"))
    else:
        yield
