"""Open CSV and Parquet files as a read-only database in memory with one table per file.

A Parquet file becomes a view, so the engine reads only the required columns and row groups. A CSV
file is loaded into a table, whose column types depend on all rows of the file. A large CSV file
becomes a view, too. Before the first statement, the settings of the engine are locked, so that it
can only read the files of the views.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from glob import glob
from pathlib import Path
from typing import Self

import duckdb
from duckdb import DuckDBPyConnection

from dqa.core.errors import DataError, UsageError
from dqa.core.schema import quoted
from dqa.core.session import Source
from dqa.core.text import visible
from dqa.databases.duckdb import FILLING, LOCK, Duckdb
from dqa.databases.errors import first_line
from dqa.databases.files import DATA_SUFFIXES, data_suffix
from dqa.databases.namespaces import Namespaces

_LOADED_BYTES = 128_000_000
"""The maximum total size of the CSV files to load, in bytes. Each statement reads larger files
again."""
_UNPACKED = 8
"""The assumed ratio of the uncompressed to the compressed size of a file."""
_GLOB = re.compile(r"[*?\[]")
_MAIN = "main"


class DataFiles(Namespaces):
    """The data files at one location, which form a single namespace.

    Parameters
    ----------
    location
        A file, a folder or a pattern.
    """

    def __init__(self, location: str) -> None:
        self.location = location

    @classmethod
    def connect(cls, location: str) -> AbstractContextManager[Self]:
        """Yield the namespace of a location. No file is read yet."""
        return nullcontext(cls(location))

    def select(self, more: Collection[str] = ()) -> str:  # noqa: ARG002
        """Return the name of the only schema; raise `UsageError` if a file is missing."""
        tables_at(self.location)
        return _MAIN

    def open(self, namespace: str | None) -> Duckdb:
        """Read the files into the database of a new session."""
        tables = tables_at(self.location)
        sources = tuple(map(Source.at, tables.values()))  # record their state before reading
        schemas = [namespace or _MAIN]
        session = Duckdb(_connected(tables), schemas, self.location, is_confined=False)
        session.sources = sources
        return session


def _connected(tables: Mapping[str, Path]) -> DuckDBPyConnection:
    """Return a locked database in memory with the files as tables and views."""
    connection = duckdb.connect(":memory:", config=FILLING)
    try:
        is_small = sum(map(_csv_bytes, tables.values())) <= _LOADED_BYTES
        viewed = []
        for name, path in tables.items():
            loads = is_small and _reader(path) == "csv"
            viewed += [path] * (not loads)
            _add(connection, name, path, loads=loads)
        # The engine requires permission for the pattern and for the file that matches it.
        settings = dict.fromkeys(text for path in viewed for text in (_pattern(path), str(path)))
        listed = ", ".join(map(_text, settings))
        connection.execute(
            f"SET allowed_paths = [{listed}]; SET enable_external_access = false; {LOCK}"
        )
    except BaseException:
        connection.close()
        raise
    return connection


def _csv_bytes(path: Path) -> int:
    """Return the approximate uncompressed size of a CSV file; return 0 for any other file."""
    ratio = _UNPACKED if path.name.lower().endswith(".gz") else 1
    return path.stat().st_size * ratio if _reader(path) == "csv" else 0


def _reader(path: Path) -> str:
    return DATA_SUFFIXES[data_suffix(path.name) or ""]


def _add(connection: DuckDBPyConnection, name: str, path: Path, *, loads: bool) -> None:
    """Add a file as a table, or as a view."""
    reader = _reader(path)
    types = ", sample_size = -1" if loads else ""
    try:
        connection.execute(
            f"CREATE {'TABLE' if loads else 'VIEW'} {quoted(name, chr(34))} AS "  # noqa: S608
            f"SELECT * FROM read_{reader}({_text(_pattern(path))}{types})"
        )
    except duckdb.Error as error:
        problem = visible(first_line(error))
        if "utf-8" in str(error).lower():
            problem = "it is not UTF-8 text. Convert it, for example with iconv -f LATIN1 -t UTF-8"
        raise DataError(f"'{path}' cannot be read as {reader.upper()}: {problem}.") from error


def _pattern(path: Path) -> str:
    """Return a pattern that matches only this file; DuckDB reads every path as a pattern."""
    return _GLOB.sub(r"[\g<0>]", str(path))


def _text(value: str) -> str:
    return quoted(value, "'")


def tables_at(location: str) -> dict[str, Path]:
    """Return the files at a location by their table names, sorted.

    A table has the name of its file without the suffix. Characters other than letters, digits and
    underscores become underscores. Subfolders are ignored.

    Raises
    ------
    UsageError
        A file does not exist, or two files have the same table name.
    """
    tables: dict[str, Path] = {}
    taken: dict[str, Path] = {}
    for path in _files(location):
        name = _table_name(path)
        other = taken.setdefault(name.casefold(), path)
        if other != path:
            raise UsageError(
                f"The files '{other}' and '{path}' would both become the table {name}: rename one "
                "of the files, or open only one."
            )
        tables[name] = path.resolve()
    return tables


def _files(location: str) -> list[Path]:
    path = Path(location)
    if path.is_file():
        return [path]
    if path.is_dir():
        found = list(path.iterdir())
        missing = f"The folder '{location}' does not contain a data file"
    elif _GLOB.search(location):
        found = [Path(name) for name in glob(location, recursive=True)]  # noqa: PTH207  (absolute, too)
        missing = f"No data file matches '{location}'"
    else:
        raise UsageError(f"There is no file '{location}'. Give an existing file.")
    files = sorted(one for one in found if one.is_file() and data_suffix(one.name))
    if not files:
        raise UsageError(f"{missing}: give files with the endings {', '.join(DATA_SUFFIXES)}.")
    return files


def _table_name(path: Path) -> str:
    suffix = data_suffix(path.name) or ""
    return re.sub(r"\W", "_", path.name[: -len(suffix)]) or "_"
