"""The namespaces of MySQL and MariaDB: databases of a server, with the tag in a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pymysql.constants import CLIENT
from sqlalchemy import DDL, URL, Connection, Table, text
from sqlalchemy.schema import DropSchema, ExecutableDDLElement

from dqa.core import situation as content
from dqa.core.errors import DatabaseUnavailableError, UsageError
from dqa.databases.mysql.server import (
    CONNECT_SECONDS,
    FULL,
    MARIADB,
    MYSQL,
    Flavour,
    encryption,
)
from dqa.databases.mysql.session import MysqlSession
from dqa.databases.sql_namespaces import LOCK_SECONDS, SqlNamespaces
from dqa.databases.sql_writer import schema_of
from dqa.databases.tables import quote

# The server refuses wrong values, and a backslash in a text is a backslash.
_SESSION = "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_BACKSLASH_ESCAPES'"

_CHUNK = 1_000
"""Rows of one INSERT."""


def _insert(connection: Connection, table: Table, rows: content.Table) -> None:
    """Insert rows as literals, many per statement: the driver's own way takes three times as long.

    InnoDB stores a table in the order of its key, and fills it fastest in that order.
    """
    target = f"{quote('mysql', schema_of(connection) or '')}.{quote('mysql', table.name)}"
    names = quote("mysql", *rows.schema.column_names)
    lines = sorted(map(",".join, zip(*map(_literals, rows.columns.values()), strict=True)))
    driver: Any = connection.connection.driver_connection
    for start in range(0, len(lines), _CHUNK):
        values = "),(".join(lines[start : start + _CHUNK])
        driver.query(f"INSERT INTO {target} ({names}) VALUES ({values})".encode())  # noqa: S608


def _literals(array: NDArray[Any]) -> list[str]:
    """Return the values of a column as SQL."""
    if array.dtype == object:
        return ["'" + value.replace("'", "''") + "'" for value in array.tolist()]
    if array.dtype.kind == "f":
        if np.isinf(array).any():
            raise ValueError("MySQL and MariaDB cannot store an infinite number")
        return ["NULL" if value != value else repr(value) for value in array.tolist()]  # noqa: PLR0124
    return list(map(str, array.astype(np.int64).tolist()))


class MysqlNamespaces(SqlNamespaces):
    """The databases of a server."""

    title = "MySQL or MariaDB"
    dialect = "mysql"
    driver = "mysql+pymysql"
    # Each foreign key costs an index, and real data breaks it; the schema reader reads comments.
    foreign_keys = "commented"
    fill = staticmethod(_insert)
    no_right = frozenset({1142, 1227, 1370, 1410, 1290, 1836})
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
        """Return a time limit, strict values, and whether to encrypt."""
        arguments = {
            **encryption(url),
            "charset": "utf8mb4",
            "connect_timeout": CONNECT_SECONDS,
            "init_command": _SESSION,
            "client_flag": CLIENT.MULTI_STATEMENTS,
        }
        return {"connect_args": arguments, "isolation_level": "READ COMMITTED"}

    @classmethod
    def require_version(cls, connection: Connection, where: str) -> None:
        """Raise `UsageError` if the server is too old."""
        flavour, version = _flavour(connection), connection.dialect.server_version_info or ()
        numbers = tuple(part for part in version if isinstance(part, int))
        if numbers < flavour.least:
            found, least = (".".join(map(str, each)) for each in (version, flavour.least))
            raise UsageError(f"{where} is {flavour.title} {found}; at least {least} is needed.")

    def definition(self, schema: str) -> ExecutableDDLElement:
        """Return the statement that creates a database, which tells any two texts apart."""
        return DDL(self.scratch_definition(schema).replace("%", "%%"))

    def removal(self, schema: str) -> ExecutableDDLElement:
        """Return the statement that drops a database with its tables."""
        return DropSchema(schema)

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
        """Lock a database's name until the connection is closed."""
        got = self._connection.execute(
            text("SELECT GET_LOCK(:name, :seconds)"),
            {"name": namespace[:64], "seconds": LOCK_SECONDS},
        )
        if got.scalar_one() != 1:
            raise DatabaseUnavailableError(
                f"Another load has locked '{namespace}' for {LOCK_SECONDS} seconds; try again."
            )
        yield

    def scratch_definition(self, name: str) -> str:
        """Return the statement that creates a database with a binary collation."""
        collation = _flavour(self._connection).collation
        return f"CREATE DATABASE {quote('mysql', name)} CHARACTER SET utf8mb4 COLLATE {collation}"

    def run_statements(self, connection: Connection, script: str) -> None:
        """Run the statements of a script; each result tells whether its statement failed."""
        driver: Any = connection.connection.driver_connection
        with driver.cursor() as cursor:
            cursor.execute(script)
            while cursor.nextset():
                pass

    def open(self, namespace: str | None) -> MysqlSession:
        """Return a session of a database."""
        return MysqlSession(self._url.set(database=namespace), _flavour(self._connection))


def _flavour(connection: Connection) -> Flavour:
    dialect: Any = connection.dialect
    return MARIADB if dialect.is_mariadb else MYSQL
