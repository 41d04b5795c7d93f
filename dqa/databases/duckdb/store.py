"""Connections to DuckDB: to a file, which has one writer or many readers, or to memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING

from dqa.core.errors import DatabaseUnavailableError, DataError
from dqa.databases.errors import first_line, one_line

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
LOCK = "SET lock_configuration = true"
"""Prevents later changes of the settings."""


def connect(path: Path | None, *, read_only: bool = False) -> DuckDBPyConnection:
    """Connect to a file, or to new memory; wait a little for other processes.

    Raises
    ------
    DatabaseUnavailableError
        Another process holds the file open, or the file cannot be read.
    DataError
        It is not a database of this version, or this process has it open for something else.
    """
    import duckdb

    deadline = monotonic() + _LOCK_SECONDS
    while True:
        try:
            return duckdb.connect(
                ":memory:" if path is None else str(path), read_only=read_only, config=_SETTINGS
            )
        except duckdb.IOException as error:
            is_locked = "lock" in str(error)
            if not is_locked or monotonic() > deadline:
                problem = "Another process holds it open" if is_locked else one_line(error)
                raise DatabaseUnavailableError(f"'{path}' cannot be opened: {problem}.") from error
            sleep(0.01)
        except duckdb.Error as error:
            raise DataError(f"'{path}' cannot be opened: {first_line(error)}.") from error


@contextmanager
def write_file(path: Path) -> Iterator[DuckDBPyConnection]:
    """Give the only connection to a file, in a transaction that ends with the context."""
    is_new = not path.exists()
    with closing(connect(path)) as connection:
        try:
            if is_new:
                path.chmod(0o600)  # before anything is in it
            connection.execute("BEGIN")
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            if is_new:
                path.unlink(missing_ok=True)  # while no other process can open it
            raise
