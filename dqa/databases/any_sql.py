"""Read-only sessions of any database with an SQLAlchemy dialect.

The driver's ``cancel`` or ``interrupt`` stops a statement at its time limit. If the driver lacks
both methods, the statement runs to its end and then fails.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Self

from sqlalchemy import Engine as SqlalchemyEngine
from sqlalchemy import Inspector, NullPool, String, inspect
from sqlalchemy.engine import Dialect
from sqlalchemy.engine.interfaces import ReflectedColumn
from sqlalchemy.engine.reflection import ObjectKind
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.types import NullType

from dqa.core.schema import DatabaseSchema
from dqa.core.session import Examination
from dqa.databases.catalogue import BROKEN, Relation, schema_of
from dqa.databases.engine_session import Connection, EngineSession
from dqa.databases.errors import Fault, one_line
from dqa.databases.namespaces import Namespaces
from dqa.databases.servers import display_name, make_engine, parse_url, split_namespace, unreachable

_POSITIONS: Sequence[Any] = range(1_000)
"""For foreign keys that do not name the referenced columns: positions in the primary key of the
referenced table."""


class AnySql(EngineSession):
    """A session of a database or of one of its schemas. Every statement is rolled back.

    Parameters
    ----------
    engine
        SQLAlchemy's engine. This object owns the engine and disposes of it.
    schema
        The schema to show; None for the user's default schema.
    default
        The user's default schema.
    """

    dialect = "ansi"

    def __init__(self, engine: SqlalchemyEngine, schema: str | None, default: str | None) -> None:
        name = display_name(engine.url, schema)
        super().__init__(name, namespace=schema, on_close=engine.dispose)
        if engine.dialect.name != "sqlite":  # SQLite has no schemas
            self.schemas = tuple(filter(None, [schema or default]))
            self.search_path = (default or "",) if self.schemas else ()
        self._engine, self._schema = engine, schema
        self.language = f"SQL ({engine.dialect.name})"
        self.errors = (engine.dialect.loaded_dbapi.Error, SQLAlchemyError)

    def connect(self) -> Any:  # noqa: ANN401
        """Return a new connection."""
        return self._engine.raw_connection()

    def examine(self) -> Examination:
        """Return the version of the server.

        The result does not describe the user's rights and the server's limits.
        """
        with self._engine.connect() as connection:
            version = connection.dialect.server_version_info or ()
        title = f"{self._engine.dialect.name} {'.'.join(map(str, version))}".strip()
        return Examination(title, self._engine.url.username or "", may_write=True)

    def interrupt(self, connection: Connection) -> Callable[[], object] | None:
        """Return a function that calls the driver's `interrupt` or `cancel`."""
        driver = connection.driver
        stop = getattr(driver, "interrupt", None) or getattr(driver, "cancel", None)
        if stop is None:
            return None

        def interrupt() -> None:
            connection.is_used_up = True  # a late cancel would stop the next statement
            with suppress(*self.errors):
                stop()

        return interrupt

    def failure(self, error: Exception) -> tuple[Fault, str]:
        """Classify an error by the exception classes of Python's database API."""
        dialect = self._engine.dialect
        fault = Fault.NOT_UNDERSTOOD  # the statement may be in another dialect
        if dialect.is_disconnect(error, None, None):  # type: ignore[arg-type]
            fault = Fault.UNCLEAR
        elif isinstance(
            error, (dialect.loaded_dbapi.DataError, dialect.loaded_dbapi.IntegrityError)
        ):
            fault = Fault.STATEMENT
        return fault, one_line(error)

    def describe(self, driver: Any) -> DatabaseSchema:  # noqa: ANN401, ARG002
        """Read all tables and views with as few queries as the dialect allows."""
        where, dialect = self._schema or "", self._engine.dialect
        tables: Any = {"schema": self._schema, "kind": ObjectKind.TABLE}
        with self._engine.connect() as connection:
            inspector = inspect(connection)
            columns, broken = _columns(inspector, self._schema)
            comments = _comments(inspector, self._schema)
            relations = {name: Relation(where, name, omitted=BROKEN) for name in broken}
            for name, listed in columns.items():
                relations[name] = Relation(where, name, comments.get(name))
                for column in listed:
                    relations[name].add(
                        column["name"], _spelled(column, dialect), column.get("comment")
                    )
            for (_, name), key in inspector.get_multi_pk_constraint(**tables).items():
                relations[name].key.extend(key["constrained_columns"])
            for (_, name), links in inspector.get_multi_foreign_keys(**tables).items():
                relations[name].links.extend(
                    (column, link["referred_schema"] or where, link["referred_table"], other)
                    for link in links
                    # Some dialects list none, or too few, of the referenced columns.
                    for column, other in zip(
                        link["constrained_columns"],
                        link["referred_columns"] or _POSITIONS,
                        strict=False,
                    )
                )
            available = [] if columns else _available(inspector)
        quote = dialect.identifier_preparer.initial_quote
        return schema_of(
            relations.values(),
            [where],
            quote if quote in {'"', "`"} else '"',
            folds_case=dialect.requires_name_normalize,
            available=lambda: available,
        )


def _spelled(column: ReflectedColumn, dialect: Dialect) -> str:
    kind = column["type"]
    if isinstance(kind, NullType):
        return ""
    if isinstance(kind, String):
        kind.collation = None
    # SQLAlchemy's string class cannot be sent from a worker.
    return str(kind.compile(dialect))


def _available(inspector: Inspector) -> list[str]:
    with suppress(NotImplementedError, SQLAlchemyError):
        names = inspector.get_schema_names()
        return [name for name in names if name.lower() != "information_schema"]
    return []


def _comments(inspector: Inspector, namespace: str | None) -> dict[str, str | None]:
    with suppress(NotImplementedError, SQLAlchemyError):  # not every dialect supports comments
        found = inspector.get_multi_table_comment(namespace, kind=ObjectKind.ANY)
        return {name: comment["text"] for (_, name), comment in found.items()}
    return {}


def _columns(
    inspector: Inspector, namespace: str | None
) -> tuple[dict[str, list[ReflectedColumn]], list[str]]:
    """Return the columns of all tables and views, and the names of broken views."""
    broken = []
    try:
        found = inspector.get_multi_columns(schema=namespace, kind=ObjectKind.ANY)
    except SQLAlchemyError:
        found = inspector.get_multi_columns(schema=namespace, kind=ObjectKind.TABLE)
        for view in inspector.get_view_names(schema=namespace):
            try:
                found[namespace, view] = inspector.get_columns(view, schema=namespace)
            except SQLAlchemyError:
                broken.append(view)
    return {name: columns for (_, name), columns in found.items()}, broken


class SqlalchemyNamespaces(Namespaces):
    """The schemas of a database into which dqa cannot load situations."""

    def __init__(self, engine: SqlalchemyEngine, schema: str | None, default: str | None) -> None:
        self.location = display_name(engine.url)
        self._engine, self._schema, self._default = engine, schema, default

    @classmethod
    @contextmanager
    def connect(cls, location: str) -> Iterator[Self]:
        """Test the connection, and translate the driver's errors."""
        url, schema = split_namespace(parse_url(location))
        engine = make_engine(url, poolclass=NullPool)
        try:
            with engine.connect() as connection:
                default = connection.dialect.default_schema_name
        except (SQLAlchemyError, engine.dialect.loaded_dbapi.Error) as error:
            raise unreachable(display_name(url), error) from error
        yield cls(engine, schema, default)

    def select(self, more: Collection[str] = ()) -> str | None:  # noqa: ARG002
        """Return the schema that ``?schema=`` names."""
        return self._schema

    def open(self, namespace: str | None) -> AnySql:
        """Return a session of a schema; None means the user's default schema."""
        return AnySql(self._engine, namespace, self._default)
