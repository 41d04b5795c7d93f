"""DuckDB as a backend: files with many situations, and situations in memory."""

from __future__ import annotations

from dqa.databases.base import Backend
from dqa.databases.files import is_ours


def _accepts(location: str) -> bool:
    return is_ours(location.partition("?")[0], "duckdb", (".duckdb", ".ddb"))


BACKEND = Backend(
    name="duckdb",
    kind="relational",
    dialect="duckdb",
    namespaces="dqa.databases.duckdb.namespaces:DuckdbNamespaces",
    accepts=_accepts,
    embedded=True,
    driver="duckdb",
)
