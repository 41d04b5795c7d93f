"""PostgreSQL's namespaces: schemas of a database, whose comments are their tags."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from psycopg import sql
from sqlalchemy import URL, Connection, Table, inspect, text

from dqa.core import situation as content
from dqa.core.errors import UsageError
from dqa.databases.namespaces import (
    ForeignContent,
    LoadedSituation,
    NamespaceContent,
    tag_from_json,
    tag_to_json,
)
from dqa.databases.postgres.session import CONNECT_SECONDS, SYSTEM, open_postgres
from dqa.databases.servers import schema_names
from dqa.databases.sql_namespaces import LOCK_SECONDS, SqlNamespaces
from dqa.databases.sql_session import SqlSession
from dqa.databases.tables import plain_rows

_OLDEST = 14
"""The first version that tells its clients whether a session is read-only."""


class PostgresNamespaces(SqlNamespaces):
    """The schemas of a database."""

    title = "PostgreSQL"
    dialect = "postgres"
    driver = "postgresql+psycopg"
    foreign_keys = "unchecked"
    has_tag_table = False
    has_atomic_definitions = True
    no_right = frozenset({"42501", "25006"})
    no_room = frozenset({"53100"})
    drop_option = " WITH (FORCE)"
    right = "make schemas: GRANT CREATE ON DATABASE"

    @classmethod
    def connect_options(cls, url: URL) -> Mapping[str, Any]:  # noqa: ARG003
        """Return a time limit, and no look for the types of extensions."""
        return {
            "connect_args": {"connect_timeout": CONNECT_SECONDS},
            "isolation_level": "READ COMMITTED",
            "use_native_hstore": False,
        }

    @classmethod
    def require_version(cls, connection: Connection, where: str) -> None:
        """Raise `UsageError` if the server is too old."""
        version = connection.dialect.server_version_info or (_OLDEST,)
        if int(version[0]) < _OLDEST:
            raise UsageError(f"{where} is PostgreSQL {version[0]}; at least {_OLDEST} is needed.")

    @classmethod
    def is_refused_login(cls, error: Exception) -> bool:
        """Whether the server answers a login with an error, which has no code."""
        return "FATAL: " in str(error)

    def read(self, namespace: str) -> NamespaceContent:
        """Return the content of a schema."""
        statement = text(
            "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = :name"
        )
        found = self._connection.execute(statement, {"name": namespace}).first()
        return None if found is None else tag_from_json(namespace, found[0]) or ForeignContent()

    def fill(self, connection: Connection, table: Table, rows: content.Table) -> None:
        """Insert rows by COPY."""
        target = sql.Identifier(table.schema or "", table.name)
        names = sql.SQL(", ").join(map(sql.Identifier, rows.schema.column_names))
        statement = sql.SQL("COPY {} ({}) FROM STDIN").format(target, names)
        driver: Any = connection.connection.driver_connection
        with driver.cursor() as cursor, cursor.copy(statement) as copy:
            for row in plain_rows(rows):
                copy.write_row(row)

    def finish(
        self, connection: Connection, situation: content.Situation, tag: LoadedSituation
    ) -> None:
        """Collect statistics, and write the tag as the comment of the schema."""
        driver: Any = connection.connection.driver_connection
        for name in situation.tables:
            driver.execute(sql.SQL("ANALYZE {}").format(sql.Identifier(tag.namespace, name)))
        comment = sql.Literal(tag_to_json(tag))
        schema = sql.Identifier(tag.namespace)
        driver.execute(sql.SQL("COMMENT ON SCHEMA {} IS {}").format(schema, comment))

    @contextmanager
    def locked(self, namespace: str) -> Iterator[None]:
        """Lock a schema's name until the transaction ends."""
        self._connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'")
        self._connection.execute(
            text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))"), {"name": namespace}
        )
        yield

    def select(self) -> str | None:
        """Return the schemas of ``?schema=a,b``, which must exist."""
        for name in schema_names(self._wanted or ""):
            self._require_complete(name)
        return self._wanted

    def with_schemas(self, namespace: str | None, more: Collection[str]) -> str | None:
        """Return some schemas, or the user's own, with others of the database."""
        existing = inspect(self._connection).get_schema_names()
        named = [name for name in existing if name.casefold() in more and name not in SYSTEM]
        if not named:
            return namespace
        shown = schema_names(namespace) if namespace else self._own_schemas()
        return ",".join(dict.fromkeys((*shown, *named)))

    def _own_schemas(self) -> list[str]:
        """Return the schemas of the user's search path."""
        statement = "SELECT current_schemas(false)"
        path: list[str] = self._connection.exec_driver_sql(statement).scalar_one()
        return path

    def open(self, namespace: str | None) -> SqlSession:
        """Return a session of some schemas, or of those of the user's own search path."""
        if namespace is not None:
            return open_postgres(self._url, schema_names(namespace))
        return open_postgres(self._url, own=self._own_schemas())
