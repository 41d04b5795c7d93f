"""The namespaces of any SQLAlchemy database: its schemas, or all of it if it has none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sqlalchemy import Connection, MetaData, create_engine, inspect
from sqlalchemy.schema import DropSchema

from dqa.databases.namespaces import (
    LoadedSituation,
    NamespaceContent,
    join_name,
)
from dqa.databases.servers import POOL
from dqa.databases.sql_namespaces import SqlNamespaces
from dqa.databases.sqlalchemy.session import SqlalchemySession

_EVERYTHING = ""
"""The only namespace of a database without schemas."""


class SqlalchemyNamespaces(SqlNamespaces):
    """The schemas of a database."""

    title = "The database"
    dialect = "ansi"

    @property
    def _has_schemas(self) -> bool:
        return self._connection.dialect.name != "sqlite"

    def schema_of(self, namespace: str) -> str | None:
        """Return the schema; None for the user's own, or for everything."""
        return (namespace or None) if self._has_schemas else None

    def names(self) -> Iterable[str]:
        """Return the schemas with the project's prefix."""
        return super().names() if self._has_schemas else [_EVERYTHING]

    def read(self, namespace: str) -> NamespaceContent:
        """Return what a schema, or all of a database without schemas, holds."""
        content = super().read(namespace)
        if self.schema_of(namespace) is not None:
            return content
        if isinstance(content, LoadedSituation):
            name = join_name(content.scenario, content.name, content.content_hash)
            return replace(content, namespace=name)
        has_tables = bool(inspect(self._connection).get_table_names())
        return content if has_tables else None

    def drop_tables(self, connection: Connection, schema: str | None) -> None:
        """Drop all tables of a schema, and the schema."""
        metadata = MetaData(schema=schema)
        metadata.reflect(connection)
        metadata.drop_all(connection)
        if schema is not None:
            connection.execute(DropSchema(schema))

    def select(self) -> str | None:
        """Return the schema of ``?schema=``, which must be there and complete."""
        if self._wanted is None and self._has_schemas:
            return None
        if self._has_schemas or self.read(_EVERYTHING) is not None:
            self._require_complete(self._wanted or _EVERYTHING)
        return self._wanted

    def open(self, namespace: str | None) -> SqlalchemySession:
        """Return a session of a schema, or of the user's own."""
        schema = self.schema_of(namespace or _EVERYTHING)
        session = SqlalchemySession(create_engine(self._url, **POOL), schema)
        if self._has_schemas:
            default = self._connection.dialect.default_schema_name
            own = schema or default
            session.schemas = (own,) if own else ()
            session.search_path = (default or "",) if own else ()
        return session
