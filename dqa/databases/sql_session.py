"""Read-only sessions of SQL databases: one class, and a record of settings per engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any, TypeAlias

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import Pool, PoolProxiedConnection, QueuePool

from dqa.core.database import Kind, Limits, Rows
from dqa.core.errors import DatabaseUnavailableError, DqaError
from dqa.core.examination import Examination
from dqa.core.schema import DatabaseSchema
from dqa.core.session import Session
from dqa.databases.disconnect import has_news, shut
from dqa.databases.failures import UnreadableError, driver_reads, one_line, timed_out
from dqa.databases.faults import Attempts, Failure, Fault, error_of
from dqa.databases.rows import collect, columns_of, rows_from
from dqa.databases.watchdog import WATCHDOG

_DESCRIBING = 60.0
"""Most seconds for reading a schema."""
_NOTICEABLE = 0.1
"""Seconds of waiting for a connection that shorten the limit of a statement."""
_MARK = "mark"
USED_UP = "used up"
"""Key of `Connection.info`: close the connection after its statement."""

Connection: TypeAlias = PoolProxiedConnection
Result: TypeAlias = tuple[Sequence[str], Iterable[Sequence[Any]]]
"""Column names and rows of a running statement."""


class _OverdueError(Exception):
    """A statement was stopped at its limit from another thread."""


def _no_limits(_connection: Connection, _limits: Limits) -> None:
    """Leave the limits of an engine as they are."""


def _no_interrupt(_connection: Connection) -> None:
    """Return no function: the driver cannot stop a statement."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How to find a connection's statement on a server, which stops statements at their limit.

    Attributes
    ----------
    identify
        Returns the server's name of a connection.
    descriptor
        Returns the file descriptor of a connection's socket, -1 without one.
    end
        Ends the named connection from a new one, as far as the role may.
    """

    identify: Callable[[Connection], str]
    descriptor: Callable[[Connection], int]
    end: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """What differs between SQL engines.

    Attributes
    ----------
    dialect
        The dialect of statements, one of `guard.DIALECTS`.
    language
        The language of statements, as a model reads it.
    error
        The base class of the driver's exceptions.
    pool
        Gives the driver's connections, which can only read.
    execute
        Runs exactly one statement and streams its result; ends what is left of it on exit.
    failure
        Explains an exception of the driver.
    describe
        Reads the schema.
    prepare
        Sets the limits of the next statement in the engine.
    interrupt
        Stops a running statement from another thread without waiting; None if the driver cannot.
        Servers are stopped by `server`.
    server
        Of a server; None for an embedded engine.
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
    error: type[Exception]
    pool: Pool
    execute: Callable[[Connection, str], AbstractContextManager[Result]]
    failure: Callable[[Exception, Connection], Failure]
    describe: Callable[[Connection], DatabaseSchema]
    prepare: Callable[[Connection, Limits], None] = _no_limits
    interrupt: Callable[[Connection], Callable[[], object] | None] = _no_interrupt
    server: ServerSettings | None = None
    count_reads: Callable[[Connection], int] | None = None
    examine: Callable[[Callable[[str, Limits], Rows]], Examination] | None = None
    trivial: str = "SELECT 1"
    is_broken: Callable[[], bool] = lambda: False


class SqlSession(Session):
    """A SQL database whose connections can only read.

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
        self._is_closed = False
        self._pool = settings.pool
        self._attempts = Attempts(self._run_once, settings.trivial, renew=self._renew)

    @property
    def is_broken(self) -> bool:  # type: ignore[override]
        """Whether the database must be opened anew."""
        return self._settings.is_broken()

    def close(self) -> None:
        """Close idle connections now, and others as soon as they are returned."""
        if not self._is_closed:
            self._is_closed = True
            self._pool.dispose()
            self._on_close()

    def run(self, statement: str, limits: Limits) -> Rows:
        """Run a statement; run it again if its connection broke before it was sent."""
        return self._attempts.run(statement, limits)

    def read_schema(self) -> DatabaseSchema:
        """Read the tables and views that the role can read."""
        limits = Limits(seconds=_DESCRIBING)
        try:
            with self._connected() as connection, self._limited(connection, limits):
                self._settings.prepare(connection, limits)
                return self._settings.describe(connection)
        except (SQLAlchemyError, _OverdueError, self._settings.error) as error:
            self._renew()  # an earlier server may have left the connections behind
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
        if self._settings.server is not None:
            self._settings.server.end(mark)

    def _renew(self) -> None:
        """Connect anew: the cause that broke one connection probably broke all."""
        old, self._pool = self._pool, self._pool.recreate()
        old.dispose()

    def _run_once(self, statement: str, limits: Limits) -> Rows:
        started = perf_counter()
        is_sent = False
        with self._connected() as connection:
            try:
                left = _left(limits, started)
                with self._limited(connection, left):
                    self._settings.prepare(connection, left)
                    is_sent = True
                    return self._rows(connection, statement, limits, started)
            except _OverdueError as error:
                raise timed_out(limits, self.kind) from error
            except self._settings.error as error:
                failure = self._settings.failure(error, connection)
                if failure.fault is Fault.CONNECTION:
                    failure = replace(failure, is_sent=is_sent)
                    _discard(connection)
                raise error_of(failure, error, self.name, self.kind, limits) from error

    def _rows(self, connection: Connection, statement: str, limits: Limits, started: float) -> Rows:
        count = self._settings.count_reads if limits.scans else None
        before = count(connection) if count else 0
        with self._settings.execute(connection, statement) as (columns, result):
            rows = collect(
                columns,
                result,
                limits,
                started,
                failures=self._settings.error,
                stop=self._stopper(connection),
            )
        if count is None or USED_UP in connection.info:
            return rows
        after = count(connection)
        own = count(connection) - after
        return replace(rows, scanned=max(after - before - own, 0))

    @contextmanager
    def _limited(self, connection: Connection, limits: Limits) -> Iterator[None]:
        """Stop a statement of an embedded engine at its limit; a server does so itself."""
        if self._settings.server is not None:
            yield
            return
        interrupt = self._settings.interrupt(connection)
        with WATCHDOG.after(limits.seconds, interrupt or (lambda: None)) as timer:
            try:
                yield
            except self._settings.error as error:
                if timer.has_fired:
                    raise _OverdueError from error
                raise
        if timer.has_fired and interrupt is None:
            raise _OverdueError  # a driver that cannot stop a statement returns late

    def _stopper(self, connection: Connection) -> Callable[[], object] | None:
        """Return a function that stops a statement from another thread without waiting."""
        server = self._settings.server
        if server is None:
            return self._settings.interrupt(connection)
        info, descriptor = connection.info, partial(server.descriptor, connection)

        def leave() -> None:
            info[USED_UP] = True
            shut(descriptor())

        return leave

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        """Give a connection that worked a moment ago, and return it to its pool."""
        pool, connection = self._checked_out()
        while self._is_stale(connection):
            connection.invalidate()
            connection.close()
            self._renew()
            pool, connection = self._checked_out()
        try:
            self._identify(connection)
            yield connection
        except UnreadableError:
            _discard(connection)
            raise
        except DqaError:
            raise
        except BaseException:
            _discard(connection)  # interrupted: part of a result may still arrive
            raise
        finally:
            if USED_UP in connection.info:
                _discard(connection)
            connection.close()
            if self._is_closed or pool is not self._pool:
                pool.dispose()  # no one takes a connection from it any more

    def _identify(self, connection: Connection) -> None:
        server = self._settings.server
        if server is not None and _MARK not in connection.info:
            connection.info[_MARK] = server.identify(connection)
            self.announce(connection.info[_MARK])

    def _is_stale(self, connection: Connection) -> bool:
        """Whether an idle connection has broken: its socket has something to read."""
        server = self._settings.server
        # A new encrypted connection has something to read, too.
        is_used = server is not None and _MARK in connection.info
        return is_used and server is not None and has_news(server.descriptor(connection))

    def _checked_out(self) -> tuple[Pool, Connection]:
        pool = self._pool
        try:
            return pool, pool.connect()
        except (SQLAlchemyError, self._settings.error) as error:
            raise DatabaseUnavailableError(
                f"Database '{self.name}' cannot be reached: {one_line(error)}."
            ) from error


@contextmanager
def execute_plainly(connection: Connection, statement: str) -> Iterator[Result]:
    """Run a statement on a cursor of the driver."""
    cursor = connection.cursor()
    try:
        with driver_reads():
            cursor.execute(statement)
        yield columns_of(cursor), rows_from(cursor)
    finally:
        cursor.close()


def pooled(connect: Callable[[], Any]) -> Pool:
    """Return a pool of connections without a reset: servers have about a hundred for all."""
    return QueuePool(connect, 8, 24, 60.0, reset_on_return=None)


def _left(limits: Limits, started: float) -> Limits:
    """Return the limits with the seconds that are left, unless almost all are left."""
    taken = perf_counter() - started
    if taken < _NOTICEABLE:
        return limits
    return limits.left(max(limits.seconds - taken, _NOTICEABLE))


def _discard(connection: Connection) -> None:
    if connection.is_valid:
        connection.invalidate()
