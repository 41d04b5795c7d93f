"""Any other database that SQLAlchemy has a dialect and an installed driver for.

Only what all of SQL has in common is known of it. The guard lets through what is plain in every
dialect (``ansi``), every statement is rolled back, and a statement is stopped by the driver's own
``cancel`` or ``interrupt``, where it has one; where it has none, it ends late and is an error. Let
the user of such a URL be one who may only read: in many servers a rollback undoes no definition.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from dqa.databases.base import Backend
from dqa.databases.namespaces import NamespaceBackend, Namespaces

if TYPE_CHECKING:
    from dqa.core.database import Kind

__all__ = ["BACKEND", "SqlalchemyBackend"]

_OTHERS = frozenset(
    {"mysql", "mariadb", "postgres", "postgresql", "duckdb", "ladybug"}
    | {"bolt", "neo4j", "http", "https", "file"}
)
"""Beginnings of URLs that are of other backends, or of none."""


class SqlalchemyBackend(NamespaceBackend):
    """Opens databases by any other SQLAlchemy URL, and loads situations into them."""

    name = "sqlalchemy"
    kind: Kind = "relational"
    dialect = "ansi"
    needs_location = "Name the database by an SQLAlchemy URL."

    def accepts(self, location: str) -> bool:
        """Whether `location` is a URL that no other backend takes."""
        scheme, mark, _ = location.partition("://")
        return bool(mark) and scheme != "sqlite" and scheme.partition("+")[0] not in _OTHERS

    def _connect(self, location: str) -> AbstractContextManager[Namespaces]:
        from dqa.databases.sqlalchemy.namespaces import connect

        return connect(location)


BACKEND: Backend = SqlalchemyBackend()
