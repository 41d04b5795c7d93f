"""What a backend gives: an opened database that runs statements, with no guard before it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Self

from dqa.core.database import Kind, Limits, Rows
from dqa.core.examination import Examination
from dqa.core.schema import DatabaseSchema


class Probe(NamedTuple):
    """How to see that a server is there without asking it for anything.

    Attributes
    ----------
    host, port
        Where it listens.
    greeting
        What it answers at once, before it knows who asks and whatever its statements do.
    """

    host: str
    port: int
    greeting: bytes


class Source(NamedTuple):
    """A data file, and what tells it from what may lie there later.

    Attributes
    ----------
    path
        Where it lies.
    state
        Its device, number, size in bytes and time of change in nanoseconds.
    """

    path: str
    state: tuple[int, int, int, int]

    @classmethod
    def at(cls, path: Path) -> Self:
        """Return the file that lies at a path now."""
        found = path.stat()
        return cls(str(path), (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns))


class Session(ABC):
    """An opened database as its engine or server gives it.

    Nothing but the guard's front and a worker process calls one: whoever asks a database asks a
    `dqa.guard.GuardedDatabase`, which holds a session. Safe to use from several threads.

    Attributes
    ----------
    kind, dialect, language, name
        As `dqa.core.database.Database` has them; `dialect` is one of `guard.DIALECTS`.
    namespace
        The schema, database or label that it shows, as statements may name it; None for all that
        there is, or where statements have no name for it.
    schemas
        The schemas (of MySQL the databases) that are its own, as the server spells them; None where
        statements can name no other.
    search_path
        Where the engine looks for tables that are written without a schema, in order.
    file
        The file that it reads; None where it reads none, or several.
    sources
        The data files that it has as tables, and what each was when it was read.
    probe
        How to see that its server is there; None where only another session can tell.
    is_broken
        Whether it should be opened anew before another statement runs.
    announce
        Called with a mark whenever a server is connected to: `end_statements` knows by it what this
        session runs there.
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
    probe: Probe | None = None
    is_broken: bool = False

    def __init__(self) -> None:
        self.announce: Callable[[str], None] = _tell_nobody

    @abstractmethod
    def run(self, statement: str, limits: Limits) -> Rows:
        """Run a statement that the guard has let through.

        Raises
        ------
        NotUnderstoodError
            The statement may be of another dialect.
        UnknownReferenceError
            It names what is not there.
        QueryError, DatabaseUnavailableError
            As `dqa.core.database.Database.query` does.
        """

    @abstractmethod
    def read_schema(self) -> DatabaseSchema:
        """Read the whole schema; `DatabaseUnavailableError` where that fails."""

    def examine(self) -> Examination:
        """Return what a server says of itself, of who is connected and of its limits.

        Raises
        ------
        StatementTimeoutError, DatabaseUnavailableError
            It does not say that in time.
        """
        raise NotImplementedError  # an embedded database is a file

    def end_statements(self, mark: str, seconds: float) -> bool:  # noqa: ARG002
        """End what another session runs on the server, as far as the role may.

        Parameters
        ----------
        mark
            What the other session has announced.
        seconds
            How long that may take.

        Returns
        -------
        bool
            Whether the server has answered in time.
        """
        return True

    @abstractmethod
    def close(self) -> None:
        """Release connections; a database in memory is gone."""


def _tell_nobody(mark: str) -> None:
    """Take no notice of a connection."""
