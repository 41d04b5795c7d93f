"""Runs in stores, as commands make, list, show and copy them."""

from __future__ import annotations

import json
from pathlib import Path

import dqa as api
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
    listed = json.loads(dqa("runs", store, "--json").out)
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
