"""Read-only sessions of SQL databases: one class, and an object per engine with what differs."""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
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


class EngineSettings(ABC):
    """What differs between SQL engines; an object stands for one database.

    Attributes
    ----------
    dialect
        The dialect of statements, one of `guard.DIALECTS`.
    language
        The language of statements, as a model reads it.
    errors
        The base classes of the driver's exceptions.
    is_server
        Whether the engine stops statements at their limit by itself, on a server.
    is_broken
        Whether the database must be opened anew.
    trivial
        A statement that every working database answers.
    """

    dialect: str
    language: str
    errors: tuple[type[Exception], ...]
    is_server: bool = False
    is_broken: bool = False
    trivial: str = "SELECT 1"

    @abstractmethod
    def connect(self) -> Any:  # noqa: ANN401
        """Return a new connection of the driver, which can only read."""

    @abstractmethod
    def failure(self, error: Exception, driver: Any) -> Failure:  # noqa: ANN401
        """Explain an exception of the driver's connection."""

    @abstractmethod
    def describe(self, driver: Any) -> DatabaseSchema:  # noqa: ANN401
        """Read the schema over the driver's connection."""

    @contextmanager
    def execute(self, connection: Connection, statement: str) -> Iterator[Result]:
        """Run exactly one statement and stream its result; end the rest of it on exit."""
        cursor = connection.driver.cursor()
        try:
            with driver_reads():
                cursor.execute(statement)
            yield columns_of(cursor), rows_from(cursor)
        finally:
            cursor.close()
            connection.driver.rollback()

    def prepare(self, connection: Connection, limits: Limits) -> None:  # noqa: B027
        """Set the limits of the next statement in the engine."""

    def interrupt(self, connection: Connection) -> Callable[[], object] | None:
        """Return what stops a statement from another thread; None if the driver cannot."""
        stop: Callable[[], object] = connection.driver.interrupt
        return stop

    def identify(self, driver: Any) -> str:  # noqa: ANN401, ARG002
        """Return the server's name of a connection."""
        return ""

    def descriptor(self, driver: Any) -> int | None:  # noqa: ANN401, ARG002
        """Return the file descriptor of a connection to a server; -1 if it is closed."""
        return None

    def end(self, mark: str) -> None:  # noqa: B027
        """End the named connection from a new one, as far as the role may."""

    def examine(self, run: Callable[[str, Limits], Rows]) -> Examination | None:  # noqa: ARG002
        """Describe a server, the role and its limits by running statements; None for a file."""
        return None


class SqlSession(Session):
    """A SQL database over one connection, which can only read and runs one statement at a time.

    Parameters
    ----------
    settings
        The engine and the database; it belongs to this object from now on.
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
        self._settings, self._on_close = settings, on_close
        self._attempts = Attempts(self._run_once, settings.trivial)
        self._start()

    def _start(self) -> None:
        """Begin without a connection; after a fork the other one is the parent's."""
        self._owner, self._lock = os.getpid(), Lock()
        self._connection: Connection | None = None

    @property
    def is_broken(self) -> bool:  # type: ignore[override]
        """Whether the database must be opened anew."""
        return self._settings.is_broken

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
        return self._settings.examine(self.run) or super().examine()

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
                if failure.fault in {Fault.UNCLEAR, Fault.PASSING, Fault.SERVER}:
                    connection.is_used_up = True
                raise error_of(failure, self.name, self.kind, limits) from error

    def _rows(self, connection: Connection, statement: str, limits: Limits, started: float) -> Rows:
        with self._settings.execute(connection, statement) as (columns, result):
            return collect(
                columns,
                result,
                limits,
                started,
                failures=self._settings.errors,
                stop=self._settings.interrupt(connection),
            )

    @contextmanager
    def _limited(self, connection: Connection, limits: Limits) -> Iterator[None]:
        """Stop a statement of an embedded engine at its limit; a server does so itself."""
        if self._settings.is_server:
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
        descriptor = self._settings.descriptor(connection.driver)
        if descriptor is None or descriptor < 0:
            return descriptor is not None
        return sys.platform != "win32" and bool(wait([descriptor], timeout=0.0))

    def _connect(self) -> Connection:
        try:
            driver = self._settings.connect()
            if self._settings.is_server:
                self.announce(self._settings.identify(driver))
        except self._settings.errors as error:
            raise DatabaseUnavailableError(
                f"Database '{self.name}' cannot be reached: {one_line(error)}."
            ) from error
        return Connection(driver)

    def _disconnect(self, connection: Connection) -> None:
        with suppress(*self._settings.errors):
            connection.driver.close()
