"""Runs in folders and in files of SQLite: the contract, and what is special to a file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import dqa
from dqa.core.question_set import QuestionSet
from dqa.evaluation.location import RunLocation, locate_run
from dqa.evaluation.writable import require_writable
from tests.evaluation.conftest import Rule
from tests.evaluation.store_contract import Answer, SharedStoreContract
from tests.sqlite_files import run_script

FIRST: dict[str, Any] = {"deciders": "first", "databases": "sqlite"}


class TestFolderAndFile(SharedStoreContract):
    """A folder of its own, and a file with several runs."""

    @pytest.fixture(params=["run", "runs.db#run"])
    def place(self, tmp_path: Path, request: pytest.FixtureRequest) -> str:
        """Return the location of a new run."""
        return str(tmp_path / request.param)


@pytest.fixture
def store(questions: QuestionSet, official: Answer, tmp_path: Path) -> Path:
    """Return a file with one finished run."""
    place = f"{tmp_path / 'runs.db'}#first"
    dqa.evaluate(questions, Rule("one", official), databases="sqlite", out=place)
    return tmp_path / "runs.db"


@pytest.fixture(scope="module")
def one() -> QuestionSet:
    """Return one question."""
    return dqa.generate(("locating",), count=1)


def test_a_place_is_told_from_its_text_and_shown_without_its_password(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One place says which form RUN has; a shown URL gets its password from a variable."""
    shown = "postgresql+psycopg://me:***@host/team#first"
    for named, told in {
        "runs/first": "runs/first",
        "runs.db": "runs.db",
        "sqlite:///runs.db#first": "runs.db#first",
        "postgresql://me:s3cret@host/team#first": shown,
        "mysql://me:a#b@host/team": "mysql+pymysql://me:***@host/team",
    }.items():
        place = locate_run(named)
        assert str(place) == told
        assert (place.folder is not None) == (named == "runs/first")
        assert "s3cret" not in repr(place)
    with pytest.raises(dqa.UsageError, match="DQA_STORE_URL"):
        locate_run(shown)
    monkeypatch.setenv("DQA_STORE_URL", "postgresql+psycopg://me:s3cret@host/team")
    found = locate_run(shown)
    assert (found.name, "s3cret" in found.url) == ("first", True)
    (tmp_path / "runs.db").mkdir()
    assert locate_run(tmp_path / "runs.db").folder == tmp_path / "runs.db"


def test_claims_of_a_dead_process_expire(
    store: Path, questions: QuestionSet, official: Answer
) -> None:
    """Another process then makes what the dead one had claimed."""
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("DELETE FROM dqa_results WHERE question = 'locating/1'")
        columns = "run_id, question, database, decider, epoch, worker, expires"
        connection.execute(
            f"INSERT INTO dqa_claims ({columns}) "
            "SELECT 1, 'locating/1', 'sqlite', 'one', 1, 'dead', unixepoch() + 2"
        )
    place = f"{store}#first"
    run = dqa.evaluate(questions, Rule("one", official), databases="sqlite", out=place)
    assert (len(run.results), run.made) == (6, 1)


@pytest.mark.parametrize("to", ["folder", "runs.db#copy"])
def test_a_copy_that_fails_leaves_nothing(
    questions: QuestionSet, official: Answer, tmp_path: Path, to: str
) -> None:
    """A damaged trace is named, and the copy can be made again."""
    source = tmp_path / "one"
    dqa.evaluate(questions, Rule("one", official), databases="sqlite", out=source)
    with closing(sqlite3.connect(source / "run.db")) as connection, connection:
        (whole,) = connection.execute("SELECT trace FROM dqa_results WHERE position = 2").fetchone()
        connection.execute("UPDATE dqa_results SET trace = x'00' WHERE position = 2")
    with pytest.raises(dqa.DataError, match="is damaged"):
        dqa.copy_run(source, tmp_path / to)
    assert len(dqa.find_runs(tmp_path, *tmp_path.glob("*.db"))) == 1
    with closing(sqlite3.connect(source / "run.db")) as connection, connection:
        connection.execute("UPDATE dqa_results SET trace = ? WHERE position = 2", (whole,))
    copied = dqa.read_run(dqa.copy_run(source, tmp_path / to))
    assert copied.content_hash == dqa.read_run(source).content_hash


@pytest.mark.parametrize("refused", ["file", "folder"])
def test_a_file_that_may_not_be_written_is_refused_before_anything_is_asked(
    store: Path, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    """Its user may read it, or may not write next to it."""
    path = store if refused == "file" else store.parent
    monkeypatch.setattr("os.access", lambda one, mode: Path(one) != path or not mode & os.W_OK)
    with pytest.raises(dqa.UsageError, match="You may not write to"):
        require_writable(RunLocation.of_file(store))


@pytest.mark.parametrize("version", ["0004", "0999"])  # of an earlier 0.5, and of a newer dqa
def test_another_version_is_refused(version: str, store: Path, one: QuestionSet) -> None:
    """By name, and nothing in it is changed."""
    run_script(store, f"UPDATE dqa_store_version SET version_num = '{version}'")
    uses: tuple[Callable[[], object], ...] = (
        lambda: dqa.read_run(store),
        lambda: dqa.find_runs(store),
        lambda: dqa.evaluate(one, **FIRST, out=store),
        lambda: dqa.copy_run(f"{store}#first", store.parent / "copy"),
    )
    for use in uses:
        with pytest.raises(dqa.UsageError, match=f"store of version {version}"):
            use()


def test_a_run_records_into_no_cassette_of_another_one(one: QuestionSet, tmp_path: Path) -> None:
    """Its replies would be the other's; the same call resumes with its own, named or not."""
    for number, out in enumerate((f"{tmp_path}/named.db#one", f"{tmp_path}/unnamed.db")):
        cassette = tmp_path / f"replies-{number}.jsonl"
        how: dict[str, Any] = {"calls": dqa.CallOptions(record=cassette), "databases": "sqlite"}
        assert dqa.evaluate(one, "zero-shot", out=out, **how).made
        recorded = cassette.read_bytes()
        assert dqa.evaluate(one, "zero-shot", out=out, **how).made == 0
        with pytest.raises(dqa.UsageError, match=rf"replies-{number}\.jsonl"):
            dqa.evaluate(one, "zero-shot", seed=7, out=out.replace("#one", "#two"), **how)
        assert cassette.read_bytes() == recorded
        assert len(dqa.find_runs(out.partition("#")[0])) == 1


def test_what_is_no_store_is_named(tmp_path: Path) -> None:
    """A text, another database, a missing file, and damage."""
    (tmp_path / "text.db").write_text("no database, but a text of some length", "utf-8")
    run_script(tmp_path / "other.db", "CREATE TABLE shop (name TEXT)")
    (tmp_path / "damaged.db").write_bytes(b"SQLite format 3\x00" + os.urandom(2000))
    for name, problem in {
        "text.db": r"text\.db",
        "other.db": "does not contain runs",
        "none.db": "does not exist",
        "damaged.db": r"damaged\.db",
    }.items():
        with pytest.raises((dqa.DataError, dqa.UsageError), match=problem):
            dqa.read_run(tmp_path / name)


def test_a_database_of_something_else_is_no_store(
    store: Path, one: QuestionSet, tmp_path: Path
) -> None:
    """A run and a copy leave it as it is, to the byte; an empty file becomes a store."""
    foreign = run_script(tmp_path / "crm.db", "CREATE TABLE customers (name TEXT)")
    before = foreign.read_bytes()
    with pytest.raises(dqa.UsageError, match=r"other tables \(customers\).*choose a new file"):
        dqa.evaluate(one, **FIRST, out=foreign)
    with pytest.raises(dqa.UsageError, match="other tables"):
        dqa.copy_run(f"{store}#first", f"{foreign}#first")
    assert foreign.read_bytes() == before
    (tmp_path / "empty.db").touch()
    assert dqa.evaluate(one, **FIRST, out=tmp_path / "empty.db").made
