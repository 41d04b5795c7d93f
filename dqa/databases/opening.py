"""Describe how to open a session, as data that can be sent to a worker process."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from dqa.core.errors import DatabaseUnavailableError
from dqa.core.session import Session, Source
from dqa.databases.files import read_start

if TYPE_CHECKING:
    from dqa.core.situation import Situation

_HEADER = 4_096
"""The size in bytes of the header of a DuckDB file. It identifies the file and never changes."""


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
        Whether to open the whole database, even if the location names a namespace.
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


def require_same_files(session: Session, identity: object) -> None:
    """Raise `DatabaseUnavailableError` if the files of a session were changed or replaced.

    Parameters
    ----------
    session
        The session. Its data files, such as CSV files, must not change. Other programs may write to
        its database file, but they must not replace the file.
    identity
        The result of `identity_of` when the database file of the session was opened.
    """
    for path, state in session.sources:
        with suppress(OSError):
            if Source.at(path).state == state:
                continue
        raise _changed(path, "changed")
    if identity != identity_of(session):
        raise _changed(session.file, "replaced")


def identity_of(session: Session) -> object:
    """Return an identifier of the database file of a session; None if there is no such file.

    The identifier consists of the device, the inode and, for DuckDB, the header of the file. SQLite
    needs no header, because it detects an overwritten file itself.
    """
    if session.file is None:
        return None
    try:
        found = os.stat(session.file)  # noqa: PTH116  (three times as fast)
        header = read_start(session.file, _HEADER) if session.dialect == "duckdb" else b""
    except OSError:
        return None
    return found.st_dev, found.st_ino, header


def _changed(path: Path | str | None, how: str) -> DatabaseUnavailableError:
    return DatabaseUnavailableError(
        f"'{path}' was {how} or removed after it was opened. Open it again."
    )
