"""CSV and Parquet files of a location: a file, a folder or a pattern."""

from __future__ import annotations

import re
from collections.abc import Mapping
from glob import glob
from pathlib import Path

from dqa.core.errors import UsageError

SUFFIXES: Mapping[str, str] = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".tsv": "csv",
    ".tsv.gz": "csv",
    ".parquet": "parquet",
}
"""Readers by the suffix of a file."""
_PATTERN = re.compile(r"[*?\[]")


def names_data_files(location: str) -> bool:
    """Whether a location is a data file, a pattern of data files, or a folder."""
    if "://" in location:
        return False
    return suffix_of(location) is not None or (location != "" and Path(location).is_dir())


def suffix_of(name: str) -> str | None:
    """Return the suffix of a data file, as `SUFFIXES` has it; None for another file."""
    found = [suffix for suffix in SUFFIXES if name.lower().endswith(suffix)]
    return max(found, key=len, default=None)


def tables_at(location: str) -> dict[str, Path]:
    """Return the files of a location by the names of their tables, sorted.

    A table has the name of its file without the suffix; characters other than letters, digits and
    underscores become underscores. Folders within a folder are ignored.

    Raises
    ------
    UsageError
        There is no such file, or two files have the same table name.
    """
    tables: dict[str, Path] = {}
    taken: dict[str, Path] = {}
    for path in _files(location):
        name = _table_name(path)
        other = taken.setdefault(name.casefold(), path)
        if other != path:
            raise UsageError(
                f"'{other}' and '{path}' would both be the table {name}: rename one of the files, "
                "or name one as the database."
            )
        tables[name] = path.resolve()
    return tables


def _files(location: str) -> list[Path]:
    path = Path(location)
    if path.is_file():
        return [path]
    if path.is_dir():
        found = list(path.iterdir())
        missing = f"The folder '{location}' holds no data file"
    elif _PATTERN.search(location):
        found = [Path(name) for name in glob(location, recursive=True)]  # noqa: PTH207  (absolute, too)
        missing = f"No data file matches '{location}'"
    else:
        raise UsageError(f"There is no file '{location}'. Name one that exists.")
    files = sorted(one for one in found if one.is_file() and suffix_of(one.name))
    if not files:
        raise UsageError(f"{missing}: name files that end in {', '.join(SUFFIXES)}.")
    return files


def _table_name(path: Path) -> str:
    suffix = suffix_of(path.name) or ""
    return re.sub(r"\W", "_", path.name[: -len(suffix)]) or "_"
