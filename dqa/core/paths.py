"""Files and folders that a user names: what is wrong with one, said once for all commands."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from dqa.core.errors import UsageError
from dqa.core.files import DOCUMENT_BYTES, read_bytes

_PROBLEMS = {
    errno.ENOENT: "{} does not exist",
    errno.EISDIR: "{} is a folder, where a file is expected",
    errno.ENOTDIR: "{} has a file in its path, where a folder is expected",
    errno.EACCES: "{} may not be read or written by this user",
    errno.EPERM: "{} may not be read or written by this user",
    errno.EROFS: "{} lies on a disk that can only be read",
    errno.ENOSPC: "{} cannot be written: the disk is full",
    errno.EFBIG: "{} cannot be written: it would be larger than this user may make a file",
    errno.EDQUOT: "{} cannot be written: this user's share of the disk is full",
    errno.ENAMETOOLONG: "{} is too long a name for a file",
    errno.ELOOP: "{} is a link that leads to itself",
}

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def problem_of_path(path: Path | str | None, error: OSError, *, writing: bool = False) -> str:
    """Return what the system says of a path, as a clause that names it.

    Parameters
    ----------
    path
        What was to be read or written; None where only the error tells.
    error
        What it raised.
    writing
        Whether it was to be made, so that what is missing is its folder.
    """
    named = _shown(path if path is not None else error.filename or "A file")
    if writing and error.errno == errno.ENOENT:
        # A folder of the system's own, such as /proc, says so of every new file.
        folder = Path(path if path is not None else error.filename or "").absolute().parent
        why = "takes no new files: name another one" if folder.is_dir() else "does not exist"
        return f"{named} cannot be written: its folder {why}"
    known = _PROBLEMS.get(error.errno or 0)
    return known.format(named) if known else f"{named} cannot be used: {error.strerror or error}"


def told_problem(error: OSError, path: Path | None = None) -> str | None:
    """Return what a user can mend of an error of a file or a disk; None where it is a bug.

    Parameters
    ----------
    error
        What the system raised.
    path
        What was written to, where the error does not say.
    """
    named = path if error.filename is None else error.filename
    if error.errno in _FULL:
        return f"{problem_of_path(named, error)}. Free some room, and try again."
    if named is None or error.errno not in _PROBLEMS:
        return None
    return f"{problem_of_path(named, error)}."


def read_text_file(path: Path, hint: str = "", *, pipes: bool = True) -> str:
    """Return the text of a file that a user named, without a byte order mark.

    Parameters
    ----------
    path
        Its name.
    hint
        A sentence that says what to name instead.
    pipes
        Whether it may be a pipe that somebody writes to.

    Raises
    ------
    UsageError
        It cannot be read, is too large, or is no UTF-8 text.
    """
    try:
        return read_bytes(path, most=DOCUMENT_BYTES, pipes=pipes).decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{problem_of_path(path, error)}. {hint}".rstrip()) from error
    except UnicodeDecodeError as error:
        problem = f"{_shown(path)} is no UTF-8 text (byte {error.start}): save it as UTF-8."
        raise UsageError(f"{problem} {hint}".rstrip()) from error


def require_folder(path: Path, hint: str = "") -> None:
    """Raise `UsageError` unless a path that a user named is a folder that is there.

    Parameters
    ----------
    path
        Its name.
    hint
        A sentence that says what to name instead.
    """
    if path.is_dir():
        return
    problem = "is a file, where a folder is expected" if path.exists() else "does not exist"
    raise UsageError(f"{_shown(path)} {problem}. {hint}".rstrip())


def require_new_file(path: Path) -> None:
    """Raise `UsageError` unless a file of that name can be made, before the work that fills it."""
    if path.is_dir():
        raise UsageError(f"{_shown(path)} is a folder: name a new file.")
    if path.exists():
        raise UsageError(f"{_shown(path)} exists already: name a new file.")
    parent = path.parent
    if not parent.exists():
        raise UsageError(
            f"The folder {_shown(parent)}, in which {path.name} is to be made, does not exist: "
            "make it first, or name another."
        )
    _require_right(parent, path)


def require_new_folder(path: Path) -> None:
    """Raise `UsageError` unless a folder is empty or can be made, before the work that fills it."""
    require_room(path)
    if path.is_dir() and any(path.iterdir()):
        raise UsageError(f"{_shown(path)} is not empty: name a new folder.")


def require_room(path: Path) -> None:
    """Raise `UsageError` unless a folder can be written to, or be made and then written to."""
    if path.exists() and not path.is_dir():
        raise UsageError(f"{_shown(path)} is a file: name a folder.")
    there = next(one for one in (path, *path.absolute().parents) if one.exists())
    _require_right(there, path)


def _require_right(folder: Path, path: Path) -> None:
    """Raise `UsageError` unless something can be made in a folder that is there."""
    if not folder.is_dir():
        raise UsageError(f"{_shown(path)} cannot be made: {_shown(folder)} is a file.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(
            f"{_shown(path)} cannot be made: {_shown(folder)} may not be written to. Name another "
            "folder, or ask for the right to write there."
        )


def _shown(path: Path | str | bytes) -> str:
    named = os.fsdecode(path)
    return "an empty name" if named == "" else named
