"""A run's folder: damage, older and newer versions, and folders that are no run's."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dqa
from dqa.core.errors import ParseError
from dqa.core.events import OtherEvent
from dqa.core.question_set import QuestionSet
from dqa.evaluation.results import Outcome
from tests.evaluation.conftest import Rule
from tests.evaluation.store_contract import Answer

DATA = Path(__file__).parents[1] / "data"
RUN, RESULTS, TRACES = "run.json", "results.jsonl", "traces.jsonl"


@pytest.fixture
def make(questions: QuestionSet, official: Answer, tmp_path: Path) -> Callable[..., dqa.Run]:
    """Make the run, or resume it."""

    def make(**how: Any) -> dqa.Run:
        given = {"databases": "sqlite", "out": tmp_path / "run", **how}
        return dqa.evaluate(questions, Rule("one", official), **given)

    return make


@pytest.fixture
def folder(make: Callable[..., dqa.Run], tmp_path: Path) -> Path:
    """Return the folder of a finished run of six decisions."""
    make()
    return tmp_path / "run"


def lines(path: Path) -> list[dict[str, Any]]:
    """Read every line of a file as JSON."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_results_and_traces_are_json_lines(folder: Path) -> None:
    """A result has its worth and no time, which would differ from run to run."""
    results, traces = lines(folder / RESULTS), lines(folder / TRACES)
    assert len(results) == len(traces) == 6
    assert results[0]["outcome"] == "correct"
    assert "seconds" not in results[0]
    assert traces[0]["evidence"][0]["statement"] == "SELECT 1"


@pytest.mark.parametrize("name", [RESULTS, TRACES])
def test_a_half_written_last_line_costs_one_decision(
    folder: Path, make: Callable[..., dqa.Run], name: str
) -> None:
    """It counts nowhere; resumed, the run makes that decision again, and has its trace once."""
    whole = dqa.read_run(folder)
    (folder / name).write_bytes((folder / name).read_bytes()[:-20])
    if name == RESULTS:
        read = dqa.read_run(folder)
        assert len(read.results) == len(read.traces) == 5
    else:  # without its trace, the result is a decision all the same
        assert len(dqa.read_run(folder).results) == 6
    resumed = make(resume=True)
    assert resumed.results == whole.results
    assert resumed.made == (1 if name == RESULTS else 0)
    if name == RESULTS:
        assert resumed.spent.calls == whole.spent.calls + 1
        assert len(lines(folder / TRACES)) == len(lines(folder / RESULTS)) == 6


@pytest.mark.parametrize("damage", ["{}", "[]", "{", '{"question": "locating/1"}', "bored"])
@pytest.mark.parametrize("name", [RESULTS, TRACES])
def test_a_damaged_line_is_named_until_it_is_mended(
    folder: Path, make: Callable[..., dqa.Run], name: str, damage: str
) -> None:
    """With its file and number, by a reader and a run; afterwards the same process resumes."""
    whole = (folder / name).read_text("utf-8")
    given = whole.splitlines()
    known = '"answered"' if name == TRACES else '"correct"'
    given[2] = given[2].replace(known, '"bored"') if damage == "bored" else damage
    (folder / name).write_text("\n".join(given) + "\n", "utf-8")
    with pytest.raises(ParseError, match=rf"{name}:3".replace(".", r"\.")):
        _ = dqa.read_run(folder).traces
    if name == RESULTS:
        with pytest.raises(ParseError):
            make(resume=True)
    (folder / name).write_text(whole, "utf-8")
    assert make(resume=True).made == 0


def test_of_a_decision_that_was_traced_twice_the_last_counts(
    folder: Path, make: Callable[..., dqa.Run]
) -> None:
    """As earlier versions left one that was made again."""
    traces = (folder / TRACES).read_text("utf-8").splitlines(keepends=True)
    first = traces[0].replace('"steps":2', '"steps":7')
    assert first != traces[0]
    (folder / TRACES).write_text("".join([first, *traces]), "utf-8")
    read = dqa.read_run(folder)
    assert [trace.steps for trace in read.traces] == [2] * 6
    make(resume=True)
    assert (folder / TRACES).read_text("utf-8") == "".join(traces)


def test_two_runs_never_write_one_folder(
    questions: QuestionSet, official: Answer, tmp_path: Path
) -> None:
    """The second is refused, and the first ends as if nothing had been."""
    refused: list[str] = []

    class Second(dqa.Watcher):
        def decided(self, result: dqa.Result) -> None:
            with pytest.raises(dqa.UsageError) as told:
                dqa.evaluate(questions, Rule("one", official), out=tmp_path / "run", resume=True)
            refused.append(str(told.value))

    run = dqa.evaluate(
        questions,
        Rule("one", official),
        databases="sqlite",
        out=tmp_path / "run",
        watcher=Second(),
    )
    assert len(refused) == len(run.results) == 6
    assert all("Another process is writing" in told for told in refused)


def test_what_a_folder_holds_is_never_overwritten(
    folder: Path, make: Callable[..., dqa.Run], tmp_path: Path
) -> None:
    """Another run, something else, a file; half a record is as good as nothing."""
    before = (folder / RESULTS).read_bytes()
    with pytest.raises(dqa.UsageError, match="--resume"):
        make()
    assert (folder / RESULTS).read_bytes() == before
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(dqa.UsageError, match="is not empty"):
        make(out=tmp_path / "mine")
    with pytest.raises(dqa.UsageError):
        make(out=tmp_path / "mine", resume=True)
    with pytest.raises(dqa.UsageError, match="is a file"):
        make(out=tmp_path / "mine" / "notes.txt")
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "run.json.new").write_text('{"version"')
    make(out=tmp_path / "new")
    assert not (tmp_path / "new" / "run.json.new").exists()


def test_a_refused_run_leaves_no_folder_that_it_made(
    make: Callable[..., dqa.Run], questions: QuestionSet, tmp_path: Path
) -> None:
    """Those that were there stay."""
    (tmp_path / "there").mkdir()

    def refuse(*_: object) -> str:
        raise dqa.UsageError("The key is wrong.")

    for out in (tmp_path / "there" / "new" / "run", tmp_path / "there"):
        with pytest.raises(dqa.UsageError, match="key is wrong"):
            dqa.evaluate(questions, Rule("one", refuse), databases="sqlite", out=out)
        assert [path.name for path in tmp_path.rglob("*")] in ([], ["there"])


def test_a_run_of_an_older_spec_is_read_and_not_resumed(
    folder: Path, make: Callable[..., dqa.Run]
) -> None:
    """A rule set of the same name may count otherwise today."""
    written = json.loads((folder / RUN).read_text("utf-8"))
    del written["spec"]["display"]
    written["spec"]["version"] = 1
    (folder / RUN).write_text(json.dumps(written), "utf-8")
    before = (folder / RESULTS).read_bytes()
    with pytest.raises(dqa.UsageError, match="older form, which can be read but not resumed"):
        make(resume=True)
    assert (folder / RESULTS).read_bytes() == before
    assert len(dqa.read_run(folder).results) == 6


@pytest.fixture(params=["run-0.1", "run-0.1-uncertain"])
def older(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a copy of a run of version 0.1, whose lines had no version."""
    name: str = request.param
    return Path(shutil.copytree(DATA / name, tmp_path / name))


def test_a_run_of_the_first_form_is_read_and_measured_and_not_resumed(
    older: Path, make: Callable[..., dqa.Run]
) -> None:
    """Every event of its traces is what it was."""
    run = dqa.read_run(older)
    assert run.spec is None
    assert Outcome.CORRECT in {result.outcome for result in run.results}
    for trace in run.traces:
        assert trace.events
        assert not [event for event in trace.events if isinstance(event, OtherEvent)]
        assert run.passages(trace)
    assert "100.0" in run.table()
    assert len(dqa.analyse(older).runs) == len(run.results)
    with pytest.raises(dqa.UsageError, match=r"begun by dqa 0\.1\.0|no questions"):
        make(out=older, resume=True)


@pytest.mark.parametrize("name", [RUN, RESULTS, TRACES])
def test_a_newer_version_is_refused_by_name(older: Path, name: str) -> None:
    """With the version of dqa that wrote it."""
    record = json.loads((older / RUN).read_text("utf-8"))
    record["versions"]["dqa"] = "7.1"
    if name == RUN:
        record["version"] = 9
    else:
        read = lines(older / name)
        read[-1]["version"] = 9
        (older / name).write_text("".join(f"{json.dumps(line)}\n" for line in read), "utf-8")
    (older / RUN).write_text(json.dumps(record), "utf-8")
    with pytest.raises(dqa.UsageError, match=rf"{name} is of version 9, written by dqa 7\.1"):
        _ = dqa.read_run(older).traces


def test_settings_of_a_newer_version_are_refused_with_their_file(older: Path) -> None:
    """One of many folders may hold them."""
    record = json.loads((older / RUN).read_text("utf-8"))
    settings = {"version": 9, "questions": {"source": "generator"}, "deciders": ["first"]}
    (older / RUN).write_text(json.dumps(record | {"version": 1, "spec": settings}), "utf-8")
    with pytest.raises(dqa.UsageError, match=rf"{RUN}: This RunSpec is of version 9"):
        dqa.read_run(older)
