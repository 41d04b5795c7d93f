"""Any other database that SQLAlchemy has a dialect and an installed driver for.

Only what all of SQL has in common is known of it. The guard lets through what is plain in every
dialect (``ansi``), every statement is rolled back, and a statement is stopped by the driver's own
``cancel`` or ``interrupt``, where it has one; where it has none, it ends late and is an error. Let
the user of such a URL be one who may only read: in many servers a rollback undoes no definition.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sqlalchemy import URL, Connection, Engine, MetaData, create_engine, inspect, select
from sqlalchemy.exc import DataError as DriverDataError
from sqlalchemy.exc import IntegrityError, NoSuchModuleError, ProgrammingError, SQLAlchemyError
from sqlalchemy.pool import PoolProxiedConnection
from sqlalchemy.schema import CreateSchema, DropSchema

from dqa.core.database import Database, Kind, Limits
from dqa.core.errors import (
    DatabaseUnavailableError,
    DataError,
    DqaError,
    MissingKeyError,
    StatementError,
    UsageError,
)
from dqa.core.situation import Situation
from dqa.databases.base import Backend, Examination, Loaded, place_name
from dqa.databases.relational import NotUnderstoodError, PooledDatabase, one_line, timed_out
from dqa.databases.relational_writer import TAG_TABLE, in_the_way, tag_of
from dqa.databases.servers import POOL, parsed, shown
from dqa.databases.watchdog import WATCHDOG

__all__ = ["BACKEND", "SqlalchemyBackend", "SqlalchemyDatabase"]

_OTHERS = frozenset(
    {"mysql", "mariadb", "postgres", "postgresql", "duckdb", "ladybug"}
    | {"bolt", "neo4j", "http", "https", "file"}
)
"""Beginnings of URLs that are of other backends, or of none."""
_WITHOUT_SCHEMAS = frozenset({"sqlite"})
_BEGUN, _FOREIGN = "a load that was never finished", "tables that are not of this project"


class SqlalchemyDatabase(PooledDatabase):
    """A database, or one schema of it, whose statements are all rolled back.

    Parameters
    ----------
    engine
        Where connections come from; it belongs to this object from now on.
    place
        The schema to show; None for the user's own.
    """

    def __init__(self, engine: Engine, place: str | None = None) -> None:
        super().__init__(engine, "ansi", shown(engine.url, place), place)
        self.language = f"SQL ({engine.dialect.name})"

    @contextmanager
    def _limited(self, connection: PoolProxiedConnection, limits: Limits) -> Iterator[None]:
        driver = connection.driver_connection
        stop = getattr(driver, "interrupt", None) or getattr(driver, "cancel", None)

        def ring() -> None:
            if stop is not None:
                with suppress(self._driver_error):
                    stop()

        with WATCHDOG.after(limits.seconds, ring) as alarm:
            try:
                yield
            except self._driver_error as error:
                if not alarm.rang:
                    raise
                raise timed_out(limits) from error
        if alarm.rang:
            raise timed_out(limits)

    def _meaning(self, error: Exception, limits: Limits) -> DqaError:  # noqa: ARG002
        # Whatever the driver complains of, it may be the dialect.
        problem = f"{one_line(error)}."
        dbapi = self._engine.dialect.loaded_dbapi
        understood = isinstance(error, (dbapi.DataError, dbapi.IntegrityError))
        return StatementError(problem) if understood else NotUnderstoodError(problem)


class SqlalchemyBackend:
    """Opens databases by any other SQLAlchemy URL, and loads situations into them."""

    name = "sqlalchemy"
    kind: Kind = "relational"
    dialect = "ansi"
    embedded = False

    def accepts(self, location: str) -> bool:
        """Whether `location` is a URL that no other backend takes."""
        scheme, mark, _ = location.partition("://")
        return bool(mark) and scheme != "sqlite" and scheme.partition("+")[0] not in _OTHERS

    def open(self, location: str) -> Database:
        """Open a database read-only; with ``?schema=name`` in the URL, only that schema.

        Raises
        ------
        MissingKeyError
            The driver is not installed.
        UsageError
            SQLAlchemy knows no such dialect, or a load of the schema was never finished.
        DatabaseUnavailableError
            The database cannot be reached.
        """
        engine, place = _engine(location)
        with _transaction(engine) as connection:
            if _held(connection, place) == _BEGUN:
                raise UsageError(
                    f"{shown(engine.url, place)} is a load that was never finished; load it again."
                )
        return SqlalchemyDatabase(engine, place)

    def load(
        self, situation: Situation, location: str | None = None, replace: str | None = None
    ) -> Database:
        """Write a situation into a schema of its own and open that read-only.

        Where the database knows no schemas, all of it is the place.

        Raises
        ------
        UsageError
            The place holds something else and `replace` does not name it, the location names
            none, or as `open`.
        DataError
            The database cannot hold the situation.
        DatabaseUnavailableError
            The database cannot be reached or written.
        """
        from dqa.databases.sqlalchemy import writer

        if location is None:
            raise UsageError("Name the database to load into by an SQLAlchemy URL.")
        engine, _ = _engine(location)
        name = place_name(situation)
        place = None if engine.dialect.name in _WITHOUT_SCHEMAS else name
        tag, metadata = tag_of(situation, name), writer.definitions(situation.schema, place)
        with _transaction(engine) as connection:
            held = _held(connection, place)
            if not isinstance(held, Loaded) or held.content_hash != tag.content_hash:
                begun = held == _BEGUN and _is_begun(connection, place, metadata)
                if held is not None and not begun and replace != name:
                    what = held if isinstance(held, str) else f"situation '{held.name}'"
                    raise in_the_way(name, what)
                if held is not None:
                    _drop(connection, place)
                if place is not None:
                    connection.execute(CreateSchema(place))
                try:
                    writer.write(connection, metadata, tag, situation)
                except (IntegrityError, DriverDataError) as error:
                    raise DataError(
                        f"Situation '{situation.name}' cannot be held: {one_line(error)}."
                    ) from error
        return SqlalchemyDatabase(engine, place)

    def loaded(self, location: str) -> tuple[Loaded, ...]:
        """List the situations that the database holds, by place."""
        engine, _ = _engine(location)
        with _disposed(engine), _transaction(engine) as connection:
            held = (_held(connection, place) for place in _places(connection))
            return tuple(each for each in held if isinstance(each, Loaded))

    def examine(self, location: str | None = None) -> Examination:
        """Connect and look: `DqaError` says what is wrong with the connection."""
        if location is None:
            raise UsageError("Name the database by an SQLAlchemy URL.")
        engine, _ = _engine(location)
        with _disposed(engine), _transaction(engine) as connection:
            version = connection.dialect.server_version_info or ()
            title = f"{engine.dialect.name} {'.'.join(map(str, version))}".strip()
            # Nobody knows what a user may do in a server that is known by its dialect alone.
            return Examination(title, engine.url.username or "", may_write=True)

    def unload(self, location: str, place: str) -> Loaded:
        """Drop a place and return what it held; `UsageError` where it holds no situation."""
        engine, _ = _engine(location)
        with _disposed(engine), _transaction(engine) as connection:
            for where in _places(connection):
                held = _held(connection, where)
                if isinstance(held, Loaded) and held.place == place:
                    _drop(connection, where)
                    return held
        raise UsageError(f"'{place}' in {shown(engine.url)} holds no situation.")


def _engine(location: str) -> tuple[Engine, str | None]:
    url = parsed(location)
    place = url.query.get("schema")
    url = url.difference_update_query(["schema"])
    scheme = url.drivername
    try:
        engine = create_engine(url, **({} if _is_in_memory(url) else POOL))
    except NoSuchModuleError:
        raise UsageError(
            f"SQLAlchemy knows no dialect '{scheme}': install the package that brings it, or "
            "check the beginning of the URL."
        ) from None
    except ModuleNotFoundError as error:
        raise MissingKeyError(
            f"The driver '{error.name}' of {scheme}:// is not installed: pip install {error.name}."
        ) from None
    except (SQLAlchemyError, TypeError, ValueError) as error:
        raise UsageError(f"{shown(url)} cannot be used: {one_line(error)}.") from None
    return engine, place if isinstance(place, str) else None


def _is_in_memory(url: URL) -> bool:
    return url.get_backend_name() == "sqlite" and not url.database


@contextmanager
def _disposed(engine: Engine) -> Iterator[None]:
    try:
        yield
    finally:
        engine.dispose()


@contextmanager
def _transaction(engine: Engine) -> Iterator[Connection]:
    """Give a connection in a transaction; its errors say what they mean."""
    try:
        with engine.begin() as connection:
            yield connection
    except ProgrammingError as error:
        engine.dispose()
        raise UsageError(f"{shown(engine.url)} cannot be used: {one_line(error)}.") from error
    except SQLAlchemyError as error:
        engine.dispose()
        raise DatabaseUnavailableError(
            f"{shown(engine.url)} cannot be used: {one_line(error)}."
        ) from error
    except DqaError:
        engine.dispose()
        raise


def _places(connection: Connection) -> list[str | None]:
    if connection.dialect.name in _WITHOUT_SCHEMAS:
        return [None]
    return [*sorted(n for n in inspect(connection).get_schema_names() if n.startswith("dqa_"))]


def _held(connection: Connection, place: str | None) -> Loaded | str | None:
    """Return what a place holds: a situation, something else in words, or None: nothing at all."""
    from dqa.databases.sqlalchemy.writer import tag_table

    inspector = inspect(connection)
    if place is not None and place not in inspector.get_schema_names():
        return None
    tables = inspector.get_table_names(schema=place)
    if TAG_TABLE not in tables:
        return _FOREIGN if tables else None if place is None else _BEGUN
    row = connection.execute(select(tag_table(MetaData(schema=place)))).first()
    if row is None:
        return _BEGUN
    return Loaded(*row)


def _is_begun(connection: Connection, place: str | None, metadata: MetaData) -> bool:
    """Whether all that a place has is what a load of this schema has made there."""
    tables = set(inspect(connection).get_table_names(schema=place))
    return tables <= {table.name for table in metadata.sorted_tables}


def _drop(connection: Connection, place: str | None) -> None:
    metadata = MetaData(schema=place)
    metadata.reflect(connection)
    metadata.drop_all(connection)
    if place is not None:
        connection.execute(DropSchema(place))


BACKEND: Backend = SqlalchemyBackend()
