"""Define the built-in backends. Other packages register their own backends by entry points."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from dqa.databases.base import Backend
from dqa.databases.files import is_ours, names_data_files
from dqa.databases.servers import has_scheme


def _is_url(location: str) -> bool:
    return "://" in location


_BACKENDS: Final = (
    Backend(
        name="duckdb",
        title="DuckDB",
        namespaces="dqa.databases.duckdb:DuckdbFile",
        accepts=partial(is_ours, kind="duckdb", suffixes=(".duckdb", ".ddb")),
        embedded=True,
        driver="duckdb",
        imports=("pandas", "numpy.ma"),
    ),
    Backend(
        name="files",
        title="DuckDB",
        dialect="duckdb",
        namespaces="dqa.databases.data_files:DataFiles",
        accepts=names_data_files,
        driver="duckdb",
        extra="duckdb",
        imports=("pandas", "numpy.ma"),
        example="sales.csv, folder/ or 'folder/*.parquet'",
    ),
    Backend(
        name="ladybug",
        title="LadybugDB",
        kind="graph",
        namespaces="dqa.databases.ladybug:LadybugFile",
        accepts=partial(is_ours, kind="ladybug", suffixes=(".lbug", ".lbdb", ".ladybug", ".kuzu")),
        embedded=True,
        driver="ladybug",
        imports=("pandas", "ladybug._lbug", "numpy.ma"),
    ),
    Backend(
        name="mysql",
        is_server=True,
        namespaces="dqa.databases.mysql:MysqlNamespaces",
        accepts=partial(has_scheme, names=("mysql", "mariadb")),
        driver="pymysql",
        example="mysql://user:password@host/",
    ),
    # Neo4j Community has only one database, so every situation has its own label as a namespace.
    # The guard adds that label to every node pattern, and results do not show it.
    Backend(
        name="neo4j",
        kind="graph",
        front="dqa.databases.neo4j.confined:ConfinedGraph",
        is_server=True,
        namespaces="dqa.databases.neo4j.namespaces:Neo4jNamespaces",
        accepts=partial(has_scheme, names=("bolt", "neo4j")),
        driver="neo4j",
        example="bolt://user:password@host:7687",
    ),
    Backend(
        name="postgres",
        is_server=True,
        namespaces="dqa.databases.postgres:PostgresNamespaces",
        accepts=partial(has_scheme, names=("postgresql", "postgres")),
        driver="psycopg",
        example="postgresql://user:password@host/database",
    ),
    # Every statement runs unchanged and is rolled back. Many servers do not roll back CREATE and
    # DROP, so the user in such a URL should only have the right to read. This backend accepts any
    # URL, so it comes after the others.
    Backend(
        name="sqlalchemy",
        dialect="ansi",
        is_server=True,
        namespaces="dqa.databases.any_sql:SqlalchemyNamespaces",
        accepts=_is_url,
        example="an SQLAlchemy URL such as oracle+oracledb://user:password@host/database",
    ),
    Backend(
        name="sqlite",
        title="SQLite",
        namespaces="dqa.databases.sqlite:SqliteFile",
        accepts=partial(is_ours, kind="sqlite", suffixes=(".db", ".sqlite", ".sqlite3")),
        embedded=True,
    ),
)
BUILT_IN: Final[Mapping[str, Backend]] = {backend.name: backend for backend in _BACKENDS}
