"""Use schemas, or the databases of a server, as namespaces through SQLAlchemy.

A subclass contains the settings of one engine.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar, Self
from uuid import uuid4

import sqlalchemy as sa
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import OperationalError, ProgrammingError, SQLAlchemyError
from sqlalchemy.schema import CreateSchema, DropSchema

from dqa.core import situation as content
from dqa.core.errors import DatabaseUnavailableError, DqaError, UsageError
from dqa.databases.errors import one_line, refused_script
from dqa.databases.namespaces import (
    ROW_COLUMN,
    TAG_TABLE,
    LoadedSituation,
    NamespaceContent,
    Namespaces,
    OtherContent,
)
from dqa.databases.servers import (
    display_name,
    make_engine,
    parse_url,
    schema_names,
    split_namespace,
)
from dqa.databases.tables import define_tables, define_tag, plain_rows, quote, write_tables

_CONNECT_SECONDS = 10
_LOCK_SECONDS = 120
"""How long a load waits for another load of the same situation."""


class ServerNamespaces(Namespaces):
    """The namespaces of a server, or of another database with an SQLAlchemy dialect.

    Parameters
    ----------
    connection
        The open connection; `connect` commits its transaction.
    url
        The URL of the database.
    wanted
        The schemas that the location names.

    Attributes
    ----------
    title, dialect
        The name of the engine, and the dialect for quoting names.
    driver
        SQLAlchemy's name of the dialect and driver; None for the name in the URL.
    is_atomic
        Whether a rollback undoes CREATE and DROP. Such engines need CASCADE in DROP SCHEMA.
    no_access, no_right
        Patterns of error messages: the server refuses the login, or the user lacks a right.
    right
        The right that loading requires.
    numbers_rows
        Whether an additional column stores the order of rows.
    lock
        A statement that locks a name for the connection or transaction. The second value of its
        result is 0 if another load has locked the name.
    drop_option
        Options at the end of DROP DATABASE.
    """

    title: ClassVar[str]
    dialect: ClassVar[str]
    driver: ClassVar[str | None] = None
    is_atomic: ClassVar[bool] = False
    no_access: ClassVar[str] = "(?!)"
    no_right: ClassVar[str] = "(?!)"
    right: ClassVar[str] = "make and drop schemas"
    numbers_rows: ClassVar[bool] = False
    lock: ClassVar[str | None] = None
    drop_option: ClassVar[str] = ""

    def __init__(self, connection: sa.Connection, url: sa.URL, wanted: str | None) -> None:
        self.location = display_name(url)
        self._connection = connection
        self._url = url
        self._wanted = schema_names(wanted or "")

    @classmethod
    @contextmanager
    def connect(cls, location: str) -> Iterator[Self]:
        """Connect, and translate the driver's errors."""
        url, wanted = split_namespace(parse_url(location))
        url = url.set(drivername=cls.driver or url.drivername)
        engine, where, is_connected = _engine(url, cls), display_name(url), False
        try:
            with engine.connect() as connection:
                is_connected = True
                namespaces = cls(connection, url, wanted)
                namespaces._require_version()
                yield namespaces
                connection.commit()
        except (SQLAlchemyError, engine.dialect.loaded_dbapi.Error) as error:
            raise cls._translate(error, where, is_connected=is_connected) from error

    @classmethod
    def connect_options(cls, url: sa.URL) -> Mapping[str, Any]:  # noqa: ARG003
        """Return the options of `create_engine`."""
        return {}

    def _product(self) -> tuple[str, tuple[int, ...]]:
        """Return the name of the product and its oldest supported version."""
        return self.title, ()

    def _require_version(self) -> None:
        (title, least), version = self._product(), self._connection.dialect.server_version_info
        if version and tuple(part for part in version if isinstance(part, int)) < least:
            found, needed = (".".join(map(str, each)) for each in (version, least))
            raise UsageError(f"{self.location} is {title} {found}; at least {needed} is needed.")

    @classmethod
    def _translate(cls, error: Exception, where: str, *, is_connected: bool) -> DqaError:
        problem, original = one_line(error), getattr(error, "orig", None) or error
        found = f"{type(original).__name__} {original}"
        if not is_connected and re.search(cls.no_access, found):
            return UsageError(
                f"{where} refuses the connection: {problem}. Check user, password and the "
                "database's name."
            )
        if not is_connected:
            problem = problem.partition(" Is the server")[0].rstrip(".")  # libpq asks this, too
            return DatabaseUnavailableError(
                f"{where} cannot be reached: {problem}. Is the server running there?"
            )
        if re.search(cls.no_right, found):
            return UsageError(
                f"{where} cannot be written: {problem}. Ask for the right to {cls.right}."
            )
        kind = UsageError if isinstance(error, ProgrammingError) else DatabaseUnavailableError
        return kind(f"{where} cannot be used: {problem}.")

    @property
    def _dialect(self) -> Dialect:
        return self._connection.dialect

    def read(self, namespace: str) -> NamespaceContent:
        """Return the content of a namespace."""
        if namespace not in sa.inspect(self._connection).get_schema_names():
            return None
        tables = self.tables(namespace)
        if TAG_TABLE not in tables:
            return OtherContent.FOREIGN if tables else OtherContent.EMPTY
        tags = self._run(sa.select(define_tag(namespace)))
        return LoadedSituation(namespace, *tags[0]) if tags else OtherContent.UNFINISHED

    def create(self, situation: content.Situation, tag: LoadedSituation) -> None:
        """Create and fill the namespace; drop it if that fails."""
        self._run(self._creation(tag.namespace))
        tables = define_tables(situation.schema, tag.namespace, numbered=self.numbers_rows)
        try:
            write_tables(
                situation, tag, tables, dialect=self._dialect, run=self._run, fill=self._fill
            )
        except BaseException:
            if not self.is_atomic:  # what remains may be large
                with suppress(SQLAlchemyError):
                    self._connection.rollback()
                    self.drop(tag.namespace)
            raise

    def _creation(self, schema: str) -> sa.Executable:
        return CreateSchema(schema)

    def _run(self, statement: sa.Executable) -> list[Any]:
        result = self._connection.execute(statement)
        return list(result) if result.returns_rows else []

    def _fill(self, table: sa.Table, rows: content.Table) -> None:
        """Insert rows with the driver's `executemany`, which is faster than SQLAlchemy Core."""
        compiled = sa.insert(table).compile(dialect=self._dialect)
        values: Any = list(plain_rows(rows))
        if ROW_COLUMN in table.columns:
            values = [(*row, number) for number, row in enumerate(values)]
        if not compiled.positional:
            values = [dict(zip(table.columns.keys(), row, strict=True)) for row in values]
        self._connection.exec_driver_sql(str(compiled), values)

    def tables(self, namespace: str) -> set[str]:
        """Return the tables and views of a namespace."""
        inspector = sa.inspect(self._connection)
        return {*inspector.get_table_names(namespace), *inspector.get_view_names(namespace)}

    def situations(self) -> Iterator[LoadedSituation]:
        """Yield the situations in the schemas with the project's prefix."""
        for name in sorted(sa.inspect(self._connection).get_schema_names()):
            if name.startswith("dqa_"):
                # Another process may drop the schema at this moment.
                with suppress(ProgrammingError, OperationalError), self._connection.begin_nested():
                    found = self.read(name)
                    if isinstance(found, LoadedSituation):
                        yield found

    def replace(self, situation: content.Situation, tag: LoadedSituation) -> None:
        """Replace the content.

        Without transactions, first check that the new content can be stored.
        """
        if not self.is_atomic:
            trial = replace(tag, namespace=f"dqa_trial_{uuid4().hex[:12]}")
            self.create(situation, trial)
            self.drop(trial.namespace)
        super().replace(situation, tag)

    def drop(self, namespace: str) -> None:
        """Drop a namespace. If dropping is interrupted, an unfinished load remains."""
        if not self.is_atomic and isinstance(self.read(namespace), LoadedSituation):
            self._run(sa.delete(define_tag(namespace)))
            self._connection.commit()
        self._run(DropSchema(namespace, cascade=self.is_atomic))

    @contextmanager
    def locked(self, namespace: str) -> Iterator[None]:
        """Lock a name until the connection closes."""
        if self.lock is not None:
            ((_, got),) = self._run(
                sa.text(self.lock).bindparams(name=namespace[:64], seconds=_LOCK_SECONDS)
            )
            if got in {0, None}:
                raise DatabaseUnavailableError(
                    f"Another load has locked '{namespace}' for {_LOCK_SECONDS} seconds; try again."
                )
        yield

    def select(self, more: Collection[str] = ()) -> str | None:  # noqa: ARG002
        """Return the schemas in the location.

        Raise `UsageError` if one is missing or partly loaded.
        """
        for name in self._wanted:
            self._require_complete(name)
        return ",".join(self._wanted) or None

    def _require_complete(self, namespace: str) -> None:
        content = self.read(namespace)
        if content is None:
            raise UsageError(f"{self.location} has no schema '{namespace}' that this user can see.")
        if content is OtherContent.UNFINISHED:
            raise UsageError(f"'{namespace}' is {content}; load it again.")

    @contextmanager
    def scratch(self, script: str) -> Iterator[str]:
        """Yield the URL of a new database in which a script has run; drop it afterwards."""
        name = f"dqa_scratch_{uuid4().hex[:12]}"
        url = self._url.set(database=name)
        self._autocommit(self._database_creation(name))
        try:
            location = url.render_as_string(hide_password=False)
            self.run_script(location, script)
            yield location
        finally:
            self._autocommit(f"DROP DATABASE {quote(self.dialect, name)}{self.drop_option}")

    @classmethod
    def run_script(cls, location: str, script: str) -> None:
        """Run a script as the user in the URL; raise `DataError` if the server refuses it."""
        url = parse_url(location)
        engine = _engine(url.set(drivername=cls.driver or url.drivername), cls)
        try:
            with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                driver: Any = connection.connection.driver_connection
                with driver.cursor() as cursor:
                    cursor.execute(script)
                    while cursor.nextset():  # raises the errors of the statements
                        pass
        except (SQLAlchemyError, engine.dialect.loaded_dbapi.Error) as error:
            raise refused_script(cls.title, error) from error

    def _database_creation(self, name: str) -> str:
        return f"CREATE DATABASE {quote(self.dialect, name)}"

    def _autocommit(self, statement: str) -> None:
        with self._connection.engine.connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT").exec_driver_sql(statement)


@lru_cache(maxsize=16)
def _engine(url: sa.URL, namespaces: type[ServerNamespaces]) -> sa.Engine:
    """Return an engine that closes each connection after use."""
    return make_engine(url, poolclass=sa.NullPool, **namespaces.connect_options(url))
