"""Files that would block a command or lead it elsewhere: one line each, and at once."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Command, Ran

READING = {
    "replayed.jsonl": "eval --generate 1 --deciders singlerag --replay FILE",
    "recorded.jsonl": "eval --generate 1 --deciders singlerag --record FILE",
    "policy.json": "query SHOP SELECT --policy FILE",
    "own.jsonl": "data question own/1 --database SHOP --questions FILE",
    "rules.md": "ask --database SHOP --question ? --decider first --candidate-name a --rules FILE",
    "statement.sql": "query SHOP --file FILE",
    "script.sql": "check --dialect sqlite FILE",
    "trace.json": "show FILE",
}
"""Commands that read a file; `tests/core/test_files.py` has other kinds of hostile files."""


def errors(ran: Ran) -> list[str]:
    """Return the error lines of a command that failed without a traceback."""
    assert ran.code in (1, 2)
    assert "Traceback" not in ran.err
    return [line for line in ran.err.splitlines() if line.startswith("error: ")]


@pytest.mark.parametrize("name", READING)
def test_a_pipe_is_not_waited_for(dqa: Command, shop: Path, tmp_path: Path, name: str) -> None:
    """A read without a limit would wait for ever."""
    os.mkfifo(tmp_path / name)
    words = {"FILE": tmp_path / name, "SHOP": shop, "SELECT": "SELECT 1"}
    ran = dqa(*(words.get(word, word) for word in READING[name].split()))
    assert [name in line for line in errors(ran)] == [True]


@pytest.mark.parametrize(
    ("option", "name"),
    [
        ("--release", "data/locating/questions/simulated_question.json"),
        ("--release", "data/locating/queries/SQL_format/q1.sql"),
        ("--generated", "manifest.json"),
    ],
)
def test_a_release_reads_no_file_outside_its_folder(
    dqa: Command, generated: Path, tmp_path: Path, option: str, name: str
) -> None:
    """A link that leads out is an error; one within the folder is followed."""
    folder = Path(shutil.copytree(generated, tmp_path / "home"))
    if option == "--release":
        (folder / "manifest.json").unlink()
    for outside, words in ((tmp_path / "other", "is outside of"), (folder / "other", "")):
        file = folder / name
        shutil.move(file.resolve(), outside)
        file.unlink(missing_ok=True)
        file.symlink_to(outside)
        ran = dqa("data", "annotate", option, folder, "--scenarios", "locating")
        if words:
            assert [words in line and file.name in line for line in errors(ran)] == [True]
        else:
            assert ran.code == 0, ran.err


def test_rules_of_a_question_stay_in_its_folder(dqa: Command, shop: Path, tmp_path: Path) -> None:
    """A link does not lead out."""
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "passwd").write_text("root:x:0:0")
    (home / "rules.md").symlink_to("../passwd")
    own = home / "own.jsonl"
    own.write_text('{"question": "?", "candidates": ["a"], "rules": {"file": "rules.md"}}\n')
    ran = dqa("data", "question", "own/1", "--database", shop, "--questions", own)
    assert (ran.code, ran.out) == (2, "")
    assert "own.jsonl:1: rules:" in ran.err
