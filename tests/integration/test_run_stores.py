"""Runs kept in a team's database: the same as in a file, whoever writes them."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import dqa
from dqa.core.decider import Decider
from dqa.core.question_set import QuestionSet
from dqa.databases.store_locations import open_store, write
from dqa.evaluation.location import locate_run
from dqa.evaluation.stored_runs import METADATA, VERSION, create_tables, version_of
from tests.evaluation import killing
from tests.evaluation.test_kills import assert_whole, kill


@pytest.fixture
def store(own_database: str) -> str:
    """Return the URL of a store without tables."""
    return own_database


@pytest.fixture(scope="module")
def asked() -> QuestionSet:
    """Return a few questions of two scenarios."""
    return dqa.generate(("locating", "building"), count=4, seed=3)


def test_several_processes_create_the_tables_at_once(store: str) -> None:
    """One of them creates them, and the others find them."""

    def create(_: int) -> None:
        location = locate_run(f"{store}#team")
        engine = open_store(location, writing=True)
        create_tables(engine, location)
        engine.dispose()

    for _ in range(5):
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(create, range(6)))
        engine = open_store(locate_run(store), writing=True)
        with write(engine) as connection:
            assert version_of(connection) == VERSION
            METADATA.drop_all(connection)
        engine.dispose()


def test_a_server_keeps_what_a_file_keeps(store: str, asked: QuestionSet, tmp_path: object) -> None:
    """Two at once make one run, which is then there for the same call; numbers are exact."""
    file = dqa.evaluate(asked, ["first", "planrag"], databases="sqlite", out=f"{tmp_path}/a.db")
    runs: list[dqa.Run] = []

    def take_part() -> None:
        runs.append(
            dqa.evaluate(asked, ["first", "planrag"], databases="sqlite", out=f"{store}#team")
        )

    threads = [threading.Thread(target=take_part) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [run.content_hash for run in runs] == [file.content_hash] * 2
    assert sum(run.made or 0 for run in runs) == len(file.results)
    again = dqa.evaluate(asked, ["first", "planrag"], databases="sqlite", out=f"{store}#team")
    assert again.made == 0
    read = dqa.read_run(f"{store}#team")
    assert read.results == file.results
    assert [t.key for t in read.traces] == [t.key for t in file.traces]
    (listed,) = dqa.find_runs(store)
    assert listed.counts == file.counts
    password = store.split(":")[2].split("@", maxsplit=1)[0]
    assert password not in f"{listed} {read} {read.report()}"


@pytest.mark.deep
def test_a_killed_run_ends_as_one_that_is_not(store: str) -> None:
    """Killed at random moments, after at most three decisions each, while two processes decide."""
    places = [f"{store}#run{number}" for number in range(2)]
    assert sum(kill(20, 2, 7, *places, epochs=4)) >= 10
    whole = killing.evaluate(None, epochs=4)
    for place in places:
        assert_whole(place, whole)


def test_a_name_that_does_not_fit_is_refused(store: str, asked: QuestionSet) -> None:
    """By a server that would shorten it, too: two long names are not one."""
    lax = f"{store}?sql_mode=NO_ENGINE_SUBSTITUTION" if store.startswith("mysql") else store
    decider = Odd()
    decider.name = "x" * 201
    with pytest.raises(dqa.UsageError, match="name is too long"):
        dqa.evaluate(asked, decider, databases="sqlite", out=f"{lax}#long")


class Odd(Decider):
    """Says what no server's text can hold."""

    name = "odd"

    def decide(self, question: dqa.Question, database: dqa.Database) -> dqa.Decision:
        """Answer with a character that PostgreSQL refuses, and one beyond MySQL's old texts."""
        del question, database
        return dqa.Decision(dqa.Ending.ANSWERED, answer="no\x00thing 🂡 \ud800")


def test_any_text_goes_into_a_server_and_comes_back(store: str, asked: QuestionSet) -> None:
    """To the letter."""
    run = dqa.evaluate(asked, Odd(), databases="sqlite", out=f"{store}#odd")
    assert run.results[0].answer == "no\x00thing 🂡 \ud800"
    assert dqa.read_run(f"{store}#odd").traces[0].answer == run.results[0].answer
