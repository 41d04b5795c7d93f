"""Describe how to open a session, as data that can be sent to a worker process."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from dqa.core.errors import DatabaseUnavailableError
from dqa.core.session import Source
from dqa.databases.files import read_start

if TYPE_CHECKING:
    from dqa.core.session import Session
    from dqa.core.situation import Situation

_HEADER = 4_096
"""The length of the first part of a DuckDB file, which identifies the file and never changes."""


@dataclass(frozen=True, slots=True)
class Opening:
    """The database to open, and the class of namespaces that opens it.

    Attributes
    ----------
    namespaces
        The subclass of `Namespaces`, as ``package.module:Class``.
    location
        The URL or path of the database; None for a database in memory.
    namespace
        The namespace to open; None selects the namespace in the location.
    content
        The situation or script for a database in memory.
    is_whole
        Whether to open the whole server, even if the location has a namespace.
    more
        Additional schemas to show because a policy allows them, in lower case.
    is_server
        Whether a server runs the statements.
    imports
        Modules that the engine imports when it opens a database.
    """

    namespaces: str
    location: str | None = None
    namespace: str | None = None
    content: Situation | str | None = None
    is_whole: bool = False
    more: tuple[str, ...] = ()
    is_server: bool = False
    imports: tuple[str, ...] = ()

    @property
    def preload(self) -> tuple[str, ...]:
        """The modules that a worker imports."""
        loading = () if self.content is None else ("numpy", "dqa.databases.tables")
        return (self.namespaces.partition(":")[0], *self.imports, *loading)

    def open(self) -> Session:
        """Open the session in this process.

        Raises
        ------
        DqaError
            An error of `dqa.databases.base.Backend.open`.
        """
        kind = resolve_name(self.namespaces)
        session: Session
        if self.location is None:
            session = kind.open_in_memory(self.content)
            return session
        with kind.connect(self.location) as namespaces:
            wanted = self.namespace
            if wanted is None and not self.is_whole:
                wanted = namespaces.select(self.more)
            session = namespaces.open(wanted)
        return session


class OpenedFiles:
    """The files of an opened database. Workers that start later must read the same files.

    Parameters
    ----------
    file
        The database file, to which other programs may write; None for no file.
    sources
        The data files that are tables; they must not change.
    """

    def __init__(self, file: Path | None, sources: Sequence[Source]) -> None:
        self._file = file
        self._identity = None if file is None else _identity_of(file)
        self._states: dict[Path | str, object] = dict(sources)
        if file is not None:
            self._states[file] = None  # its state is not known yet

    def require_same(self) -> None:
        """Raise `DatabaseUnavailableError` if a new worker would read different files."""
        for path, before in self._states.items():
            try:
                state = Source.at(path).state
            except OSError:
                state = None
            if state is not None and state == before:
                continue
            if path is self._file and _identity_of(path) == self._identity:
                self._states[path] = state
                continue
            how = "replaced" if path is self._file else "changed"
            raise DatabaseUnavailableError(
                f"'{path}' was {how} or removed after it was opened. Open it again."
            )


def _identity_of(path: Path | str) -> tuple[int, int, bytes] | None:
    """Return the device, the inode and the header of a DuckDB file; None if there is no file.

    Only DuckDB needs this check, because SQLite itself detects an overwritten file.
    """
    try:
        header, found = read_start(Path(path), _HEADER), os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return found.st_dev, found.st_ino, header if header[8:12] == b"DUCK" else b""
