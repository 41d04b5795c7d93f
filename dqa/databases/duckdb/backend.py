"""DuckDB as a backend: files with many situations, and situations in memory."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from dqa.databases.base import Backend, Examination
from dqa.databases.files import is_ours
from dqa.databases.namespaces import NamespaceBackend, Namespaces
from dqa.databases.servers import require_driver

if TYPE_CHECKING:
    from dqa.core.database import Kind
    from dqa.core.situation import Situation
    from dqa.guard import GuardedDatabase

__all__ = ["BACKEND", "DuckdbBackend"]

_SUFFIXES = (".duckdb", ".ddb")


class DuckdbBackend(NamespaceBackend):
    """Opens DuckDB files, and loads situations into schemas of them or into memory."""

    name = "duckdb"
    kind: Kind = "relational"
    dialect = "duckdb"
    embedded = True

    def accepts(self, location: str) -> bool:
        """Whether `location` is a ``duckdb:///`` URL, a DuckDB file, or named like one."""
        return is_ours(location.partition("?")[0], "duckdb", _SUFFIXES)

    def _start(self) -> None:
        require_driver("duckdb", "duckdb")
        import duckdb

        duckdb.connect(":memory:").close()

    def _connect(self, location: str) -> AbstractContextManager[Namespaces]:
        from dqa.databases.duckdb.namespaces import connect

        return connect(location)

    def _load_in_memory(self, situation: Situation) -> GuardedDatabase:
        from dqa.databases.duckdb.namespaces import load_in_memory

        return load_in_memory(situation)

    def _examine_engine(self) -> Examination:
        import duckdb

        return Examination(f"DuckDB {duckdb.__version__}")


BACKEND: Backend = DuckdbBackend()
