"""What relational backends share: running statements over SQLAlchemy, and reading the schema.

A backend gives the engine and says what its server does differently: how time is limited, and which
of its errors mean what. SQLAlchemy provides the pool, the dialects, the inspector and the knowledge
of which errors are lost connections; statements run on the driver's own cursor, because Core's
result objects cost more than a small query does and add nothing here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from time import perf_counter

from sqlalchemy import Engine, Enum, Inspector, String, inspect, literal_column, select
from sqlalchemy.engine.interfaces import ReflectedColumn
from sqlalchemy.engine.reflection import ObjectKind
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import Pool, PoolProxiedConnection
from sqlalchemy.types import NullType

from dqa.core.database import Kind, Limits, Rows
from dqa.core.errors import DatabaseUnavailableError, DqaError
from dqa.core.schema import DatabaseSchema, Field, TableInfo, quoted
from dqa.core.session import Session
from dqa.databases.failures import UnreadableError, driver_reads, one_line, timed_out
from dqa.databases.faults import Attempts, Failure, Fault, error_of
from dqa.databases.leaving import OverdueError, empty_unused
from dqa.databases.namespaces import TAG_TABLE
from dqa.databases.rows import fetch_rows
from dqa.databases.tables import REFERENCES, ROW_COLUMN
from dqa.databases.watchdog import WATCHDOG

_POOL = "pool"
_AT_ONCE = 0.1
"""Seconds that may pass before what is left of a limit is told to a server anew."""


class PooledSession(Session):
    """A relational database over an SQLAlchemy engine whose connections can only read.

    Parameters
    ----------
    engine
        Where connections come from; it belongs to this object from now on.
    dialect
        The dialect that statements are checked in, one of `guard.DIALECTS`.
    name
        What to call the database; never holds a password.
    namespace
        The schema whose tables are shown; None for the connections' own.
    """

    kind: Kind = "relational"

    def __init__(
        self, engine: Engine, dialect: str, name: str, namespace: str | None = None
    ) -> None:
        super().__init__()
        self.name = name
        self.dialect = dialect
        self._engine = engine
        self._is_closed = False
        self._shown = namespace
        self._driver_error: type[Exception] = engine.dialect.loaded_dbapi.Error
        # What broke one connection has most likely broken all.
        trivial = str(select(literal_column("1")).compile(engine))
        self._attempts = Attempts(self._run_once, trivial, renew=engine.dispose)

    @abstractmethod
    def _limit(
        self, connection: PoolProxiedConnection, limits: Limits
    ) -> AbstractContextManager[object]:
        """Limit what statements of `connection` take while the context lasts.

        `OverdueError` comes out of it where a statement was stopped from outside.
        """

    @abstractmethod
    def _stopper(self, connection: PoolProxiedConnection) -> Callable[[], None] | None:
        """Return what ends, from another thread, what `connection` runs, and leaves it usable."""

    @abstractmethod
    def _failure(self, error: Exception) -> Failure:
        """Return what a driver's error means."""

    @contextmanager
    def _watch(self, seconds: float, stop: Callable[[], None]) -> Iterator[None]:
        """Stop a statement from outside, where it is still there after so many seconds."""
        with WATCHDOG.after(seconds, stop) as timer:
            try:
                yield
            except self._driver_error as error:
                if not timer.has_fired:
                    raise
                raise OverdueError from error

    @property
    def namespace(self) -> str | None:  # type: ignore[override]
        """The schema's name, which the server told when it was first connected to."""
        return self._shown or self._engine.dialect.default_schema_name

    def close(self) -> None:
        """Close all connections; those that are in use, when they are given back."""
        self._is_closed = True
        self._engine.dispose()

    def run(self, statement: str, limits: Limits) -> Rows:
        """Run a statement, and once again where its connection broke before it was sent."""
        return self._attempts.run(statement, limits)

    def _run_once(self, statement: str, limits: Limits) -> Rows:
        started = perf_counter()
        connection = self._connect(limits.seconds)
        is_sent = False
        try:
            with self._limit(connection, _left(limits, started)):
                is_sent = True
                return self._rows(connection, statement, limits, started)
        except OverdueError as error:
            raise self._late(connection, limits) from error
        except self._driver_error as error:
            failure = self._failure(error)
            if self._is_lost(error, connection):
                failure = replace(failure, fault=Fault.CONNECTION)
            if failure.fault is Fault.CONNECTION:
                failure = replace(failure, is_sent=is_sent)
                discard(connection)
            raise error_of(failure, error, self.name, self.kind, limits) from error
        except UnreadableError:
            discard(connection)
            raise
        except DqaError:
            raise
        except BaseException:
            # Ended from outside with who knows what still on the wire.
            discard(connection)
            raise
        finally:
            self._give_back(connection)

    def _give_back(self, connection: PoolProxiedConnection) -> None:
        """Return a connection to the pool it came from."""
        pool: Pool | None = connection.info.get(_POOL)
        connection.close()
        empty_unused(self._engine, pool, is_closed=self._is_closed)

    def _late(self, connection: PoolProxiedConnection, limits: Limits) -> DqaError:  # noqa: ARG002
        """Return the error of a statement that was stopped from outside."""
        return timed_out(limits, self.kind)

    def _rows(
        self, connection: PoolProxiedConnection, statement: str, limits: Limits, started: float
    ) -> Rows:
        cursor = connection.cursor()
        try:
            with driver_reads():
                cursor.execute(statement)
            return fetch_rows(
                *(cursor, limits, started, self._driver_error), stop=self._stopper(connection)
            )
        finally:
            cursor.close()

    def _is_lost(self, error: Exception, connection: PoolProxiedConnection) -> bool:
        return self._engine.dialect.is_disconnect(error, connection, None)  # type: ignore[arg-type]

    def _connect(self, seconds: float) -> PoolProxiedConnection:
        """Return a connection that was whole a moment ago."""
        connection = self._checked_out(seconds)
        while self._is_stale(connection):
            connection.invalidate()
            connection.close()
            self._engine.dispose()
            connection = self._checked_out(seconds)
        return connection

    def _is_stale(self, connection: PoolProxiedConnection) -> bool:  # noqa: ARG002
        """Whether an idle connection has broken."""
        return False

    def _checked_out(self, seconds: float) -> PoolProxiedConnection:  # noqa: ARG002
        """Return one of the pool's connections, or a new one within `seconds` and little more."""
        pool = self._engine.pool
        try:
            connection = pool.connect()
        except (SQLAlchemyError, self._driver_error) as error:
            raise DatabaseUnavailableError(
                f"Database '{self.name}' cannot be reached: {one_line(error)}."
            ) from error
        connection.info[_POOL] = pool
        return connection

    def read_schema(self) -> DatabaseSchema:
        """Read the tables and views of the schema that is shown."""
        try:
            return self._described()
        except (SQLAlchemyError, self._driver_error) as error:
            # The first one may have met a connection that an earlier server left behind.
            self._engine.dispose()
            try:
                return self._described()
            except (SQLAlchemyError, self._driver_error):
                raise DatabaseUnavailableError(
                    f"The schema of database '{self.name}' cannot be read: {one_line(error)}."
                ) from error

    def _described(self) -> DatabaseSchema:
        """Read the schema by as few statements as the dialect allows."""
        pool = self._engine.pool
        try:
            return _reflect(self._engine, self._shown)
        finally:
            empty_unused(self._engine, pool, is_closed=self._is_closed)


def _left(limits: Limits, started: float) -> Limits:
    """Return the limits with what is left of their seconds; as they are where nothing is lost."""
    taken = perf_counter() - started
    if taken < _AT_ONCE:
        return limits
    return limits.left(max(limits.seconds - taken, _AT_ONCE))


def discard(connection: PoolProxiedConnection) -> None:
    """Close a connection instead of giving it back, where that has not been done."""
    if connection.is_valid:
        connection.invalidate()


def commented_reference(column: str, comment: str | None) -> tuple[tuple[str, str, str], ...]:
    """Return what a column's comment says that it refers to, as ``(column, table, column)``."""
    if comment is None or not comment.startswith(REFERENCES):
        return ()
    other, _, other_column = comment.removeprefix(REFERENCES).partition(".")
    return ((column, other, other_column),)


def own_comment(comment: str | None) -> str:
    """Return a column's comment, unless it is what `commented_reference` reads."""
    return "" if comment is None or comment.startswith(REFERENCES) else comment


def _reflect(engine: Engine, namespace: str | None) -> DatabaseSchema:
    """Read every table and view in as few round trips as the dialect allows."""
    with engine.connect() as connection:
        inspector = inspect(connection)
        columns = _columns(inspector, namespace)
        keys = inspector.get_multi_pk_constraint(schema=namespace, kind=ObjectKind.TABLE)
        links = inspector.get_multi_foreign_keys(schema=namespace, kind=ObjectKind.TABLE)
        comments = _comments(inspector, namespace)

    def references(table: tuple[str | None, str]) -> Iterator[tuple[str, str, str]]:
        for link in links.get(table, []):
            if link["referred_schema"] not in {None, namespace}:
                continue  # a table outside, which is not shown
            pairs = zip(link["constrained_columns"], link["referred_columns"], strict=True)
            yield from ((column, link["referred_table"], other) for column, other in pairs)
        for column in columns[table]:
            yield from commented_reference(column["name"], column.get("comment"))

    tables = [
        TableInfo(
            name=table[1],
            columns=tuple(
                Field(c["name"], _type_of(c, engine), comment=own_comment(c.get("comment")))
                for c in columns[table]
                if c["name"] != ROW_COLUMN
            ),
            key=tuple(keys[table]["constrained_columns"]) if table in keys else (),
            references=tuple(references(table)),
            comment=comments.get(table, ""),
        )
        for table in sorted(columns, key=lambda table: table[1])
        if table[1] != TAG_TABLE
    ]
    quote = engine.dialect.identifier_preparer.initial_quote
    folds = engine.dialect.name == "postgresql" or engine.dialect.requires_name_normalize
    quote = quote if quote in _QUOTES else '"'
    return DatabaseSchema(tables=tuple(tables), quote=quote, folds_case=folds)


_QUOTES = ('"', "`")
_MOST_VALUES = 30
"""Values that are told of an enumeration that has a name: what may be compared with it."""


def _type_of(column: ReflectedColumn, engine: Engine) -> str:
    kind = column["type"]
    if isinstance(kind, NullType):
        return ""
    if isinstance(kind, String):
        kind.collation = None  # says nothing to who asks
    # The name of an enumeration or domain comes as a text of SQLAlchemy's own class, and what a
    # worker says has to be plain.
    told = str(kind.compile(engine.dialect))
    if isinstance(kind, Enum) and kind.native_enum and "enum" not in told.lower():
        values = [quoted(value, "'") for value in kind.enums[:_MOST_VALUES]]
        more = len(kind.enums) - len(values)
        return f"{told} ENUM({', '.join([*values, *([f'... {more} more'] if more else [])])})"
    return told


def _comments(inspector: Inspector, namespace: str | None) -> dict[tuple[str | None, str], str]:
    """Read the comments of tables and views, where the dialect knows any."""
    try:
        found = inspector.get_multi_table_comment(schema=namespace, kind=ObjectKind.ANY)
    except (NotImplementedError, SQLAlchemyError):
        return {}
    return {table: comment["text"] or "" for table, comment in found.items()}


def _columns(
    inspector: Inspector, namespace: str | None
) -> dict[tuple[str | None, str], list[ReflectedColumn]]:
    """Read the columns of all tables and views; of a view that is broken there are none."""
    try:
        return inspector.get_multi_columns(schema=namespace, kind=ObjectKind.ANY)
    except SQLAlchemyError:
        found = inspector.get_multi_columns(schema=namespace, kind=ObjectKind.TABLE)
    for view in inspector.get_view_names(schema=namespace):
        try:
            found[namespace, view] = inspector.get_columns(view, schema=namespace)
        except SQLAlchemyError:
            found[namespace, view] = []
    return found
