"""PostgreSQL's namespaces: schemas of a database, whose comments are their tags."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import psycopg
from psycopg import Connection
from sqlalchemy import URL
from sqlalchemy.schema import DropSchema

from dqa.core.errors import DatabaseUnavailableError, UsageError
from dqa.core.situation import Situation
from dqa.databases.failures import one_line, refused_script
from dqa.databases.faults import Fault
from dqa.databases.namespaces import (
    ForeignContent,
    LoadedSituation,
    NamespaceContent,
    Namespaces,
    tag_from_json,
)
from dqa.databases.postgres.session import (
    code_of,
    connect,
    fault_of,
    message_of,
    open_postgres,
)
from dqa.databases.postgres.writer import write
from dqa.databases.servers import (
    display_name,
    failed_load,
    parse_url,
    schema_names,
    split_namespace,
)
from dqa.databases.sql_session import SqlSession
from dqa.databases.tables import quote, spell

_LOCK_SECONDS = 120
_OLDEST = 14
"""The first version that tells its clients whether a session is read-only."""


class PostgresNamespaces(Namespaces):
    """The schemas of a database.

    Parameters
    ----------
    connection
        To the database, committing by itself.
    url
        Where it is.
    wanted
        The schema that the location names.
    """

    def __init__(self, connection: Connection[Any], url: URL, wanted: str | None) -> None:
        self.location = display_name(url)
        self._connection = connection
        self._url = url
        self._wanted = wanted

    @classmethod
    @contextmanager
    def connect(cls, location: str) -> Iterator[Self]:
        """Give the schemas of a database; the server's errors come out as this project's."""
        url, wanted = split_namespace(parse_url(location).set(drivername="postgresql+psycopg"))
        with _connection(url) as connection:
            try:
                yield cls(connection, url, wanted)
            except psycopg.Error as error:
                code, right = code_of(error), "make schemas: GRANT CREATE ON DATABASE"
                raise failed_load(
                    *(display_name(url), message_of(error)),
                    missing_right=right if fault_of(code) is Fault.REFUSED else None,
                    is_full=code == "53100",
                ) from error

    def make_scratch(self, name: str, script: str) -> str:
        """Make a database, and run a script in it."""
        self._connection.execute(f"CREATE DATABASE {quote('postgres', name)}".encode())
        url = self._url.set(database=name)
        try:
            with _connection(url) as connection:
                connection.execute(script.encode())
        except psycopg.Error as error:
            self.drop_scratch(name)
            raise refused_script("PostgreSQL", error) from error
        return url.render_as_string(hide_password=False)

    def drop_scratch(self, name: str) -> None:
        """Drop the database, whoever is connected to it."""
        self._connection.execute(f"DROP DATABASE {quote('postgres', name)} WITH (FORCE)".encode())

    def names(self) -> Iterable[str]:
        """Return the schemas whose names begin as ours do."""
        found = self._connection.execute(
            r"SELECT nspname FROM pg_namespace WHERE nspname LIKE 'dqa\_%' ORDER BY nspname"
        )
        return [str(name) for (name,) in found.fetchall()]

    def read(self, namespace: str) -> NamespaceContent:
        """Return what a schema holds."""
        found = self._connection.execute(
            "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = %s",
            (namespace,),
        ).fetchone()
        return None if found is None else tag_from_json(namespace, found[0]) or ForeignContent()

    def create(self, situation: Situation, tag: LoadedSituation) -> None:
        """Make the schema, within the transaction of `locked`."""
        write(self._connection, tag, situation)

    def drop(self, namespace: str) -> None:
        """Drop a schema, within the transaction of `locked`."""
        self._connection.execute(spell(DropSchema(namespace, cascade=True), "postgres").encode())

    def select(self) -> str | None:
        """Return the schemas of ``?schema=a,b``, which must exist."""
        for name in schema_names(self._wanted or ""):
            if self.read(name) is None:
                raise UsageError(f"{self.location} has no schema '{name}' that this user may see.")
        return self._wanted

    def open(self, namespace: str | None) -> SqlSession:
        """Return some schemas, or those of the user's own search path."""
        if namespace is not None:
            return open_postgres(self._url, schema_names(namespace))
        ((path,),) = self._connection.execute("SELECT current_schemas(false)").fetchall()
        return open_postgres(self._url, own=path)

    @contextmanager
    def locked(self, namespace: str) -> Iterator[None]:
        """Lock a schema's name in a transaction that ends with the context."""
        with self._connection.transaction():
            self._connection.execute(f"SET LOCAL lock_timeout = '{_LOCK_SECONDS}s'")
            self._connection.execute(
                "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (namespace,)
            )
            yield


def _connection(url: URL) -> Connection[Any]:
    """Connect outside of any pool."""
    where = display_name(url)
    try:
        connection = connect(url)
    except psycopg.OperationalError as error:
        problem = one_line(error).rpartition("FATAL: ")
        if problem[1]:
            raise UsageError(
                f"{where} does not let you in: {problem[2].strip()}. "
                "Check user, password and the database's name."
            ) from None
        raise DatabaseUnavailableError(f"{where} cannot be reached: {problem[2]}.") from None
    except psycopg.Error as error:
        raise UsageError(f"{where} cannot be used: {one_line(error)}.") from None
    version = connection.info.server_version // 10_000
    if version < _OLDEST:
        connection.close()
        raise UsageError(f"{where} is PostgreSQL {version}; at least {_OLDEST} is needed.")
    return connection
