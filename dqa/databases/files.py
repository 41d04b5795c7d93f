"""Recognize database files, and use a file as a namespace."""

from __future__ import annotations

import errno
import os
import shutil
from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

from dqa.core.database import Limits
from dqa.core.errors import DataError, InfrastructureError, QueryError, UsageError
from dqa.core.files import describe_file_error, make_private_folder
from dqa.databases.namespaces import (
    TAG_TABLE,
    LoadedSituation,
    NamespaceContent,
    Namespaces,
    OtherContent,
    in_the_way,
    is_same,
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
"""Maps the offset and value of the first bytes of a file to the engine that wrote it."""
DATA_SUFFIXES: Mapping[str, str] = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".tsv": "csv",
    ".tsv.gz": "csv",
    ".parquet": "parquet",
}
"""The DuckDB readers of data files, by the suffix of the file."""


def data_suffix(name: str) -> str | None:
    """Return the suffix of a data file, which is one of `DATA_SUFFIXES`; None for other files."""
    found = [suffix for suffix in DATA_SUFFIXES if name.lower().endswith(suffix)]
    return max(found, key=len, default=None)


def names_data_files(location: str) -> bool:
    """Return whether a location is a data file, a pattern of data files, or a folder."""
    if "://" in location:
        return False
    return data_suffix(location) is not None or (location != "" and Path(location).is_dir())


def is_ours(location: str, kind: str, suffixes: tuple[str, ...]) -> bool:
    """Return whether a location belongs to a backend: by scheme, file content or suffix."""
    if "://" in location:
        return location.startswith(f"{kind}://")
    path = Path(location.partition("?")[0] if kind == "duckdb" else location)
    signature = _signature(path) if path.is_file() else None
    return signature == kind if signature else path.suffix.lower() in suffixes


def file_path(location: str, kind: str) -> Path:
    """Return the path in a location; raise `UsageError` for a URL of another backend."""
    prefix = f"{kind}:///"
    text = location.removeprefix(prefix)
    if not text or "://" in text:
        raise UsageError(f"'{location}' is not the path of a file. Write a path or {prefix}path.")
    return Path(text)


def existing_file(path: Path, kind: str) -> Path:
    """Return the path of a database file.

    Raises
    ------
    UsageError
        The file does not exist.
    DataError
        The file is not a database of this kind.
    """
    if not path.exists():
        raise UsageError(f"There is no database file '{path}'. Give an existing file.")
    if not path.is_file():
        raise UsageError(f"'{path}' is not a file. Give a {kind} database file.")
    if kind == "sqlite" and path.stat().st_size == 0:
        return path  # a valid empty database
    signature = _signature(path)
    if signature != kind:
        found = f"a {signature} database" if signature else "not a database file"
        raise DataError(f"'{path}' is {found}, but a {kind} database is expected.")
    return path


def is_sqlite(path: Path) -> bool:
    """Return whether a file is an SQLite database. An empty file is a valid SQLite database."""
    return read_start(path, len(_SQLITE)) in {b"", _SQLITE}


def read_start(path: Path, size: int) -> bytes:
    """Return the first bytes of a file; use an open descriptor of this process if there is one.

    On POSIX systems, a process that closes one of its descriptors of a file loses all its locks on
    the file, including the locks of an SQLite transaction.
    """
    state, descriptors = path.stat(), Path("/dev/fd")
    for entry in descriptors.iterdir() if descriptors.exists() else ():
        number = int(entry.name)
        with suppress(OSError):  # the descriptor was closed, or is write-only
            if os.path.samestat(os.fstat(number), state):
                start = os.pread(number, size, 0)
                # Another thread may have reused the descriptor for another file.
                if os.path.samestat(os.fstat(number), state):
                    return start
    with path.open("rb") as file:
        return file.read(size)


def _signature(path: Path) -> str | None:
    """Return the engine of a file according to its first bytes."""
    try:
        head = read_start(path, 16)
    except OSError as error:
        problem = f"'{path}' cannot be read: {error.strerror}."
        if error.errno in (errno.EMFILE, errno.ENFILE):
            raise InfrastructureError(
                f"{problem} Close other files, or allow more open files (ulimit -n)."
            ) from error
        raise UsageError(problem) from error
    return next(
        (kind for (start, magic), kind in _SIGNATURES.items() if head.startswith(magic, start)),
        None,
    )


class FileNamespaces(Namespaces):
    """A file as a single namespace. The path of the file is the name of the namespace.

    Parameters
    ----------
    path
        The file, which need not exist.

    Attributes
    ----------
    kind
        The backend's name.
    tag
        A statement that returns the tag of the situation in the file; see `LoadedSituation`.
    """

    kind: str
    tag: str = f"SELECT * FROM {TAG_TABLE}"  # noqa: S608

    def __init__(self, path: Path) -> None:
        self.location = str(path)
        self._path = path

    @classmethod
    def connect(cls, location: str) -> AbstractContextManager[Self]:
        """Yield the file as namespaces, without opening the file."""
        return nullcontext(cls(file_path(location, cls.kind)))

    @abstractmethod
    def _write(self, situation: Situation, tag: LoadedSituation, path: Path) -> None:
        """Write a situation and its tag into a new file."""

    def situations(self) -> Iterator[LoadedSituation]:
        """Yield the situation in the file, if there is one; the file must exist."""
        existing_file(self._path, self.kind)
        if isinstance(found := self.read(self.location), LoadedSituation):
            yield found

    def read(self, namespace: str) -> NamespaceContent:
        """Return the content of the file."""
        if namespace != self.location or not self._path.exists():
            return None
        try:
            with closing(self.open(None)) as session:
                rows = session.run(self.tag, Limits()).rows
        except (DataError, QueryError):  # not a database, or a database without a tag
            return OtherContent.FOREIGN
        return LoadedSituation(namespace, *self._tag_values(rows)) if rows else OtherContent.FOREIGN

    def _tag_values(self, rows: Sequence[Sequence[Any]]) -> Sequence[Any]:
        """Return the values of the file's tag; `rows` are the result of `self.tag`."""
        return rows[0]

    def create(self, situation: Situation, tag: LoadedSituation) -> None:
        """Write a new file, and move it to its path when it is complete."""
        if not self._path.parent.is_dir():
            raise UsageError(f"The folder '{self._path.parent}' does not exist: create it first.")
        # The new folder is private, so no other user can open the file before its mode is set.
        folder = self._path.with_name(f".{self._path.name}.{uuid4().hex}")
        new = folder / self._path.name
        try:
            make_private_folder(folder)
            self._write(situation, tag, new)
            new.chmod(0o600)
            self._path.hardlink_to(new)  # fails if the file exists
        except FileExistsError:
            content = self.read(tag.namespace)
            if not is_same(content, tag):  # otherwise another process has loaded it
                raise in_the_way(tag.namespace, content) from None
        except OSError as error:
            raise UsageError(describe_file_error(error, self._path)) from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def drop(self, namespace: str) -> None:
        """Delete the file."""
        Path(namespace).unlink()

    def select(self, more: Collection[str] = ()) -> str:  # noqa: ARG002
        """Return the path of the existing file."""
        return str(existing_file(self._path, self.kind))

    def name_for(self, situation: Situation) -> str:  # noqa: ARG002
        """Return the path of the database file of a situation."""
        return self.location

    def resolve(self, namespace: str) -> str:
        """Return `location` if `namespace` is the path of the same file, else `namespace`."""
        named = Path(namespace.removeprefix(f"{self.kind}:///"))
        return self.location if named.resolve() == self._path.resolve() else namespace
