"""Read-only sessions of SQL databases: one class, and a record of settings per engine."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from threading import Lock
from time import perf_counter
from typing import Any, TypeAlias

from dqa.core.database import Kind, Limits, Rows, timed_out
from dqa.core.errors import DatabaseUnavailableError, DqaError
from dqa.core.examination import Examination
from dqa.core.schema import DatabaseSchema
from dqa.core.session import Session
from dqa.databases.errors import (
    Attempts,
    Failure,
    Fault,
    UnreadableError,
    driver_reads,
    error_of,
    one_line,
)
from dqa.databases.rows import Deadline, collect, columns_of, rows_from

_DESCRIBING = 60.0
"""Most seconds for reading a schema."""

Result: TypeAlias = tuple[Sequence[str], Iterable[Sequence[Any]]]
"""Column names and rows of a running statement."""


class _OverdueError(Exception):
    """A statement was stopped at its limit from another thread."""


@dataclass(slots=True)
class Connection:
    """The connection of a session.

    Attributes
    ----------
    driver
        The driver's connection.
    limits
        The settings of the last statement in the engine.
    is_used_up
        Whether to close it after its statement.
    """

    driver: Any
    limits: object = None
    is_used_up: bool = False


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """What differs between SQL engines.

    Attributes
    ----------
    dialect
        The dialect of statements, one of `guard.DIALECTS`.
    language
        The language of statements, as a model reads it.
    errors
        The base classes of the driver's exceptions.
    connect
        Returns a new connection of the driver, which can only read.
    execute
        Runs exactly one statement and streams its result; ends the rest of it on exit.
    failure
        Explains an exception of the driver's connection.
    describe
        Reads the schema over the driver's connection.
    prepare
        Sets the limits of the next statement in the engine.
    interrupt
        Returns what stops a running statement from another thread without waiting; None if the
        driver cannot. Servers stop statements at their limit by themselves.
    identify
        Returns the server's name of a connection; None for an embedded engine.
    descriptor
        Returns the file descriptor of a connection to a server, -1 without one.
    end
        Ends the named connection from a new one, as far as the role may.
    count_reads
        Returns how many rows the session has read so far; None if the engine does not count.
    examine
        Describes a server, the role and its limits by running statements.
    trivial
        A statement that every working database answers.
    is_broken
        Whether the database must be opened anew.
    """

    dialect: str
    language: str
    errors: tuple[type[Exception], ...]
    connect: Callable[[], Any]
    execute: Callable[[Connection, str], AbstractContextManager[Result]]
    failure: Callable[[Exception, Any], Failure]
    describe: Callable[[Any], DatabaseSchema]
    prepare: Callable[[Connection, Limits], object] = lambda *_: None
    interrupt: Callable[[Connection], Callable[[], object] | None] = lambda _: None
    identify: Callable[[Any], str] | None = None
    descriptor: Callable[[Any], int] | None = None
    end: Callable[[str], None] = lambda _: None
    count_reads: Callable[[Any], int] | None = None
    examine: Callable[[Callable[[str, Limits], Rows]], Examination] | None = None
    trivial: str = "SELECT 1"
    is_broken: Callable[[], bool] = lambda: False


class SqlSession(Session):
    """A SQL database over one connection, which can only read and runs one statement at a time.

    Parameters
    ----------
    settings
        The engine and how to connect to it.
    name
        The name in messages, without a password.
    namespace
        The schema that is shown; None for all.
    schemas, search_path
        As `Session` has them.
    on_close
        Releases what connections share.
    """

    kind: Kind = "relational"

    def __init__(  # noqa: PLR0913
        self,
        settings: EngineSettings,
        name: str,
        *,
        namespace: str | None = None,
        schemas: tuple[str, ...] | None = None,
        search_path: tuple[str, ...] = (),
        on_close: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__()
        self.name, self.dialect, self.language = name, settings.dialect, settings.language
        self.namespace, self.schemas, self.search_path = namespace, schemas, search_path
        self._settings = settings
        self._on_close = on_close
        self._attempts = Attempts(self._run_once, settings.trivial)
        self._start()

    def _start(self) -> None:
        """Begin without a connection; after a fork the other one is the parent's."""
        self._owner, self._lock = os.getpid(), Lock()
        self._connection: Connection | None = None

    @property
    def is_broken(self) -> bool:  # type: ignore[override]
        """Whether the database must be opened anew."""
        return self._settings.is_broken()

    def close(self) -> None:
        """Close the connection after its statement."""
        with self._lock:
            if self._connection is not None and self._owner == os.getpid():
                self._disconnect(self._connection)
            self._connection = None
        self._on_close()

    def run(self, statement: str, limits: Limits) -> Rows:
        """Run a statement; run it again if the cause of its failure may have passed."""
        return self._attempts.run(statement, limits)

    def read_schema(self) -> DatabaseSchema:
        """Read the tables and views that the role can read."""
        limits = Limits(seconds=_DESCRIBING)
        failures: tuple[type[Exception], ...] = (_OverdueError, *self._settings.errors)
        try:
            with self._connected() as connection, self._limited(connection, limits):
                self._settings.prepare(connection, limits)
                return self._settings.describe(connection.driver)
        except failures as error:
            raise DatabaseUnavailableError(
                f"The schema of database '{self.name}' cannot be read: {one_line(error)}."
            ) from error

    def examine(self) -> Examination:
        """Return what the server says about itself, the role and its limits."""
        if self._settings.examine is None:
            return super().examine()
        return self._settings.examine(self.run)

    def end_statements(self, mark: str) -> None:
        """End what another connection runs, from a new one."""
        self._settings.end(mark)

    def _run_once(self, statement: str, limits: Limits) -> Rows:
        started = perf_counter()
        with self._connected() as connection:
            try:
                with self._limited(connection, limits):
                    self._settings.prepare(connection, limits)
                    return self._rows(connection, statement, limits, started)
            except _OverdueError as error:
                raise timed_out(limits, self.kind) from error
            except self._settings.errors as error:
                failure = self._settings.failure(error, connection.driver)
                is_kept = failure.fault not in {Fault.UNCLEAR, Fault.PASSING, Fault.SERVER}
                connection.is_used_up |= not is_kept
                raise error_of(failure, self.name, self.kind, limits) from error

    def _rows(self, connection: Connection, statement: str, limits: Limits, started: float) -> Rows:
        count = self._settings.count_reads if limits.scans else None
        before = count(connection.driver) if count else 0
        with self._settings.execute(connection, statement) as (columns, result):
            rows = collect(
                columns,
                result,
                limits,
                started,
                failures=self._settings.errors,
                stop=self._settings.interrupt(connection),
            )
        if count is None or connection.is_used_up:
            return rows
        after = count(connection.driver)
        own = count(connection.driver) - after
        return replace(rows, scanned=max(after - before - own, 0))

    @contextmanager
    def _limited(self, connection: Connection, limits: Limits) -> Iterator[None]:
        """Stop a statement of an embedded engine at its limit; a server does so itself."""
        if self._settings.identify is not None:
            yield
            return
        interrupt = self._settings.interrupt(connection)
        with Deadline(limits.seconds, interrupt or (lambda: None)) as deadline:
            try:
                yield
            except self._settings.errors as error:
                if deadline.has_fired:
                    raise _OverdueError from error
                raise
        if deadline.has_fired and interrupt is None:
            raise _OverdueError  # a driver that cannot stop a statement returns late

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        """Lend the connection, which stays open unless it is used up."""
        if self._owner != os.getpid():
            self._start()
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None and self._is_lost(connection):
                self._disconnect(connection)
                connection = None
            connection = connection or self._connect()
            try:
                yield connection
            except BaseException as error:
                # Part of a result that cannot be read or was interrupted may still arrive.
                if isinstance(error, UnreadableError) or not isinstance(error, DqaError):
                    connection.is_used_up = True
                raise
            finally:
                if connection.is_used_up:
                    self._disconnect(connection)
                else:
                    self._connection = connection

    def _is_lost(self, connection: Connection) -> bool:
        """Whether an idle connection has something to read, so that the server has closed it."""
        if self._settings.descriptor is None:
            return False
        descriptor = self._settings.descriptor(connection.driver)
        if descriptor < 0 or sys.platform == "win32":
            return descriptor < 0 or bool(select.select([descriptor], [], [], 0.0)[0])
        looking = select.poll()
        looking.register(descriptor, select.POLLIN)
        return bool(looking.poll(0))

    def _connect(self) -> Connection:
        try:
            driver = self._settings.connect()
            if self._settings.identify is not None:
                self.announce(self._settings.identify(driver))
        except self._settings.errors as error:
            raise DatabaseUnavailableError(
                f"Database '{self.name}' cannot be reached: {one_line(error)}."
            ) from error
        return Connection(driver)

    def _disconnect(self, connection: Connection) -> None:
        with suppress(*self._settings.errors):
            connection.driver.close()


@contextmanager
def execute_plainly(connection: Connection, statement: str) -> Iterator[Result]:
    """Run a statement on a cursor of the driver, and roll it back."""
    cursor = connection.driver.cursor()
    try:
        with driver_reads():
            cursor.execute(statement)
        yield columns_of(cursor), rows_from(cursor)
    finally:
        cursor.close()
        connection.driver.rollback()
