"""What all relational backends share: one query path, and one schema reader over SQLAlchemy.

`RelationalDatabase` is the query path: the guard, translation from MySQL's dialect, closing.
`PooledDatabase` runs statements over an SQLAlchemy engine. A backend gives the engine and says what
its server does differently: how time is limited, and which of its errors mean what. SQLAlchemy
provides the pool, the dialects, the inspector and the knowledge of which errors are lost
connections; statements run on the driver's own cursor, because Core's result objects cost more
than a small query does and add nothing here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from dataclasses import replace
from time import perf_counter

from sqlalchemy import Engine, Inspector, inspect
from sqlalchemy.engine.interfaces import DBAPICursor, ReflectedColumn
from sqlalchemy.engine.reflection import ObjectKind
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import PoolProxiedConnection
from sqlalchemy.types import NullType

from dqa import guard
from dqa.core.database import DEFAULT_LIMITS, Kind, Limits, Rows
from dqa.core.errors import (
    DatabaseUnavailableError,
    DqaError,
    RefusedStatementError,
    StatementError,
    StatementTimeoutError,
)
from dqa.core.schema import DatabaseSchema, Field, TableInfo
from dqa.core.secrets import redact
from dqa.databases.bounded import collect
from dqa.databases.relational_writer import ROW_COLUMN, TAG_TABLE
from dqa.guard import translation
from dqa.guard.policy import DEFAULT as DEFAULT_POLICY
from dqa.guard.policy import Policy

__all__ = [
    "NotUnderstoodError",
    "PooledDatabase",
    "RelationalDatabase",
    "one_line",
    "taken",
    "timed_out",
]

_BATCH = 256
"""Rows fetched at once: enough for most results, few enough to stop early."""


class NotUnderstoodError(StatementError):
    """The database cannot read the statement or knows no such function; it may be of another."""


class LostConnectionError(DatabaseUnavailableError):
    """The connection broke; another one may hold."""


class RelationalDatabase(ABC):
    """A relational `Database`.

    Parameters
    ----------
    dialect
        The dialect that statements are checked in, one of `guard.DIALECTS`.
    name
        What to call the database; never holds a password.
    """

    kind: Kind = "relational"
    language = "SQL"
    policy: Policy = DEFAULT_POLICY
    """What of this database may be called and read."""

    def __init__(self, dialect: str, name: str) -> None:
        self.dialect = dialect
        self.name = name
        self._schema: DatabaseSchema | None = None
        self._closed = False

    @abstractmethod
    def _run(self, statement: str, limits: Limits) -> Rows:
        """Run a statement that the guard has let through.

        Raises
        ------
        NotUnderstoodError
            The statement may be of another dialect.
        QueryError, DatabaseUnavailableError
            As `query` does.
        """

    @abstractmethod
    def _read_schema(self) -> DatabaseSchema:
        """Read the schema; `DatabaseUnavailableError` where that fails."""

    def schema(self) -> DatabaseSchema:
        """Return tables and views with columns, primary and foreign keys; read once."""
        if self._schema is None:
            self._refuse_if_closed()
            self._schema = self._read_schema()
        return self._schema

    def query(self, statement: str, limits: Limits = DEFAULT_LIMITS) -> Rows:
        """Run one read-only statement; see `dqa.core.database.Database.query`.

        A statement that this dialect cannot read is run in translation, where it is one of
        MySQL's.
        """
        try:
            guard.require(statement, self.dialect, self.policy)
            return self._run(statement, limits)
        except (RefusedStatementError, NotUnderstoodError) as error:
            translated = translation.from_mysql(statement, self.dialect, self.policy)
            if translated is None:
                raise _as_public(error) from error.__cause__
            try:
                return replace(self._run(translated, limits), translated=translated)
            except NotUnderstoodError:
                # Its author knows what was written and not what became of it.
                raise _as_public(error) from error.__cause__

    def close(self) -> None:
        """Close all connections."""
        self._closed = True

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise DatabaseUnavailableError(f"Database '{self.name}' is closed; open it again.")


class PooledDatabase(RelationalDatabase):
    """A relational database over an SQLAlchemy engine whose connections can only read.

    Parameters
    ----------
    engine
        Where connections come from; it belongs to this object from now on.
    dialect, name
        As `RelationalDatabase` takes them.
    place
        The schema whose tables are shown; None for the connections' own.
    """

    def __init__(self, engine: Engine, dialect: str, name: str, place: str | None = None) -> None:
        super().__init__(dialect, name)
        self._engine = engine
        self._place = place
        self._driver_error: type[Exception] = engine.dialect.loaded_dbapi.Error

    @abstractmethod
    def _limited(
        self, connection: PoolProxiedConnection, limits: Limits
    ) -> AbstractContextManager[object]:
        """Limit what statements of `connection` take while the context lasts."""

    @abstractmethod
    def _meaning(self, error: Exception, limits: Limits) -> DqaError:
        """Return what a driver's error means."""

    def close(self) -> None:
        """Close all connections."""
        super().close()
        self._engine.dispose()

    def _run(self, statement: str, limits: Limits) -> Rows:
        """Run a statement, and once again where its connection breaks: reading twice is safe."""
        self._refuse_if_closed()
        started = perf_counter()
        try:
            return self._run_once(statement, limits, started)
        except LostConnectionError:
            # What broke one connection has most likely broken all.
            self._engine.dispose()
        try:
            return self._run_once(statement, limits, started)
        except LostConnectionError as error:
            raise DatabaseUnavailableError(str(error)) from error

    def _run_once(self, statement: str, limits: Limits, started: float) -> Rows:
        pool = self._engine.pool
        connection = self._connect()
        try:
            with self._limited(connection, limits):
                return self._rows(connection, statement, limits, started)
        except self._driver_error as error:
            failure = error
            if self._is_lost(error, connection):
                connection.invalidate(error)
                raise LostConnectionError(
                    f"Database '{self.name}' broke the connection: {one_line(error)}."
                ) from error
        except DqaError:
            raise
        except BaseException:
            # Ended from outside with who knows what still on the wire.
            connection.invalidate()
            raise
        finally:
            if self._engine.pool is not pool and connection.is_valid:
                # Disposed of meanwhile: the old pool would take it back and never close it.
                connection.invalidate()
            connection.close()
        # Only now: what it means may take a look at the schema, on a connection of its own.
        raise self._meaning(failure, limits) from failure

    def _rows(
        self, connection: PoolProxiedConnection, statement: str, limits: Limits, started: float
    ) -> Rows:
        cursor = connection.cursor()
        try:
            cursor.execute(statement)
            return taken(cursor, limits, started)
        finally:
            cursor.close()

    def _is_lost(self, error: Exception, connection: PoolProxiedConnection) -> bool:
        return self._engine.dialect.is_disconnect(error, connection, None)  # type: ignore[arg-type]

    def _connect(self) -> PoolProxiedConnection:
        try:
            return self._engine.raw_connection()
        except (SQLAlchemyError, self._driver_error) as error:
            raise DatabaseUnavailableError(
                f"Database '{self.name}' cannot be reached: {one_line(error)}."
            ) from error

    def _read_schema(self) -> DatabaseSchema:
        try:
            return _reflected(self._engine, self._place)
        except (SQLAlchemyError, self._driver_error) as error:
            # The first one may have met a connection that an earlier server left behind.
            self._engine.dispose()
            try:
                return _reflected(self._engine, self._place)
            except (SQLAlchemyError, self._driver_error):
                raise DatabaseUnavailableError(
                    f"The schema of database '{self.name}' cannot be read: {one_line(error)}."
                ) from error


def taken(cursor: DBAPICursor, limits: Limits, started: float) -> Rows:
    """Take rows from a cursor until they end or a limit does."""
    if cursor.description is None:
        raise StatementError("The statement returned no rows; write a query that does.")
    columns = [column[0] for column in cursor.description]
    size = min(limits.rows + 1, _BATCH)
    batches = iter(lambda: cursor.fetchmany(size) or [], [])
    return collect(columns, (row for batch in batches for row in batch), limits, started)


def timed_out(limits: Limits) -> StatementTimeoutError:
    """Return the error of a statement that took too long."""
    return StatementTimeoutError(
        f"The statement was stopped after {limits.seconds:g} seconds. "
        "Write one that reads less: filter earlier, join on keys, bound recursion."
    )


def one_line(error: object) -> str:
    """Return what a driver says on one line, without secrets and the full stop."""
    original = getattr(error, "orig", None) or error
    arguments: tuple[object, ...] = getattr(original, "args", ())
    # PyMySQL's errors are pairs of a number and a text.
    said = arguments[1] if len(arguments) > 1 and isinstance(arguments[0], int) else original
    return redact(" ".join(str(said).split())).rstrip(".")


def _as_public(error: RefusedStatementError | NotUnderstoodError) -> DqaError:
    return StatementError(str(error)) if isinstance(error, NotUnderstoodError) else error


def _reflected(engine: Engine, place: str | None) -> DatabaseSchema:
    """Read every table and view in as few round trips as the dialect allows."""
    with engine.connect() as connection:
        inspector = inspect(connection)
        columns = _columns(inspector, place)
        keys = inspector.get_multi_pk_constraint(schema=place, kind=ObjectKind.TABLE)
        links = inspector.get_multi_foreign_keys(schema=place, kind=ObjectKind.TABLE)

    def type_of(column: ReflectedColumn) -> str:
        kind = column["type"]
        if isinstance(kind, NullType):
            return ""
        if getattr(kind, "collation", None) is not None:
            kind.collation = None  # type: ignore[attr-defined]  # says nothing to who asks
        return kind.compile(engine.dialect)

    tables = [
        TableInfo(
            name=table[1],
            columns=tuple(
                Field(c["name"], type_of(c)) for c in columns[table] if c["name"] != ROW_COLUMN
            ),
            key=tuple(keys[table]["constrained_columns"]) if table in keys else (),
            references=tuple(
                (column, link["referred_table"], other)
                for link in links.get(table, [])
                for column, other in zip(
                    link["constrained_columns"], link["referred_columns"], strict=True
                )
            ),
        )
        for table in sorted(columns, key=lambda table: table[1])
        if table[1] != TAG_TABLE
    ]
    quote = engine.dialect.identifier_preparer.initial_quote
    return DatabaseSchema(tables=tuple(tables), quote=quote if quote in _QUOTES else '"')


_QUOTES = ('"', "`")


def _columns(
    inspector: Inspector, place: str | None
) -> dict[tuple[str | None, str], list[ReflectedColumn]]:
    """Read the columns of all tables and views; of a view that is broken there are none."""
    try:
        return inspector.get_multi_columns(schema=place, kind=ObjectKind.ANY)
    except SQLAlchemyError:
        found = inspector.get_multi_columns(schema=place, kind=ObjectKind.TABLE)
    for view in inspector.get_view_names(schema=place):
        try:
            found[place, view] = inspector.get_columns(view, schema=place)
        except SQLAlchemyError:
            found[place, view] = []
    return found
