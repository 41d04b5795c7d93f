"""A read-only database that is known by its SQLAlchemy dialect alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from sqlalchemy import Engine
from sqlalchemy.pool import PoolProxiedConnection

from dqa.core.database import Limits
from dqa.databases.failures import one_line, timed_out
from dqa.databases.faults import Failure, Fault
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

    @contextmanager
    def _limit(self, connection: PoolProxiedConnection, limits: Limits) -> Iterator[None]:
        with WATCHDOG.after(limits.seconds, self._stopper(connection) or _wait) as timer:
            try:
                yield
            except self._driver_error as error:
                if not timer.has_fired:
                    raise
                raise timed_out(limits, self.kind) from error
        if timer.has_fired:
            raise timed_out(limits, self.kind)

    def _stopper(self, connection: PoolProxiedConnection) -> Callable[[], None] | None:
        driver = connection.driver_connection
        stop = getattr(driver, "interrupt", None) or getattr(driver, "cancel", None)
        if stop is None:
            return None

        def fire() -> None:
            with suppress(self._driver_error):
                stop()

        return fire

    def _failure(self, error: Exception) -> Failure:
        """Go by the families of the Python standard, which every driver's errors belong to.

        Whatever the driver complains of, it may be the dialect.
        """
        dbapi = self._engine.dialect.loaded_dbapi
        fault = Fault.NOT_UNDERSTOOD
        if isinstance(error, (dbapi.DataError, dbapi.IntegrityError)):
            fault = Fault.STATEMENT
        return Failure(fault, one_line(error))


def _wait() -> None:
    """Do nothing about a driver that cannot be stopped: what ends late is an error then."""
