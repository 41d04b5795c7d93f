"""Files that hold a command up, swell it or lead it elsewhere: one line each, and at once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

import dqa as toolkit
from dqa.evaluation.options import CallOptions
from dqa.loaders.sources import GeneratedFolder
from tests.cli.conftest import Command, Ran

OTHERS = "root:x:0:0"


def _fifo(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def _link_out(file: Path) -> None:
    text = file.read_bytes()
    outside = file.parent / ".." / ".." / f"outside-{file.name}"
    while outside.resolve().is_relative_to(_home(file)):
        outside = outside.parent / ".." / outside.name
    outside.resolve().write_bytes(text)
    file.unlink()
    file.symlink_to(outside.resolve())


def _home(file: Path) -> Path:
    return next(one for one in file.parents if one.name == "home").resolve()


def _huge(file: Path) -> None:
    with file.open("ab") as opened:
        opened.truncate(4 << 40)


def _deep(file: Path) -> None:
    file.write_text("[" * 200_000 + "]" * 200_000 + "\n")


class Spoilt(NamedTuple):
    """What is done to a file, and what has to be said of it."""

    spoil: Callable[[Path], object]
    words: str = ""


SPOILT = [
    Spoilt(_fifo, "pipe"),
    Spoilt(_link_out, "leads out of"),
    Spoilt(_huge, "the most that is read"),
    Spoilt(_deep),
]
spoilt = pytest.mark.parametrize("how", SPOILT, ids=[how.spoil.__name__[1:] for how in SPOILT])


def require_one_line(ran: Ran, file: Path, words: str) -> None:
    """Check that a command ended with one line that names the file."""
    assert ran.code in (1, 2), ran
    lines = ran.err.splitlines()
    errors = [line for line in lines if line.startswith("error: ")]
    assert len(errors) == 1, ran.err
    assert lines[-1] == errors[0]
    assert file.name in errors[0]
    assert words in errors[0]
    assert "Traceback" not in ran.err


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder that everything of a test belongs to."""
    folder = tmp_path / "a" / "b" / "home"
    folder.mkdir(parents=True)
    return folder


@spoilt
def test_releases_and_generated_folders(
    dqa: Command, generated: Path, home: Path, how: Spoilt
) -> None:
    """Their questions, manifests and databases."""
    database = next((generated / "data/building/queries/SQL_format").iterdir())
    for option, name in (
        ("--release", "data/locating/questions/simulated_question.json"),
        ("--release", "data/locating/queries/SQL_format/q1.sql"),
        ("--generated", "manifest.json"),
        ("--generated", str(database.relative_to(generated))),
    ):
        folder = home / name.replace("/", "-")
        shutil.copytree(generated, folder)
        if option == "--release":
            (folder / "manifest.json").unlink()
        how.spoil(folder / name)
        is_changed = option == "--generated" and name.endswith(".sql") and how.spoil is _deep
        words = "was changed" if is_changed else how.words
        require_one_line(dqa("annotate", option, folder), folder / name, words)


@pytest.fixture(scope="module")
def finished(generated: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, and the cassette of another one."""
    folder = tmp_path_factory.mktemp("finished")
    shutil.copytree(generated, folder / "questions")
    source = GeneratedFolder(folder=folder / "questions", limit=1)
    toolkit.evaluate(source, "first", databases=("sqlite",), out=folder / "run")
    calls = CallOptions(record=folder / "tape.jsonl")
    toolkit.evaluate(source, "singlerag", databases=("sqlite",), calls=calls)
    return folder


@spoilt
def test_what_a_user_names(
    dqa: Command, shop: Path, finished: Path, home: Path, how: Spoilt
) -> None:
    """Cassettes, policies, questions, candidates, rules, statements and traces."""
    if how.spoil is _link_out:
        return  # whatever a user names is meant
    asked = ("ask", "--database", shop, "--question", "Which?", "--decider", "first")
    run = ("eval", "--generated", finished / "questions", "--deciders", "singlerag")
    commands: dict[str, tuple[object, ...]] = {
        "replayed.jsonl": (*run, "--replay"),
        "recorded.jsonl": (*run, "--record"),
        "policy.json": ("query", shop, "SELECT 1", "--policy"),
        "own.jsonl": ("show", "own/1", "--database", shop, "--questions"),
        "candidates.json": (*asked, "--candidates-from"),
        "rules.md": (*asked, "--candidate", "a", "--rules"),
        "statement.sql": ("query", shop, "--file"),
        "script.sql": ("check", "--dialect", "sqlite"),
        "trace.json": ("trace",),
    }
    for name, command in commands.items():
        file = home / name
        file.write_text("[]\n")
        if command[0] == "eval":
            shutil.copyfile(finished / "tape.jsonl", file)
        how.spoil(file)
        if file.suffix in {".md", ".sql"} and how.spoil is _deep:
            continue  # a text like another
        is_vague = (how.spoil is _fifo and name == "trace.json") or (
            how.spoil is _huge and command[0] == "eval"
        )
        require_one_line(dqa(*command, file), file, "" if is_vague else how.words)


def test_rules_of_a_question_stay_in_its_folder(dqa: Command, shop: Path, home: Path) -> None:
    """A link is no way out."""
    (home.parent / "passwd").write_text(OTHERS)
    (home / "rules.md").symlink_to("../passwd")
    own = home / "own.jsonl"
    own.write_text('{"question": "?", "candidates": ["a"], "rules": {"file": "rules.md"}}\n')
    ran = dqa("show", "own/1", "--database", shop, "--questions", own)
    assert (ran.code, ran.out) == (2, "")
    assert "outside the folder" in ran.err


def test_links_within_a_release_are_followed(dqa: Command, generated: Path, home: Path) -> None:
    """And the release may itself be a link."""
    shutil.copytree(generated / "data", home / "data")
    questions = home / "data/locating/questions"
    (questions / "simulated_question.json").rename(questions / "real.json")
    (questions / "simulated_question.json").symlink_to("real.json")
    (home.parent / "link").symlink_to(home)
    ran = dqa("annotate", "--release", home.parent / "link", "--scenarios", "locating")
    assert (ran.code, "locating/1" in ran.out) == (0, True)
