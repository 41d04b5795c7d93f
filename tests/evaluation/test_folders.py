"""Runs in folders, and runs of older versions."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dqa
from dqa.core.events import OtherEvent
from dqa.core.question_set import QuestionSet
from dqa.evaluation.results import Outcome
from tests.evaluation.conftest import Rule
from tests.evaluation.store_contract import Answer
from tests.sqlite_files import run_script
from tests.stored import record_of

DATA = Path(__file__).parents[1] / "data"
CONTENT = "060d3570e0fe04fc9e1f2209edf1615e5368f5e2cab0962d67f2ed385617703c"
"""The hash of the results that version 0.4 stored in a folder and in a store, in this version."""


@pytest.fixture
def make(questions: QuestionSet, official: Answer, tmp_path: Path) -> Callable[..., dqa.Run]:
    """Make the run, or resume it."""

    def make(**how: Any) -> dqa.Run:
        given = {"databases": "sqlite", "out": tmp_path / "run", **how}
        return dqa.evaluate(questions, Rule("one", official), **given)

    return make


def lines(path: Path) -> list[dict[str, Any]]:
    """Read every line of a file as JSON."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_folder_has_results_and_traces_as_json_lines(
    make: Callable[..., dqa.Run], tmp_path: Path
) -> None:
    """A result has no time, which would differ from run to run."""
    run = make()
    results, traces = (lines(tmp_path / "run" / f"{n}.jsonl") for n in ("results", "traces"))
    assert [line["question"] for line in results] == [result.question for result in run.results]
    assert [line["question"] for line in traces] == [result.question for result in run.results]
    assert "seconds" not in results[0]
    assert traces[0]["evidence"][0]["statement"] == "SELECT 1"
    assert make().made == 0


def test_the_content_of_a_folder_is_never_overwritten(
    make: Callable[..., dqa.Run], tmp_path: Path
) -> None:
    """Another run, other files, a file in its place."""
    before = make().results
    with pytest.raises(dqa.UsageError, match="max_steps"):
        make(max_steps=3)
    assert dqa.read_run(tmp_path / "run").results == before
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(dqa.UsageError, match="is not empty"):
        make(out=tmp_path / "mine")
    with pytest.raises(dqa.UsageError):
        make(out=tmp_path / "mine", resume=True)
    with pytest.raises(dqa.UsageError, match="is a file"):
        make(out=tmp_path / "mine" / "notes.txt")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]


def test_a_refused_run_leaves_no_folder(
    questions: QuestionSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the folder around it. Before the first decision, a missing driver is an error."""
    monkeypatch.setattr("dqa.databases.base.find_spec", lambda name: None)

    def refuse(*_: object) -> str:
        raise dqa.UsageError("The key is wrong.")

    rule, out = Rule("one", refuse), tmp_path / "new" / "run"
    for databases, problem in ((["sqlite"], "key is wrong"), (["sqlite", "duckdb"], "'duckdb' is")):
        with pytest.raises(dqa.UsageError, match=problem):
            dqa.evaluate(questions, rule, databases=databases, out=out)
        assert [path.name for path in tmp_path.rglob("*")] == ["new"]


@pytest.mark.parametrize("name", ["run-0.1", "run-0.1-uncertain"])
def test_a_run_of_the_first_version_is_imported(
    name: str, make: Callable[..., dqa.Run], tmp_path: Path
) -> None:
    """Its traces are shown, steps of methods of that version as data; it cannot be resumed."""
    older = Path(shutil.copytree(DATA / name, tmp_path / name))
    with pytest.raises(dqa.UsageError, match=r"--format run"):
        dqa.read_run(older)
    run = dqa.read_run(dqa.copy_run(older, tmp_path / "imported"))
    assert run.spec is None
    assert Outcome.CORRECT in {result.outcome for result in run.results}
    assert [result.to_json() for result in run.results] == [
        {**dqa.Result.from_json(line).to_json()} for line in lines(older / "results.jsonl")
    ]
    for trace in run.traces:
        assert trace.events
        unknown = [event for event in trace.events if isinstance(event, OtherEvent)]
        assert not unknown or trace.decider.startswith("dellma")
        assert run.passages(trace)
    assert "100.0" in run.report()
    assert len(dqa.analyse(tmp_path / "imported").runs) == len(run.results)
    with pytest.raises(dqa.UsageError, match=r"older|no questions"):
        make(out=tmp_path / "imported", resume=True)


def test_folders_and_stores_of_the_last_version_are_imported(tmp_path: Path) -> None:
    """With equal results, shortcuts and usage."""
    store = run_script(tmp_path / "runs.db", (DATA / "runs-0.4.sql").read_text("utf-8"))
    with pytest.raises(dqa.UsageError, match="older dqa"):
        dqa.read_run(f"{store}#first")
    with pytest.raises(dqa.UsageError, match="first, second"):
        dqa.copy_run(store, tmp_path / "both")
    folder, first = (
        dqa.read_run(dqa.copy_run(source, tmp_path / name))
        for source, name in ((DATA / "run-0.4", "folder"), (f"{store}#first", "new.db#first"))
    )
    assert folder.content_hash == first.content_hash == CONTENT
    assert [t.key for t in folder.traces] == [t.key for t in first.traces]
    assert folder.shortcuts == first.shortcuts
    assert folder.spent == first.spent
    assert folder.report() == first.report()
    assert folder.spec == first.spec
    run_script(store, """UPDATE dqa_runs SET games = '{"weights": {"player": "1"}}'""")
    dqa.copy_run(f"{store}#first", tmp_path / "trained")
    assert record_of(tmp_path / "folder")["resumable"]
    assert not record_of(tmp_path / "trained")["resumable"]


def test_a_run_without_decisions_is_copied_with_its_lost_usage(tmp_path: Path) -> None:
    """Its tokens were paid for."""
    old = shutil.copytree(DATA / "run-0.4", tmp_path / "old")
    source = dqa.copy_run(old, tmp_path / "source")
    run_script(
        tmp_path / "source" / "run.db",
        "INSERT INTO dqa_lost (run_id, input_tokens, output_tokens, calls, cached_tokens,"
        " reasoning_tokens, uncounted) VALUES (1, 5, 5, 1, 0, 0, 0);"
        "DELETE FROM dqa_results;",
    )
    copied = dqa.read_run(dqa.copy_run(source, tmp_path / "copied"))
    assert copied.results == ()
    assert copied.spent.input_tokens == dqa.read_run(source).spent.input_tokens >= 5
