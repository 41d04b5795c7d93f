"""Several threads on one database, while one of them runs what ends or keeps the engine."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import pytest

from dqa.core.database import Database, Limits, Rows
from dqa.core.errors import DatabaseUnavailableError, QueryError, StatementTimeoutError
from tests.hostile.corpus import EMBEDDED
from tests.hostile.measuring import opened

LIMIT = 1.0
LATEST = 6.0
"""Seconds within which a query of a second is back on a machine that does much else."""
COUNTS = {
    "sqlite": "SELECT count(*) + {} FROM goods",
    "duckdb": "SELECT count(*) + {} FROM goods",
    "ladybug": "MATCH (g:Goods) RETURN count(*) + {}",
}
KEEPING = {
    "sqlite": "SELECT instr(printf('%.*c', 15000000, 'a'), printf('%.*c', 7000000, 'a') || 'b')",
    "duckdb": "SELECT levenshtein(repeat('a', 100000), repeat('b', 100000))",
    "ladybug": "RETURN levenshtein(repeat('ab', 100000), repeat('ba', 100000))",
}
"""Statements that an engine does not look up from."""


def _query_when_free(database: Database, statement: str) -> Rows:
    """Ask again where no worker was free for most of the statement's time: all six threads ask."""
    for _ in range(5):
        try:
            return database.query(statement)
        except DatabaseUnavailableError as error:
            if "is busy" not in str(error):
                raise
    return database.query(statement)


@pytest.mark.slow
@pytest.mark.parametrize("engine", EMBEDDED)
def test_threads_get_right_answers_while_one_keeps_the_engine(engine: str) -> None:
    """None waits for it longer than it may take, and none gets an answer of another."""
    count = COUNTS[engine]
    with opened(engine, Limits(seconds=LIMIT)) as database:
        ((goods,),) = database.query(count.format(0)).rows
        assert isinstance(goods, int)

        def keep(_: int) -> object:
            with pytest.raises(StatementTimeoutError):
                _query_when_free(database, KEEPING[engine])
            return None

        def ask(number: int) -> object:
            began = perf_counter()
            rows = database.query(count.format(number), Limits(seconds=LATEST)).rows
            assert perf_counter() - began < LATEST
            return rows == ((goods + number,),)

        work: list[Callable[[int], object]] = [keep if n % 25 == 3 else ask for n in range(50)]
        with ThreadPoolExecutor(6) as threads:
            answers = list(threads.map(lambda n: work[n](n), range(len(work))))
    assert [answer for answer in answers if answer is not None] == [True] * 48


@pytest.mark.slow
def test_threads_get_right_answers_while_one_ends_the_engine() -> None:
    """A crash is that statement's error, and nobody else's."""
    with opened("ladybug", Limits(seconds=10.0)) as database:
        ((goods,),) = database.query(COUNTS["ladybug"].format(0)).rows
        assert isinstance(goods, int)

        def work(number: int) -> bool:
            if number % 10 == 7:
                with pytest.raises(QueryError, match="crash"):
                    database.query("RETURN id(NULL)")
                return True
            rows = database.query(COUNTS["ladybug"].format(number)).rows
            return rows == ((goods + number,),)

        with ThreadPoolExecutor(4) as threads:
            assert all(threads.map(work, range(80)))
