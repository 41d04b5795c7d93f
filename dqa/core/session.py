"""The protocol of sessions. A session is an open database without a guard."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, Self, TypeAlias

from dqa.core.database import Kind, Limits, Rows
from dqa.core.display import Value
from dqa.core.schema import DatabaseSchema

SendRows: TypeAlias = Callable[[int, Sequence[tuple[Value, ...]]], None]
"""Sends the number of rows that were sent before, and the next rows of the same result."""


class Source(NamedTuple):
    """A data file and its state. The state changes if the file is changed or replaced.

    Attributes
    ----------
    path
        The path.
    state
        The device, the inode number, the size in bytes and the time of change in nanoseconds.
    """

    path: str
    state: tuple[int, int, int, int]

    @classmethod
    def at(cls, path: Path | str) -> Self:
        """Return the current file at a path."""
        found = os.stat(path)  # noqa: PTH116  (three times as fast)
        return cls(str(path), (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns))


class Session(ABC):
    """An open database.

    Only a `dqa.guard.GuardedDatabase` and worker processes use sessions. Threads may share a
    session.

    Attributes
    ----------
    kind, dialect, language, name
        See `dqa.core.database.Database`. `dialect` is one of `guard.DIALECTS`.
    namespace
        The name of the schema, database or label that the session reads; the first name if there
        are several. None if the session reads the whole database.
    schemas
        The visible schemas (MySQL: databases), as the server spells them. None if the database has
        no other schemas.
    search_path
        The schemas in which the engine looks for a table without a schema prefix, in order.
    file
        The file of the database. None if the database has no file, or several files.
    sources
        The data files that are read as tables.
    is_broken
        Whether the session must be opened again before it can run another statement.
    announce
        A function that is called after each connection to a server. Its argument is the mark: a
        text that identifies the connection on the server, so that `end_statements` can find it.
    send_rows
        A function that `run` may call with the first rows of a long result, while it reads the
        other rows. The result that `run` returns then lacks these rows. None to return all rows.
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
        self.announce: Callable[[str], None] = lambda _: None
        self.send_rows: SendRows | None = None

    @abstractmethod
    def run(self, statement: str, limits: Limits) -> Rows:
        """Run a statement that the guard allows.

        Raises
        ------
        NotUnderstoodError
            The statement may be of another dialect.
        UnknownReferenceError
            The statement names something that the database lacks.
        QueryError, DatabaseUnavailableError
            See `dqa.core.database.Database.query`.
        """

    @abstractmethod
    def read_schema(self) -> DatabaseSchema:
        """Read the whole schema; raise `DatabaseUnavailableError` on failure."""

    def row_order(self, table: str) -> bytes | None:  # noqa: ARG002
        """Return the order of a table's rows in the situation, as `pack_order` has stored it.

        None if the order is not stored, because statements of this engine can return the rows in
        order.
        """
        return None

    def examine(self) -> Examination:
        """Return the version and the role of the database, with advice for its owner.

        For a file, also return whether it is writable.

        Raises
        ------
        StatementTimeoutError, DatabaseUnavailableError
            The server does not answer in time.
        """
        return Examination("", may_write=self.file is not None and os.access(self.file, os.W_OK))

    def end_statements(self, mark: str) -> None:  # noqa: B027  (a file has no server)
        """End the statements of the session with this mark, if the role may do so."""

    @abstractmethod
    def close(self) -> None:
        """Release the connections. A database in memory is lost."""


@dataclass(frozen=True, slots=True)
class Advice:
    """Advice about a database role or a server setting.

    Attributes
    ----------
    topic
        The subject: the connected role, or a server setting.
    found
        The problem that was found.
    why
        The consequence of the problem.
    fix
        The fix: a statement, a line of configuration, or a sentence.
    """

    topic: Literal["role", "setting"]
    found: str
    why: str
    fix: str


@dataclass(frozen=True, slots=True)
class Examination:
    """The version, the role and the advice of a database.

    Attributes
    ----------
    version
        Product and version, e.g. ``"MariaDB 10.11.19"``.
    role
        The connected role; empty for databases without users.
    may_write
        Whether the role has permission to write.
    advice
        The advice about the role and the server.
    """

    version: str
    role: str = ""
    may_write: bool = False
    advice: tuple[Advice, ...] = ()
