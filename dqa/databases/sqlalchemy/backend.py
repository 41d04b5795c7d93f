"""Any other database that SQLAlchemy has a dialect and an installed driver for.

Only what all of SQL has in common is known of it. The guard lets through what is plain in every
dialect (``ansi``), every statement is rolled back, and a statement is stopped by the driver's own
``cancel`` or ``interrupt``, where it has one; where it has none, it ends late and is an error. Let
the user of such a URL be one who may only read: in many servers a rollback undoes no definition.
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
