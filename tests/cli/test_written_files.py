"""What commands write is their user's alone, and a disk without room ends them in one line."""

from __future__ import annotations

import json
import os
import resource
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import dqa as toolkit
from dqa.loaders.sources import GeneratedFolder
from tests.cli.conftest import Command
from tests.models.model_server import ModelServer


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def open_to_all() -> Iterator[None]:
    """A process that keeps nothing from anybody by itself."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("open_to_all")
def test_what_commands_write_is_its_owners_alone(
    dqa: Command, generated: Path, shop: Path, tmp_path: Path
) -> None:
    """Runs, traces, cassettes, audits, pages, generated folders and databases."""
    out = tmp_path / "out" / "all"
    out.mkdir(parents=True)
    named = ("--generated", generated)
    ask = ("ask", "--database", shop, "--question", "?", "--candidate", "a", "--decider", "first")
    for command in (
        ("eval", *named, "--deciders", "first", "--databases", "sqlite", "--out", out / "a/b/run"),
        ("eval", *named, "--deciders", "singlerag", "--limit", 1, "--record", out / "tape.jsonl"),
        ("query", shop, "SELECT 1", "--audit", out / "audit.jsonl"),
        (*ask, "--trace", out / "trace.json"),
        ("audit", *named, "--html", out / "audit.html"),
        ("generate", "--questions", 1, "--scenarios", "locating", "--out", out / "made/folder"),
        ("load", *named, "--question", "locating/1", "--database", out / "a.db"),
        ("load", *named, "--question", "locating/1", "--database", out / "a.duckdb"),
        ("load", *named, "--question", "locating/1", "--database", out / "a.lbug"),
    ):
        ran = dqa(*command)
        assert ran.code == 0, ran.err
    written = list(out.rglob("*"))
    assert len(written) > 15
    assert {path.name: oct(_mode(path)) for path in written if path.is_file()} == {
        path.name: "0o600" for path in written if path.is_file()
    }
    assert {path.name: oct(_mode(path)) for path in written if path.is_dir()} == {
        path.name: "0o700" for path in written if path.is_dir()
    }
    assert _mode(out) == 0o777, "what was there keeps its mode"


@pytest.mark.usefixtures("open_to_all")
def test_what_is_there_keeps_its_mode(dqa: Command, generated: Path, tmp_path: Path) -> None:
    """Whoever shares a run, goes on sharing it."""
    run, shared = tmp_path / "run", tmp_path / "shared.db"
    wanted = ("--generated", generated, "--deciders", "first", "--databases", "sqlite")
    assert dqa("eval", *wanted, "--out", run).code == 0
    assert (
        dqa("load", "--generated", generated, "--question", "locating/1", "--database", shared).code
        == 0
    )
    for path in (run, run / "results.jsonl", shared):
        path.chmod(0o755 if path.is_dir() else 0o644)
    assert dqa("eval", "--resume", run).code == 0
    again = ("load", "--generated", generated, "--question", "building/1", "--database", shared)
    assert dqa(*again, "--replace", shared).code == 0
    assert [oct(_mode(path)) for path in (run, run / "results.jsonl", shared)] == [
        *("0o755", "0o644", "0o644")
    ]
    assert oct(_mode(run / "traces.jsonl")) == "0o600"


Small = tuple[Path, bool]
"""A folder, and whether it is a disk of its own."""


@pytest.fixture
def no_room(tmp_path: Path) -> Iterator[Small]:
    """A real disk of 64 KB; where nobody may mount one, files that may not grow further."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount, unmount = shutil.which("mount"), shutil.which("umount")
    options = ["-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if (
        mount is None
        or unmount is None
        or os.geteuid()
        or subprocess.run([mount, *options], capture_output=True, check=False).returncode
    ):
        yield disk, False
    else:
        yield disk, True
        subprocess.run([unmount, "--lazy", str(disk)], check=True)


def _ran(small: Small, room: int, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a command that has so much room for what it writes."""
    disk, is_disk = small
    left = shutil.disk_usage(disk).free - room
    if is_disk and left > 0:
        (disk / "filler").write_bytes(b"x" * left)

    def bound() -> None:
        if not is_disk:
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    return subprocess.run(
        [sys.executable, "-m", "dqa", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=bound,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        "eval --generated {generated} --deciders first,random --databases sqlite --out {disk}/run",
        "eval --generated {generated} --deciders singlerag --record {disk}/tape.jsonl",
        "eval --generated {generated} --deciders singlerag,iterrag,planrag --audit {disk}/a",
        "ask --database {shop} --question ? --candidate a --decider first --trace {disk}/t",
        "generate --questions 2 --out {disk}/made",
        "audit --generated {generated} --html {disk}/page.html",
        "load --generated {generated} --question building/1 --database {disk}/a.db",
        "load --generated {generated} --question building/1 --database {disk}/a.duckdb",
        "load --generated {generated} --question building/1 --database {disk}/a.lbug",
    ],
    ids=lambda words: words.split()[-1].rpartition("/")[2],
)
def test_a_full_disk_is_one_line(no_room: Small, generated: Path, shop: Path, words: str) -> None:
    """Whatever was to be written, and nothing half-written is left in the way."""
    disk, _ = no_room
    places = {"generated": generated, "shop": shop, "disk": disk}
    room = 0 if words.startswith("ask") else 4_096
    ran = _ran(no_room, room, *(word.format(**places) for word in words.split()))
    assert ran.returncode in (1, 2), ran.stdout
    assert "Traceback" not in ran.stderr
    assert "Exception ignored" not in ran.stderr
    errors = [line for line in ran.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1, ran.stderr
    assert str(disk) in errors[0]
    for file in disk.rglob("*.jsonl"):
        assert all(map(json.loads, file.read_text("utf-8").splitlines()))
    assert not [path for path in disk.iterdir() if path.name.startswith(".")]


@pytest.mark.slow
def test_a_run_goes_on_once_there_is_room(no_room: Small, generated: Path) -> None:
    """What was decided is kept, and the end is what it would have been."""
    disk, _ = no_room
    wanted = ("--generated", generated, "--deciders", "first,random,iterrag", "--databases")
    ran = _ran(no_room, 16_384, "eval", *wanted, "sqlite", "--out", disk / "run")
    assert ran.returncode == 1, ran.stderr
    assert ran.stderr.count("\n") == 1
    assert "Free some room" in ran.stderr
    assert "--resume" in ran.stderr
    (disk / "filler").unlink(missing_ok=True)
    kept = shutil.copytree(disk / "run", disk.with_name("kept"))
    resumed = subprocess.run(
        [sys.executable, "-m", "dqa", "eval", "--resume", str(kept)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert resumed.returncode == 0, resumed.stderr
    source = GeneratedFolder(folder=generated)
    whole = toolkit.evaluate(source, ["first", "random", "iterrag"], databases=("sqlite",))
    assert toolkit.read_run(kept).results == whole.results


@pytest.mark.parametrize(
    "words",
    [
        "query {shop} --csv",
        "query {shop} --json",
        "query {shop}",
        "schema {shop}",
        "show locating/1 --generated {generated}",
        "annotate --generated {generated}",
        "check --dialect sqlite --lines {statements}",
        "formats trace",
    ],
    ids=lambda words: words.replace("{", "").replace("}", ""),
)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_an_output_without_room_is_one_line(
    generated: Path, shop: Path, tmp_path: Path, words: str
) -> None:
    """And Python adds no complaint of its own."""
    statements = tmp_path / "statements"
    statements.write_text("SELECT 1\n" * 10)
    places = {"generated": generated, "shop": shop, "statements": statements}
    arguments = [word.format(**places) for word in words.split()]
    if arguments[0] == "query":
        arguments.insert(2, "SELECT * FROM supplier")
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "dqa", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (ran.returncode, ran.stderr.count("\n")) == (1, 1), ran.stderr
    assert "the disk is full" in ran.stderr


def test_a_cassette_without_room_ends_the_run_and_stays_whole(no_room: Small, shop: Path) -> None:
    """Money that is spent on replies which nobody can keep would be lost."""
    disk, _ = no_room
    tape = disk / "tape.jsonl"
    asked = ("ask", "--database", shop, "--question", "x" * 1_500, "--candidate", "a")
    with ModelServer(lambda _: "Thought: " + "y" * 3_000) as served:
        model = ("--model", "openai:m", "--base-url", served.url, "--record", tape)
        ran = _ran(no_room, 8_192, *asked, *model, "--decider", "iterrag", "--max-steps", 9)
        assert len(served.requests) < 9
    assert ran.returncode in (1, 2)
    (error,) = ran.stderr.splitlines()
    assert error.startswith("error: --record: ")
    assert str(tape) in error
    assert all(map(json.loads, tape.read_text("utf-8").splitlines()))
