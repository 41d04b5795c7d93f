"""Read-only sessions of any database with an SQLAlchemy dialect.

Statements are stopped by the driver's own ``cancel`` or ``interrupt``. A driver without them
returns late, with an error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from threading import Thread
from typing import Any

from sqlalchemy import (
    Engine,
    Inspector,
    MetaData,
    NullPool,
    String,
    create_engine,
    inspect,
)
from sqlalchemy.engine.interfaces import ReflectedColumn
from sqlalchemy.engine.reflection import ObjectKind
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.schema import DropSchema
from sqlalchemy.types import NullType

from dqa.core.examination import Examination
from dqa.core.schema import DatabaseSchema
from dqa.databases.catalogue import Catalogue
from dqa.databases.errors import Failure, Fault, one_line
from dqa.databases.namespaces import LoadedSituation, NamespaceContent, UnfinishedLoad, join_name
from dqa.databases.servers import display_name
from dqa.databases.sql_namespaces import ServerNamespaces
from dqa.databases.sql_session import Connection, EngineSettings, SqlSession, execute_plainly


def open_sqlalchemy(engine: Engine, namespace: str | None = None) -> SqlSession:
    """Open a database, or one schema of it, whose statements are all rolled back.

    Parameters
    ----------
    engine
        The session disposes of it.
    namespace
        The schema to show; None for the user's own.
    """
    dialect = engine.dialect
    settings = EngineSettings(
        dialect="ansi",
        language=f"SQL ({dialect.name})",
        errors=(dialect.loaded_dbapi.Error, SQLAlchemyError),
        connect=engine.raw_connection,
        execute=execute_plainly,
        failure=partial(_failure, engine),
        describe=lambda _: _describe(engine, namespace),
        interrupt=partial(_interrupt, dialect.loaded_dbapi.Error),
        examine=lambda _: _examine(engine),
    )
    return SqlSession(
        settings,
        display_name(engine.url, namespace),
        namespace=namespace or dialect.default_schema_name,
        on_close=engine.dispose,
    )


def _examine(engine: Engine) -> Examination:
    """Return the version; the rights of a user are unknown in such a server."""
    with engine.connect() as connection:
        version = connection.dialect.server_version_info or ()
    dialect, user = engine.dialect.name, engine.url.username or ""
    title = f"{dialect} {'.'.join(map(str, version))}".strip()
    return Examination(title, user, may_write=True)


def _interrupt(errors: type[Exception], connection: Connection) -> Callable[[], object] | None:
    """Return the driver's `interrupt`, or its `cancel` on a thread of its own."""
    driver = connection.driver

    def call(stop: Callable[[], object]) -> None:
        with suppress(errors):
            stop()

    interrupt = getattr(driver, "interrupt", None)
    if interrupt is not None:
        return partial(call, interrupt)
    cancel = getattr(driver, "cancel", None)
    if cancel is None:
        return None

    def stop() -> None:
        connection.is_used_up = True  # a late cancel would meet the next statement
        Thread(target=call, args=(cancel,), daemon=True).start()

    return stop


def _failure(engine: Engine, error: Exception, driver: Any) -> Failure:  # noqa: ANN401
    """Classify by the exception classes of the Python standard."""
    dialect = engine.dialect
    fault = Fault.NOT_UNDERSTOOD  # the dialect of a statement may be the cause of any other error
    if dialect.is_disconnect(error, driver, None):  # type: ignore[arg-type]
        fault = Fault.UNCLEAR
    elif isinstance(error, (dialect.loaded_dbapi.DataError, dialect.loaded_dbapi.IntegrityError)):
        fault = Fault.STATEMENT
    return Failure(fault, one_line(error))


def _describe(engine: Engine, namespace: str | None) -> DatabaseSchema:
    """Read every table and view in as few round trips as the dialect allows."""
    with engine.connect() as connection:
        inspector = inspect(connection)
        columns, broken = _columns(inspector, namespace)
        keys = inspector.get_multi_pk_constraint(schema=namespace, kind=ObjectKind.TABLE)
        links = inspector.get_multi_foreign_keys(schema=namespace, kind=ObjectKind.TABLE)
        comments: list[tuple[str, str, str | None]] = []
        with suppress(NotImplementedError, SQLAlchemyError):  # not every dialect knows comments
            found = inspector.get_multi_table_comment(schema=namespace, kind=ObjectKind.ANY)
            comments = [(*_relation(*key), comment["text"]) for key, comment in found.items()]
        available = [] if columns else _available(inspector)
    catalogue = Catalogue(
        columns=[
            (*_relation(*key), c["name"], _spelled(c, engine), c.get("comment"))
            for key, listed in columns.items()
            for c in listed
        ],
        keys=[
            (*_relation(*key), name)
            for key, constraint in keys.items()
            for name in constraint["constrained_columns"]
        ],
        references=[
            (
                *(*_relation(*key), column),
                *_relation(link["referred_schema"] or namespace, link["referred_table"]),
                other,
            )
            for key, listed_links in links.items()
            for link in listed_links
            for column, other in zip(
                link["constrained_columns"], link["referred_columns"], strict=True
            )
        ],
        comments=comments,
        omitted={"views of missing tables": broken},
        available=available,
    )
    quote = engine.dialect.identifier_preparer.initial_quote
    return catalogue.to_schema(
        [namespace or ""],
        quote if quote in {'"', "`"} else '"',
        folds_case=engine.dialect.requires_name_normalize,
    )


def _relation(schema: str | None, table: str) -> tuple[str, str]:
    return schema or "", table


def _spelled(column: ReflectedColumn, engine: Engine) -> str:
    kind = column["type"]
    if isinstance(kind, NullType):
        return ""
    if isinstance(kind, String):
        kind.collation = None
    # SQLAlchemy's own class of text cannot be sent from a worker.
    return str(kind.compile(engine.dialect))


def _available(inspector: Inspector) -> list[str]:
    with suppress(NotImplementedError, SQLAlchemyError):
        names = inspector.get_schema_names()
        return [name for name in names if name.lower() != "information_schema"]
    return []


def _columns(
    inspector: Inspector, namespace: str | None
) -> tuple[dict[tuple[str | None, str], list[ReflectedColumn]], list[str]]:
    """Return the columns of all tables and views, and the names of broken views."""
    try:
        return inspector.get_multi_columns(schema=namespace, kind=ObjectKind.ANY), []
    except SQLAlchemyError:
        found = inspector.get_multi_columns(schema=namespace, kind=ObjectKind.TABLE)
    broken = []
    for view in inspector.get_view_names(schema=namespace):
        try:
            found[namespace, view] = inspector.get_columns(view, schema=namespace)
        except SQLAlchemyError:
            broken.append(view)
    return found, broken


class SqlalchemyNamespaces(ServerNamespaces):
    """The schemas of any other database, or one without schemas, which is one namespace."""

    title = "The database"
    dialect = "ansi"
    numbers_rows = True

    @property
    def _has_schemas(self) -> bool:
        return self._dialect.name != "sqlite"

    def _schema(self, namespace: str) -> str | None:
        return (namespace or None) if self._has_schemas else None

    def situations(self) -> Iterator[LoadedSituation]:
        """Yield the situations in schemas, or the one of a database without schemas."""
        if self._has_schemas:
            yield from super().situations()
        elif isinstance(found := self.read(""), LoadedSituation):
            yield found

    def read(self, namespace: str) -> NamespaceContent:
        """Return the content of a schema, or of a database without schemas."""
        found = super().read(namespace)
        if self._schema(namespace) is not None:
            return found
        if isinstance(found, LoadedSituation):
            return replace(
                found, namespace=join_name(found.scenario, found.name, found.content_hash)
            )
        return None if isinstance(found, UnfinishedLoad) and not found.tables else found

    def _drop_schema(self, schema: str | None) -> None:
        metadata = MetaData(schema=schema)
        metadata.reflect(self._connection)
        metadata.drop_all(self._connection)
        if schema is not None:
            self._run(DropSchema(schema))

    def select(self, more: Collection[str] = ()) -> str | None:  # noqa: ARG002
        """Return the schema of ``?schema=``, or an empty name for a database without schemas."""
        if not self._has_schemas and self.read("") is not None:
            self._require_complete("")
        return super().select() if self._has_schemas else ""

    def open(self, namespace: str | None) -> SqlSession:
        """Return a session of a schema, or of the user's own."""
        schema = self._schema(namespace or "")
        session = open_sqlalchemy(create_engine(self._url, poolclass=NullPool), schema)
        if self._has_schemas:
            default = self._dialect.default_schema_name
            own = schema or default
            session.schemas = (own,) if own else ()
            session.search_path = (default or "",) if own else ()
        return session
