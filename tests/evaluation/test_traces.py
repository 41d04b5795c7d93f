"""The traces of a run read back as they were written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dqa.core.database import Database
from dqa.core.decision import Ending, Usage
from dqa.core.errors import ParseError, UsageError
from dqa.core.question import Question
from dqa.evaluation.folder_lines import read_traces
from dqa.evaluation.folders import TRACES
from dqa.evaluation.plan import Setup
from dqa.evaluation.run import evaluate
from dqa.evaluation.score import Judge
from dqa.evaluation.store import FolderStore
from tests.evaluation.records import run_record

Answers = Callable[[Question, Database], str]


@pytest.fixture
def folder(make_setup: Callable[..., Setup], official: Answers, tmp_path: Path) -> Path:
    """Return the folder of a finished run."""
    setup = make_setup(one=official)
    evaluate(setup, Judge(setup.questions, "paper"), FolderStore(tmp_path / "run", run_record()))
    return tmp_path / "run"


def test_every_decision_is_read_back(folder: Path) -> None:
    """With its evidence, its cost and how it ended."""
    traces = read_traces(folder)
    assert len({trace.key for trace in traces}) == 6
    first = traces[0]
    assert (first.ending, first.usage, first.steps) == (Ending.ANSWERED, Usage(10, 5, 1), 2)
    assert first.evidence[0].statement == "SELECT 1"
    assert (first.database, first.kind, first.decider) == ("sqlite", "relational", "one")


@pytest.mark.parametrize("name", ["locating/1", 'locating/"é"'])
def test_of_one_question_the_traces_alone_are_read(folder: Path, name: str) -> None:
    """However its line is spelt; a run of thousands has gigabytes of them."""
    path = folder / TRACES
    first, *others = map(json.loads, path.read_text("utf-8").splitlines())
    renamed = [
        json.dumps(first | {"question": name}, ensure_ascii=escaped) for escaped in (False, True)
    ]
    told = json.dumps(first | {"question": "locating/other", "answer": name})
    kept = [json.dumps(other) for other in others if other["question"] != name]
    path.write_text("\n".join([*renamed, told, *kept, ""]), "utf-8")
    assert [trace.question for trace in read_traces(folder, name)] == [name]
    assert read_traces(folder, "locating/none") == []


def test_of_a_decision_made_twice_the_last_counts(folder: Path) -> None:
    """A resumed run asks again what a failing server ended."""
    path = folder / TRACES
    again = json.loads(path.read_text("utf-8").splitlines()[0]) | {"answer": "later"}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(again) + "\n")
    traces = read_traces(folder)
    assert len(traces) == 6
    assert traces[0].answer == "later"


def test_a_half_written_last_line_is_skipped(folder: Path) -> None:
    """The file is left as it is: the run may still be going on."""
    path = folder / TRACES
    path.write_bytes(path.read_bytes()[:-20])
    before = path.read_bytes()
    assert len(read_traces(folder)) == 5
    assert path.read_bytes() == before


@pytest.mark.parametrize("damage", ["{}", "[]", "5", "{", '{"question": "locating/1"}'])
def test_a_damaged_line_is_named(folder: Path, damage: str) -> None:
    """With its file and its number."""
    path = folder / TRACES
    lines = path.read_text("utf-8").splitlines()
    lines[1] = damage
    path.write_text("\n".join(lines) + "\n", "utf-8")
    with pytest.raises(ParseError, match=r"traces\.jsonl:2"):
        read_traces(folder)


def test_an_unknown_ending_is_a_damaged_line(folder: Path) -> None:
    """Nothing is read as something it does not say."""
    path = folder / TRACES
    path.write_text(path.read_text("utf-8").replace('"answered"', '"bored"'), "utf-8")
    with pytest.raises(ParseError, match="bored"):
        read_traces(folder)


def test_a_folder_without_a_run_is_said_to_be_one(tmp_path: Path) -> None:
    """And what to name instead."""
    with pytest.raises(UsageError, match="holds no run"):
        read_traces(tmp_path)
