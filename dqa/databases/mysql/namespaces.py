"""The namespaces of MySQL and MariaDB: databases of a server, with the tag in a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Self

from pymysql.constants import CLIENT
from sqlalchemy import URL, Connection, Executable, text
from sqlalchemy.schema import DropSchema

from dqa.core import situation as content
from dqa.core.errors import DatabaseUnavailableError, UsageError
from dqa.databases.mysql.session import FULL, MARIADB, MYSQL, Flavour, connect, open_mysql
from dqa.databases.namespaces import LoadedSituation
from dqa.databases.sql_namespaces import LOCK_SECONDS, SqlNamespaces
from dqa.databases.sql_session import SqlSession
from dqa.databases.tables import quote

_SESSION = "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'"
"""Refuses values that a column cannot hold."""
_UNMOVABLE = """
SELECT 1 FROM information_schema.views WHERE table_schema = :name
UNION ALL SELECT 1 FROM information_schema.triggers WHERE trigger_schema = :name
"""
"""Views and triggers, which stay in their database."""


class MysqlNamespaces(SqlNamespaces):
    """The databases of a server."""

    title = "MySQL or MariaDB"
    dialect = "mysql"
    driver = "mysql+pymysql"
    # Each foreign key costs an index, and real data breaks it; the schema reader reads comments.
    foreign_keys = "commented"
    numbers_rows = True
    no_right = frozenset({1044, 1142, 1227, 1370, 1410, 1290, 1836})
    no_room = FULL
    no_access = frozenset({1044, 1045, 1049, 1130, 1698})
    right = "make, fill and drop databases whose names begin with dqa_"

    @classmethod
    @contextmanager
    def connect(cls, location: str) -> Iterator[Self]:
        """Connect; the location's database is the wanted namespace."""
        with super().connect(location) as namespaces:
            namespaces._wanted = namespaces._url.database  # noqa: SLF001
            yield namespaces

    @classmethod
    def connect_options(cls, url: URL) -> Mapping[str, Any]:
        """Return how to connect, within a time limit."""
        creator = partial(connect, url, autocommit=False, client_flag=CLIENT.MULTI_STATEMENTS)
        return {"creator": creator, "isolation_level": "READ COMMITTED"}

    @classmethod
    def require_version(cls, connection: Connection, where: str) -> None:
        """Raise `UsageError` if the server is too old."""
        flavour, version = _flavour(connection), connection.dialect.server_version_info or ()
        numbers = tuple(part for part in version if isinstance(part, int))
        if numbers < flavour.least:
            found, least = (".".join(map(str, each)) for each in (version, flavour.least))
            raise UsageError(f"{where} is {flavour.title} {found}; at least {least} is needed.")

    def definition(self, schema: str) -> Executable:
        """Return the statement that creates a database, which tells any two texts apart."""
        return text(self.scratch_definition(schema))

    def replace(self, situation: content.Situation, tag: LoadedSituation) -> None:
        """Load into a new database, and move the tables when it is complete."""
        if self._connection.execute(text(_UNMOVABLE), {"name": tag.namespace}).first():
            super().replace(situation, tag)
            return
        old, new = (f"{tag.namespace[:59]}_{name}" for name in ("old", "new"))
        for schema in (old, new):
            self._connection.execute(text(f"DROP DATABASE IF EXISTS {quote('mysql', schema)}"))
        self.create(situation, replace(tag, namespace=new))
        self._connection.execute(self.definition(old))
        moves = [
            f"{quote('mysql', source)}.{quote('mysql', name)} TO "
            f"{quote('mysql', target)}.{quote('mysql', name)}"
            for source, target in ((tag.namespace, old), (new, tag.namespace))
            for name in self.tables_of(self._connection, source) or ()
        ]
        driver: Any = self._connection.connection.driver_connection
        try:
            driver.query(f"RENAME TABLE {', '.join(moves)}".encode())
        finally:
            for schema in (old, new):
                self._connection.execute(DropSchema(schema))

    def drop_tables(self, connection: Connection, schema: str | None) -> None:
        """Drop a database with its tables."""
        connection.execute(DropSchema(schema or ""))

    def select(self) -> str:
        """Return the URL's database, which must be complete."""
        if not self._wanted:
            raise UsageError(
                f"'{self.location}' names no database; append its name, such as "
                f"{self.location}dqa_harbours_q1_0123456789ab."
            )
        self._require_complete(self._wanted)
        return self._wanted

    @contextmanager
    def locked(self, namespace: str) -> Iterator[None]:
        """Lock a database's name until the connection is closed; refuse wrong values."""
        got = self._connection.execute(
            text("SELECT GET_LOCK(:name, :seconds)"),
            {"name": namespace[:64], "seconds": LOCK_SECONDS},
        )
        if got.scalar_one() != 1:
            raise DatabaseUnavailableError(
                f"Another load has locked '{namespace}' for {LOCK_SECONDS} seconds; try again."
            )
        self._connection.exec_driver_sql(_SESSION)
        yield

    def scratch_definition(self, name: str) -> str:
        """Return the statement that creates a database with a binary collation."""
        collation = _flavour(self._connection).collation
        return f"CREATE DATABASE {quote('mysql', name)} CHARACTER SET utf8mb4 COLLATE {collation}"

    def open(self, namespace: str | None) -> SqlSession:
        """Return a session of a database."""
        return open_mysql(self._url.set(database=namespace), _flavour(self._connection))


def _flavour(connection: Connection) -> Flavour:
    dialect: Any = connection.dialect
    return MARIADB if dialect.is_mariadb else MYSQL
