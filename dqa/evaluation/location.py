"""Where a run is stored. Only this module parses ``--out`` and RUN.

A run is stored in a database: a SQLite file, or any database by its SQLAlchemy URL. A folder means
the file ``run.db`` in it. The name of a run follows ``#``::

    runs/first              a folder with one run
    runs.db                 a SQLite file
    runs.db#first           the run with the name first in it
    postgresql://dqa@host/team#first
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dqa.core.errors import UsageError
from dqa.core.secrets import redact
from dqa.databases.files import is_sqlite
from dqa.databases.servers import DRIVERS, parse_url

if TYPE_CHECKING:
    from sqlalchemy import URL

STORE_SUFFIXES = (".db", ".sqlite", ".sqlite3")
"""Suffixes of files that are stores before they exist."""
STORE_VARIABLE = "DQA_STORE_URL"
"""The variable with the URL of a store and its password, which no message contains."""
DATABASE = "run.db"
"""The file of a folder that contains its run."""
FOLDER_RUN = "run"
"""The name of the run in a folder."""

_PORTS = {"mysql": 3306, "postgresql": 5432}


@dataclass(frozen=True, slots=True)
class RunLocation:
    """Where a run is stored.

    Attributes
    ----------
    url
        The URL of the store with its password, which is never shown.
    name
        The name of the run; None for the only run, or for a name that is derived from the spec.
    file
        The SQLite file; None for a server.
    folder
        The folder of the run; None for a store.
    """

    url: str = field(repr=False)
    name: str | None = None
    file: Path | None = None
    folder: Path | None = None

    @classmethod
    def of_file(cls, file: Path, name: str | None = None) -> RunLocation:
        """Return the location of a run in a SQLite file."""
        return cls(f"sqlite:///{file.absolute()}", name, file)

    @classmethod
    def of_folder(cls, folder: Path) -> RunLocation:
        """Return the location of the run in a folder."""
        return replace(cls.of_file(folder / DATABASE, FOLDER_RUN), folder=folder)

    def __str__(self) -> str:
        if self.folder is not None:
            return str(self.folder)
        return self.store if self.name is None else f"{self.store}#{self.name}"

    @property
    def store(self) -> str:
        """The store without its password."""
        if self.folder is not None:
            return str(self.folder)
        return redact(self.url) if self.file is None else str(self.file)

    def named(self, name: str) -> RunLocation:
        """Return the location of the run with this name in the same store."""
        return self if self.folder is not None else replace(self, name=name)

    @property
    def around(self) -> str:
        """Where this run and the runs next to it are listed."""
        return self.store if self.folder is None else str(self.folder.parent)

    def is_same_database(self, location: str) -> bool:
        """Whether the store is the database at a location, however either is written.

        Databases of servers are the same by host, port and name, whatever the schema.
        """
        if "://" not in location:
            return self.file is not None and _is_same_file(self.file, Path(location))
        url = parse_url(location)
        if self.file is not None:
            return bool(url.database) and _is_same_file(self.file, Path(str(url.database)))
        return _server_of(url) == _server_of(parse_url(self.url))


def locate_run(run: RunLocation | Path | str) -> RunLocation:
    """Return where a run is stored, or will be.

    Parameters
    ----------
    run
        The location in the notation of this module.

    Raises
    ------
    UsageError
        The URL is not valid, or its password is missing.
    """
    if isinstance(run, RunLocation):
        return run
    text = os.fspath(run)
    if "://" in text:
        return _locate_url(text)
    whole = Path(text)
    if whole.is_dir():
        return RunLocation.of_folder(whole)
    before, mark, name = text.rpartition("#")
    if _is_store(whole):
        return RunLocation.of_file(whole)
    if mark and _is_store(Path(before)):
        return RunLocation.of_file(Path(before), name or None)
    return RunLocation.of_folder(whole)


def _is_store(path: Path) -> bool:
    if path.is_dir():
        return False
    try:
        if path.is_file() and path.stat().st_size:
            return is_sqlite(path) or path.suffix.lower() in STORE_SUFFIXES
    except OSError:  # opening it reports the problem
        pass
    return path.suffix.lower() in STORE_SUFFIXES


def _locate_url(text: str) -> RunLocation:
    url_text, mark, name = text.rpartition("#")
    if not mark or "@" in name or "/" in name:  # part of a password
        url_text, name = text, ""
    url = parse_url(_with_password(url_text))
    if url.get_backend_name() == "sqlite":
        if not url.database or url.database == ":memory:":
            raise UsageError("A store in memory is lost at the end: name a file (--out runs.db).")
        return RunLocation.of_file(Path(url.database), name or None)
    if "+" not in url.drivername:
        url = url.set(drivername=DRIVERS.get(url.drivername, url.drivername))
    return RunLocation(url.render_as_string(hide_password=False), name or None)


def _with_password(url: str) -> str:
    """Return a URL with the password that messages omit."""
    if ":***@" not in url:
        return url
    known = os.environ.get(STORE_VARIABLE, "").partition("#")[0]
    if redact(known) != url:
        raise UsageError(
            f"{url} was written without its password: give the whole URL, or set "
            f"{STORE_VARIABLE} to it."
        )
    return known


def _is_same_file(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve() or (
        one.exists() and other.exists() and one.samefile(other)
    )


def _server_of(url: URL) -> tuple[str, str, int | None, str | None]:
    kind = url.get_backend_name()
    kind = {"mariadb": "mysql", "postgres": "postgresql"}.get(kind, kind)
    host = (url.host or "localhost").lower()
    host = "localhost" if host in {"127.0.0.1", "::1"} else host
    return kind, host, url.port or _PORTS.get(kind), url.database
