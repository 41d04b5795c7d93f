"""PostgreSQL as a backend: a schema a situation."""

from __future__ import annotations

from dqa.databases.base import Backend
from dqa.databases.servers import has_scheme

BACKEND = Backend(
    name="postgres",
    kind="relational",
    dialect="postgres",
    is_server=True,
    namespaces="dqa.databases.postgres.namespaces:PostgresNamespaces",
    accepts=lambda location: has_scheme(location, "postgresql", "postgres"),
    driver="psycopg",
    example="postgresql://user:password@host/database",
)
