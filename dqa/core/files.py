"""Read files within bounds, and write files that only their owner can read.

A release, a run or a recording may come from anyone. So a reader accepts a regular file inside its
folder, of bounded size, and JSON of bounded depth.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.resources.abc import Traversable
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Any

from dqa.core.errors import DataError, ParseError

DOCUMENT_BYTES = 64_000_000
"""Largest document: questions, a manifest, a policy, a run's settings."""
DATA_BYTES = 512_000_000
"""Largest file of data: a database's script, the file of one decision."""
LINE_BYTES = 64_000_000
"""Longest line of a file that is read line by line: a run's results and traces, a cassette."""
MOST_DEPTH = 100
"""Most levels of lists and objects in JSON."""
MOST_DIGITS = 400
"""Most digits of a whole number in JSON; the largest float has 309."""


class UnsuitableFileError(DataError, OSError):
    """A file that is not regular, too large, or outside its folder.

    Parameters
    ----------
    file
        The file.
    problem
        A clause that follows its name.
    """

    def __init__(self, file: Path | str, problem: str) -> None:
        super().__init__(errno.EINVAL, problem, str(file))
        self.problem = problem

    def __str__(self) -> str:
        """Return the file and the problem, as other errors of data do."""
        return f"{self.filename}: {self.problem}"


def open_regular(
    file: Path | str,
    *,
    home: Path | str | None = None,
    most: int | None = DATA_BYTES,
    pipes: bool = False,
) -> FileIO:
    """Open a file for reading, unbuffered.

    Parameters
    ----------
    file
        The file.
    home
        The folder that it must not lead out of by links; None for a file that the user named.
    most
        Most bytes; None for any number, where it is read piece by piece.
    pipes
        Whether it may be a pipe, as a shell's ``<(...)`` is.

    Raises
    ------
    UnsuitableFileError
        It is not a regular file, lies outside of `home`, or is larger than `most`.
    OSError
        It cannot be opened.
    """
    if home is not None and not Path(file).resolve().is_relative_to(Path(home).resolve()):
        problem = f"it leads out of {home}: put the file itself in its place, and no link"
        raise UnsuitableFileError(file, problem)
    _require_regular(file, pipes=pipes)
    if most is not None and Path(file).stat().st_size > most:
        raise _too_large(file, most)
    return FileIO(file, opener=_without_waiting)


def _without_waiting(file: str, flags: int) -> int:
    """Open a file; a pipe at once, even without another process."""
    return os.open(file, flags | getattr(os, "O_NONBLOCK", 0))


def _require_regular(file: Path | str, *, pipes: bool = False) -> None:
    mode = Path(file).stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
    if not (stat.S_ISREG(mode) or (pipes and stat.S_ISFIFO(mode))):
        raise UnsuitableFileError(file, "it is a device or a pipe, where a file is expected")


def read_bytes(
    file: Path | str,
    *,
    home: Path | str | None = None,
    most: int = DATA_BYTES,
    pipes: bool = False,
) -> bytes:
    """Return the content of a file; parameters and errors are those of `open_regular`."""
    with BufferedReader(open_regular(file, home=home, most=most, pipes=pipes)) as opened:
        descriptor = opened.fileno()
        if pipes and stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            first = opened.raw.read(1)  # None until a process has written to it
            if first == b"":
                raise UnsuitableFileError(file, "it is a pipe, and no process writes to it")
            os.set_blocking(descriptor, True)
            content = (first or b"") + opened.read(most + 1)
        else:
            content = opened.read()
    if len(content) > most:
        raise _too_large(file, most)
    return content


def read_text(
    file: Traversable | str, *, home: Path | str | None = None, most: int = DOCUMENT_BYTES
) -> str:
    """Return the text of a file, without a byte order mark.

    Parameters and errors are those of `open_regular`; the file may also belong to an installed
    package. `UnicodeDecodeError` where it is not UTF-8.
    """
    if not isinstance(file, Path | str):
        return file.read_text("utf-8-sig")
    return read_bytes(file, home=home, most=most).decode("utf-8-sig")


def whole_lines(file: Path, *, home: Path | str | None = None) -> Iterator[bytes]:
    """Yield the complete lines of a file; none where the file does not exist.

    Raises
    ------
    UnsuitableFileError
        It is not a regular file, or lies outside of `home`.
    ParseError
        A line is longer than `LINE_BYTES`.
    """
    if not os.path.lexists(file):
        return
    with BufferedReader(open_regular(file, home=home, most=None)) as opened:
        for number, line in enumerate(iter(lambda: opened.readline(LINE_BYTES + 1), b""), start=1):
            if len(line) > LINE_BYTES:
                problem = f"this line is longer than {_size(LINE_BYTES)}, the most that is read"
                raise ParseError(file, number, problem)
            if line.endswith(b"\n"):
                yield line


def _too_large(file: Path | str, most: int) -> UnsuitableFileError:
    return UnsuitableFileError(file, f"it is larger than {_size(most)}, the most that is read")


def _size(count: int) -> str:
    return f"{count / 1_000_000:,g} MB"


# --- JSON and TOML ---


def parse_json(text: str | bytes) -> Any:  # noqa: ANN401  (any JSON value)
    """Return the value of a JSON text.

    Raises
    ------
    ValueError
        It is not JSON (`json.JSONDecodeError`), has more than `MOST_DEPTH` levels, or a whole
        number of more than `MOST_DIGITS` digits.
    """
    text = text.decode("utf-8") if isinstance(text, bytes) else text
    try:
        value = _DECODER.decode(text)
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    if text.count("[") + text.count("{") > MOST_DEPTH:
        _require_depth(value)
    return value


def parse_toml(text: str) -> dict[str, Any]:
    """Return the values of a TOML text; `ValueError` where it is not TOML, or too deep."""
    try:
        values = tomllib.loads(text)
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    _require_depth(values)
    return values


def _require_depth(value: object) -> None:
    level = [value]
    for _ in range(MOST_DEPTH + 1):
        holders = [item for item in level if isinstance(item, dict | list)]
        if not holders:
            return
        level = [
            child
            for item in holders
            for child in (item.values() if isinstance(item, dict) else item)
        ]
    raise ValueError(_TOO_DEEP)


_TOO_DEEP = f"it is nested deeper than {MOST_DEPTH} levels, the most that are read"


def _whole_number(digits: str) -> int:
    if len(digits) > MOST_DIGITS + 1:  # and a sign
        raise ValueError(f"a whole number in it has more than {MOST_DIGITS} digits")
    return int(digits)


_DECODER = json.JSONDecoder(parse_int=_whole_number)


# --- files of ours ---


def open_private(file: Path | str, flags: int) -> int:
    """Open a file as an ``opener`` of `open`; only its owner can read a new one.

    Raises
    ------
    UnsuitableFileError
        It is a link to a file that does not exist.
    OSError
        It cannot be opened.
    """
    if flags & os.O_EXCL or not flags & os.O_CREAT:
        return os.open(file, flags, 0o600)
    try:
        descriptor = _without_waiting(str(file), flags & ~os.O_CREAT)
    except FileNotFoundError:
        with suppress(FileExistsError):
            return os.open(file, flags | os.O_EXCL, 0o600)
        problem = "it is a link to a file that does not exist: name another file"
        raise UnsuitableFileError(file, problem) from None
    os.set_blocking(descriptor, True)
    return descriptor


def open_to_add(file: Path, *, new: bool = False) -> FileIO:
    """Open a file for `add_line`; with `new` it must not exist.

    Raises
    ------
    UnsuitableFileError
        It is not a regular file, or a link to a file that does not exist.
    OSError
        It cannot be opened.
    """
    if file.exists():
        _require_regular(file)
    return FileIO(file, "x" if new else "a", opener=_open_to_append)


def _open_to_append(file: str, flags: int) -> int:
    return open_private(file, flags | os.O_APPEND)


def add_line(opened: FileIO, line: str) -> None:
    """Add a whole line to a file of `open_to_add`, or nothing.

    Raises
    ------
    OSError
        It cannot be written, as on a full disk. A part of it that was written is removed, unless
        another process has added to the file.
    """
    rest = memoryview(f"{line}\n".encode())
    began, whole = os.fstat(opened.fileno()).st_size, len(rest)
    try:
        while rest:  # a disk with too little room accepts a part of a line
            rest = rest[opened.write(rest) :]
    except OSError:
        with suppress(OSError):
            if os.fstat(opened.fileno()).st_size == began + whole - len(rest):
                os.ftruncate(opened.fileno(), began)
        raise


def write_private(file: Path, content: str | bytes) -> None:
    """Write a file; only its owner can read a new one, and a new one is removed on failure."""
    _write(file, content, "wb")


def write_new(file: Path, content: bytes) -> None:
    """Write a new file that only its owner can read; `FileExistsError` where it exists."""
    _write(file, content, "xb")


def _write(file: Path, content: str | bytes, mode: str) -> None:
    data = content.encode("utf-8") if isinstance(content, str) else content
    is_new = not os.path.lexists(file)
    try:
        with open(file, mode, opener=open_private) as opened:
            opened.write(data)
    except OSError:
        if is_new:
            file.unlink(missing_ok=True)
        raise


def write_new_folder(folder: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Write a folder that only its owner can read, with all of its files or not at all.

    Raises
    ------
    OSError
        It exists and is not empty, or it cannot be written.
    """
    make_private_folder(folder.absolute().parent)
    with tempfile.TemporaryDirectory(dir=folder.absolute().parent) as temporary:
        part = Path(temporary) / folder.name
        part.mkdir(mode=0o700)
        for name, content in files:
            write_private(part / name, content)
        with suppress(FileNotFoundError):
            folder.rmdir()
        part.rename(folder)


def require_space(folder: Path, count: int) -> None:
    """Raise `OSError` unless the disk of a folder has room for `count` more bytes."""
    if shutil.disk_usage(folder).free < count:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))


def make_private_folder(folder: Path) -> None:
    """Make a folder and its missing parents; only their owner can read them.

    Existing folders keep their modes.
    """
    for one in reversed((folder, *folder.parents)):
        if not one.is_dir():
            one.mkdir(mode=0o700, exist_ok=True)
