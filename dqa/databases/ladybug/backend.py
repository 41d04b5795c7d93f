"""LadybugDB as a backend: files, and situations in memory."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from dqa.databases.base import Backend, Examination
from dqa.databases.files import file_path, is_ours
from dqa.databases.namespaces import NamespaceBackend, Namespaces

if TYPE_CHECKING:
    from dqa.core.database import Kind
    from dqa.core.situation import Situation
    from dqa.guard import GuardedDatabase

__all__ = ["BACKEND", "LadybugBackend"]

_SUFFIXES = (".lbug", ".lbdb", ".ladybug", ".kuzu")


class LadybugBackend(NamespaceBackend):
    """Opens LadybugDB files, and loads situations into new ones or into memory."""

    name = "ladybug"
    kind: Kind = "graph"
    dialect = "ladybug"
    embedded = True

    def accepts(self, location: str) -> bool:
        """Whether `location` is a ``ladybug:///`` URL, a LadybugDB file, or named like one."""
        return is_ours(location, "ladybug", _SUFFIXES)

    def _start(self) -> None:
        # The engine's library is loaded when a first database is opened, and a thread that opens
        # another meanwhile is told that there is none.
        import ladybug

        ladybug.Database(":memory:").close()

    def _connect(self, location: str) -> AbstractContextManager[Namespaces]:
        from dqa.databases.ladybug.namespaces import LadybugFile

        path, version = file_path(location, "ladybug"), self._examine_engine().version
        return nullcontext(LadybugFile(path, "ladybug", version))

    def _load_in_memory(self, situation: Situation) -> GuardedDatabase:
        from dqa.databases.ladybug.namespaces import load_in_memory

        return load_in_memory(situation)

    def _examine_engine(self) -> Examination:
        import ladybug

        return Examination(f"LadybugDB {ladybug.__version__}")


BACKEND: Backend = LadybugBackend()
