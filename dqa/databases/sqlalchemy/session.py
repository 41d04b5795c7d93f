"""A read-only database that is known by its SQLAlchemy dialect alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from threading import Thread

from sqlalchemy import Engine
from sqlalchemy.pool import PoolProxiedConnection

from dqa.core.database import Limits
from dqa.core.errors import DqaError
from dqa.core.examination import Advice, Examination
from dqa.databases.failures import one_line
from dqa.databases.faults import Failure, Fault
from dqa.databases.leaving import OverdueError
from dqa.databases.relational import PooledSession
from dqa.databases.servers import display_name
from dqa.databases.watchdog import WATCHDOG


class SqlalchemySession(PooledSession):
    """A database, or one schema of it, whose statements are all rolled back.

    Parameters
    ----------
    engine
        Where connections come from; it belongs to this object from now on.
    namespace
        The schema to show; None for the user's own.
    """

    def __init__(self, engine: Engine, namespace: str | None = None) -> None:
        super().__init__(engine, "ansi", display_name(engine.url, namespace), namespace)
        self.language = f"SQL ({engine.dialect.name})"

    def examine(self) -> Examination:
        """Return the version; what a user may do in such a server nobody knows."""
        with self._engine.connect() as connection:
            version = connection.dialect.server_version_info or ()
        dialect, user = self._engine.dialect.name, self._engine.url.username or ""
        title = f"{dialect} {'.'.join(map(str, version))}".strip()
        advice = Advice(
            "role",
            f"what {user} may do is not known",
            "the guard and a rollback keep statements from writing; a user without the right to "
            "write is one more line of defence",
            "Connect as a user who has SELECT on what is asked for, and no other right.",
        )
        return Examination(title, user, may_write=True, advice=(advice,) if user else ())

    @contextmanager
    def _limit(self, connection: PoolProxiedConnection, limits: Limits) -> Iterator[None]:
        stop = self._stopper(connection) or self._canceller(connection)
        with WATCHDOG.after(limits.seconds, stop) as timer:
            try:
                yield
            except self._driver_error as error:
                if not timer.has_fired:
                    raise
                raise OverdueError from error
        if timer.has_fired:
            raise OverdueError

    def _stopper(self, connection: PoolProxiedConnection) -> Callable[[], None] | None:
        stop = getattr(connection.driver_connection, "interrupt", None)
        return None if stop is None else partial(self._stop, stop)

    def _canceller(self, connection: PoolProxiedConnection) -> Callable[[], None]:
        """Return what cancels a statement over the network, which the watchdog never waits for.

        A driver that has no such thing cannot be stopped: what ends late is an error then.
        """
        stop = getattr(connection.driver_connection, "cancel", None)
        if stop is None:
            return lambda: None
        cancelling = partial(Thread, target=self._stop, args=(stop,), daemon=True)
        return lambda: cancelling().start()

    def _stop(self, stop: Callable[[], object]) -> None:
        with suppress(self._driver_error):
            stop()

    def _late(self, connection: PoolProxiedConnection, limits: Limits) -> DqaError:
        if self._stopper(connection) is None:
            connection.invalidate()  # what cancels may come too late, and meet the next statement
        return super()._late(connection, limits)

    def _failure(self, error: Exception) -> Failure:
        """Go by the families of the Python standard, which every driver's errors belong to.

        Whatever the driver complains of, it may be the dialect.
        """
        dbapi = self._engine.dialect.loaded_dbapi
        fault = Fault.NOT_UNDERSTOOD
        if isinstance(error, (dbapi.DataError, dbapi.IntegrityError)):
            fault = Fault.STATEMENT
        return Failure(fault, one_line(error))
