"""Files that others made, read within bounds; and files of ours, which their owner alone may read.

A release, a run or a recording may come from anywhere. What is read of one is a regular file inside
its folder, of a bounded size, and JSON of a bounded depth, so that none can hold a command up,
swell it, or have it read what the folder does not hold.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
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
"""Most that is read of a document: questions, a manifest, a policy, a run's settings."""

DATA_BYTES = 512_000_000
"""Most that is read of a file of data: a database's script, the file of one decision."""

LINE_BYTES = 64_000_000
"""Longest line of a file that is read line by line: a run's results and traces, a cassette."""

MOST_DEPTH = 100
"""Lists and objects of JSON within one another."""

MOST_DIGITS = 400
"""Digits of a whole number in JSON; the largest float has 309."""

_PIECE = 1 << 20
_KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class UnsuitableFileError(DataError, OSError):
    """A file that is not read: no regular one, too large, or outside of its folder.

    Parameters
    ----------
    file
        The file at fault.
    problem
        What it is, in words that follow its name.
    """

    def __init__(self, file: Path | str, problem: str) -> None:
        super().__init__(errno.EINVAL, problem, str(file))
        self.problem = problem

    def __str__(self) -> str:
        """Return the file and what is wrong with it, as other errors of data do."""
        return f"{self.filename}: {self.problem}"


def open_regular(
    file: Path | str, *, home: Path | str | None = None, most: int | None = DATA_BYTES
) -> FileIO:
    """Open a file to read it, unbuffered.

    Parameters
    ----------
    file
        Its name.
    home
        The folder that it belongs to, out of which no link may lead; None for a file that a user
        named.
    most
        Most bytes that it may have; None for any number, where it is read piece by piece.

    Raises
    ------
    UnsuitableFileError
        It is no regular file, lies outside of `home`, or is larger than `most`.
    OSError
        It cannot be opened.
    """
    if home is not None:
        require_inside(file, home)
    return _opened(file, most, pipes=False)


def read_bytes(
    file: Path | str,
    *,
    home: Path | str | None = None,
    most: int = DATA_BYTES,
    pipes: bool = False,
) -> bytes:
    """Return what a file holds; raises what `open_regular` does.

    Parameters
    ----------
    file, home, most
        As in `open_regular`.
    pipes
        Whether it may be a pipe that somebody writes to, as a shell's ``<(...)`` is.
    """
    if home is not None:
        require_inside(file, home)
    with _opened(file, most, pipes=pipes) as opened:
        parts = [_first_of(file, opened)] if pipes else []
        left = most + 1 - sum(map(len, parts))  # a file may grow while it is read
        while left > 0 and (part := opened.read(min(left, _PIECE))):
            parts.append(part)
            left -= len(part)
    if left <= 0:
        raise _too_large(file, most)
    return b"".join(parts)


def read_text(
    file: Traversable | str, *, home: Path | str | None = None, most: int = DOCUMENT_BYTES
) -> str:
    """Return the text of a file, without a byte order mark.

    The parameters are those of `open_regular`; a file may be a part of an installed package, too.

    Raises
    ------
    UnsuitableFileError, OSError
        It cannot be read.
    UnicodeDecodeError
        It is no UTF-8 text.
    """
    if not isinstance(file, Path | str):
        return file.read_text("utf-8-sig")  # in an archive
    return read_bytes(file, home=home, most=most).decode("utf-8-sig")


def whole_lines(file: Path, *, home: Path | str | None = None) -> Iterator[bytes]:
    """Yield the lines of a file that were written to their end; none where there is no file.

    Raises
    ------
    UnsuitableFileError
        It is no regular file, or lies outside of `home`.
    ParseError
        A line is longer than `LINE_BYTES`.
    """
    if not os.path.lexists(file):
        return
    with BufferedReader(open_regular(file, home=home, most=None)) as opened:
        number = 1
        while line := opened.readline(LINE_BYTES + 1):
            if len(line) > LINE_BYTES:
                problem = f"this line is longer than {_size(LINE_BYTES)}, the most that is read"
                raise ParseError(file, number, problem)
            if line.endswith(b"\n"):
                yield line
            number += 1


def require_inside(file: Path | str, home: Path | str) -> None:
    """Raise `UnsuitableFileError` where a file, or what it links to, is outside of a folder."""
    if not Path(os.path.realpath(file)).is_relative_to(os.path.realpath(home)):
        problem = f"it leads out of {home}: put the file itself in its place, and no link"
        raise UnsuitableFileError(file, problem)


def _opened(file: Path | str, most: int | None, *, pipes: bool) -> FileIO:
    # Asked first, for to open a device may do something.
    _require_suitable(file, Path(file).stat(), most, pipes=pipes)
    opened = FileIO(file, opener=_without_waiting)
    try:
        _require_suitable(file, os.fstat(opened.fileno()), most, pipes=pipes)
    except BaseException:
        opened.close()
        raise
    return opened


def _without_waiting(file: str, flags: int) -> int:
    """Open a file; a pipe at once, whether or not anybody writes to it."""
    return os.open(file, flags | getattr(os, "O_NONBLOCK", 0))


def _require_suitable(
    file: Path | str, found: os.stat_result, most: int | None, *, pipes: bool
) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
    if not stat.S_ISREG(found.st_mode) and not (pipes and stat.S_ISFIFO(found.st_mode)):
        kind = next((name for is_one, name in _KINDS if is_one(found.st_mode)), "no regular one")
        raise UnsuitableFileError(file, f"it is {kind}, where a file is expected")
    if most is not None and found.st_size > most:
        raise _too_large(file, most)


def _first_of(file: Path | str, opened: FileIO) -> bytes:
    """Return the first of what is in a pipe, waited for where somebody has it open to write."""
    if not stat.S_ISFIFO(os.fstat(opened.fileno()).st_mode):
        return b""
    found: bytes | None = opened.read(_PIECE)  # None before anything was written
    if found == b"":
        raise UnsuitableFileError(file, "it is a pipe, and nobody writes to it")
    os.set_blocking(opened.fileno(), True)
    return found or b""


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
        It is no JSON (`json.JSONDecodeError`), nested deeper than `MOST_DEPTH`, or has a whole
        number of more than `MOST_DIGITS` digits.
    """
    written = text.decode("utf-8") if isinstance(text, bytes) else text
    try:
        value = _DECODER.decode(written)
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    if written.count("[") + written.count("{") > MOST_DEPTH and depth_exceeds(value, MOST_DEPTH):
        raise ValueError(_TOO_DEEP)
    return value


def parse_toml(text: str) -> dict[str, Any]:
    """Return the values of a TOML text; `ValueError` where it is none, or nested too deep."""
    try:
        values = tomllib.loads(text)
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    if depth_exceeds(values, MOST_DEPTH):
        raise ValueError(_TOO_DEEP)
    return values


def depth_exceeds(value: object, most: int) -> bool:
    """Whether lists and objects are nested in one another more than `most` times."""
    level = [value]
    for _ in range(most):
        level = [
            child
            for holder in level
            if isinstance(holder, dict | list)
            for child in (holder.values() if isinstance(holder, dict) else holder)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


_TOO_DEEP = f"it is nested deeper than {MOST_DEPTH} levels, the most that are read"


def _whole_number(digits: str) -> int:
    if len(digits) > MOST_DIGITS + 1:  # and a sign
        raise ValueError(f"a whole number in it has more than {MOST_DIGITS} digits")
    return int(digits)


_DECODER = json.JSONDecoder(parse_int=_whole_number)


# --- files of ours ---


def open_private(file: Path | str, flags: int) -> int:
    """Open a file that, where it is new, its owner alone may read: an ``opener`` of `open`."""
    return os.open(file, flags, 0o600)


def add_line(opened: FileIO, line: str) -> None:
    """Add a whole line to a file that is open for that, unbuffered, or nothing of it.

    Raises
    ------
    OSError
        It could not be written, as on a full disk; what had been was taken away again, unless
        somebody else has added to the file.
    """
    rest = memoryview(f"{line}\n".encode())
    began, whole = os.fstat(opened.fileno()).st_size, len(rest)
    try:
        while rest:  # of a line for which there is no room, the system may take a part
            rest = rest[opened.write(rest) :]
    except OSError:
        with suppress(OSError):
            if os.fstat(opened.fileno()).st_size == began + whole - len(rest):
                os.ftruncate(opened.fileno(), began)
        raise


def open_to_add(file: Path, *, new: bool = False) -> FileIO:
    """Open a file for `add_line`, which `new` says must not be there; made, it is its owner's.

    Raises
    ------
    UnsuitableFileError
        It is no regular file: to open a pipe waits for somebody who reads it.
    OSError
        It cannot be opened.
    """
    if not new and os.path.lexists(file):
        with suppress(FileNotFoundError):  # a link to a file that is to be made
            _require_suitable(file, file.stat(), None, pipes=False)
    opened = FileIO(file, "x" if new else "a", opener=_open_to_append)
    try:
        _require_suitable(file, os.fstat(opened.fileno()), None, pipes=False)
    except BaseException:
        opened.close()
        raise
    return opened


def _open_to_append(file: str, flags: int) -> int:
    return open_private(file, flags | os.O_APPEND | getattr(os, "O_NONBLOCK", 0))


def _open_to_write(file: str, flags: int) -> int:
    """Open a file without waiting for anybody who reads it, as of a pipe."""
    try:
        return open_private(file, flags | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise OSError(errno.ENXIO, "it is a pipe that nobody reads", str(file)) from error
        raise


def write_private(file: Path, content: str | bytes) -> None:
    """Write a file that, where it is new, its owner alone may read.

    What a full disk leaves of a new one is taken away again. A pipe that nobody reads is an
    `OSError`; one that is read is written to.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    is_new = not os.path.lexists(file)
    try:
        with open(file, "wb", opener=_open_to_write) as opened:
            if hasattr(os, "O_NONBLOCK"):
                os.set_blocking(opened.fileno(), True)
            opened.write(data)
    except OSError:
        if is_new:
            file.unlink(missing_ok=True)
        raise


def write_new(file: Path, content: bytes) -> None:
    """Write a new file of its owner's as a whole: whoever looks sees all of it, or no file.

    Raises
    ------
    FileExistsError
        There is one by now, which stays as it is.
    OSError
        It cannot be written; nothing is left of it.
    """
    part = _part_of(file)
    try:
        write_private(part, content)
        try:
            os.link(part, file)
        except FileExistsError:
            raise
        except OSError:  # a disk without links
            if os.path.lexists(file):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(file)) from None
            part.rename(file)
    finally:
        part.unlink(missing_ok=True)


def write_new_folder(folder: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Write a new folder of its owner's as a whole, by the names and contents of its files.

    Raises
    ------
    OSError
        There is one by now that is not empty, or it cannot be written; nothing is left of it.
    """
    part = _part_of(folder)
    make_private_folder(part)
    try:
        for name, content in files:
            write_private(part / name, content)
        with suppress(FileNotFoundError):
            folder.rmdir()
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _part_of(path: Path) -> Path:
    """Return what a file or folder is called until it is whole, beside which no other is."""
    return path.absolute().with_name(f".{path.name[:100]}.{secrets.token_hex(8)}.part")


def require_space(folder: Path, count: int) -> None:
    """Raise `OSError` unless a disk has room for so many more bytes in a folder.

    For what ends this process where the disk is full; a system that cannot tell is not asked.
    """
    if not hasattr(os, "posix_fallocate"):
        return
    with tempfile.TemporaryFile(dir=folder) as reserved:
        os.posix_fallocate(reserved.fileno(), 0, count)


def make_private_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for its owner alone.

    Folders that are there keep their modes.
    """
    try:
        folder.mkdir(mode=0o700)
    except FileNotFoundError:
        if folder.parent == folder:
            raise
        make_private_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
    except FileExistsError:
        if not folder.is_dir():
            raise
