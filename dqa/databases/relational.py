"""What all relational backends share: one query path and one schema reader over SQLAlchemy.

A backend gives an engine and overrides what its server does differently: how time is limited, and
which of its errors mean what. SQLAlchemy provides the pool, the dialects, the inspector and the
knowledge of which errors are lost connections; statements run on the driver's own cursor, because
Core's result objects cost more than a small query does and add nothing here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from time import perf_counter

from sqlalchemy import Engine, inspect
from sqlalchemy.engine.interfaces import DBAPICursor, ReflectedColumn
from sqlalchemy.engine.reflection import ObjectKind
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import PoolProxiedConnection
from sqlalchemy.types import NullType

from dqa.databases import guard
from dqa.databases.base import DEFAULT_LIMITS, Kind, Limits, Rows
from dqa.databases.bounded import collect
from dqa.databases.schema import DatabaseSchema, Field, TableInfo
from dqa.errors import DatabaseUnavailableError, DqaError, StatementError

__all__ = ["RelationalDatabase"]

_BATCH = 256
"""Rows fetched at once: enough for most results, few enough to stop early."""


class RelationalDatabase(ABC):
    """A `Database` over an SQLAlchemy engine whose connections can only read.

    Parameters
    ----------
    engine
        Where connections come from; it belongs to this object from now on.
    dialect
        The dialect that statements are checked in, one of `guard.DIALECTS`.
    name
        What to call the database; never holds a password.
    """

    kind: Kind = "relational"
    language = "SQL"

    def __init__(self, engine: Engine, dialect: str, name: str) -> None:
        self.dialect = dialect
        self.name = name
        self._engine = engine
        self._driver_error: type[Exception] = engine.dialect.loaded_dbapi.Error
        self._schema: DatabaseSchema | None = None
        self._closed = False

    @abstractmethod
    def _limited(
        self, connection: PoolProxiedConnection, seconds: float
    ) -> AbstractContextManager[object]:
        """Limit how long statements of `connection` take while the context lasts."""

    @abstractmethod
    def _translated(self, error: Exception, limits: Limits) -> DqaError:
        """Return what a driver's error means."""

    def schema(self) -> DatabaseSchema:
        """Return tables and views with columns, primary and foreign keys; read once."""
        if self._schema is None:
            self._refuse_if_closed()
            try:
                self._schema = _read_schema(self._engine)
            except SQLAlchemyError as error:
                problem = _one_line(getattr(error, "orig", None) or error)
                raise DatabaseUnavailableError(
                    f"The schema of database '{self.name}' cannot be read: {problem}."
                ) from error
        return self._schema

    def query(self, statement: str, limits: Limits = DEFAULT_LIMITS) -> Rows:
        """Run one read-only statement; see `dqa.databases.base.Database.query`."""
        guard.require(statement, self.dialect)
        return self._run(statement, limits)

    def close(self) -> None:
        """Close all connections."""
        self._closed = True
        self._engine.dispose()

    def _run(self, statement: str, limits: Limits) -> Rows:
        """Run a statement that the guard has let through."""
        self._refuse_if_closed()
        started = perf_counter()
        connection = self._connect()
        try:
            with self._limited(connection, limits.seconds):
                cursor = connection.cursor()
                try:
                    cursor.execute(statement)
                    return _taken(cursor, limits, started)
                finally:
                    cursor.close()
        except self._driver_error as error:
            if self._engine.dialect.is_disconnect(error, connection, None):  # type: ignore[arg-type]
                connection.invalidate(error)
            raise self._translated(error, limits) from error
        finally:
            connection.close()

    def _connect(self) -> PoolProxiedConnection:
        try:
            return self._engine.raw_connection()
        except (SQLAlchemyError, self._driver_error) as error:
            problem = _one_line(getattr(error, "orig", None) or error)
            raise DatabaseUnavailableError(
                f"Database '{self.name}' cannot be reached: {problem}."
            ) from error

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise DatabaseUnavailableError(f"Database '{self.name}' is closed; open it again.")


def _taken(cursor: DBAPICursor, limits: Limits, started: float) -> Rows:
    if cursor.description is None:
        raise StatementError("The statement returned no rows; write a query that does.")
    columns = [column[0] for column in cursor.description]
    size = min(limits.rows + 1, _BATCH)
    batches = iter(lambda: cursor.fetchmany(size), [])
    return collect(columns, (row for batch in batches for row in batch), limits, started)


def _read_schema(engine: Engine) -> DatabaseSchema:
    """Read every table and view in as few round trips as the dialect allows."""
    with engine.connect() as connection:
        inspector = inspect(connection)
        columns = inspector.get_multi_columns(kind=ObjectKind.ANY)
        keys = inspector.get_multi_pk_constraint(kind=ObjectKind.ANY)
        links = inspector.get_multi_foreign_keys(kind=ObjectKind.ANY)

    def type_of(column: ReflectedColumn) -> str:
        kind = column["type"]
        return "" if isinstance(kind, NullType) else kind.compile(engine.dialect)

    tables = [
        TableInfo(
            name=table[1],
            columns=tuple(Field(c["name"], type_of(c)) for c in columns[table]),
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
    ]
    return DatabaseSchema(tables=tuple(tables))


def _one_line(error: object) -> str:
    return " ".join(str(error).split()).rstrip(".")
