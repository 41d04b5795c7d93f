"""The workers of a database: lent, replaced, paused, and ended with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dqa
from dqa import Limits, plugins
from dqa.core.errors import DatabaseUnavailableError, StatementTimeoutError
from dqa.core.situation import Situation
from dqa.databases.isolation import fork_server, pool
from dqa.databases.isolation.wire import ClosedError
from dqa.databases.isolation.workers import GoneError, OpenWorker
from dqa.guard import GuardedDatabase
from tests.databases.isolation.workers import (
    DEAF,
    ENDLESS,
    NOISE,
    SHORT,
    numbers_of,
    pool_of,
    wait_until_gone,
)


def test_a_worker_that_somebody_ended_is_replaced(shop: GuardedDatabase) -> None:
    """It had nothing to do, so no statement is told of it."""
    (number,) = numbers_of(pool_of(shop))
    os.kill(number, signal.SIGKILL)
    wait_until_gone(number)
    assert shop.query("SELECT 1").rows == ((1,),)


def test_nothing_is_left_running(file: Path) -> None:
    """Not after closing, and not after the database is forgotten."""
    database = dqa.open_database(file)
    numbers = numbers_of(pool_of(database))
    database.close()
    wait_until_gone(*numbers)
    database = dqa.open_database(file)
    numbers = numbers_of(pool_of(database))
    del database
    wait_until_gone(*numbers)


def test_workers_end_with_their_asker(file: Path) -> None:
    """Even while an engine is deaf: the system ends them with the process that asked."""
    program = (
        "import sys, dqa\n"
        "database = dqa.open_database(sys.argv[1])\n"
        "print(*[w._process._number for w in database._session._pool._idle], flush=True)\n"
        "database.query(sys.argv[2], dqa.Limits(seconds=60.0))\n"
    )
    asker = subprocess.Popen(
        [sys.executable, "-c", program, str(file), DEAF], stdout=subprocess.PIPE, text=True
    )
    assert asker.stdout is not None
    numbers = [int(word) for word in asker.stdout.readline().split()]
    time.sleep(0.3)  # the statement is on its way
    asker.kill()
    asker.wait()
    asker.stdout.close()
    wait_until_gone(*numbers)


# Libraries that other tests import in this process warn of every fork of it.
forking = pytest.mark.filterwarnings(r"ignore:os\.fork\(\) was called:RuntimeWarning")


@forking
def test_a_fork_of_this_process_has_workers_of_its_own(shop: GuardedDatabase) -> None:
    """Two processes do not read each other's answers."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if shop.query("SELECT 1").rows == ((1,),) else 2
        finally:
            os._exit(code)
    answers = [shop.query(f"SELECT {n}").rows for n in range(50)]
    assert answers == [((n,),) for n in range(50)]
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@forking
def test_a_fork_of_this_process_closes_nothing_of_it(shop: GuardedDatabase) -> None:
    """Its workers and their server are the parent's, also when the child closes its database."""
    server: Any = fork_server._server
    (number,) = numbers_of(pool_of(shop))
    child = os.fork()
    if child == 0:
        code = 1
        try:
            shop.close()
            code = 0 if server._end.fileno() == -1 else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert numbers_of(pool_of(shop)) == [number]
    assert shop.query("SELECT 1").rows == ((1,),)


@forking
def test_a_fork_of_this_process_waits_for_no_statement_of_it(
    file: Path, shop: GuardedDatabase
) -> None:
    """What its parent asks does not keep it from writing: nobody would tell it of the end."""
    with pool_of(shop).lease(time.monotonic() + 60.0):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                signal.alarm(10)
                with pool.pause_file(file):
                    code = 0
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert shop.query("SELECT 1").rows == ((1,),)


def test_situations_are_loaded_into_a_file_that_is_open(
    situation: Situation, tmp_path: Path
) -> None:
    """DuckDB's file belongs to its writer alone, so the readers step aside."""
    backend = plugins.backend("duckdb")
    where = f"duckdb:///{tmp_path}/both.duckdb"
    with closing(backend.load(situation, where)) as one:
        assert isinstance(one, GuardedDatabase)
        count = "SELECT count(*) FROM duckdb_tables()"
        before = one._session.run(count, SHORT).rows
        with closing(backend.load(replace(situation, name="other"), where)) as other:
            assert other.schema() == one.schema()
            assert one._session.run(count, SHORT).rows != before


def test_without_threads_a_worker_is_replaced_later(
    shop: GuardedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That none can be had is not told instead of what the statement did."""

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(StatementTimeoutError):
            shop.query(DEAF, SHORT)
    pool_of(shop).pause()  # nobody is waited for
    assert shop.query("SELECT 1").rows == ((1,),)


def test_an_interrupted_pause_is_over(shop: GuardedDatabase) -> None:
    """Ctrl-C while a writer waits for statements leaves the database usable."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pool_of(shop).lease(time.monotonic() + 5.0):
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with pytest.raises(KeyboardInterrupt) as caught:
                pool_of(shop).pause()
            assert caught.tb is not None  # which keeps nothing closed
    finally:
        signal.signal(signal.SIGALRM, before)
    assert shop.query("SELECT 1", SHORT).rows == ((1,),)


def test_a_wait_for_a_worker_ends_with_the_limit(
    shop: GuardedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where all are busy, that is what is said, and how to mend it."""
    pool_of(shop).opening_seconds = 0.0  # however long it took to start
    monkeypatch.setattr(pool, "MOST_WORKERS", 1)
    with ThreadPoolExecutor(1) as threads, pool_of(shop).lease(time.monotonic() + 60.0):
        asked = threads.submit(shop.query, "SELECT 1", SHORT)
        with pytest.raises(DatabaseUnavailableError, match=r"all 1 workers.*fewer threads"):
            asked.result(60.0)
    assert shop.query("SELECT 1").rows == ((1,),)


@pytest.mark.parametrize(
    ("waiting", "kind", "message"),
    [
        (1.7, DatabaseUnavailableError, r"of its 1\.5 seconds .* waited .* for a worker"),
        (0.3, StatementTimeoutError, r"stopped after 1\.5 seconds"),
    ],
)
def test_a_statement_that_has_waited_is_back_as_soon(
    shop: GuardedDatabase,
    monkeypatch: pytest.MonkeyPatch,
    waiting: float,
    kind: type[Exception],
    message: str,
) -> None:
    """Its waiting is part of its limit; it is to blame where most of that was its own."""
    monkeypatch.setattr(pool, "MOST_WORKERS", 1)
    pool_of(shop).opening_seconds = 0.0  # on whatever machine
    limits = Limits(seconds=1.5)
    with ThreadPoolExecutor(1) as threads:
        with pool_of(shop).lease(time.monotonic() + 5.0):
            started = time.monotonic()
            asked = threads.submit(shop.query, DEAF, limits)
            time.sleep(waiting)
        with pytest.raises(kind, match=message):
            asked.result(10.0)
        assert time.monotonic() - started < limits.seconds + 1.0 + NOISE


def test_idle_workers_that_have_ended_are_passed_over(shop: GuardedDatabase) -> None:
    """However many they are."""
    workers = pool_of(shop)
    until = time.monotonic() + 30.0
    with workers.lease(until), workers.lease(until), workers.lease(until):
        pass
    numbers = numbers_of(workers)
    assert len(numbers) == 3
    for number in numbers:
        os.kill(number, signal.SIGKILL)
    wait_until_gone(*numbers)
    assert shop.query("SELECT 1", SHORT).rows == ((1,),)


def test_a_worker_that_ends_before_it_is_heard_is_no_statements_fault(
    shop: GuardedDatabase,
) -> None:
    """Another one is asked, once."""
    (number,) = numbers_of(pool_of(shop))
    os.kill(number, signal.SIGSTOP)
    later = threading.Timer(0.3, os.kill, (number, signal.SIGKILL))
    later.start()
    assert shop.query("SELECT sum(price) FROM shop").rows == ((6.0,),)
    later.join()


def test_a_worker_that_ends_with_its_fork_server_is_no_statements_fault(
    shop: GuardedDatabase,
) -> None:
    """The statement is asked again, and answered."""
    server: Any = fork_server._server
    later = threading.Timer(0.2, server._process.kill)
    later.start()
    started = time.monotonic()
    slow = ENDLESS.replace("FROM n)", "FROM n LIMIT 3000000)")
    assert shop.query(slow, Limits(seconds=60.0)).rows == ((3_000_000,),)
    assert time.monotonic() - started > 0.2
    later.join()
    assert fork_server._server is not server


def test_a_schema_is_read_again_where_a_worker_ends_with_its_fork_server(
    shop: GuardedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database is not said to have crashed."""
    server: Any = fork_server._server

    def end(*_: object) -> None:
        patch.undo()
        server._process.kill()
        server._process.wait()
        raise ClosedError

    with monkeypatch.context() as patch:
        patch.setattr(OpenWorker, "wait", end)
        (table,) = shop._session.read_schema().tables
    assert table.name == "shop"
    assert fork_server._server is not server


def test_workers_that_end_whenever_they_are_asked_are_not_asked_for_ever(
    shop: GuardedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither for a statement, nor for the schema."""

    def go(worker: OpenWorker, *_: object) -> None:
        worker.kill()
        raise GoneError

    with monkeypatch.context() as patch:
        patch.setattr(OpenWorker, "wait", go)
        for ask in (lambda: shop.query("SELECT 1"), shop._session.read_schema):
            with pytest.raises(DatabaseUnavailableError, match="Two worker processes"):
                ask()
    assert shop.query("SELECT 1").rows == ((1,),)


def test_two_writers_of_a_file_write_in_turn(file: Path) -> None:
    """While databases on it are opened, asked and closed."""
    writing = 0
    is_over = threading.Event()

    def write() -> None:
        nonlocal writing
        while not is_over.is_set():
            with pool.pause_file(file):
                writing += 1
                assert writing == 1
                time.sleep(0.001)
                writing -= 1

    with (
        closing(dqa.open_database(file)) as one,
        closing(dqa.open_database(file)) as other,
        ThreadPoolExecutor(3) as threads,
    ):
        writers = [threads.submit(write) for _ in range(3)]
        try:
            for _ in range(10):
                with closing(dqa.open_database(file)) as database:
                    for asked in (one, other, database):
                        assert asked.query("SELECT count(*) FROM shop").rows == ((3,),)
        finally:
            is_over.set()
        for writer in writers:
            writer.result(10.0)
