"""Check files and folders that a user names, with the same messages in all commands."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from dqa.core.errors import UsageError
from dqa.core.files import DOCUMENT_BYTES, read_bytes

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_PROBLEMS = {
    errno.ENOENT: "{} does not exist",
    errno.EISDIR: "{} is a folder, where a file is expected",
    errno.ENOTDIR: "{} has a file in its path, where a folder is expected",
    errno.EACCES: "{} may not be read or written by this user",
    **dict.fromkeys(_FULL, "{} cannot be written: the disk is full"),
}


def problem_of_path(path: Path | str | None, error: OSError, *, writing: bool = False) -> str:
    """Return a clause that names a path and says what the system reports.

    Parameters
    ----------
    path
        The file or folder; None for the one that the error names.
    error
        The system's error.
    writing
        Whether the path was to be created, so that its folder is missing.
    """
    name = os.fsdecode(path if path is not None else error.filename or "A file") or "an empty name"
    if writing and error.errno == errno.ENOENT:
        return f"{name} cannot be written: its folder does not exist"
    known = _PROBLEMS.get(error.errno or 0)
    return known.format(name) if known else f"{name} cannot be used: {error.strerror or error}"


def told_problem(error: OSError, path: Path | None = None) -> str | None:
    """Return what the user can fix about an error of a file or disk; None where it is a bug.

    Parameters
    ----------
    error
        The system's error.
    path
        The file, where the error does not name it.
    """
    name = path if error.filename is None else error.filename
    if error.errno in _FULL:
        return f"{problem_of_path(name, error)}. Free some room, and try again."
    return None if name is None else f"{problem_of_path(name, error)}."


def read_text_file(path: Path, hint: str = "", *, pipes: bool = True) -> str:
    """Return the text of a file that a user named, without a byte order mark.

    Parameters
    ----------
    path
        The file.
    hint
        A sentence that says what to name instead.
    pipes
        Whether it may be a pipe.

    Raises
    ------
    UsageError
        It cannot be read, is too large, or is not UTF-8 text.
    """
    try:
        return read_bytes(path, most=DOCUMENT_BYTES, pipes=pipes).decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{problem_of_path(path, error)}. {hint}".rstrip()) from error
    except UnicodeDecodeError as error:
        problem = f"{path} is not UTF-8 text (byte {error.start}): save it as UTF-8."
        raise UsageError(f"{problem} {hint}".rstrip()) from error


def require_folder(path: Path, hint: str = "") -> None:
    """Raise `UsageError` unless a path that a user named is a folder.

    Parameters
    ----------
    path
        The folder.
    hint
        A sentence that says what to name instead.
    """
    if not path.is_dir():
        problem = "is a file, where a folder is expected" if path.exists() else "does not exist"
        raise UsageError(f"{path} {problem}. {hint}".rstrip())


def require_new_file(path: Path) -> None:
    """Raise `UsageError` unless a file can be created, before the work that fills it."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder: name a new file.")
    if os.path.lexists(path):
        raise UsageError(f"{path} exists already: name a new file.")
    if not path.parent.exists():
        raise UsageError(f"The folder of {path} does not exist: make it, or name another one.")
    _require_writable(path.parent, path)


def require_new_folder(path: Path) -> None:
    """Raise `UsageError` unless a folder is empty or can be created."""
    require_room(path)
    if path.is_dir() and any(path.iterdir()):
        raise UsageError(f"{path} is not empty: name a new folder.")


def require_room(path: Path) -> None:
    """Raise `UsageError` unless a folder can be written to, or can be created."""
    if os.path.lexists(path) and not path.is_dir():
        kind = "a file" if path.exists() else "a broken link"
        raise UsageError(f"{path} is {kind}: name a folder.")
    _require_writable(next(one for one in (path, *path.absolute().parents) if one.exists()), path)


def _require_writable(folder: Path, path: Path) -> None:
    if not folder.is_dir():
        raise UsageError(f"{path} cannot be made: {folder} is a file.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(
            f"{path} cannot be made: {folder} may not be written to. Name another folder."
        )
