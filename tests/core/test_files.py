"""Files that others made are read within bounds, and ours are their owner's alone."""

from __future__ import annotations

import json
import os
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from dqa.core.errors import DataError, ParseError
from dqa.core.files import (
    LINE_BYTES,
    MOST_DEPTH,
    MOST_DIGITS,
    UnsuitableFileError,
    add_line,
    make_private_folder,
    open_private,
    open_regular,
    open_to_add,
    parse_json,
    parse_toml,
    read_bytes,
    read_text,
    whole_lines,
    write_private,
)


def test_a_regular_file_is_read_as_it_is(tmp_path: Path) -> None:
    """Bytes, and text without its mark."""
    file = tmp_path / "a"
    file.write_bytes(b"\xef\xbb\xbfGhent\n")
    assert read_bytes(file).startswith(b"\xef")
    assert read_text(file, home=tmp_path) == "Ghent\n"
    with open_regular(file) as opened:
        assert opened.read(3) == b"\xef\xbb\xbf"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a pipe of POSIX")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """Nobody may ever write to it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(UnsuitableFileError, match="it is a pipe, where a file is expected"):
        read_bytes(pipe)
    with pytest.raises(UnsuitableFileError, match="nobody writes to it"):
        read_bytes(pipe, pipes=True)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a pipe of POSIX")
def test_a_pipe_is_not_added_to(tmp_path: Path) -> None:
    """Nor is a link to one; a link to no file makes one."""
    pipe, link, other = tmp_path / "pipe", tmp_path / "link", tmp_path / "other"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    other.symlink_to(tmp_path / "made")
    for file in (pipe, link):
        with pytest.raises(UnsuitableFileError, match="it is a pipe, where a file is expected"):
            open_to_add(file)
    with open_to_add(other) as opened:
        add_line(opened, "a")
    assert (tmp_path / "made").read_text() == "a\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a pipe of POSIX")
def test_a_pipe_that_has_a_writer_is_read_where_a_pipe_is_meant(tmp_path: Path) -> None:
    """As of a shell's ``<(...)``, within the same bounds."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    keeper = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)  # so that the writer may begin
    is_open = threading.Event()

    def write() -> None:
        with pipe.open("wb") as out:
            is_open.set()
            out.write(b"a" * 200_000)

    with ThreadPoolExecutor(1) as threads:
        writing = threads.submit(write)
        assert is_open.wait(60.0)
        assert read_bytes(pipe, pipes=True) == b"a" * 200_000
        writing.result()
    os.close(keeper)
    with (pipe.parent / "large").open("wb") as large:
        large.truncate(2_000)
    with pytest.raises(UnsuitableFileError, match=r"larger than 0.001 MB"):
        read_bytes(large.name, most=1_000, pipes=True)


def test_what_is_no_file_is_said_to_be_none(tmp_path: Path) -> None:
    """Neither a device, which never ends, nor a folder."""
    with pytest.raises(UnsuitableFileError, match=r"/dev/zero: it is a device"):
        read_bytes("/dev/zero")
    with pytest.raises(IsADirectoryError):
        read_bytes(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_bytes(tmp_path / "none")


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    """By its size; one of 8 TB takes no room at all on a disk."""
    file = tmp_path / "large"
    with file.open("wb") as made:
        made.truncate(8 << 40)
    with pytest.raises(UnsuitableFileError, match=r"large: it is larger than 64 MB, the most"):
        read_text(file)
    with pytest.raises(DataError, match="larger than 512 MB"):
        read_bytes(file)
    with pytest.raises(ParseError, match=r"large:1: this line is longer than 64 MB"):
        list(whole_lines(file))
    assert LINE_BYTES == 64_000_000


def test_links_stay_in_their_folder(tmp_path: Path) -> None:
    """Those of files, and of folders above them; the folder itself may be a link."""
    home, secret = tmp_path / "home", tmp_path / "secret"
    home.mkdir()
    secret.write_text("mine")
    (home / "a.json").write_text("[]")
    (home / "b.json").symlink_to("a.json")
    (home / "c.json").symlink_to("../secret")
    (home / "up").symlink_to("..")
    (tmp_path / "other").symlink_to(home)
    assert read_text(home / "b.json", home=home) == "[]"
    assert read_text(tmp_path / "other" / "b.json", home=tmp_path / "other") == "[]"
    for name in ("c.json", "up/secret", "../secret"):
        with pytest.raises(UnsuitableFileError, match=r"it leads out of .*home: put the file"):
            read_bytes(home / name, home=home)
    assert read_text(home / "c.json") == "mine", "what a user names is the user's own"


@pytest.mark.parametrize("depth", [MOST_DEPTH + 1, 5_000, 2_000_000])
@pytest.mark.parametrize(("opened", "closed"), [("[", "]"), ('{"a":', "}")])
def test_json_is_of_bounded_depth(depth: int, opened: str, closed: str) -> None:
    """Whether or not Python's own reader would have read it."""
    inner = "" if opened == "[" else "1"
    with pytest.raises(ValueError, match="nested deeper than 100 levels"):
        parse_json(opened * depth + inner + closed * depth)


def test_json_as_deep_as_it_may_be_is_read() -> None:
    """And wide as it likes."""
    assert json.dumps(parse_json("[" * MOST_DEPTH + "]" * MOST_DEPTH)).count("[") == MOST_DEPTH
    wide: Any = [[1, {"a": []}] for _ in range(1_000)]
    assert parse_json(json.dumps(wide)) == wide
    assert parse_json(b'{"a": "[[["}') == {"a": "[[["}


def test_numbers_are_of_bounded_length() -> None:
    """Python itself takes hours for some, or refuses them in its own words."""
    assert parse_json("-" + "9" * MOST_DIGITS) == -int("9" * MOST_DIGITS)
    for many in (MOST_DIGITS + 2, 4_000, 10_000_000):
        with pytest.raises(ValueError, match="more than 400 digits"):
            parse_json("[" + "9" * many + "]")
    assert parse_json("1" * 1_000 + ".5") == float("inf")


def test_toml_is_of_bounded_depth() -> None:
    """As JSON is."""
    assert parse_toml("a = [[1]]") == {"a": [[1]]}
    for depth in (MOST_DEPTH + 1, 100_000):
        with pytest.raises(ValueError, match="nested deeper"):
            parse_toml("a = " + "[" * depth + "]" * depth)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_we_write_is_its_owners_alone(tmp_path: Path) -> None:
    """Whatever the process lets others do by default; what is there keeps its mode."""
    before = os.umask(0o000)
    try:
        folder = tmp_path / "a" / "b" / "c"
        make_private_folder(folder)
        write_private(folder / "new", "Zürich")
        with open(folder / "added", "a", opener=open_private) as made:
            made.write("x")
        shared = tmp_path / "shared"
        shared.mkdir()
        shared.chmod(0o755)
        (shared / "old").write_text("long ago")
        (shared / "old").chmod(0o644)
        make_private_folder(shared)
        write_private(shared / "old", b"new")
    finally:
        os.umask(before)
    assert {_mode(path) for path in (folder, folder.parent, folder.parent.parent)} == {0o700}
    assert {_mode(folder / "new"), _mode(folder / "added")} == {0o600}
    assert (_mode(shared), _mode(shared / "old")) == (0o755, 0o644)
    assert (folder / "new").read_text("utf-8") == "Zürich"
    assert (shared / "old").read_text() == "new"
    with pytest.raises(FileExistsError):
        make_private_folder(shared / "old")


def test_a_full_disk_leaves_no_half_file_behind() -> None:
    """What was there before stays there."""
    with pytest.raises(OSError, match="No space"):
        write_private(Path("/dev/full"), "x" * 100_000)
    assert Path("/dev/full").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no such pipes")
def test_a_pipe_that_nobody_reads_is_not_waited_for(tmp_path: Path) -> None:
    """One that is read is written to, whole."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="nobody reads"):
        write_private(pipe, "x")
    assert pipe.exists()
    text = "x" * 1_000_000
    # Open for writing as well, so that opening it waits for nobody.
    with ThreadPoolExecutor(1) as threads, os.fdopen(os.open(pipe, os.O_RDWR)) as kept:
        read = threads.submit(kept.read, len(text))
        write_private(pipe, text)
        assert read.result() == text
