"""The files that a database was opened from: a worker that is opened later would read others."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from dqa.core.errors import DatabaseUnavailableError
from dqa.core.session import Source

_HEADER = 4_096
"""Bytes at the beginning of a DuckDB file that no statement changes; its number is in them."""
_IS_DUCKDB = 8, b"DUCK"


class OpenedFiles:
    """What a database's files were when it was opened.

    Before every statement they are looked at again, which takes a few microseconds a file: after
    that, several workers may read one file of before, and others that of now.

    Parameters
    ----------
    file
        A database's own, which others may write to; None where there is none.
    sources
        Data files that are tables, which nobody may.
    """

    def __init__(self, file: Path | None, sources: Sequence[Source]) -> None:
        self._file = file
        self._sources = tuple(sources)
        self._state = None if file is None else _state_of(file)
        self._identity = None if file is None else _identify(file)

    def require_same(self) -> None:
        """Raise `DatabaseUnavailableError` where a worker that is opened now would read others."""
        if self._file is not None:
            state = _state_of(self._file)
            if state is None or state != self._state:
                if _identify(self._file) != self._identity:
                    raise _tell_replaced(self._file, "replaced or removed")
                self._state = state
        for path, state in self._sources:
            if _state_of(path) != state:
                raise _tell_replaced(path, "changed or removed")


def _tell_replaced(file: Path | str, how: str) -> DatabaseUnavailableError:
    return DatabaseUnavailableError(f"'{file}' was {how} since it was opened; open it again.")


def _state_of(path: Path | str) -> tuple[int, int, int, int] | None:
    """Return what a `Source` has of a file; None where there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116  (three times as fast, before every statement)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _identify(path: Path) -> tuple[int, int, bytes] | None:
    """Return what tells one database from another of the same name; None where there is none.

    A file may be written over by another: DuckDB gives each database a number of its own. SQLite
    notices that by itself, as it does what others write.
    """
    state = _state_of(path)
    if state is None:
        return None
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER)
    except OSError:
        return None
    place, magic = _IS_DUCKDB
    return *state[:2], header if header.startswith(magic, place) else b""
