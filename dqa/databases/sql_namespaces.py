"""Namespaces of SQL databases: schemas, or the databases of a server, over SQLAlchemy.

A subclass is the settings of one engine: how it connects, where it stores the tag, how it locks a
name, and which session reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any, ClassVar, Self

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    Executable,
    NullPool,
    Table,
    create_engine,
    delete,
    inspect,
    select,
    text,
)
from sqlalchemy.exc import NoSuchModuleError, ProgrammingError, SQLAlchemyError
from sqlalchemy.schema import CreateSchema, DropSchema

from dqa.core import situation as content
from dqa.core.errors import (
    DatabaseUnavailableError,
    DqaError,
    MissingKeyError,
    UsageError,
)
from dqa.databases.errors import one_line, refused_script
from dqa.databases.namespaces import (
    LoadedSituation,
    NamespaceContent,
    Namespaces,
    UnfinishedLoad,
    tagged_content,
)
from dqa.databases.servers import display_name, parse_url, split_namespace
from dqa.databases.tables import (
    ForeignKeys,
    define_tables,
    define_tag,
    insert_rows,
    quote,
    write_tables,
)

_TABLES = """
SELECT table_name FROM information_schema.schemata
LEFT JOIN information_schema.tables ON table_schema = :name WHERE schema_name = :name
"""
LOCK_SECONDS = 120
"""How long a load waits for another load of the same situation."""


class SqlNamespaces(Namespaces):
    """The namespaces of an SQL database.

    Parameters
    ----------
    connection
        The caller of `connect` commits its transaction.
    url
        Where the database is.
    wanted
        The namespace that the location names.

    Attributes
    ----------
    title, dialect
        The engine's name, and the dialect that names are quoted for.
    driver
        SQLAlchemy's name of dialect and driver; None for that of the URL.
    foreign_keys
        As `write_tables` takes it.
    numbers_rows
        Whether a column stores the order of rows, as the engine does not.
    has_tag_table
        Whether the tag is a row of a table.
    has_atomic_definitions
        Whether a transaction undoes CREATE and DROP.
    no_right, no_room, no_access
        Error codes: the user lacks a right, the disk is full, the server refuses the login.
    right
        The right that a load needs.
    drop_option
        The end of DROP DATABASE.
    """

    title: ClassVar[str]
    dialect: ClassVar[str]
    driver: ClassVar[str | None] = None
    foreign_keys: ClassVar[ForeignKeys] = "omitted"
    numbers_rows: ClassVar[bool] = False
    has_tag_table: ClassVar[bool] = True
    has_atomic_definitions: ClassVar[bool] = False
    no_right: ClassVar[frozenset[str | int]] = frozenset()
    no_room: ClassVar[frozenset[str | int]] = frozenset()
    no_access: ClassVar[frozenset[str | int]] = frozenset()
    right: ClassVar[str] = "make and drop schemas"
    drop_option: ClassVar[str] = ""

    def __init__(self, connection: Connection, url: URL, wanted: str | None) -> None:
        self.location = display_name(url)
        self._connection = connection
        self._url = url
        self._wanted = wanted

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
                cls.require_version(connection, where)
                yield cls(connection, url, wanted)
                connection.commit()
        except (SQLAlchemyError, engine.dialect.loaded_dbapi.Error) as error:
            raise cls._translate(error, where, is_connected=is_connected) from error

    @classmethod
    def connect_options(cls, url: URL) -> Mapping[str, Any]:  # noqa: ARG003
        """Return the options of `create_engine`."""
        return {}

    @classmethod
    def require_version(cls, connection: Connection, where: str) -> None:
        """Raise `UsageError` if the server is too old."""

    @classmethod
    def is_refused_login(cls, error: Exception) -> bool:
        """Whether the server refuses user, password or database."""
        return code_of(error) in cls.no_access

    @classmethod
    def _translate(cls, error: Exception, where: str, *, is_connected: bool) -> DqaError:
        problem, code = one_line(error), code_of(error)
        if not is_connected and cls.is_refused_login(error):
            return UsageError(
                f"{where} refuses the connection: {problem}. Check user, password and the "
                "database's name."
            )
        if not is_connected:
            problem = problem.partition(" Is the server")[0].rstrip(".")  # as libpq asks, too
            return DatabaseUnavailableError(
                f"{where} cannot be reached: {problem}. Is the server running there?"
            )
        if code in cls.no_right:
            return UsageError(
                f"{where} cannot be written: {problem}. Ask for the right to {cls.right}."
            )
        if isinstance(error, ProgrammingError):
            return UsageError(f"{where} cannot be used: {problem}.")
        full = " The server's disk is full." if code in cls.no_room else ""
        return DatabaseUnavailableError(f"{where} cannot be used: {problem}.{full}")

    # What differs between engines.

    def schema_of(self, namespace: str) -> str | None:
        """Return the schema of a namespace; None for the connection's own."""
        return namespace

    def fill(self, connection: Connection, table: Table, rows: content.Table) -> None:
        """Insert the rows of one table."""
        insert_rows(connection, table, rows)

    def definition(self, schema: str) -> Executable:
        """Return the statement that creates a schema."""
        return CreateSchema(schema)

    def finish(
        self, connection: Connection, situation: content.Situation, tag: LoadedSituation
    ) -> None:
        """Do what follows the rows, such as to write the tag without a tag table."""

    def tables_of(self, connection: Connection, schema: str | None) -> list[str] | None:
        """Return the tables and views of a schema; None if there is no such schema."""
        rows = connection.execute(text(_TABLES), {"name": schema}).all()
        return [name for (name,) in rows if name is not None] if rows else None

    # What all engines share.

    def names(self) -> Iterable[str]:
        """Return the schemas with the project's prefix."""
        names = inspect(self._connection).get_schema_names()
        return sorted(name for name in names if name.startswith("dqa_"))

    def read(self, namespace: str) -> NamespaceContent:
        """Return the content of a namespace."""
        schema, connection = self.schema_of(namespace), self._connection
        return tagged_content(
            namespace,
            self.tables_of(connection, schema),
            lambda: connection.execute(select(define_tag(schema))).first(),
        )

    def create(self, situation: content.Situation, tag: LoadedSituation) -> None:
        """Create the namespace and fill it."""
        schema, connection = self.schema_of(tag.namespace), self._connection
        if schema is not None:
            connection.execute(self.definition(schema))
        metadata = define_tables(
            situation.schema, self.foreign_keys, schema, numbered=self.numbers_rows
        )
        row = tag if self.has_tag_table else None
        try:
            write_tables(connection, situation, row, metadata, self.fill)
            self.finish(connection, situation, tag)
        except BaseException:
            if not self.has_atomic_definitions:  # the rest may be large
                with suppress(SQLAlchemyError):
                    connection.rollback()
                    self.drop(tag.namespace)
            raise

    def drop(self, namespace: str) -> None:
        """Drop a namespace; an interrupted drop leaves an unfinished load."""
        schema, connection = self.schema_of(namespace), self._connection
        if not self.has_atomic_definitions and isinstance(self.read(namespace), LoadedSituation):
            connection.execute(delete(define_tag(schema)))
            connection.commit()
        self.drop_tables(connection, schema)

    def drop_tables(self, connection: Connection, schema: str | None) -> None:
        """Drop a schema with all that is in it."""
        connection.execute(DropSchema(schema or "", cascade=True))

    def select(self) -> str | None:
        """Return the namespace that the location names, which must be there and complete."""
        if self._wanted is not None:
            self._require_complete(self._wanted)
        return self._wanted

    def _require_complete(self, namespace: str) -> None:
        content = self.read(namespace)
        if content is None:
            raise UsageError(f"{self.location} has no schema '{namespace}' that this user can see.")
        if isinstance(content, UnfinishedLoad) and content.tables:
            raise UsageError(f"'{namespace}' is {content.description}; load it again.")

    def make_scratch(self, name: str, script: str) -> str:
        """Create a database on the server, and run a script in it."""
        url = self._url.set(database=name)
        with _autocommitting(self._connection.engine) as connection:
            connection.exec_driver_sql(self.scratch_definition(name))
        try:
            with _autocommitting(_engine(url, type(self))) as connection:
                driver: Any = connection.connection.driver_connection
                with driver.cursor() as cursor:
                    cursor.execute(script)
                    while cursor.nextset():  # raises the error of its statement
                        pass
        except (SQLAlchemyError, self._connection.dialect.loaded_dbapi.Error) as error:
            self.drop_scratch(name)
            raise refused_script(self.title, error) from error
        return url.render_as_string(hide_password=False)

    def scratch_definition(self, name: str) -> str:
        """Return the statement that creates a database."""
        return f"CREATE DATABASE {quote(self.dialect, name)}"

    def drop_scratch(self, name: str) -> None:
        """Drop the database."""
        with _autocommitting(self._connection.engine) as connection:
            connection.exec_driver_sql(
                f"DROP DATABASE {quote(self.dialect, name)}{self.drop_option}"
            )


def code_of(error: Exception) -> str | int | None:
    """Return the SQLSTATE or the number of a driver's error."""
    original: Any = getattr(error, "orig", None) or error
    number = original.args[0] if original.args else None
    state: str | None = getattr(original, "sqlstate", None)
    return number if isinstance(number, int) else state


def _autocommitting(engine: Engine) -> Connection:
    return engine.connect().execution_options(isolation_level="AUTOCOMMIT")


@lru_cache(maxsize=16)
def _engine(url: URL, namespaces: type[SqlNamespaces]) -> Engine:
    """Return the engine of a server, which keeps no connection open."""
    try:
        return create_engine(url, poolclass=NullPool, **namespaces.connect_options(url))
    except NoSuchModuleError:
        raise UsageError(
            f"SQLAlchemy has no dialect '{url.drivername}': install the package that contains it, "
            "or check the beginning of the URL."
        ) from None
    except ModuleNotFoundError as error:
        raise MissingKeyError(
            f"The driver '{error.name}' of {url.drivername}:// is not installed: "
            f"pip install {error.name}."
        ) from None
    except (SQLAlchemyError, TypeError, ValueError) as error:
        raise UsageError(f"{display_name(url)} cannot be used: {one_line(error)}.") from None
