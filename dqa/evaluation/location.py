"""Parse the locations of runs: the option ``--out`` and the argument RUN.

A run is stored in a database, which is a SQLite file or has a SQLAlchemy URL. A folder stands for
the file ``run.db`` in it. The name of a run follows ``#``::

    runs/first              a folder with one run
    runs.db                 a SQLite file
    runs.db#first           the run named first in this file
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
"""Suffixes of files that are treated as stores even if they do not exist yet."""
STORE_VARIABLE = "DQA_STORE_URL"
"""Environment variable with the URL of a store, including its password."""
DATABASE = "run.db"
"""Name of the file that contains the run of a folder."""
FOLDER_RUN = "run"
"""The name of the run in a folder."""

_PORTS = {"mysql": 3306, "postgresql": 5432}


@dataclass(frozen=True, slots=True)
class RunLocation:
    """Where a run is stored.

    Attributes
    ----------
    url
        The URL of the store with its password. Messages omit the password.
    name
        The name of the run. None means the only run of the store; for a new run, the name is
        derived from its spec.
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
        """The location of the store without its password."""
        if self.folder is not None:
            return str(self.folder)
        return redact(self.url) if self.file is None else str(self.file)

    def named(self, name: str) -> RunLocation:
        """Return the location of the run with this name in the same store."""
        return self if self.folder is not None else replace(self, name=name)

    @property
    def around(self) -> str:
        """The location that lists this run and its neighbours: the store, or the parent folder."""
        return self.store if self.folder is None else str(self.folder.parent)

    def is_same_database(self, location: str) -> bool:
        """Return whether a location names the same database as this store.

        Databases of servers are the same if host, port and name agree. The schema is ignored.
        """
        if "://" not in location:
            return self.file is not None and _is_same_file(self.file, Path(location))
        url = parse_url(location)
        if self.file is not None:
            return bool(url.database) and _is_same_file(self.file, Path(str(url.database)))
        return _server_of(url) == _server_of(parse_url(self.url))


def locate_run(run: RunLocation | Path | str) -> RunLocation:
    """Return the location of a stored or new run.

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
            raise UsageError(
                "A store in memory is lost when dqa ends: name a file (--out runs.db)."
            )
        return RunLocation.of_file(Path(url.database), name or None)
    if "+" not in url.drivername:
        url = url.set(drivername=DRIVERS.get(url.drivername, url.drivername))
    return RunLocation(url.render_as_string(hide_password=False), name or None)


def _with_password(url: str) -> str:
    """Return a URL with its password. If it is masked, take the URL from the environment."""
    if ":***@" not in url:
        return url
    known = os.environ.get(STORE_VARIABLE, "").partition("#")[0]
    if redact(known) != url:
        raise UsageError(
            f"The URL {url} contains *** instead of its password: give the URL with the "
            f"password, or set {STORE_VARIABLE} to that URL."
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
