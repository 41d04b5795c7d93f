"""What is promised of a statement, whatever its engine does."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

import dqa
from dqa import Limits, plugins
from dqa.core.errors import (
    DatabaseUnavailableError,
    StatementError,
    StatementTimeoutError,
)
from dqa.core.situation import Situation
from dqa.databases.isolation import session
from dqa.databases.isolation.opened_files import OpenedFiles
from dqa.guard import GuardedDatabase
from tests.databases.isolation.workers import (
    CRASH,
    DEAF,
    ENDLESS,
    SHORT,
    numbers_of,
    pool_of,
    wait_until_busy,
)


def test_answers_are_those_of_this_process(file: Path) -> None:
    """Values of every kind, cut results and errors come over as they are."""
    statements = [
        "SELECT name, price, price > 1 AS dear, NULL, x'00ff', 9223372036854775807 FROM shop",
        "SELECT * FROM shop, shop AS b, shop AS c, shop AS d, shop AS e, shop AS f",
        "SELECT 1e999, -1e999",
        "SELECT nam FROM shop",
        "SELECT * FROM shops",
        "SELECT abs('x', 1)",
        "DELETE FROM shop",
    ]

    def told(isolation: Any, statement: str) -> object:
        with closing(dqa.open_database(file, isolation=isolation)) as database:
            try:
                rows = database.query(statement, Limits(rows=100))
            except dqa.DqaError as error:
                return type(error), str(error)
            return rows.columns, rows.rows, rows.cut, rows.total, rows.counted

    for statement in statements:
        assert told("process", statement) == told("none", statement)
    with (
        closing(dqa.open_database(file)) as one,
        closing(dqa.open_database(file, isolation="none")) as other,
    ):
        assert one.schema() == other.schema()


def test_a_deaf_engine_is_left_in_time(shop: GuardedDatabase) -> None:
    """The statement ends with its worker, and the next one is answered by another."""
    started = time.monotonic()
    with pytest.raises(StatementTimeoutError, match="after 1 seconds"):
        shop.query(DEAF, SHORT)
    assert time.monotonic() - started < SHORT.seconds + 1.0
    assert shop.query("SELECT count(*) FROM shop").rows == ((3,),)


def test_a_statement_that_the_engine_stops_keeps_its_worker(shop: GuardedDatabase) -> None:
    """No process is ended for what ends by itself."""
    before = numbers_of(pool_of(shop))
    with pytest.raises(StatementTimeoutError):
        shop.query(ENDLESS, SHORT)
    assert numbers_of(pool_of(shop)) == before


def test_a_crash_is_the_statements_error(situation: Situation) -> None:
    """It names what happened, and ends neither this process nor the database."""
    with closing(plugins.backend("ladybug").load(situation)) as graph:
        for _ in range(2):
            with pytest.raises(StatementError, match="segmentation fault") as caught:
                graph.query(CRASH)
            assert type(caught.value) is StatementError
            assert graph.query("MATCH (n) RETURN count(n) > 0").rows == ((True,),)


def test_memory_is_the_workers_and_bounded(shop: GuardedDatabase) -> None:
    """Two long columns in a cross join took gigabytes; now they take none of this process."""
    resident = Path("/proc/self/statm")
    before = int(resident.read_text("ascii").split()[1]) * os.sysconf("SC_PAGESIZE")
    with pytest.raises((StatementError, StatementTimeoutError)):
        shop.query(
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 1000) "
            "SELECT group_concat(printf('%.15000000c', 'a')) FROM n",
            Limits(seconds=20.0),
        )
    after = int(resident.read_text("ascii").split()[1]) * os.sysconf("SC_PAGESIZE")
    assert after - before < 100_000_000
    assert shop.query("SELECT 1").rows == ((1,),)


def test_each_statement_has_a_worker_of_its_own(shop: GuardedDatabase) -> None:
    """What one thread's statement does to its worker is nothing to the others'."""
    with ThreadPoolExecutor(4) as threads:
        bad = [threads.submit(shop.query, DEAF, SHORT) for _ in range(2)]
        good = [threads.submit(shop.query, "SELECT sum(price) FROM shop") for _ in range(40)]
        assert {future.result().rows for future in good} == {((6.0,),)}
        assert all(isinstance(future.exception(), StatementTimeoutError) for future in bad)


def test_other_threads_go_on(shop: GuardedDatabase) -> None:
    """A statement that holds its own process' lock does not hold this one's."""
    turns = 0
    is_over = threading.Event()

    def count() -> None:
        nonlocal turns
        while not is_over.wait(0.005):
            turns += 1

    counter = threading.Thread(target=count)
    counter.start()
    with pytest.raises(StatementTimeoutError):
        shop.query(DEAF, SHORT)
    is_over.set()
    counter.join()
    assert turns > 50  # of 200 or so on a quiet machine; with the lock held there is not one


@pytest.mark.parametrize("statement", [ENDLESS, DEAF])
def test_a_worker_tells_all_of_a_limit_of_which_it_has_a_part(
    shop: GuardedDatabase, statement: str
) -> None:
    """Whether it stops a statement by itself, or is ended with it."""
    with pytest.raises(StatementTimeoutError, match="stopped after 9 seconds"):
        shop.query(statement, Limits(seconds=9.0).left(0.4))


def test_a_replaced_file_is_told(shop: GuardedDatabase, file: Path) -> None:
    """The old file's rows are not given as the new one's."""
    other = file.with_name("other.db")
    shutil.copyfile(file, other)
    other.replace(file)
    with pytest.raises(DatabaseUnavailableError, match="replaced or removed since it was opened"):
        shop.query("SELECT 1")
    file.unlink()
    with pytest.raises(DatabaseUnavailableError, match="replaced or removed"):
        shop.query("SELECT 1")


def _make_duckdb(file: Path, name: str) -> Path:
    with duckdb.connect(str(file)) as made:
        made.execute(f"CREATE TABLE shop AS SELECT '{name}' AS name")
    return file


def test_a_duckdb_file_that_another_is_written_over_is_told(tmp_path: Path) -> None:
    """It stays the same file, and workers that open it later would read the other one."""
    file = _make_duckdb(tmp_path / "shop.duckdb", "old")
    other = _make_duckdb(tmp_path / "other.duckdb", "new")
    with closing(dqa.open_database(file)) as database:
        assert database.query("SELECT name FROM shop").rows == (("old",),)
        shutil.copyfile(other, file)
        with pytest.raises(DatabaseUnavailableError, match="replaced or removed since"):
            database.query("SELECT name FROM shop")


def test_what_is_written_into_a_file_replaces_it_by_no_other(tmp_path: Path, file: Path) -> None:
    """Engines take notice of that by themselves."""
    own = _make_duckdb(tmp_path / "shop.duckdb", "old")
    opened, of_sqlite = OpenedFiles(own, ()), OpenedFiles(file, ())
    with duckdb.connect(str(own)) as writing:
        writing.execute("CREATE TABLE more AS SELECT range AS n FROM range(1000)")
    with closing(sqlite3.connect(file)) as writer:
        writer.execute("CREATE TABLE more (n)")
    opened.require_same()
    of_sqlite.require_same()


def test_a_limit_below_the_first_row_gives_none(shop: GuardedDatabase) -> None:
    """The result says that it was cut, and by what."""
    rows = shop.query("SELECT printf('%.5000c', 'a') FROM shop", Limits(bytes=200, cell=10_000))
    assert (rows.rows, rows.cut, rows.total) == ((), "bytes", 3)


@pytest.mark.parametrize(("number", "name"), [(9, "SIGKILL"), (15, "SIGTERM"), (40, "signal 40")])
def test_a_worker_that_is_killed_says_by_which_signal(
    shop: GuardedDatabase, number: int, name: str
) -> None:
    """Another process did that: neither the statement nor memory is to blame."""
    with pytest.raises(DatabaseUnavailableError, match=f"it was killed by {name}") as caught:
        _kill_while_busy(shop, number)
    assert "memory" not in str(caught.value)
    assert shop.query("SELECT count(*) FROM shop").rows == ((3,),)


def test_a_worker_that_the_system_ends_for_its_memory_is_the_statements_fault(
    shop: GuardedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system counts what it has killed for want of memory."""
    monkeypatch.setattr(session, "count_memory_kills", lambda: 10**9)
    with pytest.raises(StatementError, match="needs more memory"):
        _kill_while_busy(shop, signal.SIGKILL)


def _kill_while_busy(shop: GuardedDatabase, signal_number: int) -> None:
    """Run a statement whose worker is sent a signal."""
    (number,) = numbers_of(pool_of(shop))

    def kill() -> None:
        wait_until_busy(number)
        os.kill(number, signal_number)

    with ThreadPoolExecutor(1) as threads:
        killed = threads.submit(kill)
        try:
            shop.query(DEAF, Limits(seconds=60.0))
        finally:
            killed.result()
