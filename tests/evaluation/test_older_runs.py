"""Runs of version 0.1, in its first form, and of versions that are yet to come."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from dqa.api.reading import read_run
from dqa.core.errors import UsageError
from dqa.core.events import OtherEvent
from dqa.evaluation.analysis import analyse, read_cases
from dqa.evaluation.folder_lines import read_results, read_traces
from dqa.evaluation.folders import RESULTS, RUN, TRACES
from dqa.evaluation.results import Outcome
from dqa.evaluation.store import FolderStore
from tests.evaluation.records import run_record

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture(params=["run-0.1", "run-0.1-uncertain"])
def older(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of a run whose lines had no version, and whose events kept their data apart."""
    name: str = request.param
    return Path(shutil.copytree(DATA / name, tmp_path / name))


def test_a_run_of_the_first_form_is_read(older: Path) -> None:
    """Its results, and every event of its traces as what it is."""
    run = read_run(older)
    assert run.spec is None
    assert Outcome.CORRECT in {result.outcome for result in run.results}
    for trace in run.traces:
        assert trace.events
        assert not [event for event in trace.events if isinstance(event, OtherEvent)]
        assert run.passages(trace)
    assert "100.0" in run.table()


def test_a_run_of_the_first_form_is_measured(older: Path) -> None:
    """As one of today is."""
    found = analyse(read_cases(older))
    assert {measured.outcome for measured in found.runs} <= {Outcome.CORRECT, Outcome.WRONG}
    assert len(found.runs) == len(read_results(older))


def test_a_run_of_the_first_form_is_not_gone_on_with(older: Path) -> None:
    """The version that began it is named."""
    with pytest.raises(UsageError, match=r"was begun by dqa 0\.1\.0 in an older form"):
        FolderStore(older, run_record(), resume=True)


def newer(folder: Path, name: str) -> None:
    """Make a file one of a version that is yet to come."""
    path = folder / name
    if name == RUN:
        path.write_text(json.dumps(json.loads(path.read_text()) | {"version": 9}), "utf-8")
        return
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    lines[-1]["version"] = 9
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


def test_settings_of_a_newer_version_are_refused_with_their_file(older: Path) -> None:
    """One of many folders may hold them."""
    record = json.loads((older / RUN).read_text("utf-8"))
    settings = {"version": 9, "questions": {"source": "generator"}, "deciders": ["first"]}
    (older / RUN).write_text(json.dumps(record | {"version": 1, "spec": settings}), "utf-8")
    with pytest.raises(UsageError, match=rf"{RUN}: This RunSpec is of version 9"):
        read_run(older)


@pytest.mark.parametrize("name", [RUN, RESULTS, TRACES])
def test_a_newer_version_is_refused_by_name(older: Path, name: str) -> None:
    """With the version of dqa that wrote it."""
    record = json.loads((older / RUN).read_text("utf-8"))
    record["versions"]["dqa"] = "7.1"
    (older / RUN).write_text(json.dumps(record), "utf-8")
    newer(older, name)
    reading = {RUN: read_run, RESULTS: read_results, TRACES: read_traces}[name]
    with pytest.raises(UsageError, match=rf"{name} is of version 9, written by dqa 7\.1"):
        reading(older)
