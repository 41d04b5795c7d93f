"""The base class of read-only sessions; each engine has its own subclass."""

from __future__ import annotations

import os
import sys
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import wait
from re import Pattern
from threading import Event, Lock, Timer
from time import perf_counter
from typing import Any

from dqa.core.database import Kind, Limits, Rows, timed_out
from dqa.core.errors import (
    DatabaseUnavailableError,
    DqaError,
    NotUnderstoodError,
    StatementError,
    StatementTimeoutError,
    UnknownReferenceError,
)
from dqa.core.interpreters import require_process
from dqa.core.schema import DatabaseSchema
from dqa.core.session import Session
from dqa.core.text import shortened
from dqa.databases.errors import (
    LONGEST,
    Fault,
    UnreadableError,
    UnsettledError,
    driver_reads,
    failed,
    one_line,
    out_of_memory,
    refused,
)
from dqa.databases.rows import collect, columns_of, rows_from

_DESCRIBING = 60.0
"""The maximum number of seconds for reading a schema."""
_ASKING = 0.75
"""The minimum time limit of a trivial statement in seconds."""


@dataclass(slots=True)
class Result:
    """A running statement.

    Attributes
    ----------
    columns, rows
        The column names, and an iterator over the rows.
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
        The limits that `EngineSession.prepare` set most recently.
    is_used_up
        Whether to close the connection after its statement.
    """

    driver: Any
    limits: Any = None
    is_used_up: bool = False


class EngineSession(Session):
    """A read-only session. It has one connection and runs one statement at a time.

    A subclass contains the differences between engines.

    Parameters
    ----------
    name
        The name in messages, without a password.
    namespace, schemas, search_path
        See `Session`.
    on_close
        Called when the session closes. It releases resources that the connections share.

    Attributes
    ----------
    errors
        The base classes of the driver's exceptions.
    is_server
        Whether the engine runs on a server and stops statements at their limit itself.
    trivial
        A statement that every working database answers.
    unknown
        Matches the start of a message about an unknown name. One of the groups contains the name.
    convert
        A function that converts values of the engine's own types; None if it has no such types.
    """

    kind: Kind = "relational"
    errors: tuple[type[Exception], ...]
    is_server: bool = False
    trivial: str = "SELECT 1"
    unknown: Pattern[str] | None = None
    convert: Callable[[Any], Any] | None = None

    def __init__(
        self,
        name: str,
        *,
        namespace: str | None = None,
        schemas: tuple[str, ...] | None = None,
        search_path: tuple[str, ...] = (),
        on_close: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__()
        self.name, self.namespace = name, namespace
        self.schemas, self.search_path = schemas, search_path
        self._on_close = on_close
        self._suspects: set[str] = set()  # statements that may have stopped the server
        self._owner, self._lock = os.getpid(), Lock()
        self._connection: Connection | None = None

    # Methods that a subclass defines

    @abstractmethod
    def connect(self) -> Any:  # noqa: ANN401
        """Return a new connection of the driver that can only read."""

    @abstractmethod
    def failure(self, error: Exception) -> tuple[Fault, str]:
        """Return the `Fault` for a driver's exception, and the message without its full stop."""

    @abstractmethod
    def describe(self, driver: Any) -> DatabaseSchema:  # noqa: ANN401
        """Read the schema over the driver's connection."""

    @contextmanager
    def execute(self, connection: Connection, statement: str) -> Iterator[Result]:
        """Run exactly one statement and stream its result; cancel an unfinished result on exit."""
        cursor = connection.driver.cursor()
        try:
            with driver_reads():
                cursor.execute(statement)
            yield Result(columns_of(cursor), rows_from(cursor))
        finally:
            cursor.close()
            connection.driver.rollback()

    def prepare(self, connection: Connection, limits: Limits) -> None:
        """Set the limits of the next statement in the engine."""

    def interrupt(self, connection: Connection) -> Callable[[], object] | None:
        """Return a function with which another thread can stop a statement; None if impossible."""
        stop: Callable[[], object] = connection.driver.interrupt
        return stop

    def identify(self, driver: Any) -> str:  # noqa: ANN401, ARG002
        """Return the mark of a connection, with which `end_statements` finds the connection."""
        return ""

    def descriptor(self, driver: Any) -> int | None:  # noqa: ANN401, ARG002
        """Return the file descriptor of a connection to a server; -1 for a closed connection."""
        return None

    # Methods that all engines share

    def close(self) -> None:
        """Close the connection as soon as its statement has ended."""
        with self._lock:
            if self._connection is not None and self._owner == os.getpid():
                self._disconnect(self._connection)
            self._connection = None
        self._on_close()

    def run(self, statement: str, limits: Limits) -> Rows:
        """Run a statement, and find the cause of an unclear failure.

        If the cause may be temporary, the statement runs again. If the cause remains unclear, a
        trivial statement runs. If the database answers the trivial statement on the same
        connection, the failed statement is wrong. If not, the failed statement may have stopped the
        server. It then runs again only after the database has answered a trivial statement. If the
        statement fails again, it is wrong.
        """
        until, is_suspect = perf_counter() + limits.seconds, statement in self._suspects
        if is_suspect:
            self._require_answer(limits, until)
        try:
            rows = self._run_once(statement, limits)
        except UnsettledError as error:
            unsettled = error
        else:
            self._suspects.discard(statement)
            return rows
        seconds = until - perf_counter()
        if unsettled.may_pass and not is_suspect and seconds > 0:
            try:
                return self._run_once(statement, replace(limits, seconds=seconds))
            except UnsettledError as error:
                unsettled = error
            except DatabaseUnavailableError:
                pass  # the first attempt may have stopped the server
        is_lost = unsettled.is_lost
        try:
            self._require_answer(limits, until)
        except DatabaseUnavailableError:
            is_lost = True
        if is_suspect or not is_lost:
            raise StatementError(f"{unsettled.problem}.") from unsettled
        self._suspects.add(statement)
        raise DatabaseUnavailableError(
            f"{unsettled} Run the statement again. If it fails again, check the server's log."
        ) from unsettled

    def read_schema(self) -> DatabaseSchema:
        """Read the tables and views that the role can read."""
        limits = Limits(seconds=_DESCRIBING)
        failures: tuple[type[Exception], ...] = (StatementTimeoutError, *self.errors)
        try:
            with self._connected() as connection, self._limited(connection, limits):
                self.prepare(connection, limits)
                return self.describe(connection.driver)
        except failures as error:
            raise DatabaseUnavailableError(
                f"The schema of database '{self.name}' cannot be read: {one_line(error)}."
            ) from error

    def _require_answer(self, limits: Limits, until: float) -> None:
        """Raise `DatabaseUnavailableError` if the database does not answer a trivial statement."""
        seconds = max(until - perf_counter(), _ASKING)
        try:
            self._run_once(self.trivial, replace(limits, seconds=seconds))
        except DqaError as error:
            raise DatabaseUnavailableError(str(error)) from error

    def _run_once(self, statement: str, limits: Limits) -> Rows:
        started = perf_counter()
        if self.send_rows is not None:
            self.send_rows(0, ())  # drops the rows of a failed attempt
        with self._connected() as connection:
            try:
                with self._limited(connection, limits):
                    self.prepare(connection, limits)
                    with self.execute(connection, statement) as result:
                        rows = collect(
                            *(result.columns, result.rows, limits, started, self.convert),
                            total=result.total,
                            send=self.send_rows,
                        )
                        return replace(rows, warning=result.warning) if result.warning else rows
            except self.errors as error:
                raise self._error(error, connection, limits) from error

    def _error(self, error: Exception, connection: Connection, limits: Limits) -> DqaError:
        """Return the error that the caller gets for a driver's exception."""
        fault, problem = self.failure(error)
        problem = shortened(problem, LONGEST)
        connection.is_used_up |= fault in {Fault.UNCLEAR, Fault.PASSING, Fault.LOST, Fault.SERVER}
        unknown = self.unknown
        if unknown and (found := unknown.match(problem)):
            return UnknownReferenceError(problem, ".".join(filter(None, found.groups())))
        answer: DqaError = StatementError(f"{problem}.")
        match fault:
            case Fault.NOT_UNDERSTOOD:
                answer = NotUnderstoodError(
                    f"{problem}. Statements must be written in {self.language}."
                )
            case Fault.REFUSED:
                answer = refused(problem)
            case Fault.TIME:
                answer = timed_out(limits, self.kind)
            case Fault.MEMORY:
                answer = out_of_memory()
            case Fault.UNCLEAR | Fault.PASSING | Fault.LOST:
                is_lost = fault is Fault.LOST or self._is_lost(connection)
                may_pass = fault is Fault.PASSING
                answer = UnsettledError(self.name, problem, may_pass=may_pass, is_lost=is_lost)
            case Fault.SERVER:
                answer = failed(self.name, problem)
        return answer

    @contextmanager
    def _limited(self, connection: Connection, limits: Limits) -> Iterator[None]:
        """Stop a statement of an embedded engine at its time limit. Servers stop it themselves."""
        if self.is_server:
            yield
            return
        has_fired, interrupt = Event(), self.interrupt(connection)

        def stop() -> None:
            has_fired.set()
            if interrupt is not None:
                interrupt()

        timer = Timer(limits.seconds, stop)
        timer.daemon = True
        timer.start()
        try:
            yield
        except self.errors as error:
            if has_fired.is_set():
                raise timed_out(limits, self.kind) from error
            raise
        finally:
            timer.cancel()
            timer.join()  # a late interrupt would stop the next statement
        if has_fired.is_set() and interrupt is None:
            raise timed_out(limits, self.kind)  # the driver could not stop the statement

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        """Yield the connection. Close it afterwards if it cannot be used again."""
        require_process(self._owner)
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None and self._is_lost(connection):
                self._disconnect(connection)
                connection = None
            connection = connection or self._connect()
            try:
                yield connection
            except BaseException as error:
                # The server may still send the rest of an unreadable or interrupted result.
                if isinstance(error, UnreadableError) or not isinstance(error, DqaError):
                    connection.is_used_up = True
                raise
            finally:
                if connection.is_used_up:
                    self._disconnect(connection)
                else:
                    self._connection = connection

    def _is_lost(self, connection: Connection) -> bool:
        """Return whether the server closed an idle connection.

        An idle connection has data to read only if the server has closed it.
        """
        descriptor = self.descriptor(connection.driver)
        if descriptor is None or descriptor < 0:
            return descriptor is not None
        return sys.platform != "win32" and bool(wait([descriptor], timeout=0.0))

    def _connect(self) -> Connection:
        try:
            driver = self.connect()
            if self.is_server:
                self.announce(self.identify(driver))
        except self.errors as error:
            raise DatabaseUnavailableError(
                f"Database '{self.name}' cannot be reached: {one_line(error)}."
            ) from error
        return Connection(driver)

    def _disconnect(self, connection: Connection) -> None:
        with suppress(*self.errors):
            connection.driver.close()
