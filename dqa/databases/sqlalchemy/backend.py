"""Any other database that SQLAlchemy has a dialect and an installed driver for.

The guard allows statements that are plain in every dialect (``ansi``). Every statement is rolled
back, and stopped by the driver's own ``cancel`` or ``interrupt``. A driver without them returns
late, with an error. Let the user of such a URL have the right to read only: on many servers a
rollback does not undo definitions.
"""

from __future__ import annotations

from dqa.databases.base import Backend
from dqa.databases.servers import has_scheme

_OTHERS = (
    *("mysql", "mariadb", "postgres", "postgresql", "duckdb", "ladybug"),
    *("bolt", "neo4j", "http", "https", "file"),
)
"""Beginnings of URLs that are of other backends, or of none."""


def _accepts(location: str) -> bool:
    is_url = "://" in location and not location.startswith("sqlite://")
    return is_url and not has_scheme(location, *_OTHERS)


BACKEND = Backend(
    name="sqlalchemy",
    kind="relational",
    dialect="ansi",
    is_server=True,
    namespaces="dqa.databases.sqlalchemy.namespaces:SqlalchemyNamespaces",
    accepts=_accepts,
    example="an SQLAlchemy URL such as oracle+oracledb://user:password@host/database",
)
