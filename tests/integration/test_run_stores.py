"""Runs kept in a team's database: the same as in a file, whoever writes them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import text

import dqa
from dqa.core.decider import Decider
from dqa.core.errors import DatabaseUnavailableError
from dqa.core.question_set import QuestionSet
from dqa.core.run_stores import VERSION_TABLE
from dqa.evaluation.stores import database
from dqa.evaluation.stores.engine import open_engine, write
from dqa.evaluation.stores.places import StorePlace, place_of
from dqa.evaluation.stores.tables import METADATA
from tests.integration.conftest import started


@pytest.fixture(params=["mysql", "postgres"])
def store(request: pytest.FixtureRequest) -> Iterator[str]:
    """Return the URL of a store, whose tables are dropped at the end."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    yield url
    place = place_of(url)
    assert isinstance(place, StorePlace)
    engine = open_engine(place, writing=True)
    with write(engine) as connection:
        METADATA.drop_all(connection)
        connection.execute(text(f"DROP TABLE IF EXISTS {VERSION_TABLE}"))
    engine.dispose()


@pytest.fixture(scope="module")
def asked() -> QuestionSet:
    """Return a few questions of two scenarios."""
    return dqa.generate(("locating", "building"), count=4, seed=3)


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
    assert read.prompts == file.prompts
    (listed,) = dqa.find_runs(store)
    assert listed.counts == file.counts
    password = store.split(":")[2].split("@", maxsplit=1)[0]
    assert password not in f"{listed} {read} {read.report()}"


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


class Killing(Decider):
    """Decides for the first candidate, and once kills the server that the run is kept on."""

    name = "killing"

    def __init__(self, kill: Callable[[], None], asked_before: int) -> None:
        self._kill = kill
        self._left = asked_before

    def decide(self, question: dqa.Question, database: dqa.Database) -> dqa.Decision:
        """Answer, and kill the server before that can be kept."""
        del database
        self._left -= 1
        if self._left == -1:
            self._kill()
        first = (question.candidates or ("none",))[0]
        return dqa.Decision(dqa.Ending.ANSWERED, answer=str(first))


@pytest.mark.slow
def test_a_killed_server_loses_nothing_that_was_decided(
    asked: QuestionSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run ends with one line, and the same call goes on once the server is back."""
    monkeypatch.setattr(database, "_PATIENCE_SECONDS", 0.5)
    options = dqa.RunOptions(workers=1)
    with started("postgres") as own:
        place = f"{own.url}#killed"

        def decided(decider: Decider) -> dqa.Run:
            return dqa.evaluate(asked, decider, databases="sqlite", out=place, options=options)

        with pytest.raises(DatabaseUnavailableError) as ended:
            decided(Killing(own.kill, 3))
        told = str(ended.value)
        assert "\n" not in told
        assert "cannot be used: connection" in told
        assert told.endswith("once it answers, the same command goes on with the run.")
        own.restart()
        assert len(dqa.read_run(place).results) == 3
        run = decided(Killing(own.kill, 100))
        assert run.made == len(run.results) - 3
        assert all(result.outcome in {"correct", "wrong"} for result in run.results)
