"""What sessions of relational servers share: a server may be far away, stopped, or busy for ever.

A server stops its statements by itself, at a limit that its session has. Where it does not, the
client leaves: it shuts its own socket, which never waits, drops the connection, and asks the server
from a new one to end what was left behind.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import cast

from sqlalchemy import QueuePool
from sqlalchemy.pool import PoolProxiedConnection

from dqa.core.database import Limits
from dqa.core.errors import DatabaseUnavailableError, DqaError
from dqa.core.schema import DatabaseSchema
from dqa.databases.failures import timed_out, unanswered
from dqa.databases.leaving import ENDING, GRACE, has_answered, has_news, shut, within
from dqa.databases.relational import PooledSession

_DESCRIBING = 60.0
"""Seconds that reading a schema may take."""
_MARK, _LEFT, _USED_UP = "mark", "left", "used up"


class ServerSession(PooledSession):
    """A relational database of a server."""

    @abstractmethod
    def _prepare(self, connection: PoolProxiedConnection, limits: Limits) -> None:
        """Let the server limit what statements of a connection take."""

    @abstractmethod
    def _mark_of(self, connection: PoolProxiedConnection) -> str:
        """Return what the server calls a connection, as `_end` takes it."""

    @abstractmethod
    def _descriptor(self, connection: PoolProxiedConnection) -> int:
        """Return the file descriptor of a connection's socket; -1 where it has none any more."""

    @abstractmethod
    def _end(self, mark: str, tell: Callable[[], None]) -> None:
        """End a connection from a new one, and `tell` when there is that.

        What the server says to it does not matter; `DatabaseUnavailableError` where it cannot be
        reached.
        """

    def end_statements(self, mark: str, seconds: float) -> bool:
        """End what another connection runs, from a new one."""
        return has_answered(seconds, partial(self._end, mark))

    def read_schema(self) -> DatabaseSchema:
        """Read the tables and views of the schema that is shown."""
        try:
            return within(_DESCRIBING, super().read_schema, lambda _: None)
        except TimeoutError:
            raise DatabaseUnavailableError(
                f"The schema of database '{self.name}' cannot be read within {_DESCRIBING:g} "
                "seconds: the server does not answer."
            ) from None

    @contextmanager
    def _limit(self, connection: PoolProxiedConnection, limits: Limits) -> Iterator[None]:
        if _MARK not in connection.info:
            connection.info[_MARK] = self._mark_of(connection)
            self.announce(connection.info[_MARK])
        with self._watch(limits.seconds + GRACE, self._stopper(connection)):
            self._prepare(connection, limits)
            yield

    def _stopper(self, connection: PoolProxiedConnection) -> Callable[[], None]:
        """Return what leaves the server, from another thread and without waiting."""
        info, descriptor = connection.info, partial(self._descriptor, connection)

        def leave() -> None:
            info[_LEFT] = True
            shut(descriptor())

        return leave

    def _late(self, connection: PoolProxiedConnection, limits: Limits) -> DqaError:
        has_answered = self._abandon(connection)
        return timed_out(limits, self.kind) if has_answered else unanswered(self.name, limits)

    def _give_back(self, connection: PoolProxiedConnection) -> None:
        if connection.is_valid and _LEFT in connection.info:
            self._abandon(connection)
        elif connection.is_valid and _USED_UP in connection.info:
            connection.invalidate()
        super()._give_back(connection)

    def _drop_later(self, connection: PoolProxiedConnection) -> None:
        """Let a connection be dropped when its statement is over."""
        connection.info[_USED_UP] = True

    def _abandon(self, connection: PoolProxiedConnection) -> bool:
        """Drop a connection on which the server was left, and end what it still runs there."""
        mark = str(connection.info[_MARK])
        connection.invalidate()
        return self.end_statements(mark, ENDING)

    def _is_stale(self, connection: PoolProxiedConnection) -> bool:
        # Of a new one there may be news: an encrypted connection has them when it begins.
        return _MARK in connection.info and has_news(self._descriptor(connection))

    def _checked_out(self, seconds: float) -> PoolProxiedConnection:
        # A thread costs as much as a small query, so only connecting is given one.
        if cast("QueuePool", self._engine.pool).checkedin():
            return super()._checked_out(seconds)
        try:
            connecting = partial(super()._checked_out, seconds)
            return within(seconds + ENDING, connecting, self._give_back)
        except TimeoutError:
            raise DatabaseUnavailableError(
                f"Database '{self.name}' cannot be reached within {seconds:.1f} seconds: it does "
                "not answer, or all connections to it are in use."
            ) from None
