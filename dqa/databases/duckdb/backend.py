"""DuckDB as two backends: its own files and memory; and CSV and Parquet files, read as tables."""

from __future__ import annotations

from dqa.databases.base import Backend
from dqa.databases.duckdb.locations import names_data_files
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
    imports=("pandas", "numpy.ma"),
)

FILES = Backend(
    name="files",
    kind="relational",
    dialect="duckdb",
    namespaces="dqa.databases.duckdb.data_files:DataFiles",
    accepts=names_data_files,
    driver="duckdb",
    imports=("pandas", "numpy.ma"),
    extra="duckdb",
    example="sales.csv, folder/ or 'folder/*.parquet'",
)
"""CSV and Parquet files, each a table."""
