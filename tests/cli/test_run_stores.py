"""Runs in stores, as commands make, list, show and copy them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dqa as api
from dqa.core.database import Database
from dqa.core.decision import Decision
from dqa.core.errors import DatabaseUnavailableError
from dqa.core.question import Question
from dqa.deciders.baselines import Baseline
from tests.cli.conftest import Command

HOW = ("--databases", "sqlite", "--deciders", "first,random")


def test_the_same_command_goes_on_with_its_own_run(
    dqa: Command, generated: Path, tmp_path: Path
) -> None:
    """A finished run is shown again; another command is another run of the same store."""
    store = tmp_path / "runs.db"
    first = dqa("eval", "--generated", generated, *HOW, "--out", store)
    assert (first.code, "already made" in first.err) == (0, False)
    again = dqa("eval", "--generated", generated, *HOW, "--out", store)
    assert again.out == first.out
    assert "all decisions were already made" in again.err
    other = dqa("eval", "--generated", generated, *HOW, "--limit", "1", "--out", f"{store}#few")
    assert other.code == 0
    listed = json.loads(dqa("runs", tmp_path, "--json").out)
    assert {Path(run["folder"]).name.partition("#")[2] for run in listed} >= {"few"}
    assert [run["counts"]["complete"] for run in listed] == [True, True]
    assert "2 runs: choose one of" in dqa("show", store).err
    assert dqa("show", f"{store}#few").out == other.out
    assert f"Results and traces are in {store}#few." in other.out
    (trace, *_) = api.read_run(f"{store}#few").traces
    shown = dqa("show", f"{store}#few", trace.question, "--decider", "first")
    assert (shown.code, trace.question in shown.out) == (0, True)
    assert dqa("analyse", f"{store}#few").code == 0
    assert dqa("compare", f"{store}#few").code == 0
    assert dqa("report", f"{store}#few", "--out", tmp_path / "report.html").code == 0
    told = dqa("report", f"{store}#few", "--json")
    assert json.loads(told.out)["questions"]
    assert "--json" in dqa("report", f"{store}#few").err
    assert "Report of few" in (tmp_path / "report.html").read_text("utf-8")


def test_failures_are_asked_again_by_an_option(
    dqa: Command, generated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it the same command says how many there are, and how they are asked again."""
    gone = True
    decide = Baseline.decide

    def fail(self: Baseline, question: Question, database: Database) -> Decision:
        if gone and question.id == "1":
            raise DatabaseUnavailableError("the server 'db' is gone")
        return decide(self, question, database)

    monkeypatch.setattr(Baseline, "decide", fail)
    place = f"{tmp_path}/runs.db#one"
    how = ("eval", "--generated", generated, *HOW, "--patience", "0", "--out", place)
    first = dqa(*how)
    assert first.code == 1
    gone = False
    again = dqa(*how)
    assert (again.code, again.out) == (1, first.out)
    assert "could not be judged" in again.err
    assert f"'dqa eval --resume \"{place}\"' resumes the run" in again.err
    assert dqa(*how, "--retry-failed").code == 0
    assert api.read_run(place).counts.failed == 0
