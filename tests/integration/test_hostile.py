"""Hostile statements on real servers, and servers that answer nobody."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from time import perf_counter, sleep

import pytest

import dqa
from dqa.core.database import Database, Limits
from dqa.core.errors import DatabaseUnavailableError
from tests.databases.conftest import small_situation
from tests.hostile.corpus import SERVERS
from tests.hostile.fuzz.__main__ import fuzz
from tests.hostile.measuring import Pace
from tests.hostile.supervising import broken_promises, measurer
from tests.integration.conftest import OwnServer, started

pytestmark = pytest.mark.slow

LIMITS = Limits(seconds=1.0)
LATEST = 5.0
"""Seconds within which a query of a second is back on a machine that does much else."""
COUNT = {"sql": "SELECT count(*) FROM country", "cypher": "MATCH (c:Country) RETURN count(*)"}
LONG = {
    "mysql": "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 900) "
    "SELECT count(*) FROM r a, r b, r c, r d WHERE a.n + b.n + c.n <> d.n",
    "postgres": "SELECT count(*) FROM generate_series(1, 1000000000) a",
    "neo4j": "UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b RETURN sum(a * b)",
}


@pytest.fixture(scope="module", params=SERVERS)
def own(request: pytest.FixtureRequest) -> Iterator[OwnServer]:
    """Give each server in turn, started for these tests: nobody else's is to suffer from them."""
    with started(request.param) as server:
        yield server
        server.kill()  # what still runs there, and cannot be ended, would keep it from stopping


@pytest.fixture
def database(own: OwnServer) -> Iterator[Database]:
    """Give the small world on it."""
    with dqa.temporary_database(
        small_situation(), own.backend.name, own.url, limits=LIMITS
    ) as made:
        yield made


def count_of(database: Database) -> str:
    """Return a statement that counts two rows."""
    return COUNT["sql" if database.kind == "relational" else "cypher"]


def test_the_worst_of_each_kind_are_bounded(own: OwnServer) -> None:
    """In time and memory, with other threads running on and the next statement answered."""
    with measurer(own.name, 1.0, own.url) as process:
        assert broken_promises(process, own.name, first=1) == []


def test_fuzzed_calls_end_as_statements_do(own: OwnServer) -> None:
    """No crash, nothing late, no exception that is none of ours, no outage."""
    stretch = fuzz(own.name, 1, 300, url=own.url)
    assert stretch.findings == []
    assert stretch.allowed > 150


def test_a_server_that_answers_nobody_is_an_outage_in_time(
    own: OwnServer, database: Database
) -> None:
    """It says so; other threads run on; and when the server goes on, so does the database."""
    assert database.query(count_of(database)).rows == ((2,),)
    pace = Pace()
    with own.paused():
        for _ in range(2):  # on the connection there is, and on none
            ran, began = pace.runnable(), perf_counter()
            with pytest.raises(DatabaseUnavailableError, match="does not answer"):
                database.query(count_of(database))
            seconds, ran_until = perf_counter() - began, pace.runnable()
            assert seconds < LATEST
            if seconds > 0.5 and ran is not None and ran_until is not None:
                assert (ran_until - ran) / seconds > 0.9
    pace.close()
    assert database.query(count_of(database), Limits(seconds=30)).rows == ((2,),)


def test_a_server_that_stops_answering_in_a_statement_is_an_outage_in_time(
    own: OwnServer, database: Database
) -> None:
    """The watchdog must not wait for it either."""
    told: list[BaseException | None] = []

    def ask() -> None:
        try:
            database.query(LONG[own.backend.name], Limits(seconds=4.0))
        except dqa.DqaError as error:
            told.append(error)
        told.append(None)

    thread = threading.Thread(target=ask)
    began = perf_counter()
    thread.start()
    sleep(1.0)
    with own.paused():
        thread.join(30.0)
        seconds = perf_counter() - began
    assert seconds < 4.0 + LATEST
    assert isinstance(told[0], DatabaseUnavailableError), told
    assert database.query(count_of(database), Limits(seconds=30)).rows == ((2,),)
