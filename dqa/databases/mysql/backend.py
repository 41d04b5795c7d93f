"""MySQL and MariaDB as a backend: a database a situation."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from dqa.databases.base import Backend
from dqa.databases.namespaces import NamespaceBackend, Namespaces
from dqa.databases.servers import has_scheme, require_driver

if TYPE_CHECKING:
    from dqa.core.database import Kind

__all__ = ["BACKEND", "MysqlBackend"]


class MysqlBackend(NamespaceBackend):
    """Opens databases of MySQL and MariaDB servers, and loads situations into new ones."""

    name = "mysql"
    kind: Kind = "relational"
    dialect = "mysql"
    needs_location = (
        "MySQL holds nothing in memory; give the URL of a server: mysql://user:password@host/."
    )

    def accepts(self, location: str) -> bool:
        """Whether `location` is a ``mysql://`` or ``mariadb://`` URL, whatever driver it names."""
        return has_scheme(location, "mysql", "mariadb")

    def _connect(self, location: str) -> AbstractContextManager[Namespaces]:
        require_driver("pymysql", "mysql")
        from dqa.databases.mysql.namespaces import connect

        return connect(location)


BACKEND: Backend = MysqlBackend()
