"""Files that hold a command up, swell it or lead it elsewhere: one line each, and at once."""

from __future__ import annotations

import json
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


def _device(file: Path) -> None:
    file.unlink()
    file.symlink_to("/dev/zero")


def _folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


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


def _digits(file: Path) -> None:
    file.write_text('[{"question_num": ' + "9" * 5_000 + "}]\n")


class Spoilt(NamedTuple):
    """What is done to a file, and what has to be said of it."""

    spoil: Callable[[Path], object]
    words: str = ""


SPOILT = [
    Spoilt(_fifo, "pipe"),
    Spoilt(_device),
    Spoilt(_folder),
    Spoilt(_link_out, "leads out of"),
    Spoilt(_huge, "the most that is read"),
    Spoilt(_deep),
    Spoilt(_digits),
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
@pytest.mark.parametrize(
    "name",
    [
        "data/locating/questions/simulated_question.json",
        "data/locating/queries/SQL_format/q1.sql",
    ],
)
def test_releases(dqa: Command, generated: Path, home: Path, name: str, how: Spoilt) -> None:
    """Their questions and their databases."""
    shutil.copytree(generated / "data", home / "data")
    file = home / name
    how.spoil(file)
    require_one_line(dqa("annotate", "--release", home, "--scenarios", "locating"), file, how.words)


@spoilt
@pytest.mark.parametrize("name", ["manifest.json", "data/building/queries/SQL_format/q1.sql"])
def test_generated_folders(
    dqa: Command, generated: Path, home: Path, name: str, how: Spoilt
) -> None:
    """Their manifests, and what these vouch for."""
    shutil.copytree(generated, home, dirs_exist_ok=True)
    file = home / name
    if not file.exists():
        file = next((home / "data/building/queries/SQL_format").iterdir())
    how.spoil(file)
    if file.suffix == ".sql" and how.spoil in (_deep, _digits):
        how = Spoilt(how.spoil, "was changed")
    require_one_line(dqa("annotate", "--generated", home), file, how.words)


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
@pytest.mark.parametrize("name", ["run.json", "results.jsonl", "traces.jsonl", "shortcuts.jsonl"])
def test_runs_that_go_on_or_are_read(
    dqa: Command, finished: Path, home: Path, name: str, how: Spoilt
) -> None:
    """Nothing of what such a link leads to is changed."""
    run = home / "run"
    shutil.copytree(finished / "run", run)
    file = run / name
    content = file.read_bytes()
    how.spoil(file)
    if name != "shortcuts.jsonl":
        require_one_line(dqa("eval", "--resume", run), file, how.words)
    if how.spoil is _link_out:
        assert file.resolve().read_bytes() == content
    read = dqa("results", run)
    if name != "traces.jsonl":
        require_one_line(read, file, how.words)
    if name != "shortcuts.jsonl":
        listed = dqa("runs", home)
        assert "Traceback" not in listed.err


@pytest.mark.parametrize("option", ["--replay", "--record"])
@spoilt
def test_cassettes(dqa: Command, finished: Path, home: Path, option: str, how: Spoilt) -> None:
    """Played, and gone on with."""
    tape = home / "tape.jsonl"
    run = ("eval", "--generated", finished / "questions", "--deciders", "singlerag")
    shutil.copyfile(finished / "tape.jsonl", tape)
    if how.spoil is _link_out:
        return  # a user names it
    how.spoil(tape)
    require_one_line(dqa(*run, option, tape), tape, "" if how.spoil is _huge else how.words)


@spoilt
def test_what_a_user_names(dqa: Command, shop: Path, home: Path, how: Spoilt) -> None:
    """Policies, questions, candidates, rules, statements and traces."""
    if how.spoil is _link_out:
        return  # whatever a user names is meant
    asked = ("ask", "--database", shop, "--question", "Which?", "--decider", "first")
    listed = ("--candidate", "a")
    commands: dict[str, tuple[object, ...]] = {
        "policy.json": ("query", shop, "SELECT 1", "--policy"),
        "own.jsonl": ("show", "own/1", "--database", shop, "--questions"),
        "candidates.json": (*asked, "--candidates-from"),
        "rules.md": (*asked, *listed, "--rules"),
        "statement.sql": ("query", shop, "--file"),
        "script.sql": ("check", "--dialect", "sqlite"),
        "trace.json": ("trace",),
    }
    for name, command in commands.items():
        file = home / name
        file.write_text("[]\n")
        how.spoil(file)
        if file.suffix in {".md", ".sql"} and how.spoil in (_deep, _digits):
            continue  # a text like another
        if name == "trace.json" and how.spoil is _folder:
            continue  # a run's, perhaps
        ran = dqa(*command, file)
        assert "Traceback" not in ran.err
        require_one_line(
            ran, file, "" if name == "trace.json" and how.spoil is _fifo else how.words
        )
    link = home / "a" / "own.jsonl"
    link.parent.mkdir()
    line = {"question": "?", "candidates": ["a"], "rules": {"file": "rules.md"}}
    link.write_text(json.dumps(line) + "\n")
    rules = link.with_name("rules.md")
    rules.write_text(OTHERS)
    how.spoil(rules)
    if how.spoil not in (_deep, _digits):
        ran = dqa("show", "own/1", "--database", shop, "--questions", link)
        assert (ran.code, "rules.md" in ran.err) == (1, True)


def test_rules_of_a_question_stay_in_its_folder(dqa: Command, shop: Path, home: Path) -> None:
    """A link is no way out."""
    (home.parent / "passwd").write_text(OTHERS)
    (home / "rules.md").symlink_to("../passwd")
    own = home / "own.jsonl"
    own.write_text('{"question": "?", "candidates": ["a"], "rules": {"file": "rules.md"}}\n')
    ran = dqa("show", "own/1", "--database", shop, "--questions", own)
    assert (ran.code, ran.out) == (1, "")
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


def test_a_shells_pipe_may_be_named_where_a_user_names_a_file(
    dqa: Command, shop: Path, tmp_path: Path
) -> None:
    """As ``<(...)`` does."""
    reading, writing = os.pipe()
    os.write(writing, b"SELECT 7 AS seven")
    os.close(writing)
    ran = dqa("query", shop, "--file", f"/dev/fd/{reading}", "--csv")
    os.close(reading)
    assert ran.out == "seven\n7\n", ran.err
    assert list(tmp_path.iterdir()) == [shop]
