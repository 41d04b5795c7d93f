"""DuckDB files of this process: each is open once, for reading or for writing.

A writer waits for running statements, and they wait for it. Other processes are waited for, but not
for long.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import TYPE_CHECKING, Self

from dqa.core.errors import DatabaseUnavailableError, DataError
from dqa.databases.failures import one_line
from dqa.databases.locks import ReadersWriterLock

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_LOCK_SECONDS = 10.0
"""How long to wait for another process that locks a file."""
FILLING: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "memory_limit": "1GB",
    "python_enable_replacements": "false",
    "temp_directory": "",
}
"""Settings of a database in memory while files are read into it."""
_SETTINGS = FILLING | {"enable_external_access": "false"}


class Store:
    """A database of this process, in a file or in memory."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.users = 0
        self.is_broken = False
        self._lock = ReadersWriterLock()
        self._connecting = Lock()
        self._connection: DuckDBPyConnection | None = None

    @classmethod
    def of(cls, connection: DuckDBPyConnection) -> Self:
        """Return a database in memory that is already filled and locked, for one user."""
        store = cls(None)
        store.users = 1
        store._connection = connection
        return store

    @contextmanager
    def reading(self) -> Iterator[DuckDBPyConnection]:
        """Give a cursor that cannot write."""
        with self._lock.read():
            with self._connecting:
                if self._connection is None:
                    self._connection = _connected(self.path, read_only=self.path is not None)
                    self._connection.execute("SET lock_configuration = true")
                cursor = self._connection.cursor()
            try:
                yield cursor
            finally:
                cursor.close()

    @contextmanager
    def writing(self) -> Iterator[DuckDBPyConnection]:
        """Give the only connection, in a transaction that ends with the context."""
        with self._lock.write():
            self.release()
            is_new = self.path is not None and not self.path.exists()
            connection = _connected(self.path, read_only=False)
            try:
                if is_new and self.path is not None:
                    self.path.chmod(0o600)  # before anything is in it
                connection.execute("BEGIN")
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if is_new and self.path is not None:
                    self.path.unlink(missing_ok=True)  # while no other process can open it
                connection.close()
                raise
            if self.path is None:
                connection.execute("SET lock_configuration = true")
                self._connection = connection
            else:
                connection.close()

    def release(self) -> None:
        """Close the connection that gives cursors."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class Lease:
    """A cursor of a store, as a pool takes connections."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._context = store.reading()
        self.cursor = self._context.__enter__()

    def close(self) -> None:
        """Let others write to the store."""
        self._context.__exit__(None, None, None)


_stores: dict[Path, Store] = {}
_stores_lock = Lock()


@contextmanager
def use_store(path: Path) -> Iterator[Store]:
    """Give the only store of a file in this process."""
    store = acquire_store(path)
    try:
        yield store
    finally:
        release_store(store)


def acquire_store(path: Path) -> Store:
    """Return the only store of a file, used once more until `release_store`."""
    with _stores_lock:
        store = _stores.setdefault(path.resolve(), Store(path.resolve()))
        store.users += 1
        return store


def release_store(store: Store) -> None:
    """Stop using a store; its last user closes the file."""
    with _stores_lock:
        store.users -= 1
        if store.users == 0:
            store.release()
            if store.path is not None:
                _stores.pop(store.path, None)


def _connected(path: Path | None, read_only: bool) -> DuckDBPyConnection:
    """Connect, and wait a little for other processes."""
    import duckdb

    deadline = monotonic() + _LOCK_SECONDS
    while True:
        try:
            return duckdb.connect(
                ":memory:" if path is None else str(path), read_only=read_only, config=_SETTINGS
            )
        except duckdb.IOException as error:
            locked = "lock" in str(error)
            if not locked or monotonic() > deadline:
                who = "Another process holds it open" if locked else one_line(error)
                raise DatabaseUnavailableError(f"'{path}' cannot be opened: {who}.") from error
            sleep(0.01)
        except duckdb.Error as error:
            raise DataError(f"'{path}' cannot be opened: {first_line(error)}.") from error


def first_line(error: Exception) -> str:
    """Return the first line of an error: guesses and the statement follow."""
    return one_line(str(error).strip().partition("\n")[0]).rstrip("!")
