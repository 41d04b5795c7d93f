"""What commands write is their user's alone, and a disk without room ends them in one line."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

import dqa as toolkit
from dqa.loaders.sources import QuestionFolder
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
    ask = ("ask", "--database", shop, "--question", "?", "--candidate-name", "a")
    for command in (
        ("eval", *named, "--deciders", "first", "--databases", "sqlite", "--out", out / "a/b/run"),
        ("eval", *named, "--deciders", "singlerag", "--limit", 1, "--record", out / "tape.jsonl"),
        ("query", shop, "SELECT 1", "--audit", out / "audit.jsonl"),
        (*ask, "--decider", "first", "--trace", out / "trace.json"),
        ("data", "audit", *named, "--html", out / "audit.html"),
        (
            "data",
            "generate",
            "--questions",
            1,
            "--scenarios",
            "locating",
            "--out",
            out / "made/new",
        ),
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


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A real disk of 1 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount, unmount = shutil.which("mount"), shutil.which("umount")
    options = ["-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    if mount is None or unmount is None or os.geteuid():
        pytest.skip("only root may mount a small disk")
    if subprocess.run([mount, *options], capture_output=True, check=False).returncode:
        pytest.skip("no disk may be mounted here")
    yield disk
    subprocess.run([unmount, "--lazy", str(disk)], check=True)


def fill(file: BinaryIO) -> None:
    """Write until the disk is full."""
    while file.write(b"x" * 4_096):
        pass


def leave_room(disk: Path, room: int) -> None:
    """Empty a disk, and fill it until so many bytes are left."""
    for path in disk.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    # A tmpfs estimates its free space on each processor. It is full if writes fail on all of them.
    processors = os.sched_getaffinity(0)
    with (disk / "filler").open("wb", buffering=0) as filler:
        for processor in sorted(processors) * 4:  # a full one lets others find a little room
            os.sched_setaffinity(0, {processor})
            with pytest.raises(OSError, match="No space"):
                fill(filler)
        os.sched_setaffinity(0, processors)
        filler.truncate(filler.tell() - room)


WRITING = (
    "eval --generated {generated} --deciders first,random --databases sqlite --out {disk}/run",
    "eval --generated {generated} --limit 1 --deciders singlerag --record {disk}/tape.jsonl",
    "ask --database {shop} --question {long} --candidate-name a --decider first --trace {disk}/t",
    "data generate --questions 2 --out {disk}/made",
    "data audit --generated {generated} --html {disk}/page.html",
    "load --generated {generated} --question building/1 --database {disk}/a.db",
    "load --generated {generated} --question building/1 --database {disk}/a.duckdb",
    "load --generated {generated} --question building/1 --database {disk}/a.lbug",
)


@pytest.mark.slow
def test_a_full_disk_is_one_line(dqa: Command, small: Path, generated: Path, shop: Path) -> None:
    """Whatever was to be written, and nothing half-written is left in the way."""
    wrong = {}
    for words in WRITING:
        leave_room(small, 4_096)
        named = {"generated": generated, "shop": shop, "disk": small, "long": "?" * 100_000}
        ran = dqa(*words.format(**named).split())
        errors = [line for line in ran.err.splitlines() if line.startswith("error: ")]
        half = [path for path in small.iterdir() if path.name.startswith(".")]
        if ran.code not in (1, 2) or len(errors) != 1 or str(small) not in errors[0] or half:
            wrong[words] = (ran, half)
        for file in small.rglob("*.jsonl"):
            assert all(map(json.loads, file.read_text("utf-8").splitlines()))
    assert wrong == {}


@pytest.mark.deep
def test_a_run_resumes_once_there_is_room(dqa: Command, small: Path, generated: Path) -> None:
    """What was decided is stored, and the end is what it would have been."""
    leave_room(small, 220_000)
    named = ("--generated", generated, "--deciders", "first,random,iterrag", "--databases")
    ran = dqa("eval", *named, "sqlite", "--out", small / "run")
    assert ran.code == 1, ran.err
    assert ran.err.count("\n") == 1
    assert "Free some" in ran.err
    (small / "filler").unlink()
    kept = shutil.copytree(small / "run", small.with_name("kept"))
    assert dqa("eval", "--resume", kept).code == 0
    source = QuestionFolder(folder=generated)
    whole = toolkit.evaluate(source, ["first", "random", "iterrag"], databases=("sqlite",))
    assert toolkit.read_run(kept).results == whole.results


@pytest.mark.slow
def test_a_cassette_without_room_ends_the_run_and_stays_whole(
    dqa: Command, small: Path, shop: Path
) -> None:
    """Money for replies that cannot be stored would be lost."""
    leave_room(small, 8_192)
    tape = small / "tape.jsonl"
    asked = ("ask", "--database", shop, "--question", "x" * 1_500, "--candidate-name", "a")
    with ModelServer(lambda _: "Thought: " + "y" * 3_000) as served:
        model = ("--model", "openai:m", "--base-url", served.url, "--record", tape)
        ran = dqa(*asked, *model, "--decider", "iterrag", "--max-steps", 9)
        assert len(served.requests) < 9
    assert ran.code in (1, 2)
    assert ran.err.splitlines()[-1].startswith("error: --record: ")
    assert str(tape) in ran.err
    assert all(map(json.loads, tape.read_text("utf-8").splitlines()))
