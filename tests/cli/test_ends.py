"""How commands end that cannot do their work: one line each, and never a traceback."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dqa.core.errors import UsageError
from dqa.core.paths import problem_of_path, require_new_file, require_new_folder, require_room
from tests.cli.conftest import Command

WHEN_IMPORTED = """
import sys

awaited = sys.argv.pop(1)

class Finder:
    def find_spec(self, name, path, target=None):
        if name == awaited:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Finder())
from dqa.__main__ import main
main()
"""


def interrupted(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command that Ctrl-C meets when it imports a module."""
    return subprocess.run(
        [sys.executable, "-c", WHEN_IMPORTED, module, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("typer", ("list",)),
        ("dqa.cli.main", ("eval", "--generate", "1")),
        ("dqa.cli.evaluate", ("eval", "--generate", "1")),
        ("dqa.api.evaluating", ("eval", "--generate", "1")),
        ("numpy", ("show", "locating/1", "--generate", "1")),
        ("sqlglot", ("check", "--dialect", "mysql", os.devnull)),
        ("dqa_dellma.commands.main", ("dellma", "--help")),
    ],
)
def test_an_interrupt_is_one_line_wherever_it_comes(
    module: str, arguments: tuple[str, ...]
) -> None:
    """Also while the command is still being imported."""
    ended = interrupted(module, *arguments)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "Interrupted.\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_an_output_that_takes_nothing_is_one_line() -> None:
    """And Python's own complaint at its end is not there."""
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "dqa", "list"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (ran.returncode, ran.stderr.count("\n")) == (1, 1), ran.stderr
    assert "the disk is full" in ran.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="a shell closes streams elsewhere")
@pytest.mark.parametrize("closed", ["<&- >&- 2>&-", "<&-", ">&-", "2>&-"])
def test_a_command_whose_streams_are_closed_does_its_work(closed: str, tmp_path: Path) -> None:
    """As a daemon's may be: the sockets of workers had their numbers, and none could be started."""
    with closing(sqlite3.connect(tmp_path / "shop.db")) as connection:
        connection.execute("CREATE TABLE shop (name TEXT)")
    audit = tmp_path / "audit.jsonl"
    ran = subprocess.run(
        [
            *("sh", "-c", f'exec "$0" "$@" {closed}', sys.executable, "-m", "dqa"),
            *("query", "shop.db", "SELECT 42", "--audit", str(audit)),
        ],
        cwd=tmp_path,
        check=False,
    )
    assert ran.returncode == 0
    assert json.loads(audit.read_text("utf-8"))["rows"] == 1


@pytest.mark.skipif(sys.platform == "win32", reason="a shell closes streams elsewhere")
def test_a_process_that_a_command_starts_has_open_streams(tmp_path: Path) -> None:
    """Also where the command's own were closed: what it opens must not be taken for one."""
    looking = "import sys; open(sys.argv[1], 'w').write(str(None in (sys.stdin, sys.stdout)))"
    starting = (
        "import subprocess, sys\n"
        "from dqa.cli.main import _open_closed_streams\n"
        "_open_closed_streams()\n"
        "subprocess.run([sys.executable, '-c', *sys.argv[1:]], check=True)"
    )
    found = tmp_path / "found.txt"
    closing_all = ("sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', sys.executable, "-c")
    subprocess.run([*closing_all, starting, looking, str(found)], check=True)
    assert found.read_text() == "False"


@pytest.mark.parametrize("arguments", [("list",), ("formats", "trace"), ("eval", "--help")])
def test_a_reader_that_has_gone_is_no_error(arguments: Sequence[str]) -> None:
    """As with ``| head -1``: nothing is said."""
    reading, writing = os.pipe()
    os.close(reading)
    ran = subprocess.run(
        [sys.executable, "-m", "dqa", *arguments],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert (ran.returncode, ran.stderr) == (1, "")


def _failing(number: int) -> Any:
    really = os.open

    def opened(file: Path | str, flags: int, *rest: Any, **named: Any) -> int:
        if flags & os.O_CREAT:
            raise OSError(number, os.strerror(number), str(file))
        return really(file, flags, *rest, **named)

    return opened


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
def test_a_disk_that_takes_nothing_is_one_line_that_names_the_file(
    dqa: Command, generated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Whichever command writes."""
    monkeypatch.setattr(os, "open", _failing(number))
    for arguments in (
        ("generate", "--questions", 1, "--out", tmp_path / "g"),
        ("audit", "--generated", generated, "--html", tmp_path / "a.html"),
    ):
        ran = dqa(*arguments)
        assert ran.code in (1, 2)
        (line,) = ran.err.splitlines()
        assert line.startswith("error: ")
        assert str(tmp_path) in line


def test_a_full_disk_keeps_what_was_decided_and_says_how_to_go_on(
    dqa: Command, generated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error of a file that is open names no file."""

    def add(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("dqa.evaluation.store.FolderStore.add", add)
    run = ("eval", "--generated", generated, "--deciders", "first", "--databases", "sqlite")
    ran = dqa(*run, "--out", tmp_path / "run")
    assert ran.code == 1
    assert f"{tmp_path / 'run'} cannot be written: the disk is full" in ran.err
    assert "--resume" in ran.err


def test_a_place_that_cannot_be_written_to_is_found_before_anything_is_read(
    dqa: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not after the run that was to fill it."""

    def read(*_: object, **__: object) -> None:
        raise AssertionError("something was read")

    monkeypatch.setattr("dqa.loaders.sources.GeneratedQuestions.read", read)
    monkeypatch.setattr("dqa.api.generating.generate", read)
    file = tmp_path / "file"
    file.write_text("mine", "utf-8")
    for arguments, problem in (
        (("eval", "--generate", 1, "--out", file), f"{file} is a file: name a folder"),
        (("eval", "--generate", 1, "--out", file / "run"), f"{file} is a file"),
        (("generate", "--out", file), f"{file} is a file: name a folder"),
        (("generate", "--out", tmp_path), f"{tmp_path} is not empty"),
        (("audit", "--generate", 1, "--html", tmp_path), f"{tmp_path} is a folder"),
        (("audit", "--generate", 1, "--html", file), f"{file} exists already"),
        (("audit", "--generate", 1, "--html", tmp_path / "no/a.html"), "does not exist"),
    ):
        ran = dqa(*arguments)
        assert (ran.code, ran.out) == (2, "")
        assert problem in ran.err
    monkeypatch.setattr(os, "access", lambda *_: False)
    for out in (("eval", "--generate", 1, "--out"), ("generate", "--out")):
        ran = dqa(*out, tmp_path / "new" / "run")
        assert (ran.code, "may not be written to" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("analyse", "no/run"), "no/run does not exist"),
        (("trace", "no/run"), "no/run does not exist"),
        (("eval", "--release", "no/dir"), "no/dir does not exist"),
        (("audit", "--generated", "no/dir"), "no/dir does not exist"),
        (("show", "locating/1", "--release", "no/dir"), "no/dir does not exist"),
        (("dellma", "tree", "no/run"), "no/run does not exist"),
        (("dellma", "replay", "--release", "no/dir"), "no/dir does not exist"),
        (("eval", "--generate", 1, "--policy", "no.json"), "no.json does not exist"),
        (("eval", "--generate", 1, "--replay", "no.jsonl"), "no.jsonl does not exist"),
        (("check", "--dialect", "mysql", "no.sql"), "no.sql does not exist"),
        (("ask", "--database", "no.db", "--question", "?"), "no.db"),
    ],
)
def test_a_path_that_is_missing_is_said_to_be_missing(
    dqa: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: Any, problem: str
) -> None:
    """And not to be of another kind."""
    monkeypatch.chdir(tmp_path)
    ran = dqa(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert problem in ran.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("eval", "--release", "FILE"),
        ("audit", "--generated", "FILE"),
        ("analyse", "FILE"),
        ("dellma", "replay", "--release", "FILE"),
    ],
)
def test_a_file_in_the_place_of_a_folder_is_told_so(
    dqa: Command, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    """By its name."""
    file = tmp_path / "file"
    file.write_bytes(bytes(range(256)))
    ran = dqa(*(file if word == "FILE" else word for word in arguments))
    assert (ran.code, ran.out) == (2, "")
    assert f"{file} is a file, where a folder is expected" in ran.err


def test_paths_are_judged_by_what_the_system_says(tmp_path: Path) -> None:
    """Each in words, with its name."""
    missing = OSError(errno.ENOENT, "?")
    assert problem_of_path("x", missing) == "x does not exist"
    told = problem_of_path("/no/x", missing, writing=True)
    assert told == "/no/x cannot be written: its folder does not exist"
    told = problem_of_path("x", missing, writing=True)  # as in /proc
    assert told == "x cannot be written: its folder takes no new files: name another one"
    assert problem_of_path(None, OSError(errno.EIO, "broken", "y")) == "y cannot be used: broken"
    require_new_file(tmp_path / "new")
    require_new_folder(tmp_path / "a" / "b")
    require_room(tmp_path)
    (tmp_path / "new").write_text("")
    with pytest.raises(UsageError, match="is not empty"):
        require_new_folder(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("ask", "--question", "?", "--database", "bytes"), "'bytes' is no database that one of"),
        (("ask", "--question", "?", "--database", "gone"), "'gone' does not exist"),
        (("ask", "--question", "?", "--database", ""), "An empty location names no database"),
        (("ask", "--question", "?", "--database", "http://x/y"), "is no URL that one of"),
        (("trace", "bytes"), "it is no UTF-8 text"),
        (("trace", "empty"), "it is no JSON"),
        (("eval", "--generate", 1, "--replay", "empty"), "it is no JSON object"),
        (("eval", "--generate", 1, "--replay", "bytes"), "no line of a cassette"),
        (("eval", "--generate", 1, "--policy", "bytes"), "bytes is no UTF-8 text"),
        (("ask", "--question", "?", "--database", "x.db", "--rules", "."), ". is a folder"),
    ],
)
def test_what_a_file_is_not_is_said_in_words(
    dqa: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: Any, problem: str
) -> None:
    """No bytes, no exception's name, and nothing that is there is said to be missing."""
    monkeypatch.chdir(tmp_path)
    Path("bytes").write_bytes(bytes(range(256)))
    Path("empty").touch()
    ran = dqa(*arguments)
    assert ran.code in (1, 2)
    assert ran.out == ""
    assert problem in ran.err
    assert "Error(" not in ran.err
