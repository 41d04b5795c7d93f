"""A run's folder keeps what was decided, whatever happens."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dqa
from dqa.core.database import Database
from dqa.core.display import Display
from dqa.core.errors import ParseError, UsageError
from dqa.core.question import Question
from dqa.deciders.baselines import Baseline
from dqa.evaluation.folder_lines import read_results
from dqa.evaluation.folders import read_record
from dqa.evaluation.plan import Setup
from dqa.evaluation.run import evaluate
from dqa.evaluation.score import Judge
from dqa.evaluation.spec import ModelSpec
from dqa.evaluation.store import FolderStore
from tests.evaluation.records import run_record

Answers = Callable[[Question, Database], str]


@pytest.fixture
def folder(make_setup: Callable[..., Setup], official: Answers, tmp_path: Path) -> Path:
    """Return the folder of a finished run."""
    setup = make_setup(one=official)
    evaluate(setup, Judge(setup.questions, "paper"), FolderStore(tmp_path / "run", run_record()))
    return tmp_path / "run"


def lines(path: Path) -> list[Any]:
    """Read every line of a file as JSON."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_run_goes_on_once_its_damaged_line_is_mended(folder: Path) -> None:
    """In the same process, too: what could not be opened does not stay locked."""
    whole = (folder / "results.jsonl").read_bytes()
    (folder / "results.jsonl").write_bytes(b"{\n" + whole)
    with pytest.raises(ParseError, match=r"results\.jsonl:1"):
        FolderStore(folder, run_record(), resume=True)
    (folder / "results.jsonl").write_bytes(whole)
    store = FolderStore(folder, run_record(), resume=True)
    assert len(store.results) == 6
    store.close()


def test_results_and_traces_are_json_lines(folder: Path) -> None:
    """A result says what it is worth; its trace has the evidence and the times."""
    results, traces = lines(folder / "results.jsonl"), lines(folder / "traces.jsonl")
    assert len(results) == len(traces) == 6
    assert results[0]["outcome"] == "correct"
    assert traces[0]["evidence"][0]["statement"] == "SELECT 1"
    assert traces[0]["seconds"] == 0.25


def test_results_read_back_as_they_were(folder: Path) -> None:
    """Writing and reading a result loses nothing."""
    again = [json.loads(json.dumps(result.to_json())) for result in read_results(folder)]
    assert again == lines(folder / "results.jsonl")


def test_a_half_written_last_line_is_dropped(folder: Path) -> None:
    """A crash while writing costs that line only."""
    path = folder / "results.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    assert len(read_results(folder)) == 5
    store = FolderStore(folder, run_record(), resume=True)
    store.close()
    assert len(store.results) == 5
    assert path.read_bytes() == b"".join(whole.splitlines(keepends=True)[:5])


def test_a_damaged_line_is_named(folder: Path) -> None:
    """Damage anywhere else is an error with file and line."""
    path = folder / "results.jsonl"
    written = path.read_text("utf-8").splitlines()
    written[2] = "{}"
    path.write_text("\n".join(written) + "\n", "utf-8")
    with pytest.raises(ParseError, match=r"results\.jsonl:3"):
        read_results(folder)
    written[2] = '{"question": "loc'
    path.write_text("\n".join(written) + "\n", "utf-8")
    problem = (
        r"no result, for it is no JSON \(column 18: .*\); without this line 'dqa eval --resume'"
    )
    with pytest.raises(ParseError, match=problem):
        read_results(folder)


def test_a_used_folder_is_never_overwritten(folder: Path) -> None:
    """Without being told to go on, a run refuses a folder that holds something."""
    before = (folder / "results.jsonl").read_bytes()
    with pytest.raises(UsageError, match="--resume"):
        FolderStore(folder, run_record())
    assert (folder / "results.jsonl").read_bytes() == before


def test_going_on_with_other_settings_names_them(folder: Path, tmp_path: Path) -> None:
    """The message says what was and what is, and a folder without a run is no run."""
    with pytest.raises(
        UsageError, match=r"max_steps was 20 and is now 3; planner was null and is now \{"
    ):
        FolderStore(folder, run_record(max_steps=3, planner="scripted:greedy"), resume=True)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="no run that could go on"):
        FolderStore(tmp_path, run_record(), resume=True)


@pytest.mark.parametrize("rule_set", ["paper", "released"])
def test_a_run_of_an_older_spec_is_read_and_not_resumed(folder: Path, rule_set: str) -> None:
    """A rule set of the same name may count otherwise today, whatever else is as it was."""
    written = json.loads((folder / "run.json").read_text("utf-8"))
    del written["spec"]["display"]
    written["spec"] |= {"version": 1, "rule_set": rule_set}
    (folder / "run.json").write_text(json.dumps(written), "utf-8")
    before = (folder / "results.jsonl").read_bytes()
    as_it_was = run_record(rule_set=rule_set, display=Display(digits=0, fold=False))
    with pytest.raises(UsageError, match="older form, which can be read but not resumed"):
        FolderStore(folder, as_it_was, resume=True)
    assert (folder / "results.jsonl").read_bytes() == before
    record = read_record(folder)
    assert record.spec is not None
    assert record.spec.rule_set == rule_set


def test_a_discarded_run_leaves_nothing_that_it_made(tmp_path: Path) -> None:
    """Neither its folder nor those above it; what was there before stays, and what others made."""
    deep = tmp_path / "there" / "new" / "run"
    (tmp_path / "there").mkdir()
    FolderStore(deep, run_record()).discard()
    assert list((tmp_path / "there").iterdir()) == []
    FolderStore(tmp_path / "there", run_record()).discard()
    assert list(tmp_path.iterdir()) == [tmp_path / "there"]
    shared = FolderStore(deep, run_record())
    (tmp_path / "there" / "new" / "notes.txt").write_text("mine")
    shared.discard()
    assert not deep.exists()
    assert (tmp_path / "there" / "new" / "notes.txt").read_text() == "mine"


def test_a_run_that_was_closed_is_discarded_where_nobody_has_gone_on_with_it(
    tmp_path: Path,
) -> None:
    """A run that is refused is closed first, and by then another process may resume it."""
    refused = FolderStore(tmp_path / "run", run_record())
    refused.close()
    other = FolderStore(tmp_path / "run", run_record(), resume=True)
    refused.discard()
    assert (tmp_path / "run" / "run.json").exists()
    (tmp_path / "run" / "traces.jsonl").write_text("{}\n")
    other.close()
    refused.discard()
    assert (tmp_path / "run" / "run.json").exists()
    (tmp_path / "run" / "traces.jsonl").write_text("")
    refused.discard()
    assert list(tmp_path.iterdir()) == []
    refused.discard()


def test_a_run_that_cannot_begin_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the disk is full."""

    def full(path: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr("dqa.evaluation.store.open_to_add", full)
    with pytest.raises(OSError, match="space"):
        FolderStore(tmp_path / "new" / "run", run_record())
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_another_process_just_finished_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It looked into the folder while that was empty, and has its lock when that is not."""

    def another_finishes(folder: Path) -> None:
        (folder / "run.json").write_text("theirs")

    monkeypatch.setattr("dqa.evaluation.store._lock", another_finishes)
    with pytest.raises(UsageError, match="is not empty"):
        FolderStore(tmp_path / "run", run_record())
    assert (tmp_path / "run" / "run.json").read_text() == "theirs"


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    """An --out that is a file is refused by name."""
    (tmp_path / "out").write_text("")
    with pytest.raises(UsageError, match="is a file"):
        FolderStore(tmp_path / "out", run_record())


def test_no_secret_reaches_a_file(
    make_setup: Callable[..., Setup], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys in the environment and passwords in URLs are blotted out wherever they turn up."""
    monkeypatch.setenv("SOME_API_KEY", "hush-hush-1234")
    setup = make_setup(one=lambda *_: "hush-hush-1234 at https://me:pass-word@host/x")
    record = run_record(
        model=ModelSpec(name="openai:m", base_url="https://me:pass-word@host/v1"),
        databases=("mysql://me:pass-word@host/x",),
    )
    evaluate(setup, Judge(setup.questions, "paper"), FolderStore(tmp_path / "run", record))
    written = "".join(path.read_text("utf-8") for path in (tmp_path / "run").iterdir())
    assert "hush-hush" not in written
    assert "pass-word" not in written
    assert "***" in written


def test_half_a_character_is_kept(tmp_path: Path) -> None:
    """A decider of one's own may say what no encoding has; it ends no run, and is read back."""
    half = Baseline("half", lambda question, _: "\ud800")
    questions = dqa.generate(("locating",), 1, 0)
    run = dqa.evaluate(questions, half, databases="sqlite", out=tmp_path / "run")
    (result,) = dqa.read_run(tmp_path / "run").results
    assert result == run.results[0]
    assert result.answer == "\ud800"
