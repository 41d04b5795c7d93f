"""MySQL and MariaDB as a backend: a database a situation."""

from __future__ import annotations

from dqa.databases.base import Backend
from dqa.databases.servers import has_scheme

BACKEND = Backend(
    name="mysql",
    kind="relational",
    dialect="mysql",
    is_server=True,
    namespaces="dqa.databases.mysql.namespaces:MysqlNamespaces",
    accepts=lambda location: has_scheme(location, "mysql", "mariadb"),
    driver="pymysql",
    example="mysql://user:password@host/",
)
