"""Where embedded databases are: telling whose file a location names, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path

from dqa.core.errors import DataError, UsageError

__all__ = ["existing_file", "is_ours", "new_file", "new_or_existing_file"]

_SIGNATURES = {
    (0, b"SQLite format 3\x00"): "sqlite",
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
    signature = _signature(path) if path.is_file() else None
    return signature == kind if signature else path.suffix.lower() in suffixes


def existing_file(location: str, kind: str) -> Path:
    """Return the database file that `location` names.

    Raises
    ------
    UsageError
        There is no such file.
    DataError
        The file is there and no database of this kind.
    """
    path = _path(location, kind)
    if not path.exists():
        raise UsageError(f"There is no database file '{path}'. Name one that exists.")
    if not path.is_file():
        raise UsageError(f"'{path}' is no file; name a {kind} database file.")
    try:
        signature = _signature(path)
    except OSError as error:
        raise UsageError(f"'{path}' cannot be read: {error.strerror}.") from error
    if signature != kind:
        is_what = f"a {signature} database" if signature else "no database file"
        raise DataError(f"'{path}' is {is_what}, where a {kind} database is expected.")
    return path


def new_file(location: str, kind: str) -> Path:
    """Return the path at which a database is to be made; `UsageError` where something is."""
    path = _path(location, kind)
    if path.exists():
        raise UsageError(f"'{path}' already exists, and nothing is overwritten; name a new file.")
    if not path.parent.is_dir():
        raise UsageError(f"There is no folder '{path.parent}' to make a database in.")
    return path


def new_or_existing_file(location: str, kind: str) -> Path:
    """Return the path of a file that is there, or else of one that can be made."""
    path = _path(location, kind)
    return path if path.is_file() else new_file(location, kind)


def _path(location: str, kind: str) -> Path:
    prefix = f"{kind}:///"
    text = location.removeprefix(prefix)
    if not text or "://" in text:
        raise UsageError(f"'{location}' names no file; write a path or {prefix}path.")
    return Path(text)


def _signature(path: Path) -> str | None:
    with path.open("rb") as file:
        head = file.read(16)
    return next(
        (kind for (start, magic), kind in _SIGNATURES.items() if head.startswith(magic, start)),
        None,
    )
