"""Read files within limits, write private files, and check the paths that a user gives.

A release, a run or a recording may come from an untrusted source. These functions therefore read
only regular files of limited size in the expected folder, and JSON of limited depth.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader, FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dqa.core.errors import DataError, ParseError, UsageError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

DOCUMENT_BYTES = 64_000_000
"""The maximum size in bytes of a document, such as questions, a manifest, a policy or a run's
settings."""
DATA_BYTES = 512_000_000
"""The maximum size in bytes of a data file, such as a database's script or the file of one
decision."""
LINE_BYTES = 64_000_000
"""The maximum length in bytes of a line in a file that is read line by line: a run's results and
traces, a cassette."""
MOST_DEPTH = 100
"""The maximum nesting depth of lists and objects in JSON and TOML."""
_TOO_DEEP = f"it has more nested levels than the maximum of {MOST_DEPTH}"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_PROBLEMS = {
    errno.ENOENT: "{} does not exist",
    errno.EISDIR: "{} is a folder, but a file is expected",
    errno.ENOTDIR: "{} cannot exist, because a part of its path is a file and not a folder",
    errno.EACCES: "{} may not be read or written by this user",
    **dict.fromkeys(_FULL, "{} cannot be written: the disk is full"),
}


class UnsuitableFileError(DataError, OSError):
    """A file is not a regular file, is too large, or lies outside the expected folder.

    Parameters
    ----------
    file
        The file.
    problem
        The problem, as a clause that follows the file's name in the message.
    """

    def __init__(self, file: Path | str, problem: str) -> None:
        super().__init__(errno.EINVAL, problem, str(file))
        self.problem = problem

    def __str__(self) -> str:
        """Return the file and the problem, in the same form as `ParseError`."""
        return f"{self.filename}: {self.problem}"


def open_regular(
    file: Path | str, *, home: Path | str | None = None, most: int | None = DATA_BYTES
) -> FileIO:
    """Open a regular file for unbuffered reading.

    Parameters
    ----------
    file
        The file.
    home
        The folder that must contain the file after links are resolved. None for a file that the
        user chose.
    most
        The maximum size in bytes. None means no limit, for callers that read the file in pieces.

    Raises
    ------
    UnsuitableFileError
        The file is not a regular file, lies outside `home`, or is larger than `most`.
    OSError
        The file cannot be opened.
    """
    if home is not None and not Path(file).resolve().is_relative_to(Path(home).resolve()):
        problem = f"it is outside of {home}: copy the file itself, not a link, into that folder"
        raise UnsuitableFileError(file, problem)
    _require_regular(file)
    if most is not None and Path(file).stat().st_size > most:
        raise UnsuitableFileError(file, f"it is larger than the maximum of {_size(most)}")
    return FileIO(file)


def _require_regular(file: Path | str) -> None:
    mode = Path(file).stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
    if not stat.S_ISREG(mode):
        raise UnsuitableFileError(file, "it is a device or a pipe, but a file is expected")


def read_bytes(
    file: Path | str, *, home: Path | str | None = None, most: int = DATA_BYTES
) -> bytes:
    """Return the content of a file. For parameters and errors see `open_regular`."""
    with open_regular(file, home=home, most=most) as opened:
        return opened.readall()


def read_text(
    file: Traversable | str,
    *,
    home: Path | str | None = None,
    most: int = DOCUMENT_BYTES,
    hint: str = "",
) -> str:
    """Return the text of a file, without a byte order mark.

    Parameters
    ----------
    file
        The file, which may belong to an installed package.
    home, most
        See `open_regular`.
    hint
        A sentence for the message about the file that the user should choose.

    Raises
    ------
    UsageError
        The file cannot be read, and `home` is None.
    ParseError
        The file cannot be read, and `home` is a folder; or the file is not UTF-8 text.
    """
    try:
        if not isinstance(file, Path | str):
            return file.read_text("utf-8-sig")
        return read_bytes(file, home=home, most=most).decode("utf-8-sig")
    except OSError as error:
        if home is None:
            problem = f"{problem_of_path(str(file), error)}. {hint}".rstrip()
            raise UsageError(problem) from error
        problem = f"{problem_of_path('it', error)}. {hint}".rstrip(". ")
        raise ParseError(str(file), None, problem) from error
    except UnicodeDecodeError as error:
        problem = f"it is not UTF-8 text (byte {error.start}): save it as UTF-8"
        raise ParseError(str(file), None, problem) from error


def read_json(
    file: Traversable | str,
    *,
    home: Path | str | None = None,
    most: int = DOCUMENT_BYTES,
    hint: str = "",
) -> Any:  # noqa: ANN401  (any JSON value)
    """Return the value of a JSON file. For parameters and errors see `read_text`."""
    return parse_json_of(file, read_text(file, home=home, most=most, hint=hint))


def whole_lines(file: Path, *, home: Path | str | None = None) -> Iterator[bytes]:
    """Yield the lines of a file that end with a line break; none if the file does not exist.

    Raises
    ------
    UnsuitableFileError
        The file is not a regular file, or lies outside `home`.
    ParseError
        A line is longer than `LINE_BYTES`.
    """
    if not os.path.lexists(file):
        return
    with BufferedReader(open_regular(file, home=home, most=None)) as opened:
        for number, line in enumerate(iter(lambda: opened.readline(LINE_BYTES + 1), b""), start=1):
            if len(line) > LINE_BYTES:
                problem = f"this line is longer than the maximum of {_size(LINE_BYTES)}"
                raise ParseError(file, number, problem)
            if line.endswith(b"\n"):
                yield line


def _size(count: int) -> str:
    return f"{count / 1_000_000:,g} MB"


# --- JSON and TOML ---


def parse_json(text: str | bytes) -> Any:  # noqa: ANN401  (any JSON value)
    """Return the value of a JSON text.

    Raises
    ------
    ValueError
        The text is not JSON (`json.JSONDecodeError`), or has more than `MOST_DEPTH` levels of
        nesting.
    """
    text = text.decode("utf-8") if isinstance(text, bytes) else text
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    if text.count("[") + text.count("{") > MOST_DEPTH:
        _require_depth(value)
    return value


def parse_json_of(file: Traversable | str, text: str, line: int | None = None) -> Any:  # noqa: ANN401
    """Return the value of JSON text from a file; raise `ParseError` if the text is not JSON."""
    try:
        return parse_json(text)
    except ValueError as error:
        problem = str(error)
        if isinstance(error, json.JSONDecodeError):
            line, problem = line or error.lineno, f"this is not JSON: {error.msg}"
        raise ParseError(str(file), line, problem) from error


def json_lines(file: Path, *, home: Path | None = None) -> Iterator[tuple[int, Any]]:
    """Yield the number and the JSON value of each line that is not empty.

    Raise `ParseError` for a line that is not JSON. For `home` and other errors see `read_text`.
    """
    # Not splitlines(): a JSON string may contain other line separators.
    for number, line in enumerate(read_text(file, home=home).split("\n"), start=1):
        if line.strip():
            yield number, parse_json_of(file, line, number)


def parse_toml(text: str) -> dict[str, Any]:
    """Return the values of a TOML text; raise `ValueError` if it is invalid or nested deeply."""
    import tomllib  # most commands read no TOML

    try:
        values = tomllib.loads(text)
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    _require_depth(values)
    return values


def _require_depth(value: object, left: int = MOST_DEPTH) -> None:
    if not left:
        raise ValueError(_TOO_DEEP)
    children = value.values() if isinstance(value, dict) else value
    for child in children if isinstance(value, (dict, list)) else ():  # type: ignore[attr-defined]
        if isinstance(child, (dict, list)):
            _require_depth(child, left - 1)


# --- files that dqa writes ---


def open_private(file: Path | str, flags: int) -> int:
    """Open a file. Pass this function to `open` as its ``opener``.

    If the file is new, only its owner can read it. If the path is a link to a missing file, raise
    `FileExistsError` and create nothing.
    """
    if flags & os.O_CREAT and not flags & os.O_EXCL:
        with suppress(FileNotFoundError):
            return os.open(file, flags & ~os.O_CREAT)
        flags |= os.O_EXCL
    return os.open(file, flags, 0o600)


def open_to_add(file: Path, *, new: bool = False) -> FileIO:
    """Open a file for `add_line`. With `new`, the file must not exist yet.

    Raises
    ------
    UnsuitableFileError
        The file is not a regular file.
    OSError
        The file cannot be opened.
    """
    if file.exists():
        _require_regular(file)
    mode, more = "x" if new else "a", os.O_APPEND
    return FileIO(file, mode, opener=lambda path, flags: open_private(path, flags | more))


def add_line(opened: FileIO, line: str) -> None:
    """Append a line to a file from `open_to_add`.

    Raises
    ------
    OSError
        The line cannot be written, e.g. on a full disk. A partly written line is removed if no
        other process has written to the file in the meantime.
    """
    rest = memoryview(f"{line}\n".encode())
    began, whole = os.fstat(opened.fileno()).st_size, len(rest)
    try:
        while rest:  # a nearly full disk accepts only a part of the line
            rest = rest[opened.write(rest) :]
    except OSError:
        with suppress(OSError):
            if os.fstat(opened.fileno()).st_size == began + whole - len(rest):
                os.ftruncate(opened.fileno(), began)
        raise


def write_private(file: Path, content: str | bytes, *, new: bool = False) -> None:
    """Write a file. If the file is new, only its owner can read it.

    With `new`, raise `FileExistsError` if the file exists. If writing fails, a new file is removed.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    is_new = not os.path.lexists(file)
    try:
        with open(file, "xb" if new else "wb", opener=open_private) as opened:
            opened.write(data)
    except OSError:
        if is_new:
            file.unlink(missing_ok=True)
        raise


def make_private_folder(folder: Path) -> None:
    """Make a folder and its missing parents, readable only by their owner.

    Existing folders keep their modes.
    """
    for one in reversed((folder, *folder.parents)):
        if not one.is_dir():
            one.mkdir(mode=0o700, exist_ok=True)


# --- paths that a user gives ---


def problem_of_path(path: Path | str | None, error: OSError, *, writing: bool = False) -> str:
    """Return a clause about a file: its path, and the error of the operating system.

    Parameters
    ----------
    path
        The file or folder; None to use the path in the error.
    error
        The system's error.
    writing
        Whether dqa tried to create the file. If so, the clause for the error "not found" says that
        the folder does not exist.
    """
    name = os.fsdecode(path if path is not None else error.filename or "A file") or "an empty name"
    if writing and error.errno == errno.ENOENT:
        return f"{name} cannot be written: its folder does not exist"
    known = _PROBLEMS.get(error.errno or 0)
    return known.format(name) if known else f"{name} cannot be used: {error.strerror or error}"


@contextmanager
def file_errors(path: Path | str, *, writing: bool = False, more: str = "") -> Iterator[None]:
    """Raise `UsageError` for a system error in this context.

    Parameters
    ----------
    path, writing
        See `problem_of_path`.
    more
        A sentence to add to the message.
    """
    try:
        yield
    except OSError as error:
        problem = problem_of_path(path, error, writing=writing)
        raise UsageError(f"{problem}. {more}".rstrip()) from error


def describe_file_error(error: OSError, path: Path | None = None) -> str | None:
    """Return a message about a file or disk error; None if the error is a bug.

    Parameters
    ----------
    error
        The system's error.
    path
        The file, for errors that do not name it.
    """
    name = path if error.filename is None else error.filename
    if error.errno in _FULL:
        return f"{problem_of_path(name, error)}. Free some disk space, and try again."
    return None if name is None else f"{problem_of_path(name, error)}."


def require_folder(path: Path, hint: str = "") -> None:
    """Raise `UsageError` with `hint` if the path is not a folder."""
    if not path.is_dir():
        problem = "is a file, but a folder is expected" if path.exists() else "does not exist"
        raise UsageError(f"{path} {problem}. {hint}".rstrip())


def require_new_file(path: Path) -> None:
    """Raise `UsageError` if no new file can be created at the path."""
    if os.path.lexists(path):
        raise UsageError(f"{path} already exists: choose another name for the file.")
    if not path.parent.exists():
        raise UsageError(
            f"The folder {path.parent} does not exist: create it, or choose another folder."
        )
    require_room(path.parent)


def require_new_folder(path: Path) -> None:
    """Raise `UsageError` if a folder is not empty, or cannot be created or written to."""
    require_room(path)
    with file_errors(path):
        if path.is_dir() and any(path.iterdir()):
            raise UsageError(f"The folder {path} is not empty: choose a new folder.")


def require_room(path: Path) -> None:
    """Raise `UsageError` if a folder cannot be created or written to."""
    nearest = next(one for one in (path, *path.absolute().parents) if os.path.lexists(one))
    if not nearest.is_dir():
        raise UsageError(f"{nearest} is a file, but a folder is needed: choose another path.")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise UsageError(f"This user may not write to {nearest}: choose another folder.")
