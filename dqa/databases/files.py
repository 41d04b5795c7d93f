"""Databases that are files: whose file a location names, and files that are namespaces."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from abc import abstractmethod
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Self
from uuid import uuid4

from dqa.core.errors import DataError, DqaError, InfrastructureError, UsageError
from dqa.core.examination import Examination
from dqa.core.files import make_private_folder
from dqa.core.paths import told_problem
from dqa.databases.namespaces import (
    ForeignContent,
    LoadedSituation,
    NamespaceContent,
    Namespaces,
    hold_same,
    in_the_way,
)

if TYPE_CHECKING:
    from dqa.core.situation import Situation

_SQLITE = b"SQLite format 3\x00"
_SIGNATURES = {
    (0, _SQLITE): "sqlite",
    (0, b"LBUG"): "ladybug",
    (0, b"KUZU"): "ladybug",
    (8, b"DUCK"): "duckdb",
}
"""By where in a file it is and what is there."""


def is_ours(location: str, kind: str, suffixes: tuple[str, ...]) -> bool:
    """Whether `location` is for the backend `kind`: by URL scheme, content, or else file suffix."""
    if "://" in location:
        return location.startswith(f"{kind}://")
    path = Path(location)
    try:
        signature = _signature(path) if path.is_file() else None
    except OSError as error:
        raise _unreadable(path, error) from error
    return signature == kind if signature else path.suffix.lower() in suffixes


def file_path(location: str, kind: str) -> Path:
    """Return the path that a location names; `UsageError` where it names none."""
    prefix = f"{kind}:///"
    text = location.removeprefix(prefix)
    if not text or "://" in text:
        raise UsageError(f"'{location}' names no file; write a path or {prefix}path.")
    return Path(text)


def existing_file(path: Path, kind: str) -> Path:
    """Return `path`, which must be a database file of this kind.

    Raises
    ------
    UsageError
        There is no such file.
    DataError
        The file is there and no database of this kind.
    """
    if not path.exists():
        raise UsageError(f"There is no database file '{path}'. Name one that exists.")
    if not path.is_file():
        raise UsageError(f"'{path}' is no file; name a {kind} database file.")
    try:
        signature = _signature(path)
    except OSError as error:
        raise _unreadable(path, error) from error
    if signature != kind:
        is_what = f"a {signature} database" if signature else "no database file"
        raise DataError(f"'{path}' is {is_what}, where a {kind} database is expected.")
    return path


def require_folder(path: Path) -> None:
    """Raise `UsageError` unless the folder in which a file is to be made exists."""
    if not path.parent.is_dir():
        raise UsageError(f"There is no folder '{path.parent}' to make a database in.")


def _unreadable(path: Path, error: OSError) -> DqaError:
    """Return what is told of a file that cannot be read."""
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return InfrastructureError(
            f"'{path}' cannot be opened: {error.strerror}. Close other files and databases, or "
            "allow more open files (ulimit -n)."
        )
    return UsageError(f"'{path}' cannot be read: {error.strerror}.")


def _signature(path: Path) -> str | None:
    with path.open("rb") as file:
        head = file.read(16)
    return next(
        (kind for (start, magic), kind in _SIGNATURES.items() if head.startswith(magic, start)),
        None,
    )


class FileNamespaces(Namespaces):
    """A file that is one namespace: its path is the namespace's name.

    Parameters
    ----------
    path
        The file, which need not be there.

    Attributes
    ----------
    kind
        The backend's name.
    """

    kind: str

    def __init__(self, path: Path) -> None:
        self.location = str(path)
        self._path = path

    @classmethod
    def connect(cls, location: str) -> AbstractContextManager[Self]:
        """Name the file; nothing of it is opened yet."""
        return nullcontext(cls(file_path(location, cls.kind)))

    @abstractmethod
    def _read_tag(self) -> LoadedSituation | None:
        """Return what the file's tag says; None where it has none or cannot be read."""

    @abstractmethod
    def _write(self, situation: Situation, tag: LoadedSituation, path: Path) -> None:
        """Write a situation and its tag into a new file."""

    def names(self) -> Iterable[str]:
        """Return the file, which must be there."""
        return [self.select()]

    def read(self, namespace: str) -> NamespaceContent:
        """Return what the file holds."""
        if namespace != self.location or not self._path.exists():
            return None
        if not self._path.is_file():
            raise UsageError(f"'{self._path}' is no file; name a {self.kind} database file.")
        return self._read_tag() or ForeignContent("what is not of this project")

    def create(self, situation: Situation, tag: LoadedSituation) -> None:
        """Write the file, which appears only with everything in it."""
        try:
            self._put(situation, tag, replace=False)
        except FileExistsError:
            content = self.read(tag.namespace)  # perhaps what another has just loaded
            if not hold_same(content, tag):
                raise in_the_way(tag.namespace, content) from None

    def replace(self, situation: Situation, tag: LoadedSituation) -> None:
        """Write the file in place of the one that is there, at once."""
        self._put(situation, tag, replace=True)

    def drop(self, namespace: str) -> None:
        """Delete the file."""
        Path(namespace).unlink()

    def select(self) -> str:
        """Return the file, which must be there."""
        return str(existing_file(self._path, self.kind))

    def examine(self) -> Examination:
        """Open the file and look."""
        self.open(self.select()).close()
        return Examination(self.engine_version(), may_write=os.access(self._path, os.W_OK))

    def name_for(self, situation: Situation) -> str:  # noqa: ARG002
        """Return the file, whatever is to be in it."""
        return self.location

    def resolve(self, namespace: str) -> str:
        """Return the file's path as it was given, where another spelling means the same file."""
        named = Path(namespace.removeprefix(f"{self.kind}:///"))
        return self.location if named.resolve() == self._path.resolve() else namespace

    def _put(self, situation: Situation, tag: LoadedSituation, *, replace: bool) -> None:
        require_folder(self._path)
        # In a folder of its own, so that nobody else can open the file, nor what the engine writes
        # beside it, before its mode is set.
        folder = self._path.with_name(f".{self._path.name}.{uuid4().hex}")
        new = folder / self._path.name
        try:
            make_private_folder(folder)
            self._write(situation, tag, new)
            new.chmod(stat.S_IMODE(self._path.stat().st_mode) if self._path.exists() else 0o600)
            if replace:
                new.replace(self._path)
            else:
                # A link, unlike a rename, leaves alone what somebody made there in the meantime.
                self._path.hardlink_to(new)
        except FileExistsError:
            raise
        except (OSError, RuntimeError) as error:
            told = told_problem(error, self._path) if isinstance(error, OSError) else None
            said = " ".join(str(error).split())
            raise UsageError(told or f"'{self._path}' cannot be written: {said}.") from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def is_sqlite(path: Path) -> bool:
    """Whether a file is a SQLite database; an empty one becomes it when it is written to."""
    with path.open("rb") as file:
        head = file.read(len(_SQLITE))
    return head in {b"", _SQLITE}
