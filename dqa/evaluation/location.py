"""Parse the locations of runs: the option ``--out`` and the argument RUN.

A run is stored in a database: a SQLite file, or a database with a SQLAlchemy URL. If the password
of a URL is masked, the complete URL comes from the variable ``DQA_STORE_URL``. A run in a folder is
in the file ``run.db``. The name of a run follows ``#``::

    runs/first              a folder with one run
    runs.db                 a SQLite file
    runs.db#first           the run named first in this file
    postgresql://dqa@host/team#first
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from dqa.databases.files import is_sqlite
from dqa.databases.store_locations import StoreLocation, store_address
from dqa.loaders.locations import whole_url

STORE_SUFFIXES = (".db", ".sqlite", ".sqlite3")
"""Suffixes of files that are treated as stores even if they do not exist yet."""
DATABASE = "run.db"
"""Name of the file that contains the run of a folder."""
FOLDER_RUN = "run"
"""The name of the run in a folder."""


@dataclass(frozen=True, slots=True)
class RunLocation(StoreLocation):
    """Where a run is stored.

    Attributes
    ----------
    name
        The name of the run. None means the only run of the store. For a new run, None means that
        the name is derived from the spec.
    folder
        The folder of the run; None for a store.
    """

    what: str = "store"
    hint: str = "Give the location of a run from 'dqa eval --out' ('dqa runs' lists all runs)."
    after_outage: str = "Finished decisions are stored. The same command resumes the run."
    name: str | None = None
    folder: Path | None = None

    @classmethod
    def of_file(cls, file: Path, name: str | None = None) -> RunLocation:
        """Return the location of a run in a SQLite file."""
        return cls(f"sqlite:///{file.absolute()}", file, name=name)

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
        return self.shown if self.folder is None else str(self.folder)

    def named(self, name: str) -> RunLocation:
        """Return the location of the run `name` in the same store."""
        return self if self.folder is not None else replace(self, name=name)

    @property
    def around(self) -> str:
        """The location to search for related runs: the store, or the parent of the run's folder."""
        return self.store if self.folder is None else str(self.folder.parent)


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
    """Return whether a path is a store, or will become a store when a run is stored there."""
    if path.suffix.lower() in STORE_SUFFIXES:
        return not path.is_dir()
    try:
        return path.is_file() and path.stat().st_size > 0 and is_sqlite(path)
    except OSError:  # the caller reports the problem when it opens the file
        return False


def _locate_url(text: str) -> RunLocation:
    url_text, mark, name = text.rpartition("#")
    if not mark or "@" in name or "/" in name:  # the "#" belongs to a password
        url_text, name = text, ""
    url, file = store_address(whole_url(url_text, "store"), "store")
    if file is not None:
        return RunLocation.of_file(file, name or None)
    return RunLocation(url, None, name=name or None)
