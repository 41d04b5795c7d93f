"""Use schemas, or the databases of a server, as namespaces.

A subclass contains the settings of one engine.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any, ClassVar, Self
from uuid import uuid4

from dqa.core.errors import DatabaseUnavailableError, DqaError, UsageError
from dqa.databases.errors import one_line, refused_script
from dqa.databases.namespaces import (
    TAG_TABLE,
    LoadedSituation,
    NamespaceContent,
    Namespaces,
    OtherContent,
)
from dqa.databases.servers import (
    display_name,
    parse_url,
    schema_names,
    split_namespace,
    unreachable,
)
from dqa.databases.tables import quote, table_name, write_situation

if TYPE_CHECKING:
    from sqlalchemy import URL

    from dqa.core.situation import Situation, Table

LOCK_SECONDS = 120
"""The maximum number of seconds that a load waits for another load of the same situation."""


class ServerNamespaces(Namespaces):
    """The namespaces of a server.

    Parameters
    ----------
    driver
        The open connection of the driver. The context manager `connect` commits the transaction at
        its end.
    url
        The URL of the database.
    wanted
        The value of ``?schema=`` in the location; None without one.

    Attributes
    ----------
    title, dialect
        The name of the engine, and the dialect of its statements.
    drivername
        SQLAlchemy's name of the dialect and driver.
    errors
        The base class of the driver's exceptions, and the driver's class for wrong statements.
    is_atomic
        Whether a rollback undoes CREATE and DROP. If so, DROP SCHEMA needs CASCADE.
    no_access, no_right
        Patterns of error messages: `no_access` if the server refuses the login, `no_right` if the
        user lacks a right.
    right
        The right that loading requires, as a clause for messages.
    contents
        A query for the tables and views of a namespace. It returns one row with NULL for an empty
        namespace, and no row for a missing namespace.
    names
        A query for the names of all namespaces.
    lock
        A query that locks a name until the connection or transaction ends. The second value of its
        row is 0 if another load has locked the name.
    drop_option
        Options at the end of DROP DATABASE.
    """

    title: ClassVar[str]
    dialect: ClassVar[str]
    drivername: ClassVar[str]
    errors: ClassVar[tuple[type[Exception], type[Exception]]]
    is_atomic: ClassVar[bool] = False
    no_access: ClassVar[str]
    no_right: ClassVar[str]
    right: ClassVar[str]
    contents: ClassVar[str]
    names: ClassVar[str]
    lock: ClassVar[str]
    drop_option: ClassVar[str] = ""

    def __init__(self, driver: Any, url: URL, wanted: str | None) -> None:  # noqa: ANN401
        self.location = display_name(url)
        self._driver = driver
        self._url = url
        self._wanted = schema_names(wanted or "")

    @classmethod
    @contextmanager
    def connect(cls, location: str) -> Iterator[Self]:
        """Connect, and translate the driver's errors."""
        url, wanted = split_namespace(parse_url(location))
        url = url.set(drivername=cls.drivername)
        try:
            driver = cls.open_driver(url)
        except (*cls.errors, TypeError, ValueError, OSError) as error:
            raise unreachable(display_name(url), error, cls.no_access) from error
        try:
            with closing(driver):
                namespaces = cls(driver, url, wanted)
                namespaces._require_version()
                yield namespaces
                driver.commit()
        except cls.errors as error:
            raise cls._translate(error, display_name(url)) from error

    @classmethod
    @abstractmethod
    def open_driver(cls, url: URL, *, autocommit: bool = False) -> Any:  # noqa: ANN401
        """Connect in a mode that rejects values that do not fit their column.

        Raise the driver's errors.
        """

    @abstractmethod
    def _product(self) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
        """Return the name of the product, its version, and the oldest supported version."""

    def _require_version(self) -> None:
        title, version, least = self._product()
        if version < least:
            found, needed = (".".join(map(str, each)) for each in (version, least))
            raise UsageError(
                f"{self.location} runs {title} {found}, but dqa needs at least version {needed}."
            )

    @classmethod
    def _translate(cls, error: Exception, where: str) -> DqaError:
        problem = one_line(error)
        if re.search(cls.no_right, f"{type(error).__name__} {error}"):
            return UsageError(
                f"This user may not write to {where}: {problem}. Ask for the right to {cls.right}."
            )
        kind = UsageError if isinstance(error, cls.errors[1]) else DatabaseUnavailableError
        return kind(f"{where} cannot be used: {problem}.")

    def read(self, namespace: str) -> NamespaceContent:
        """Return the content of a namespace."""
        found = self._run(self.contents, namespace)
        if not found:
            return None
        if (TAG_TABLE,) not in found:
            return OtherContent.EMPTY if found[0] == (None,) else OtherContent.FOREIGN
        tags = self._run(f"SELECT * FROM {table_name(self.dialect, namespace, TAG_TABLE)}")  # noqa: S608
        return LoadedSituation(namespace, *tags[0]) if tags else OtherContent.UNFINISHED

    def tables(self, namespace: str) -> set[str]:
        """Return the tables and views of a namespace."""
        return {name for (name,) in self._run(self.contents, namespace)} - {None}

    def situations(self) -> Iterator[LoadedSituation]:
        """Yield the situations in the schemas whose names begin with ``dqa_``."""
        for (name,) in sorted(self._run(self.names)):
            if name.startswith("dqa_"):
                if self.is_atomic:  # otherwise a failed statement ends the transaction
                    self._run("SAVEPOINT dqa_reading")
                try:
                    found = self.read(name)
                except self.errors:  # another process has just dropped the schema
                    if self.is_atomic:
                        self._run("ROLLBACK TO SAVEPOINT dqa_reading")
                    continue
                if isinstance(found, LoadedSituation):
                    yield found

    def create(self, situation: Situation, tag: LoadedSituation) -> None:
        """Create and fill the namespace; drop it if an error occurs."""
        self._run(f"CREATE SCHEMA {quote(self.dialect, tag.namespace)}{self._options}")
        try:
            write_situation(
                *(situation, tag, self.dialect),
                run=self._run,
                fill=self._fill,
                namespace=tag.namespace,
            )
        except BaseException:
            if not self.is_atomic:  # a rollback would not remove the tables
                with suppress(*self.errors):
                    self.drop(tag.namespace)
            raise

    @property
    def _options(self) -> str:
        """The options of CREATE SCHEMA and CREATE DATABASE."""
        return ""

    def _run(self, statement: str, *values: object) -> list[Any]:
        with self._driver.cursor() as cursor:
            cursor.execute(statement, values or None)
            return list(cursor.fetchall()) if cursor.description else []

    @abstractmethod
    def _fill(self, table: str, rows: Table) -> None:
        """Insert rows into a table; `table` is its quoted name."""

    def drop(self, namespace: str) -> None:
        """Drop a namespace. If this is interrupted, the rest counts as an unfinished load."""
        if not self.is_atomic and isinstance(self.read(namespace), LoadedSituation):
            self._run(f"DELETE FROM {table_name(self.dialect, namespace, TAG_TABLE)}")  # noqa: S608
        cascade = " CASCADE" if self.is_atomic else ""
        self._run(f"DROP SCHEMA {quote(self.dialect, namespace)}{cascade}")

    @contextmanager
    def locked(self, namespace: str) -> Iterator[None]:
        """Lock the name of a namespace until the connection closes."""
        ((_, got),) = self._run(self.lock, namespace[:64])
        if got in {0, None}:
            raise DatabaseUnavailableError(
                f"Another load has locked '{namespace}' for {LOCK_SECONDS} s. Try again later."
            )
        yield

    def select(self, more: Collection[str] = ()) -> str | None:  # noqa: ARG002
        """Return the schemas in the location, separated by commas.

        Raise `UsageError` if a schema is missing or its load is unfinished.
        """
        for name in self._wanted:
            self._require_complete(name)
        return ",".join(self._wanted) or None

    def _require_complete(self, namespace: str) -> None:
        content = self.read(namespace)
        if content is None:
            raise UsageError(f"{self.location} has no schema '{namespace}' that this user can see.")
        if content is OtherContent.UNFINISHED:
            raise UsageError(f"'{namespace}' is {content}. Load it again.")

    @contextmanager
    def scratch(self, script: str) -> Iterator[str]:
        """Yield the URL of a new database in which a script has run; drop it afterwards."""
        name = f"dqa_scratch_{uuid4().hex[:12]}"
        url = self._url.set(database=name)
        quoted = quote(self.dialect, name)
        self._run_committed(self._url, f"CREATE DATABASE {quoted}{self._options}")
        try:
            location = url.render_as_string(hide_password=False)
            self.run_script(location, script)
            yield location
        finally:
            self._run_committed(self._url, f"DROP DATABASE {quoted}{self.drop_option}")

    @classmethod
    def run_script(cls, location: str, script: str) -> None:
        """Run a script as the user in the URL; raise `DataError` if the server refuses it."""
        try:
            cls._run_committed(parse_url(location).set(drivername=cls.drivername), script)
        except (*cls.errors, ValueError) as error:
            raise refused_script(cls.title, error) from error

    @classmethod
    def _run_committed(cls, url: URL, script: str) -> None:
        """Run a script over a new connection that commits after each statement."""
        with closing(cls.open_driver(url, autocommit=True)) as driver, driver.cursor() as cursor:
            cursor.execute(script)
            while cursor.nextset():  # raises the error of a later statement
                pass
