"""Files of others are read within limits, and only the owner can read files of dqa."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from dqa.core.errors import ParseError, UsageError
from dqa.core.files import (
    LINE_BYTES,
    MOST_DEPTH,
    UnsuitableFileError,
    add_line,
    make_private_folder,
    open_private,
    open_to_add,
    parse_json,
    parse_toml,
    read_bytes,
    read_text,
    require_new_file,
    require_room,
    whole_lines,
    write_private,
)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a pipe of POSIX")
def test_a_pipe_is_refused(tmp_path: Path) -> None:
    """Reading a pipe would block."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    link = tmp_path / "link"
    link.symlink_to(pipe)
    for file in (pipe, link):
        with pytest.raises(UnsuitableFileError):
            read_bytes(file)
        with pytest.raises(UnsuitableFileError):
            open_to_add(file)


def test_no_file_is_created_behind_a_link(tmp_path: Path) -> None:
    """Another user may have planted the link; a link to an existing file is followed."""
    link, planted, there = tmp_path / "link", tmp_path / "planted", tmp_path / "there"
    link.symlink_to(planted)
    with pytest.raises(FileExistsError):
        write_private(link, "x")
    with pytest.raises(FileExistsError):
        open_to_add(link)
    with pytest.raises(FileExistsError):
        write_private(link, b"x", new=True)
    with pytest.raises(UsageError):
        require_new_file(link)
    with pytest.raises(UsageError):
        require_room(link)
    assert link.is_symlink()
    assert not planted.exists()
    there.write_text("")
    link.unlink()
    link.symlink_to(there)
    with open_to_add(link) as opened:
        add_line(opened, "a")
    assert there.read_text() == "a\n"


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    """The size is checked first. A sparse file of 8 TB needs no disk space."""
    file = tmp_path / "large"
    with file.open("wb") as made:
        made.truncate(8 << 40)
    with pytest.raises(UsageError, match="64 MB"):
        read_text(file)
    with pytest.raises(UnsuitableFileError, match="512 MB"):
        read_bytes(file)
    with pytest.raises(ParseError, match="large:1: "):
        list(whole_lines(file))
    assert LINE_BYTES == 64_000_000


def test_links_stay_in_their_folder(tmp_path: Path) -> None:
    """Links to files and parent folders are resolved. The folder itself may be a link."""
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
        with pytest.raises(UnsuitableFileError):
            read_bytes(home / name, home=home)
    assert read_text(home / "c.json") == "mine", "what a user names is the user's own"


@pytest.mark.parametrize("depth", [MOST_DEPTH + 1, 100_000])
def test_json_and_toml_are_of_bounded_depth(depth: int) -> None:
    """The limit is lower than that of Python's parser. It does not limit the width."""
    for read, begin in ((parse_json, ""), (parse_toml, "a = ")):
        with pytest.raises(ValueError, match="maximum of 100"):
            read(begin + "[" * depth + "]" * depth)
    assert parse_toml("a = [[1]]") == {"a": [[1]]}
    wide: Any = [[1, {"a": []}] for _ in range(1_000)]
    assert parse_json(json.dumps(wide)) == wide
    assert parse_json(b'{"a": "[[["}') == {"a": "[[["}


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_we_write_is_its_owners_alone(tmp_path: Path) -> None:
    """The umask has no effect, and existing files and folders keep their modes."""
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
    """An existing file is not overwritten."""
    with pytest.raises(OSError, match="No space"):
        write_private(Path("/dev/full"), "x" * 100_000)
    assert Path("/dev/full").exists()
