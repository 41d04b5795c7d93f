"""LadybugDB's namespaces: a file each, with the tag in a comment; and situations in memory."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import ladybug

from dqa.core.errors import DatabaseUnavailableError, DataError, UsageError
from dqa.core.situation import Situation
from dqa.databases.failures import refused_script
from dqa.databases.files import FileNamespaces, existing_file
from dqa.databases.ladybug.session import LadybugSession
from dqa.databases.ladybug.writer import read_tag, size, write
from dqa.databases.namespaces import LoadedSituation

_MEBIBYTE = 1 << 20
_POOL = 256 * _MEBIBYTE
"""Buffer pool: the memory of statements; allocated as it is used."""
_LARGEST_POOL = 8 * _POOL
"""The pool for a file of very many tables."""
_ADDRESSES = 4_096 * _MEBIBYTE
"""Address space of a database. The engine's own default leaves room for 14 in a process."""


class LadybugFile(FileNamespaces):
    """A file that holds one situation, or will hold one."""

    kind = "ladybug"

    @classmethod
    def start(cls) -> None:
        """Open a database in memory for a moment.

        The first one loads the engine's library, and another thread must not open one meanwhile.
        """
        ladybug.Database(":memory:").close()

    @classmethod
    def engine_version(cls) -> str:
        """Return LadybugDB's version."""
        return f"LadybugDB {ladybug.__version__}"

    @classmethod
    def load_in_memory(cls, situation: Situation) -> LadybugSession:
        """Write a situation into memory."""
        database = _new_database(":memory:", situation)
        try:
            write(situation, database)
        except BaseException:
            database.close()
            raise
        return LadybugSession(database, situation.name)

    @classmethod
    def run_script(cls, script: str) -> LadybugSession:
        """Run a script in memory."""
        database = ladybug.Database(":memory:", buffer_pool_size=_POOL, max_db_size=_ADDRESSES)
        try:
            with ladybug.Connection(database) as connection:
                connection.execute(script)
        except RuntimeError as error:
            database.close()
            raise refused_script("LadybugDB", error) from error
        return LadybugSession(database, "temporary")

    def open(self, namespace: str | None) -> LadybugSession:  # noqa: ARG002
        """Open the file; `DataError` where it is damaged or of another version."""
        session = LadybugSession(self._open_engine(), str(self._path))
        session.file = self._path
        return session

    def _open_engine(self) -> ladybug.Database:
        path = existing_file(self._path, "ladybug")
        addresses = max(_ADDRESSES, 1 << (4 * path.stat().st_size).bit_length())
        try:
            return _opened(path, addresses)
        except RuntimeError as error:
            problem = " ".join(str(error).split()).rstrip(".")
            if "lock" in problem:
                raise DatabaseUnavailableError(
                    f"'{path}' is in use by a process that writes to it: {problem}."
                ) from error
            raise DataError(f"'{path}' cannot be opened by this LadybugDB: {problem}.") from error

    def _read_tag(self) -> LoadedSituation | None:
        try:
            with self._open_engine() as database:
                return read_tag(database, self.location)
        except (UsageError, DataError):
            return None

    def _write(self, situation: Situation, tag: LoadedSituation, path: Path) -> None:
        # On a full disk the engine ends the whole process. The factor was measured.
        if shutil.disk_usage(path.parent).free < 2_000_000 + 64 * size(situation):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path.parent))
        with _new_database(path, situation) as database:
            write(situation, database, tag)


def _opened(path: Path, addresses: int) -> ladybug.Database:
    """Open a file with a pool for its tables: each takes about a megabyte."""
    pool = _POOL
    while True:
        try:
            return ladybug.Database(
                path, read_only=True, buffer_pool_size=pool, max_db_size=addresses
            )
        except RuntimeError as error:
            if pool >= _LARGEST_POOL or "buffer pool is full" not in str(error):
                raise
            pool *= 2


def _new_database(where: Path | str, situation: Situation) -> ladybug.Database:
    pool = max(_POOL, 16 * size(situation))
    return ladybug.Database(where, buffer_pool_size=pool, max_db_size=_ADDRESSES)
