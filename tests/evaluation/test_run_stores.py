"""A run in a store: kept at once, gone on with by the same command, made by several processes."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

import dqa
from dqa import plugins
from dqa.cli.progress import Progress
from dqa.core.database import Database
from dqa.core.decision import Usage
from dqa.core.errors import (
    DatabaseUnavailableError,
    DataError,
    ParseError,
    UnknownNameError,
    UsageError,
)
from dqa.core.question import Question
from dqa.core.records import dump_line
from dqa.evaluation.options import RunOptions
from dqa.evaluation.plan import Setup, plan
from dqa.evaluation.results import Outcome, Result, hash_results
from dqa.evaluation.run import evaluate
from dqa.evaluation.score import Judge
from dqa.evaluation.store import FolderStore, RunStore
from dqa.evaluation.stores import schema
from dqa.evaluation.stores.claims import LEASE_SECONDS, Workers
from dqa.evaluation.stores.database import DatabaseStore
from dqa.evaluation.stores.engine import open_engine, write
from dqa.evaluation.stores.places import FolderPlace, StorePlace, is_same_database, place_of
from dqa.evaluation.stores.processes import Process
from dqa.evaluation.stores.reading import open_reader
from dqa.evaluation.stores.rows import pack, result_of, row_of, task_of, unpack
from dqa.evaluation.stores.runs import name_of
from dqa.evaluation.stores.tables import RESULTS
from tests.evaluation.records import run_record

Answers = Callable[[Question, Database], str]
ONE = RunOptions(workers=1)


def store_at(place: Path | str, **how: Any) -> DatabaseStore:
    """Open the store of the usual run."""
    found = place_of(place)
    assert isinstance(found, StorePlace)
    return DatabaseStore(found, run_record(), **how)


def made(setup: Setup, store: RunStore, options: RunOptions = ONE) -> tuple[Result, ...]:
    """Make what a store lacks."""
    return evaluate(setup, Judge(setup.questions, "paper"), store, options)


@pytest.fixture
def store(make_setup: Callable[..., Setup], official: Answers, tmp_path: Path) -> Path:
    """Return a store with one finished run."""
    made(make_setup(one=official), store_at(tmp_path / "runs.db#first"))
    return tmp_path / "runs.db"


@pytest.mark.parametrize(
    ("named", "shown"),
    [
        ("runs/first", "runs/first"),
        ("runs.db", "runs.db"),
        ("runs.db#first", "runs.db#first"),
        ("sqlite:///runs.db#first", "runs.db#first"),
        (
            "postgresql://me:s3cret@host/team#first",
            "postgresql+psycopg://me:***@host/team#first",
        ),
        ("mysql://me:a#b@host/team", "mysql+pymysql://me:***@host/team"),
    ],
)
def test_a_place_is_told_from_its_text_and_shown_without_its_password(
    named: str, shown: str
) -> None:
    """One place says which form RUN has."""
    place = place_of(named)
    assert str(place) == shown
    assert isinstance(place, FolderPlace) == ("db" not in named and "://" not in named)
    assert "s3cret" not in repr(place)


def test_a_shown_url_is_given_its_password_by_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the command which a message names can be pasted."""
    shown = "postgresql+psycopg://me:***@host/team#first"
    with pytest.raises(UsageError, match="DQA_STORE_URL"):
        place_of(shown)
    monkeypatch.setenv("DQA_STORE_URL", "postgresql+psycopg://me:s3cret@host/team")
    place = place_of(shown)
    assert isinstance(place, StorePlace)
    assert (place.name, "s3cret" in place.url) == ("first", True)


def test_a_folder_goes_before_a_store_of_that_name(tmp_path: Path) -> None:
    """A folder that is called like a file of a store is a folder; other files are no stores."""
    (tmp_path / "runs.db").mkdir()
    assert place_of(tmp_path / "runs.db") == FolderPlace(tmp_path / "runs.db")
    (tmp_path / "trace.json").write_text("{}", "utf-8")
    assert isinstance(place_of(tmp_path / "trace.json"), FolderPlace)


def test_folder_and_store_hold_the_same(
    store: Path, make_setup: Callable[..., Setup], official: Answers, tmp_path: Path
) -> None:
    """Results, traces and hash of the content."""
    made(make_setup(one=official), FolderStore(tmp_path / "folder", run_record()))
    folder, kept = dqa.read_run(tmp_path / "folder"), dqa.read_run(store)
    assert kept.results == folder.results
    assert kept.content_hash == folder.content_hash == hash_results(folder.results)
    told = [(trace.key, trace.answer, trace.usage) for trace in folder.traces]
    assert [(trace.key, trace.answer, trace.usage) for trace in kept.each_trace()] == told
    assert str(kept.place) == f"{store}#first"
    assert set(kept.seconds.values()) == set(folder.seconds.values()) == {0.25}
    assert kept.name == "first"
    (one,) = kept.select(kept.results[3].question)
    assert one.key == kept.results[3].key


def test_a_finished_run_is_not_made_again(
    store: Path, make_setup: Callable[..., Setup], official: Answers
) -> None:
    """The same command finds its results."""
    again = store_at(f"{store}#first")
    results = made(make_setup(one=official), again)
    assert (again.added, again.fresh, len(results)) == (0, False, 6)


def test_an_interrupted_run_goes_on_and_ends_the_same(
    store: Path, make_setup: Callable[..., Setup], official: Answers, tmp_path: Path
) -> None:
    """What was decided is not asked again, and stands in the order of the plan."""
    asked: list[str] = []

    def stop(question: Question, database: Database) -> str:
        asked.append(question.key)
        if len(asked) == 4:
            raise KeyboardInterrupt
        return official(question, database)

    with pytest.raises(KeyboardInterrupt):
        made(make_setup(one=stop), store_at(tmp_path / "b.db#run"))
    assert len(dqa.read_run(tmp_path / "b.db").results) == 3
    results = made(make_setup(one=stop), store_at(tmp_path / "b.db#run"))
    assert len(asked) == 7
    assert hash_results(results) == dqa.read_run(store).content_hash


def test_what_failed_is_asked_again_where_that_is_wanted(
    make_setup: Callable[..., Setup], official: Answers, tmp_path: Path
) -> None:
    """Its trace goes where its usage is counted; without the option it stays a failure."""
    failing = [True]

    def fail(question: Question, database: Database) -> str:
        if question.id == "2" and failing:
            raise DatabaseUnavailableError("gone")
        return official(question, database)

    setup, place = make_setup(one=fail), tmp_path / "runs.db#run"
    results = made(setup, store_at(place), RunOptions(workers=1, patience=0.0))
    failed = [result for result in results if result.outcome is Outcome.INFRASTRUCTURE]
    assert len(failed) == 2
    failing.clear()
    assert made(setup, store_at(place)) == results
    again = store_at(place, retry_failed=True)
    assert all(r.outcome is Outcome.CORRECT for r in made(setup, again))
    assert again.added == 2
    lines = list(open_reader(place_of(place)).abandoned_lines())
    assert {line["question"] for line in lines} == {result.question for result in failed}


def test_a_server_that_goes_away_for_a_moment_costs_nothing(
    make_setup: Callable[..., Setup], official: Answers, tmp_path: Path
) -> None:
    """Whatever the run was just doing: claiming, keeping, looking what others have made."""
    setup, store = make_setup(one=official), store_at(tmp_path / "runs.db#run")
    engine = vars(store)["_engine"]
    failed = set[str]()

    def fail_once(*told: Any) -> None:
        statement = str(told[2])
        if statement not in failed and "ORDER BY" not in statement:  # what is read in the end
            failed.add(statement)
            raise OperationalError(statement, None, ConnectionError("the server is gone"))

    event.listen(engine, "before_cursor_execute", fail_once)
    results = made(setup, store)
    assert {result.outcome for result in results} == {Outcome.CORRECT}
    assert len(results) == len(plan(setup))
    assert len(failed) > 6


def test_two_processes_share_a_run(
    make_setup: Callable[..., Setup], official: Answers, store: Path, tmp_path: Path
) -> None:
    """Each decision is asked once, and both end with the whole run."""
    asked: list[str] = []
    together = threading.Barrier(2, timeout=20)

    def answer(question: Question, database: Database) -> str:
        if len(asked) < 2:
            asked.append(question.key)
            together.wait()
        else:
            asked.append(question.key)
        return official(question, database)

    stores = [store_at(tmp_path / "shared.db#run") for _ in range(2)]
    found: list[tuple[Result, ...]] = []
    threads = [
        threading.Thread(
            target=lambda kept: found.append(made(make_setup(one=answer), kept)), args=(one,)
        )
        for one in stores
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(asked) == sorted({result.question for result in found[0]})
    assert sum(one.added for one in stores) == 6
    assert all(one.added for one in stores)
    hashes = {hash_results(results) for results in found}
    assert hashes == {dqa.read_run(store).content_hash}


def test_two_claims_never_meet_and_a_batch_has_one_database(
    make_setup: Callable[..., Setup], official: Answers, tmp_path: Path
) -> None:
    """A second process begins where no database is open yet."""
    setup = make_setup(one=official, two=official)
    tasks = plan(setup)
    stores = [store_at(tmp_path / "runs.db#run") for _ in range(2)]
    claimed = []
    for one in stores:
        assert one.begin(tasks) == 12
    for _ in range(20):
        for one in stores:
            batch = one.claim(3)
            assert len({task.group for task in batch}) <= 1
            claimed += [task.key for task in batch]
    assert sorted(claimed) == sorted(task.key for task in tasks)
    assert not any(one.is_finished() for one in stores)
    stores[0].close()  # and what it had claimed is free
    assert len(stores[1].claim(12)) > 0
    stores[1].close()


def test_what_a_dead_process_claimed_is_free_at_once(
    make_setup: Callable[..., Setup], official: Answers, tmp_path: Path
) -> None:
    """A number of a process that was given out again is another process."""
    setup, place = make_setup(one=official), tmp_path / "runs.db#run"
    dead = store_at(place)
    tasks = plan(setup)
    dead.begin(tasks)
    assert len(dead.claim(2)) == 2
    with sqlite3.connect(tmp_path / "runs.db") as connection:
        connection.execute("UPDATE dqa_workers SET started = started || '0'")
    assert len(made(setup, store_at(place))) == 6
    dead.close()


def test_who_waits_is_told_what_other_processes_make(
    make_setup: Callable[..., Setup], official: Answers, tmp_path: Path
) -> None:
    """So that a bar shows how far the run is, and not this process's part of it."""
    setup, place = make_setup(one=official), tmp_path / "runs.db#run"
    tasks = plan(setup)
    ours, progress = store_at(place), Progress(verbose=False)
    progress.total, progress.done = len(tasks), 0
    ours.on_elsewhere = progress.decided_elsewhere
    ours.begin(tasks)
    mine = ours.claim(2)
    theirs = store_at(place)
    done: list[str] = []

    def one_more(result: Result) -> None:
        done.append(result.question)
        ours.is_finished()
        assert progress.done == len(done)
        if len(done) == len(tasks) - len(mine):
            raise KeyboardInterrupt  # what is left is ours

    with pytest.raises(KeyboardInterrupt):
        evaluate(setup, Judge(setup.questions, "paper"), theirs, ONE, one_more)
    assert progress.done == len(tasks) - len(mine)
    ours.close()
    again = Progress(verbose=False)
    last = store_at(place)
    last.on_elsewhere = again.decided_elsewhere
    again.done = len(last.results)
    evaluate(setup, Judge(setup.questions, "paper"), last, ONE, again.decided)
    assert again.done == len(tasks)


def test_what_this_process_could_not_give_back_is_free(
    make_setup: Callable[..., Setup], official: Answers, tmp_path: Path
) -> None:
    """As where a server was away when a run ended, and the same Python goes on with it."""
    setup = make_setup(one=official)
    place = tmp_path / "runs.db#run"
    left = store_at(place)
    left.begin(plan(setup))
    assert len(left.claim(2)) == 2
    with closing(sqlite3.connect(tmp_path / "runs.db", isolation_level=None)) as connection:
        connection.execute("ALTER TABLE dqa_workers RENAME TO away")
        left.close()
        connection.execute("ALTER TABLE away RENAME TO dqa_workers")
    assert len(made(setup, store_at(place))) == 6


def test_another_machines_process_is_dead_once_its_heart_stops(
    make_setup: Callable[..., Setup], official: Answers, tmp_path: Path
) -> None:
    """By the clock of whoever waits: machines' clocks differ."""
    place = tmp_path / "runs.db#run"
    far = store_at(place)
    with sqlite3.connect(tmp_path / "runs.db") as connection:
        connection.execute("UPDATE dqa_workers SET host = 'far away'")
    now = [0.0]
    engine = open_engine(far.place, writing=True)
    workers = Workers(1, lambda: now[0])
    with write(engine) as connection:
        workers.enter(connection)
        (far_away,) = workers.bury(connection)
        now[0] = LEASE_SECONDS - 1
        assert workers.bury(connection) == {far_away}
        connection.exec_driver_sql("UPDATE dqa_workers SET beats = beats + 1")
        now[0] = 1.5 * LEASE_SECONDS
        assert workers.bury(connection) == {far_away}
        now[0] = 3 * LEASE_SECONDS
        assert workers.bury(connection) == set()
    engine.dispose()
    far.close()


def test_this_process_is_known_to_live() -> None:
    """And one that has ended is not."""
    current = Process.current()
    if current.is_alive() is None:
        pytest.skip("nobody tells here when a process started")
    assert current.is_alive() is True
    ended = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert replace(current, pid=int(ended.stdout)).is_alive() is False
    assert replace(current, host="another").is_alive() is None


def test_a_decision_is_kept_once(store: Path) -> None:
    """Who comes second has used what counts as lost; the same once more has not."""
    run = dqa.read_run(store)
    result, trace = run.results[0], run.traces[0]
    again = store_at(f"{store}#first")
    again.add(result, trace)
    reader = open_reader(place_of(store))
    assert reader.abandoned() == Usage()
    again.add(result.changed(answer="another"), trace.changed(answer="another"))
    again.close()
    assert reader.abandoned() == result.usage
    assert reader.used() == sum((one.usage for one in run.results), result.usage)
    assert dqa.read_run(store).results == run.results


def test_a_run_in_a_folder_goes_into_a_store_and_back(
    make_setup: Callable[..., Setup], official: Answers, tmp_path: Path
) -> None:
    """To the letter, with what was lost on the way and in which words was asked."""
    folder = FolderStore(tmp_path / "one", run_record())
    folder.keep_prompts({"one": {"task.md": "Décide.\n"}})
    made(make_setup(one=official), folder)
    run = dqa.read_run(tmp_path / "one")
    resumed = FolderStore(tmp_path / "one", run_record(), resume=True)
    resumed.add(run.results[0], run.traces[0], Usage(7, 1, 1))
    resumed.finish(plan(make_setup(one=official)))
    place = dqa.copy_run(tmp_path / "one", tmp_path / "runs.db#copy")
    assert str(place) == f"{tmp_path / 'runs.db'}#copy"
    dqa.copy_run(place, tmp_path / "two")
    assert {path.name for path in (tmp_path / "two").iterdir()} == {
        path.name for path in (tmp_path / "one").iterdir()
    } | {"shortcuts.jsonl"}
    for name in ("results.jsonl", "abandoned.jsonl", "prompts.json", "run.json"):
        assert (tmp_path / "two" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()
    assert dqa.read_run(tmp_path / "two").traces == dqa.read_run(tmp_path / "one").traces
    assert dqa.read_run(place).prompts == {"one": {"task.md": "Décide.\n"}}
    with pytest.raises(UsageError, match="there already"):
        dqa.copy_run(tmp_path / "one", tmp_path / "runs.db#copy")


@pytest.mark.parametrize("to", ["folder", "runs.db#copy"])
def test_of_a_copy_that_failed_nothing_is_left(
    make_setup: Callable[..., Setup], official: Answers, tmp_path: Path, to: str
) -> None:
    """A damaged trace, or one that is missing, is told, and the copy can be made again."""
    made(make_setup(one=official), FolderStore(tmp_path / "one", run_record()))
    traces = tmp_path / "one" / "traces.jsonl"
    whole = traces.read_text("utf-8").splitlines(keepends=True)
    traces.write_text("".join([*whole[:2], "{}\n", *whole[3:]]), "utf-8")
    with pytest.raises(ParseError, match=r"traces\.jsonl:3"):
        dqa.copy_run(tmp_path / "one", tmp_path / to)
    if "#" in to:
        traces.write_text("".join(whole[1:]), "utf-8")
        with pytest.raises(DataError, match="1 without one"):
            dqa.copy_run(tmp_path / "one", tmp_path / to)
    assert len(dqa.find_runs(tmp_path)) == 1
    traces.write_text("".join(whole), "utf-8")
    copied = dqa.read_run(dqa.copy_run(tmp_path / "one", tmp_path / to))
    assert copied.content_hash == dqa.read_run(tmp_path / "one").content_hash


def test_a_copy_keeps_the_name_and_is_told_what_to_do_where_that_is_taken(
    store: Path, tmp_path: Path
) -> None:
    """It is advice for a copy, not for going on."""
    all_runs = tmp_path / "all.db"
    assert str(dqa.copy_run(f"{store}#first", all_runs)) == f"{all_runs}#first"
    (tmp_path / "one").mkdir()
    folder = dqa.copy_run(store, tmp_path / "one")
    assert str(dqa.copy_run(folder, all_runs)) == f"{all_runs}#one"
    asked = dqa.generate(("locating",), count=1)
    dqa.evaluate(asked, "first", databases="sqlite", out=tmp_path / "other")
    for run in (f"{store}#first", tmp_path / "other"):
        with pytest.raises(UsageError, match=r"there already: give the copy another name"):
            dqa.copy_run(run, f"{all_runs}#first")
        with pytest.raises(UsageError, match=r"one is not empty: a run is copied into a new"):
            dqa.copy_run(run, tmp_path / "one")


def test_every_figure_can_be_recomputed_by_plain_sql(store: Path) -> None:
    """From columns, without reading JSON."""
    run = dqa.read_run(store)
    with sqlite3.connect(store) as connection:
        rows = connection.execute(
            "SELECT decider, scenario, SUM(outcome = 'correct'), COUNT(*), SUM(input_tokens), "
            "SUM(seconds), MAX(regret) FROM dqa_results GROUP BY decider, scenario "
            "ORDER BY scenario"
        ).fetchall()
    assert [row[:4] for row in rows] == [
        (s.decider, s.scenario, s.correct, s.judged)
        for s in sorted(run.summaries, key=lambda summary: summary.scenario)
    ]
    assert sum(row[4] for row in rows) == run.spent.input_tokens
    assert sum(row[5] for row in rows) == pytest.approx(sum(t.seconds for t in run.traces))
    assert {row[6] for row in rows} == {0.0}


def test_a_row_holds_every_field_of_a_result_to_the_letter(store: Path) -> None:
    """A new field needs a column: plain SQL is to find it."""
    columns = {column.name for column in RESULTS.columns}
    assert set(Result.model_fields) - columns == {"game", "version"}
    (result, *_) = dqa.read_run(store).results
    odd = result.changed(answer="\x00 \ud800 é", choice=5, official="5", ties=(5, "5"), value=-0.1)
    assert result_of(row_of(odd.to_json(), 1.0)) == odd
    assert unpack(pack(dump_line({"a": "\ud800\x00"}))) == {"a": "\ud800\x00"}
    with pytest.raises(ValueError, match="cut off"):
        unpack(pack(dump_line({"a": "b" * 100}))[:-6])


def test_a_store_of_an_earlier_version_is_migrated(store: Path) -> None:
    """Its decisions are those of the first epoch, and the run is the same."""
    before = dqa.read_run(store)
    with sqlite3.connect(store) as connection:  # back to what version 1 was
        for column in ("epoch", "situation"):
            connection.execute(f"ALTER TABLE dqa_results DROP COLUMN {column}")
        connection.execute("ALTER TABLE dqa_runs DROP COLUMN games")
        connection.execute("UPDATE dqa_store_version SET version_num = '0001'")
    after = dqa.read_run(store)
    assert [r.changed(situation=None) for r in before.results] == list(after.results)
    with sqlite3.connect(store) as connection:
        assert connection.execute("SELECT version_num FROM dqa_store_version").fetchone() == (
            schema.VERSION,
        )


def test_a_store_of_a_newer_version_is_refused_by_name(store: Path) -> None:
    """And nothing in it is touched."""
    with sqlite3.connect(store) as connection:
        connection.execute("UPDATE dqa_store_version SET version_num = '0999'")
    for use in (lambda: dqa.read_run(store), lambda: store_at(f"{store}#first")):
        with pytest.raises(UsageError, match=r"store of version 0999, written by dqa \d"):
            use()
    (listed,) = dqa.find_runs(store.parent)
    assert (Path(listed.folder), "version 0999" in str(listed.problem)) == (store, True)


def test_the_newest_migration_is_todays_version() -> None:
    """Or a store would be migrated for ever."""
    folder = Path(schema.__file__).parent / "migrations"
    assert ScriptDirectory(str(folder)).get_current_head() == schema.VERSION


def test_a_run_whose_data_has_changed_is_refused(store: Path) -> None:
    """Nothing is lost: another name, or none, is another run."""
    place = place_of(f"{store}#first")
    assert isinstance(place, StorePlace)
    changed = run_record().changed(content_hash="1" * 64)
    with pytest.raises(UsageError, match="others than those it began with"):
        DatabaseStore(place, changed)
    with pytest.raises(UsageError, match="max_steps was 20 and is now 3"):
        DatabaseStore(place, run_record(max_steps=3))
    assert name_of(changed) != name_of(run_record())
    assert len(dqa.read_run(store).results) == 6


def test_which_run_of_a_store_is_meant_has_to_be_clear(store: Path) -> None:
    """The message has the names to choose from."""
    with pytest.raises(UnknownNameError, match="Did you mean 'first'"):
        dqa.read_run(f"{store}#frist")
    store_at(f"{store}#second").close()
    with pytest.raises(UsageError, match=r"holds 2 runs: name one of .*#first, .*#second"):
        dqa.read_run(store)
    assert {Path(run.folder).name for run in dqa.find_runs(store.parent)} == {
        *("runs.db#first", "runs.db#second")
    }


def test_a_new_run_in_which_nothing_was_decided_leaves_nothing(tmp_path: Path) -> None:
    """So that the command can be repeated."""
    store_at(tmp_path / "runs.db#run").discard()
    with pytest.raises(UsageError, match="holds no runs"):
        dqa.read_run(tmp_path / "runs.db")


def test_a_run_begins_with_whoever_writes_it_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else another process, that leaves nothing of its own, could take it out in between."""

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Workers, "enter", killed)
        with pytest.raises(KeyboardInterrupt):
            store_at(tmp_path / "runs.db#run")
    assert dqa.find_runs(tmp_path / "runs.db") == ()
    first, second = (store_at(tmp_path / "runs.db#run") for _ in range(2))
    first.discard()
    second.close()
    assert [run.folder for run in dqa.find_runs(tmp_path / "runs.db")] == [
        str(tmp_path / "runs.db#run")
    ]


def test_a_new_run_records_into_no_cassette_of_another_one(tmp_path: Path) -> None:
    """Its replies would be the other's."""
    how: dict[str, Any] = {
        "calls": dqa.CallOptions(record=tmp_path / "replies.jsonl"),
        "databases": "sqlite",
    }
    asked = dqa.generate(("locating",), count=1)
    one = dqa.evaluate(asked, "zero-shot", out=f"{tmp_path}/runs.db#one", **how)
    assert one.made
    assert dqa.evaluate(asked, "zero-shot", out=f"{tmp_path}/runs.db#one", **how).made == 0
    with pytest.raises(UsageError, match=r"replies\.jsonl"):
        dqa.evaluate(asked, "zero-shot", out=f"{tmp_path}/runs.db#two", **how)
    assert len(dqa.find_runs(tmp_path / "runs.db")) == 1


def test_an_unnamed_run_records_into_no_cassette_of_another_one(tmp_path: Path) -> None:
    """Nor does it where nobody names either; the same command goes on with its own."""
    cassette = tmp_path / "replies.jsonl"
    how: dict[str, Any] = {
        "calls": dqa.CallOptions(record=cassette),
        "databases": "sqlite",
        "out": tmp_path / "runs.db",
    }
    asked = dqa.generate(("locating",), count=1)
    assert dqa.evaluate(asked, "zero-shot", **how).made
    recorded = cassette.read_bytes()
    assert dqa.evaluate(asked, "zero-shot", **how).made == 0
    with pytest.raises(UsageError, match=r"replies\.jsonl holds the replies of another run"):
        dqa.evaluate(asked, "zero-shot", seed=7, **how)
    assert cassette.read_bytes() == recorded
    assert len(dqa.find_runs(tmp_path / "runs.db")) == 1


def test_what_is_no_store_is_told_by_name(tmp_path: Path) -> None:
    """A text, another database, a missing file, and a folder that is not there."""
    (tmp_path / "text.db").write_text("no database, but a text of some length", "utf-8")
    with pytest.raises(DataError, match=r"text\.db is no SQLite database"):
        dqa.read_run(tmp_path / "text.db")
    with sqlite3.connect(tmp_path / "other.db") as connection:
        connection.execute("CREATE TABLE shop (name TEXT)")
    with pytest.raises(UsageError, match="holds no runs"):
        dqa.read_run(tmp_path / "other.db")
    with pytest.raises(UsageError, match="does not exist"):
        dqa.read_run(tmp_path / "none.db")
    with pytest.raises(UsageError, match="does not exist"):
        store_at(tmp_path / "no" / "runs.db#run")
    damaged = (tmp_path / "damaged.db").resolve()
    damaged.write_bytes(b"SQLite format 3\x00" + os.urandom(2000))
    with pytest.raises((DataError, UsageError), match=r"damaged\.db"):
        dqa.read_run(damaged)


def test_a_database_of_something_else_is_no_store(store: Path, tmp_path: Path) -> None:
    """It is left as it is, to the byte, by a run and by a copy; an empty one becomes a store."""
    foreign = tmp_path / "crm.db"
    with closing(sqlite3.connect(foreign)) as connection:
        connection.execute("CREATE TABLE customers (name TEXT)")
    before = foreign.read_bytes()
    asked = dqa.generate(("locating",), count=1)
    with pytest.raises(UsageError, match=r"tables of its own \(customers\).*name a new file"):
        dqa.evaluate(asked, "first", databases="sqlite", out=foreign)
    with pytest.raises(UsageError, match="no store of runs"):
        dqa.copy_run(f"{store}#first", f"{foreign}#first")
    assert foreign.read_bytes() == before
    (tmp_path / "empty.db").touch()
    assert dqa.evaluate(asked, "first", databases="sqlite", out=tmp_path / "empty.db").made


def test_no_run_is_kept_in_a_database_that_is_asked(store: Path, tmp_path: Path) -> None:
    """However it is written, and although it is a store already."""
    asked = dqa.generate(("locating",), count=1)
    with sqlite3.connect(store) as connection:
        before = connection.execute("SELECT COUNT(*) FROM dqa_runs").fetchone()
    (tmp_path / "link.db").symlink_to(store)
    for out in (store, tmp_path / "link.db", f"sqlite:///{store}#other"):
        with pytest.raises(UsageError, match="is a database that is asked"):
            dqa.evaluate(asked, "first", databases=str(store), out=out)
    own = tmp_path / "own.jsonl"
    line = {"question": "Which decider?", "candidates": ["first", "one"], "id": "1"}
    own.write_text(json.dumps(line), "utf-8")
    with pytest.raises(UsageError, match="is a database that is asked"):
        dqa.evaluate(dqa.OwnQuestions(file=own, databases=store), "first", out=f"{store}#other")
    with closing(sqlite3.connect(store)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM dqa_runs").fetchone() == before


@pytest.mark.parametrize(
    ("asked", "same"),
    [
        ("postgresql://you@db/team", True),
        ("postgres://DB:5432/team?schema=sales", True),
        ("postgresql://db:5433/team", False),
        ("postgresql://db/shop", False),
        ("mysql://db/team", False),
        ("team.db", False),
    ],
)
def test_a_server_is_known_by_host_port_and_database(asked: str, same: bool) -> None:
    """Whoever asks, and with whichever driver."""
    place = place_of("postgresql+psycopg://me:s3cret@db/team#first")
    assert isinstance(place, StorePlace)
    assert is_same_database(place, asked) is same


def test_a_file_that_may_only_be_read_is_read_and_not_written(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where no file can be made beside it."""
    monkeypatch.setattr(os, "access", lambda path, mode: mode == os.R_OK)
    assert len(dqa.read_run(store).traces) == 6
    with pytest.raises(UsageError, match="may not be written"):
        store_at(f"{store}#first")


def test_who_waits_for_another_process_says_so_once(
    store: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """And then goes on."""
    monkeypatch.setattr("dqa.databases.kept._SILENT_SECONDS", 0.01)
    place = place_of(store)
    assert isinstance(place, StorePlace)
    engine = open_engine(place, writing=True)
    began = threading.Event()

    def take() -> None:
        for _ in range(2):
            with write(engine):
                began.set()

    with closing(sqlite3.connect(store, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        waiting = threading.Thread(target=take)
        waiting.start()
        while not caplog.messages and waiting.is_alive():
            began.wait(0.01)
        assert not began.is_set()
        other.execute("ROLLBACK")
        waiting.join()
    engine.dispose()
    assert began.is_set()
    assert caplog.messages == [f"{store} is being written by another process: waiting for it."]


def test_a_full_disk_is_told_and_what_was_decided_is_kept(store: Path) -> None:
    """SQLite says so of a file that may grow no more."""
    run = dqa.read_run(store)
    kept = store_at(f"{store}#second")
    with kept._engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")

    def fill() -> None:
        for number in range(200):
            result = run.results[0].changed(question=f"locating/{number}", answer="a" * 10_000)
            kept.add(result, run.traces[0].changed(question=f"locating/{number}"))

    with pytest.raises(dqa.DqaError, match="disk is full"):
        fill()
    kept.close()
    assert len(dqa.read_run(f"{store}#first").results) == 6


def test_prompts_are_those_of_a_methods_package_or_what_a_decider_says() -> None:
    """A decider without a model has none."""
    from dqa.evaluation.prompts import prompts_of

    class Own:
        prompts = {"ask": "Which one?"}  # noqa: RUF012

    found = prompts_of({n: plugins.decider(n) for n in ("planrag", "first")} | {"own": Own()})
    assert set(found) == {"planrag", "own"}
    assert "task.md" in found["planrag"]
    assert found["own"] == {"ask": "Which one?"}


def test_the_file_is_its_owners_alone(store: Path) -> None:
    """As a run's folder is."""
    assert store.stat().st_mode & 0o077 == 0


def test_a_task_is_named_alike_in_every_version() -> None:
    """What was decided before there were epochs is found again."""
    from dqa.evaluation.keys import DecisionKey

    first = task_of(DecisionKey("locating/1", "sqlite", "planrag"))
    told = json.dumps(["locating/1", "sqlite", "planrag"]).encode()
    assert first == hashlib.sha256(told).hexdigest()
    assert first != task_of(DecisionKey("locating/1", "sqlite", "planrag", 2))
