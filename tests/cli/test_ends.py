"""How commands end that cannot do their work: one line each, and never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.sqlite_files import run_script


def test_a_reader_that_has_closed_is_no_error() -> None:
    """As with ``| head -1``: nothing is said."""
    reading, writing = os.pipe()
    os.close(reading)
    ran = subprocess.run(
        [sys.executable, "-m", "dqa", "list"],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert (ran.returncode, ran.stderr) == (1, "")


def test_a_place_that_cannot_be_written_to_is_found_before_anything_is_read(
    dqa: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not after the run that was to fill it."""

    def read(*_: object, **__: object) -> None:
        raise AssertionError("something was read")

    monkeypatch.setattr("dqa.loaders.sources.GeneratedQuestions.read", read)
    monkeypatch.setattr("dqa.loaders.generator.generate.generate", read)
    file = tmp_path / "file"
    file.write_text("mine", "utf-8")
    for arguments, problem in (
        (("eval", "--generate", 1, "--out", file), f"{file} is a file, but a folder is needed"),
        (("eval", "--generate", 1, "--out", file / "run"), f"{file} is a file"),
        (("data", "generate", "--out", file), f"{file} is a file, but a folder is needed"),
        (("data", "generate", "--out", tmp_path), f"{tmp_path} is not empty"),
        (("data", "audit", "--generate", 1, "--html", tmp_path), f"{tmp_path} already exists"),
        (("data", "audit", "--generate", 1, "--html", file), f"{file} already exists"),
        (("data", "audit", "--generate", 1, "--html", tmp_path / "no/a.html"), "does not exist"),
    ):
        ran = dqa(*arguments)
        assert (ran.code, ran.out) == (2, "")
        assert problem in ran.err
    monkeypatch.setattr(os, "access", lambda *_: False)
    for out in (("eval", "--generate", 1, "--out"), ("data", "generate", "--out")):
        ran = dqa(*out, tmp_path / "new" / "run")
        assert (ran.code, "may not write to" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("location", "code"),
    [
        ("missing.db", 2),
        ("postgresql://me@127.0.0.1:1/x", 1),
        ("mysql://me@127.0.0.1:1/x", 1),
        ("bolt://me:x@127.0.0.1:1", 1),
        ("mysql://me@127.0.0.1:1/x?nonsense=1", 2),
    ],
)
def test_a_failed_connection_has_the_same_exit_code_in_every_command(
    dqa: Command, location: str, code: int
) -> None:
    """2 if the location must change, 1 if the server fails."""
    commands = {
        "query": ("query", location, "SELECT 1"),
        "schema": ("schema", location),
        "doctor": ("doctor", "--database", location),
        "list": ("list", "--database", location),
        "init": ("init", "--database", location),
    }
    assert {name: dqa(*words).code for name, words in commands.items()} == dict.fromkeys(
        commands, code
    )


def test_a_schema_without_a_readable_table_is_an_error(dqa: Command, tmp_path: Path) -> None:
    """The message names the reason; with a policy, it names nothing hidden."""
    empty, policy = tmp_path / "empty.db", tmp_path / "policy.json"
    empty.touch()
    for arguments in ((), ("--json",)):
        ran = dqa("schema", empty, *arguments)
        assert (ran.code, ran.out) == (2, "")
        assert "no table that you can read" in ran.err
    filled = run_script(tmp_path / "filled.db", "CREATE TABLE salary (id INTEGER);")
    policy.write_text('{"tables": []}', "utf-8")
    hidden = dqa("schema", filled, "--policy", policy)
    assert (hidden.code, hidden.out) == (2, "")
    assert "error: " in hidden.err
    assert "salary" not in hidden.err
