"""A run's folder is enough: to list it, to print its table again, to go on with it."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from pathlib import Path

import pytest

import dqa as api
from tests.cli.conftest import Command
from tests.models.model_server import ModelServer
from tests.sqlite_files import run_script
from tests.stored import change_record, change_results, record_of

DECIDERS = ("--deciders", "planrag,first,random")
FAILED = {"outcome": "infrastructure", "error": "the server 'db' is gone", "choice": None}


@pytest.fixture(scope="module")
def finished(generated: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return a run on questions that are gone by now, and what `dqa eval` printed."""
    from typer.testing import CliRunner

    from dqa.cli.main import app

    folder = tmp_path_factory.mktemp("finished")
    questions = Path(shutil.copytree(generated, folder / "questions"))
    prices = ("--price-input", "2", "--price-output", "10")
    ran = CliRunner().invoke(
        app,
        ["eval", "--generated", str(questions), *DECIDERS, *prices, "--out", str(folder / "run")],
    )
    assert ran.exit_code == 0, ran.output
    shutil.rmtree(questions)
    return folder / "run", ran.stdout


@pytest.fixture
def copied(finished: tuple[Path, str], tmp_path: Path) -> Path:
    """Return a copy of the run that may be changed."""
    return Path(shutil.copytree(finished[0], tmp_path / "run"))


def fail(folder: Path, count: int) -> None:
    """Let a failing server have ended the first decisions of a run."""
    numbers = itertools.count()
    change_results(folder, lambda line: line | (FAILED if next(numbers) < count else {}))


def test_a_stored_run_prints_its_table_to_the_character(
    dqa: Command, finished: tuple[Path, str]
) -> None:
    """With shortcuts, chance, ties and cost; its questions are gone by now."""
    folder, printed = finished
    ran = dqa("show", folder)
    assert (ran.code, ran.err) == (0, "")
    assert "Best shortcut" in ran.out
    assert "; cost unknown" in ran.out
    assert ran.out == printed


def test_wrong_answers_are_listed_with_what_is_right_and_how_to_look(
    dqa: Command, finished: tuple[Path, str]
) -> None:
    """Two lines each: the second is the command that shows its trace."""
    folder, _ = finished
    expected = api.read_run(folder).find(wrong=True)
    assert expected
    *told, last = dqa("show", folder, "--wrong").out.splitlines()
    assert last == f"{len(expected)} of 24 decisions."
    assert len(told) == 2 * len(expected)
    for result, line, command in zip(expected, told[::2], told[1::2], strict=True):
        assert line.startswith(f"{result.question} on {result.database} by {result.decider}: wrong")
        assert f"Chose {result.choice}; the right answer is " in line
        shown = dqa(*command.split()[1:])
        assert shown.code == 0, shown.err
        title = f"{result.question} | {result.database} | {result.decider}"
        assert shown.out.splitlines()[0] == title


def test_decisions_are_narrowed_down_by_what_they_are_about(
    dqa: Command, finished: tuple[Path, str]
) -> None:
    """By question, scenario, database, decider and outcome, together; as JSON their results."""
    folder, _ = finished
    narrowed = ("--scenario", "locating", "--database", "sqlite", "--decider", "first", "--json")
    lines = json.loads(dqa("show", folder, *narrowed).out)
    assert [line["question"] for line in lines] == ["locating/1", "locating/2"]
    one = json.loads(dqa("show", folder, "building/1", "--json").out)
    assert len(one) == 6
    right = json.loads(dqa("show", folder, "--outcome", "correct", "--json").out)
    wrong = json.loads(dqa("show", folder, "--wrong", "--json").out)
    assert {line["outcome"] for line in right} == {"correct"}
    assert len(right) + len(wrong) == 24
    unknown = dqa("show", folder, "--decider", "planrug")
    assert (unknown.code, unknown.out) == (2, "")
    assert "Did you mean 'planrag'?" in unknown.err
    ran = dqa("show", folder, "--outcome", "lucky")
    assert ran.code == 2
    assert "Invalid value for '--outcome': 'lucky' is not one of 'correct'" in ran.err


def test_runs_are_listed_wherever_they_lie(
    dqa: Command, finished: tuple[Path, str], copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was evaluated and when, how much is judged, failed and right, and what is no run."""
    fail(copied, 6)
    numbers = itertools.count()
    change_results(copied, lambda line: line if next(numbers) < 20 else None)
    top = copied.parent
    shutil.copytree(finished[0], top / "runs" / "newer")
    run_script(
        top / "runs" / "newer" / "run.db", "UPDATE dqa_store_version SET version_num = '9999'"
    )
    run_script(top / "run.db", "CREATE TABLE other (a)")
    (top / ".hidden").mkdir()
    shutil.copytree(finished[0], top / ".hidden" / "run")
    monkeypatch.chdir(top)
    found = {run["folder"]: run for run in json.loads(dqa("runs", "--json").out)}
    assert set(found) == {"run", str(Path("runs", "newer"))}
    run = found["run"]
    assert run["deciders"] == ["planrag", "first", "random"]
    assert run["databases"] == ["sqlite", "ladybug"]
    assert run["model"] == "scripted:analyst"
    assert run["questions"] == "folder questions: locating, building"
    counts = run["counts"]
    assert (counts["planned"], counts["judged"], counts["failed"]) == (24, 14, 6)
    assert counts["complete"] is False
    assert "9999" in found["runs/newer"]["problem"]
    assert found["runs/newer"]["began"] is None
    text = dqa("runs", top, top / "runs").out
    assert re.search(r"14 of 24 judged, [\d.]+ % of them right; 6 failed; 4 not", text)
    assert f"resume with: dqa eval --resume {top / 'run'}" in text
    assert re.search(
        rf"{top / 'runs' / 'newer'}  unknown date  cannot be read\n    .*version 9999", text
    )
    assert api.find_runs(finished[0].parent)[0].counts.complete is True
    assert "does not exist" in dqa("runs", top / "nowhere").err
    (top / "empty").mkdir()
    assert "No runs were found" in dqa("runs", top / "empty").out


def test_a_password_that_is_not_in_the_folder_is_asked_for_by_name(
    dqa: Command, copied: Path, generated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a model's address by its option, of a database by its variable."""
    record = record_of(copied)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with ModelServer(lambda _: "") as server:
        address = server.url.replace("://", "://me:***@")
        record["spec"]["model"] = {"name": "openai:m", "base_url": address}
        change_record(copied, record)
        ran = dqa("eval", "--resume", copied, "--generated", generated)
        assert ran.code == 2
        assert "give --base-url" in ran.err
        whole = ("--base-url", address.replace("***", "secret"))
        ran = dqa("eval", "--resume", copied, "--generated", generated, *whole)
        assert ran.code == 0, ran.err
    assert "secret" not in json.dumps(record_of(copied))
    record["spec"]["model"] = {"name": "scripted:analyst", "base_url": None}
    record["spec"]["databases"] = ["mysql+pymysql://me:***@127.0.0.1:1/db"]
    change_record(copied, record)
    ran = dqa("eval", "--resume", copied, "--generated", generated)
    assert "DQA_MYSQL_URL is not set" in ran.err
    assert "--databases" in ran.err
