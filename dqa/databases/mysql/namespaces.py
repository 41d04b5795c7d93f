"""The namespaces of MySQL and MariaDB: databases of a server, with the tag in a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Self

from pymysql.connections import Connection
from pymysql.constants import CLIENT
from pymysql.err import MySQLError
from sqlalchemy import URL

from dqa.core.errors import DatabaseUnavailableError, UsageError
from dqa.core.situation import Situation
from dqa.databases.failures import one_line, refused_script
from dqa.databases.mysql.server import (
    FULL,
    Flavour,
    code_of,
    fetch_all,
    find_flavour,
    new_connection,
)
from dqa.databases.mysql.session import open_mysql
from dqa.databases.mysql.writer import write
from dqa.databases.namespaces import (
    TAG_TABLE,
    LoadedSituation,
    NamespaceContent,
    Namespaces,
    UnfinishedLoad,
    tagged_content,
)
from dqa.databases.servers import display_name, failed_load, parse_url
from dqa.databases.sql_session import SqlSession
from dqa.databases.tables import TAG_COLUMNS, quote

_LOCK_SECONDS = 120
_NO_RIGHTS = frozenset({1044, 1142, 1227, 1370, 1410, 1290, 1836})


class MysqlNamespaces(Namespaces):
    """The databases of a server.

    Parameters
    ----------
    connection
        To the server, committing by itself.
    url
        Where it is, and perhaps which database to open.
    flavour
        Which of the two servers it is.
    """

    def __init__(self, connection: Connection[Any], url: URL, flavour: Flavour) -> None:
        self.location = display_name(url)
        self._connection = connection
        self._url = url
        self._flavour = flavour

    @classmethod
    @contextmanager
    def connect(cls, location: str) -> Iterator[Self]:
        """Give the databases of a server; its errors come out as this project's."""
        url = parse_url(location).set(drivername="mysql+pymysql")
        with new_connection(url) as connection:
            try:
                yield cls(connection, url, find_flavour(connection, url))
            except MySQLError as error:
                code = code_of(error)
                right = "make, fill and drop databases whose names begin with dqa_"
                raise failed_load(
                    *(display_name(url), one_line(error)),
                    missing_right=right if code in _NO_RIGHTS else None,
                    is_full=code in FULL,
                ) from error

    def make_scratch(self, name: str, script: str) -> str:
        """Make a database, and run a script in it; its texts compare as a situation's do."""
        collation = self._flavour.collation
        fetch_all(
            self._connection,
            f"CREATE DATABASE {quote('mysql', name)} CHARACTER SET utf8mb4 COLLATE {collation}",
        )
        url = self._url.set(database=name)
        try:
            with (
                new_connection(url, client_flag=CLIENT.MULTI_STATEMENTS) as connection,
                connection.cursor() as cursor,
            ):
                cursor.execute(script)
                while cursor.nextset():  # an error comes with the result of its own statement
                    pass
        except MySQLError as error:
            self.drop_scratch(name)
            raise refused_script(self._flavour.title, error) from error
        return url.render_as_string(hide_password=False)

    def drop_scratch(self, name: str) -> None:
        """Drop the database."""
        fetch_all(self._connection, f"DROP DATABASE {quote('mysql', name)}")

    def names(self) -> Iterable[str]:
        """Return the databases that have a tag and that the user may see."""
        found = fetch_all(
            self._connection,
            "SELECT table_schema FROM information_schema.tables WHERE table_name = %s "
            "AND table_schema LIKE 'dqa\\_%%' ORDER BY table_schema",
            TAG_TABLE,
        )
        return [str(name) for (name,) in found]

    def read(self, namespace: str) -> NamespaceContent:
        """Return what a database holds."""
        columns, table = quote("mysql", *TAG_COLUMNS), quote("mysql", TAG_TABLE)
        tag = f"SELECT {columns} FROM {quote('mysql', namespace)}.{table}"  # noqa: S608
        return tagged_content(
            namespace,
            self._tables(namespace),
            lambda: next(iter(fetch_all(self._connection, tag)), None),
        )

    def create(self, situation: Situation, tag: LoadedSituation) -> None:
        """Make the database and fill it; what a failure leaves is dropped at once."""
        try:
            write(self._connection, tag, situation, self._flavour.collation)
        except BaseException:
            # What is begun may be large, and the disk full of it.
            with suppress(self._connection.Error):
                self.drop(tag.namespace)
            raise

    def drop(self, namespace: str) -> None:
        """Drop a database with all that is in it."""
        quoted = quote("mysql", namespace)
        with self._connection.cursor() as cursor:
            if TAG_TABLE in (self._tables(namespace) or ()):
                # First of all: a drop that is interrupted leaves a load that was never finished.
                cursor.execute(f"DELETE FROM {quoted}.{quote('mysql', TAG_TABLE)}")  # noqa: S608
            cursor.execute(f"DROP DATABASE {quoted}")

    def select(self) -> str:
        """Return the URL's database, unless a load of it was never finished."""
        name = self._url.database
        if not name:
            raise UsageError(
                f"'{self.location}' names no database; append its name, such as "
                f"{self.location}dqa_harbours_q1_0123456789ab."
            )
        content = self.read(name)
        if isinstance(content, UnfinishedLoad) and content.tables:
            raise UsageError(f"'{name}' is {content.description}; load it again.")
        return name

    def open(self, namespace: str | None) -> SqlSession:
        """Return a database of the server."""
        return open_mysql(self._url.set(database=namespace), self._flavour)

    @contextmanager
    def locked(self, namespace: str) -> Iterator[None]:
        """Lock a database's name; the lock goes with the connection."""
        rows = fetch_all(self._connection, "SELECT GET_LOCK(%s, %s)", namespace[:64], _LOCK_SECONDS)
        if rows[0][0] != 1:
            raise DatabaseUnavailableError(
                f"'{namespace}' has been locked by another load for {_LOCK_SECONDS} seconds; "
                "try again."
            )
        yield

    def _tables(self, namespace: str) -> frozenset[str] | None:
        """Return the names of all tables and views; None where there is no such database."""
        rows = fetch_all(
            self._connection,
            "SELECT table_name FROM information_schema.schemata LEFT JOIN "
            "information_schema.tables ON table_schema = %s WHERE schema_name = %s",
            *(namespace, namespace),
        )
        return frozenset(str(name) for (name,) in rows if name is not None) if rows else None
