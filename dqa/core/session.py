"""The contract of backends: an open database that runs statements without a guard."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Self

from dqa.core.database import Kind, Limits, Rows
from dqa.core.examination import Examination
from dqa.core.schema import DatabaseSchema


class Source(NamedTuple):
    """A data file, and the state that distinguishes it from a later file at the same path.

    Attributes
    ----------
    path
        Its path.
    state
        Its device, number, size in bytes and time of change in nanoseconds.
    """

    path: str
    state: tuple[int, int, int, int]

    @classmethod
    def at(cls, path: Path) -> Self:
        """Return the current file at a path."""
        found = path.stat()
        return cls(str(path), (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns))


class Session(ABC):
    """An open database.

    Only a `dqa.guard.GuardedDatabase` and worker processes call it. It is safe to use from several
    threads.

    Attributes
    ----------
    kind, dialect, language, name
        As `dqa.core.database.Database` has them; `dialect` is one of `guard.DIALECTS`.
    namespace
        The schema, database or label that it shows, as statements name it; None for everything, or
        if statements have no name for it.
    schemas
        The schemas (of MySQL the databases) that it shows, as the server spells them; None if
        statements cannot name others.
    search_path
        The schemas in which the engine looks for tables without a schema, in order.
    file
        The file that it reads; None for no file or several.
    sources
        The data files that it reads as tables.
    is_broken
        Whether it must be opened anew before another statement runs.
    announce
        Called with a mark after each connection to a server. `end_statements` finds this session's
        statements by the mark.
    """

    kind: Kind
    dialect: str
    language: str
    name: str
    namespace: str | None = None
    schemas: tuple[str, ...] | None = None
    search_path: tuple[str, ...] = ()
    file: Path | None = None
    sources: tuple[Source, ...] = ()
    is_broken: bool = False

    def __init__(self) -> None:
        self.announce: Callable[[str], None] = _ignore

    @abstractmethod
    def run(self, statement: str, limits: Limits) -> Rows:
        """Run a statement that the guard allows.

        Raises
        ------
        NotUnderstoodError
            The statement may be of another dialect.
        UnknownReferenceError
            It names something that the database lacks.
        QueryError, DatabaseUnavailableError
            As `dqa.core.database.Database.query` does.
        """

    @abstractmethod
    def read_schema(self) -> DatabaseSchema:
        """Read the whole schema; `DatabaseUnavailableError` where that fails."""

    def row_order(self, table: str) -> bytes | None:  # noqa: ARG002
        """Return the order of a table's rows, if no statement returns it: see `row_order`."""
        return None

    def examine(self) -> Examination:
        """Return the version, the role and the settings of a server; of a file who may write it.

        Raises
        ------
        StatementTimeoutError, DatabaseUnavailableError
            The server does not answer in time.
        """
        return Examination("", may_write=self.file is not None and os.access(self.file, os.W_OK))

    def end_statements(self, mark: str) -> None:  # noqa: B027  (a file has no server)
        """End the statements of the session with a mark, as far as the role may."""

    @abstractmethod
    def close(self) -> None:
        """Release connections; a database in memory is lost."""


def _ignore(mark: str) -> None:
    """Ignore a connection."""
