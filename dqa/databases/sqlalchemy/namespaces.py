"""The namespaces of any SQLAlchemy database: its schemas, or all of it where it knows none.

Where definitions commit by themselves, a schema whose tag is missing is a load that was never
finished.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import isnan
from typing import Any, Self

from sqlalchemy import URL, Connection, Engine, MetaData, create_engine, insert, inspect, select
from sqlalchemy.exc import DataError as DriverDataError
from sqlalchemy.exc import IntegrityError, NoSuchModuleError, ProgrammingError, SQLAlchemyError
from sqlalchemy.schema import CreateSchema, CreateTable, DropSchema

from dqa.core.errors import DatabaseUnavailableError, DataError, MissingKeyError, UsageError
from dqa.core.situation import Cell, Situation, Table
from dqa.databases.failures import one_line
from dqa.databases.namespaces import (
    LoadedSituation,
    NamespaceContent,
    Namespaces,
    UnfinishedLoad,
    join_name,
    tagged_content,
)
from dqa.databases.servers import POOL, display_name, parse_url, split_namespace
from dqa.databases.sql_session import SqlSession
from dqa.databases.sqlalchemy.session import open_sqlalchemy
from dqa.databases.tables import ROW_COLUMN, define_tables, define_tag, tag_row

_WITHOUT_SCHEMAS = frozenset({"sqlite"})
_EVERYTHING = ""
"""The only namespace of a database without schemas, where nothing has a name there yet."""


class SqlalchemyNamespaces(Namespaces):
    """The schemas of a database.

    Parameters
    ----------
    connection
        In a transaction that ends with the namespaces.
    wanted
        The schema that the location names.
    """

    def __init__(self, connection: Connection, wanted: str | None) -> None:
        self.location = display_name(connection.engine.url)
        self.is_handed_over = False
        self._connection = connection
        self._wanted = wanted

    @classmethod
    @contextmanager
    def connect(cls, location: str) -> Iterator[Self]:
        """Give the schemas of a database, in a transaction; errors come out as this project's."""
        url, wanted = split_namespace(parse_url(location))
        engine, is_handed_over = _engine(url), False
        try:
            with engine.begin() as connection:
                namespaces = cls(connection, wanted)
                yield namespaces
            is_handed_over = namespaces.is_handed_over
        except ProgrammingError as error:
            raise UsageError(f"{display_name(url)} cannot be used: {one_line(error)}.") from error
        except SQLAlchemyError as error:
            raise DatabaseUnavailableError(
                f"{display_name(url)} cannot be used: {one_line(error)}."
            ) from error
        finally:
            if not is_handed_over:
                engine.dispose()

    def names(self) -> Iterable[str]:
        """Return the schemas whose names begin as ours do."""
        if not self._has_schemas:
            return [_EVERYTHING]
        names = inspect(self._connection).get_schema_names()
        return sorted(name for name in names if name.startswith("dqa_"))

    def read(self, namespace: str) -> NamespaceContent:
        """Return what a schema, or all of a database without schemas, holds."""
        schema = self._schema(namespace)
        tables = self._tables(schema)
        if schema is None and not tables:
            return None
        tag = select(define_tag(schema))
        content = tagged_content(namespace, tables, lambda: self._connection.execute(tag).first())
        if schema is None and isinstance(content, LoadedSituation):
            name = join_name(content.scenario, content.name, content.content_hash)
            return replace(content, namespace=name)
        return content

    def create(self, situation: Situation, tag: LoadedSituation) -> None:
        """Make the schema and fill it."""
        schema = self._schema(tag.namespace)
        if schema is not None:
            self._connection.execute(CreateSchema(schema))
        try:
            self._write(situation, tag, schema)
        except (IntegrityError, DriverDataError) as error:
            raise DataError(
                f"Situation '{situation.name}' cannot be held: {one_line(error)}."
            ) from error

    def drop(self, namespace: str) -> None:
        """Drop a schema, or all tables where there are no schemas."""
        schema = self._schema(namespace)
        metadata = MetaData(schema=schema)
        metadata.reflect(self._connection)
        metadata.drop_all(self._connection)
        if schema is not None:
            self._connection.execute(DropSchema(schema))

    def select(self) -> str | None:
        """Return the schema of ``?schema=``, which must be there and loaded to its end."""
        content = self.read(self._wanted or _EVERYTHING)
        if isinstance(content, UnfinishedLoad) and content.tables:
            raise UsageError(f"{self.location} is {content.description}; load it again.")
        if self._schema(self._wanted or _EVERYTHING) is not None and content is None:
            raise UsageError(f"{self.location} has no schema '{self._wanted}'.")
        return self._wanted

    def open(self, namespace: str | None) -> SqlSession:
        """Return a schema, or the user's own; the engine belongs to it from now on."""
        self.is_handed_over = True
        schema = self._schema(namespace or _EVERYTHING)
        session = open_sqlalchemy(self._connection.engine, schema)
        if self._has_schemas:
            default = self._connection.dialect.default_schema_name
            own = schema or default
            session.schemas = (own,) if own else ()
            session.search_path = (default or "",) if own else ()
        return session

    def _write(self, situation: Situation, tag: LoadedSituation, schema: str | None) -> None:
        """Make the tables and fill them, the tag last.

        Nothing is known of the server but what SQL has in common. So tables have a column
        `ROW_COLUMN`, the only order that every server keeps, and no foreign keys, which would be
        enforced.
        """
        tables = define_tables(situation.schema, "omitted", namespace=schema, numbered=True)
        tag_table = define_tag(schema)
        for table in (tag_table, *tables.values()):
            self._connection.execute(CreateTable(table))
        for name, rows in situation.tables.items():
            if len(rows):
                self._connection.execute(insert(tables[name]), _rows(rows))
        self._connection.execute(insert(tag_table).values(tag_row(tag)))

    @property
    def _has_schemas(self) -> bool:
        return self._connection.dialect.name not in _WITHOUT_SCHEMAS

    def _schema(self, namespace: str) -> str | None:
        """Return the schema that is a namespace; None for the user's own, or for everything."""
        return (namespace or None) if self._has_schemas else None

    def _tables(self, schema: str | None) -> list[str] | None:
        """Return all tables; None where there is no such schema."""
        inspector = inspect(self._connection)
        if schema is not None and schema not in inspector.get_schema_names():
            return None
        return inspector.get_table_names(schema=schema)


def _engine(url: URL) -> Engine:
    scheme = url.drivername
    is_in_memory = url.get_backend_name() == "sqlite" and not url.database
    try:
        return create_engine(url, **({} if is_in_memory else POOL))
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
        raise UsageError(f"{display_name(url)} cannot be used: {one_line(error)}.") from None


def _rows(table: Table) -> list[dict[str, Any]]:
    names = table.schema.column_names
    return [
        {**dict(zip(names, map(_stored, row), strict=True)), ROW_COLUMN: number}
        for number, row in enumerate(table.rows())
    ]


def _stored(cell: Cell) -> Cell:
    return None if isinstance(cell, float) and isnan(cell) else cell
