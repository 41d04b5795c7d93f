"""SQLite as a backend: files, and situations in memory."""

from __future__ import annotations

import sqlite3
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from dqa.databases.base import Backend, Examination
from dqa.databases.files import file_path, is_ours
from dqa.databases.namespaces import NamespaceBackend, Namespaces

if TYPE_CHECKING:
    from dqa.core.database import Kind
    from dqa.core.situation import Situation
    from dqa.guard import GuardedDatabase

__all__ = ["BACKEND", "SqliteBackend"]

_SUFFIXES = (".db", ".sqlite", ".sqlite3")
_VERSION = f"SQLite {sqlite3.sqlite_version}"


class SqliteBackend(NamespaceBackend):
    """Opens SQLite files, and loads situations into new ones or into memory."""

    name = "sqlite"
    kind: Kind = "relational"
    dialect = "sqlite"
    embedded = True

    def accepts(self, location: str) -> bool:
        """Whether `location` is a ``sqlite:///`` URL, an SQLite file, or named like one."""
        return is_ours(location, "sqlite", _SUFFIXES)

    def _connect(self, location: str) -> AbstractContextManager[Namespaces]:
        from dqa.databases.sqlite.namespaces import SqliteFile

        return nullcontext(SqliteFile(file_path(location, "sqlite"), "sqlite", _VERSION))

    def _load_in_memory(self, situation: Situation) -> GuardedDatabase:
        from dqa.databases.sqlite.namespaces import load_in_memory

        return load_in_memory(situation)

    def _examine_engine(self) -> Examination:
        return Examination(_VERSION)


BACKEND: Backend = SqliteBackend()
