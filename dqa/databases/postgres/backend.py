"""PostgreSQL as a backend: a schema a situation."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from dqa.databases.base import Backend
from dqa.databases.namespaces import NamespaceBackend, Namespaces
from dqa.databases.servers import has_scheme, require_driver

if TYPE_CHECKING:
    from dqa.core.database import Kind

__all__ = ["BACKEND", "PostgresBackend"]


class PostgresBackend(NamespaceBackend):
    """Opens PostgreSQL databases and schemas, and loads situations into new schemas."""

    name = "postgres"
    kind: Kind = "relational"
    dialect = "postgres"
    needs_location = (
        "PostgreSQL holds nothing in memory; give the URL of a server: "
        "postgresql://user:password@host/database."
    )

    def accepts(self, location: str) -> bool:
        """Whether `location` is a ``postgresql://`` URL, whatever driver it names."""
        return has_scheme(location, "postgresql", "postgres")

    def _connect(self, location: str) -> AbstractContextManager[Namespaces]:
        require_driver("psycopg", "postgres")
        from dqa.databases.postgres.namespaces import connect

        return connect(location)


BACKEND: Backend = PostgresBackend()
