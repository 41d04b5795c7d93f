"""Where a run is kept: which form ``--out`` and RUN have is said here alone.

A run lies in a folder, or in a store: a SQLite file, or any database by its SQLAlchemy URL, which
holds many runs. Behind ``#`` stands a run's name in its store::

    runs/first              a folder
    runs.db                 a SQLite file
    runs.db#first           the run called first in it
    postgresql://dqa@host/team#first
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from dqa.core.errors import UsageError
from dqa.core.secrets import redact
from dqa.databases.files import is_sqlite
from dqa.databases.servers import DRIVERS

if TYPE_CHECKING:
    from sqlalchemy import URL

STORE_SUFFIXES = (".db", ".sqlite", ".sqlite3")
"""Of files that are taken for stores before they are there."""

STORE_VARIABLE = "DQA_STORE_URL"
"""Has the URL of a store with its password, which no message and no file repeats."""

_PORTS = {"mysql": 3306, "postgresql": 5432}


@dataclass(frozen=True, slots=True)
class FolderPlace:
    """A folder of one run."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    def beside(self, suffix: str) -> FolderPlace:
        """Return the place of another run, beside this one."""
        return FolderPlace(self.path.with_name(f"{self.path.name}{suffix}"))

    @property
    def around(self) -> str:
        """Where this run and those beside it are listed."""
        return str(self.path.parent)


@dataclass(frozen=True, slots=True)
class StorePlace:
    """A run in a store.

    Attributes
    ----------
    url
        The store's, with its password, which is never shown.
    name
        The run's; None where it is the only one, or is named by what is evaluated.
    file
        The SQLite file, of a store that is one.
    """

    url: str = field(repr=False)
    name: str | None = None
    file: Path | None = None

    def __str__(self) -> str:
        return self.store if self.name is None else f"{self.store}#{self.name}"

    @property
    def store(self) -> str:
        """The store, without its password."""
        return redact(self.url) if self.file is None else str(self.file)

    def named(self, name: str) -> StorePlace:
        """Return the place of the run of this name in the same store."""
        return replace(self, name=name)

    def beside(self, suffix: str) -> StorePlace:
        """Return the place of another run, beside this one."""
        return replace(self, name=f"{self.name or 'run'}{suffix}")

    @property
    def around(self) -> str:
        """Where this run and those beside it are listed."""
        return self.store


RunPlace: TypeAlias = FolderPlace | StorePlace


def place_of(run: RunPlace | Path | str) -> RunPlace:
    """Return where a run is, or is to be kept.

    Parameters
    ----------
    run
        As a user names it; see this module.

    Raises
    ------
    UsageError
        It is a URL that cannot be read, or one without the password that it was shown without.
    """
    if isinstance(run, FolderPlace | StorePlace):
        return run
    text = os.fspath(run)
    if "://" in text:
        return _at_url(text)
    whole = Path(text)
    if whole.is_dir():
        return FolderPlace(whole)
    before, mark, name = text.rpartition("#")
    for path, named in ((whole, None), (Path(before), name)) if mark else ((whole, None),):
        if _is_store(path):
            return StorePlace(_url_of(path), named or None, path)
    return FolderPlace(whole)


def is_same_database(place: StorePlace, location: str) -> bool:
    """Whether a store lies in the database at a location, however either is written.

    Of servers, a database is the same by its host, port and name, whatever the schema.
    """
    from dqa.databases.servers import parse_url

    if "://" not in location:
        return place.file is not None and _is_same_file(place.file, Path(location))
    url = parse_url(location)
    if place.file is not None:
        return bool(url.database) and _is_same_file(place.file, Path(str(url.database)))
    return _server_of(url) == _server_of(parse_url(place.url))


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


def _is_store(path: Path) -> bool:
    if path.is_dir():
        return False
    try:
        if path.is_file() and path.stat().st_size and is_sqlite(path):
            return True
    except OSError:  # whoever opens it says what is wrong
        return path.suffix.lower() in STORE_SUFFIXES
    return path.suffix.lower() in STORE_SUFFIXES


def _url_of(path: Path) -> str:
    return f"sqlite:///{path.absolute()}"


def _at_url(text: str) -> RunPlace:
    from dqa.databases.servers import parse_url

    location, mark, name = text.rpartition("#")
    if not mark or "@" in name or "/" in name:  # of a password that holds one
        location, name = text, ""
    location = _with_password(location)
    url = parse_url(location)
    if url.get_backend_name() == "sqlite":
        if not url.database or url.database == ":memory:":
            raise UsageError("A store in memory keeps nothing: name a file (--out runs.db).")
        path = Path(url.database)
        return StorePlace(_url_of(path), name or None, path)
    if "+" not in url.drivername:
        url = url.set(drivername=DRIVERS.get(url.drivername, url.drivername))
    return StorePlace(url.render_as_string(hide_password=False), name or None)


def _with_password(location: str) -> str:
    """Return a URL with the password that messages left out."""
    if ":***@" not in location:
        return location
    known = os.environ.get(STORE_VARIABLE, "")
    if redact(known.partition("#")[0]) != location:
        raise UsageError(
            f"{location} was written without its password: give the whole URL, or set "
            f"{STORE_VARIABLE} to it."
        )
    return known.partition("#")[0]
