"""Read-only sessions for all engines; an `EngineSettings` object contains what differs."""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import wait
from re import Pattern
from threading import Lock
from time import perf_counter
from typing import Any

from dqa.core.database import Kind, Limits, Rows, timed_out
from dqa.core.errors import (
    DatabaseUnavailableError,
    DqaError,
    NotUnderstoodError,
    StatementError,
    UnknownReferenceError,
)
from dqa.core.examination import Examination
from dqa.core.schema import DatabaseSchema
from dqa.core.session import Session
from dqa.databases.errors import (
    Attempts,
    Fault,
    UnreadableError,
    UnsettledError,
    brief,
    driver_reads,
    failed,
    one_line,
    out_of_memory,
    refused,
)
from dqa.databases.rows import Deadline, collect, columns_of, rows_from

_DESCRIBING = 60.0
"""The maximum number of seconds for reading a schema."""
_OF_STATEMENT = frozenset({Fault.STATEMENT, Fault.NOT_UNDERSTOOD, Fault.UNKNOWN_NAME})


class _OverdueError(Exception):
    """Another thread stopped a statement at its limit."""


@dataclass(slots=True)
class Result:
    """A running statement.

    Attributes
    ----------
    columns, rows
        The column names and the rows.
    warning
        A warning of the database.
    total
        The number of rows; None if the engine does not know it.
    """

    columns: Sequence[str]
    rows: Iterable[Sequence[Any]]
    warning: str = ""
    total: int | None = None


@dataclass(slots=True)
class Connection:
    """The connection of a session.

    Attributes
    ----------
    driver
        The driver's connection.
    limits
        The limits that `EngineSettings.prepare` has set last.
    is_used_up
        Whether to close the connection after its statement.
    """

    driver: Any
    limits: Any = None
    is_used_up: bool = False


class EngineSettings(ABC):
    """What differs between engines; each object represents one database.

    Attributes
    ----------
    kind, dialect, language
        See `dqa.core.database.Database`.
    errors
        The base classes of the driver's exceptions.
    is_server
        Whether the engine runs on a server and stops statements at their limit itself.
    is_broken
        Whether the database must be opened again.
    trivial
        A statement that every working database answers.
    unknown
        Matches the start of a message about an unknown name; its groups contain the name.
    convert
        Converts values of the engine's own types; None if there are none.
    """

    kind: Kind = "relational"
    dialect: str
    language: str
    errors: tuple[type[Exception], ...]
    is_server: bool = False
    is_broken: bool = False
    trivial: str = "SELECT 1"
    unknown: Pattern[str] | None = None
    convert: Callable[[Any], Any] | None = None

    @abstractmethod
    def connect(self) -> Any:  # noqa: ANN401
        """Return a new read-only connection of the driver."""

    @abstractmethod
    def failure(self, error: Exception) -> tuple[Fault, str]:
        """Return the fault of a driver's exception, and its message without a full stop."""

    @abstractmethod
    def describe(self, driver: Any) -> DatabaseSchema:  # noqa: ANN401
        """Read the schema over the driver's connection."""

    @contextmanager
    def execute(self, connection: Connection, statement: str) -> Iterator[Result]:
        """Run exactly one statement and stream its result; stop the statement on exit."""
        cursor = connection.driver.cursor()
        try:
            with driver_reads():
                cursor.execute(statement)
            yield Result(columns_of(cursor), rows_from(cursor))
        finally:
            cursor.close()
            connection.driver.rollback()

    def prepare(self, connection: Connection, limits: Limits) -> None:  # noqa: B027
        """Set the engine's limits for the next statement."""

    def interrupt(self, connection: Connection) -> Callable[[], object] | None:
        """Return a function that stops a statement from another thread; None if impossible."""
        stop: Callable[[], object] = connection.driver.interrupt
        return stop

    def version(self, driver: Any) -> str:  # noqa: ANN401, ARG002
        """Return the name and version of the engine, for error messages."""
        return ""

    def row_order(self, table: str) -> bytes | None:  # noqa: ARG002
        """Return the order of a table's rows; see `Session.row_order`."""
        return None

    def identify(self, driver: Any) -> str:  # noqa: ANN401, ARG002
        """Return the name by which the server identifies a connection."""
        return ""

    def descriptor(self, driver: Any) -> int | None:  # noqa: ANN401, ARG002
        """Return the file descriptor of a connection to a server; -1 if it is closed."""
        return None

    def end(self, mark: str) -> None:  # noqa: B027
        """End the named connection over a new one, if the role has the right."""

    def examine(self, run: Callable[[str, Limits], Rows]) -> Examination | None:  # noqa: ARG002
        """Describe a server, the role and its limits; return None for a file."""
        return None


class EngineSession(Session):
    """A database over one read-only connection, which runs one statement at a time.

    Parameters
    ----------
    settings
        The engine and the database. This object owns the settings.
    name
        The name in messages, without a password.
    namespace
        The schema that is shown; None for all.
    schemas, search_path
        See `Session`.
    on_close
        Releases resources that connections share.
    """

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
        self.kind, self.dialect, self.language = settings.kind, settings.dialect, settings.language
        self.name, self.namespace = name, namespace
        self.schemas, self.search_path = schemas, search_path
        self._settings, self._on_close = settings, on_close
        self._attempts = Attempts(self._run_once, settings.trivial)
        self._start()

    def _start(self) -> None:
        """Begin without a connection; after a fork the parent keeps the previous one."""
        self._owner, self._lock = os.getpid(), Lock()
        self._connection: Connection | None = None

    @property
    def is_broken(self) -> bool:  # type: ignore[override]
        """Whether the database must be opened again."""
        return self._settings.is_broken

    def close(self) -> None:
        """Close the connection after the current statement."""
        with self._lock:
            if self._connection is not None and self._owner == os.getpid():
                self._disconnect(self._connection)
            self._connection = None
        self._on_close()

    def run(self, statement: str, limits: Limits) -> Rows:
        """Run a statement; repeat it if the cause of a failure may be temporary."""
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

    def row_order(self, table: str) -> bytes | None:
        """Return the order of a table's rows; see `Session.row_order`."""
        return self._settings.row_order(table)

    def examine(self) -> Examination:
        """Return what the server reports about itself, the role and its limits."""
        return self._settings.examine(self.run) or super().examine()

    def end_statements(self, mark: str) -> None:
        """End the statements of another connection over a new connection."""
        self._settings.end(mark)

    def _run_once(self, statement: str, limits: Limits) -> Rows:
        started, settings = perf_counter(), self._settings
        with self._connected() as connection:
            try:
                with self._limited(connection, limits):
                    settings.prepare(connection, limits)
                    with settings.execute(connection, statement) as result:
                        rows = collect(
                            *(result.columns, result.rows, limits, started, settings.convert),
                            total=result.total,
                            failures=settings.errors,
                            stop=settings.interrupt(connection),
                        )
                        return replace(rows, warning=result.warning) if result.warning else rows
            except _OverdueError as error:
                raise timed_out(limits, self.kind) from error
            except settings.errors as error:
                raise self._error(error, connection, limits) from error

    def _error(self, error: Exception, connection: Connection, limits: Limits) -> DqaError:
        """Return the error that the caller gets for a driver's exception."""
        fault, problem = self._settings.failure(error)
        problem = brief(problem)
        connection.is_used_up |= fault in {Fault.UNCLEAR, Fault.PASSING, Fault.SERVER}
        unknown = self._settings.unknown
        if fault in _OF_STATEMENT and unknown and (found := unknown.match(problem)):
            return UnknownReferenceError(problem, ".".join(filter(None, found.groups())))
        answer: DqaError = StatementError(f"{problem}.")
        match fault:
            case Fault.NOT_UNDERSTOOD:
                version = self._settings.version(connection.driver)
                end = f"; this is {version}." if version else "."
                answer = NotUnderstoodError(problem + end)
            case Fault.REFUSED:
                answer = refused(problem)
            case Fault.TIME:
                answer = timed_out(limits, self.kind)
            case Fault.MEMORY:
                answer = out_of_memory()
            case Fault.UNCLEAR | Fault.PASSING:
                answer = UnsettledError(self.name, problem, may_pass=fault is Fault.PASSING)
            case Fault.SERVER:
                answer = failed(self.name, problem)
        return answer

    @contextmanager
    def _limited(self, connection: Connection, limits: Limits) -> Iterator[None]:
        """Stop a statement of an embedded engine at its limit; a server stops its own."""
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
            raise _OverdueError  # the driver could not stop the statement and returned late

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        """Yield the connection; afterwards keep it open unless it is used up."""
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
                # The rest of an unreadable or interrupted result may still arrive.
                if isinstance(error, UnreadableError) or not isinstance(error, DqaError):
                    connection.is_used_up = True
                raise
            finally:
                if connection.is_used_up:
                    self._disconnect(connection)
                else:
                    self._connection = connection

    def _is_lost(self, connection: Connection) -> bool:
        """Return whether an idle connection has data to read, which means the server closed it."""
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
