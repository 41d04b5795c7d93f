"""Statements in worker processes: what is promised whatever an engine does, and what it costs."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import dqa
from dqa import Limits, plugins
from dqa.core.errors import (
    DatabaseUnavailableError,
    DataError,
    InfrastructureError,
    StatementError,
    StatementTimeoutError,
    UsageError,
)
from dqa.core.situation import Situation
from dqa.databases.isolation import processes
from dqa.databases.isolation.pool import WorkerPool
from dqa.databases.isolation.wire import ClosedError, TooLongError, Wire
from dqa.guard import GuardedDatabase

SHORT = Limits(seconds=1.0)
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
DEAF = "SELECT instr(printf('%.8000000c', 'a'), printf('%.4000000c', 'a') || 'b')"
"""Compares texts for hours, and looks at no interrupt meanwhile."""
CRASH = "RETURN id(NULL)"
"""Ends LadybugDB with a segmentation fault."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a SQLite file with a table of three rows."""
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE shop (name TEXT, price REAL)")
        made.executemany("INSERT INTO shop VALUES (?, ?)", [("a", 1.0), ("b", 2.0), ("c", 3.0)])
        made.commit()
    return path


@pytest.fixture
def shop(file: Path) -> Iterator[GuardedDatabase]:
    """Return that file, opened as everybody opens it."""
    with closing(dqa.open_database(file)) as database:
        assert isinstance(database, GuardedDatabase)
        yield database


def pool_of(database: object) -> WorkerPool:
    """Return the workers behind a database."""
    pool: Any = database._session._pool  # type: ignore[attr-defined]
    assert isinstance(pool, WorkerPool)
    return pool


def numbers_of(pool: WorkerPool) -> list[int]:
    """Return the process numbers of idle workers."""
    return [worker._process._number for worker in pool._idle]  # type: ignore[attr-defined]


def is_running(number: int) -> bool:
    """Whether a process runs; a dead one that nobody has asked after does not."""
    try:
        return Path(f"/proc/{number}/stat").read_text("ascii").rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until_gone(*numbers: int) -> None:
    """Wait until processes have ended."""
    until = time.monotonic() + 10.0
    while any(map(is_running, numbers)):
        assert time.monotonic() < until, "a worker is left running"
        time.sleep(0.01)


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


def test_an_interrupt_ends_the_worker(file: Path) -> None:
    """Ctrl-C comes out of the wait at once, and nothing goes on behind it."""
    program = (
        "import sys, dqa\n"
        "database = dqa.open_database(sys.argv[1])\n"
        "numbers = [w._process._number for w in database._session._pool._idle]\n"
        "database.query('SELECT 1')\n"  # what is imported late is there
        "print('ready', flush=True)\n"
        "try:\n"
        "    database.query(sys.argv[2], dqa.Limits(seconds=60.0))\n"
        "except KeyboardInterrupt:\n"
        "    print(*numbers, flush=True)\n"
        "    sys.stdin.readline()\n"
    )
    asker = subprocess.Popen(
        [sys.executable, "-c", program, str(file), DEAF],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with asker:
        assert asker.stdout is not None
        assert asker.stdout.readline() == "ready\n"
        time.sleep(0.3)
        asker.send_signal(signal.SIGINT)
        wait_until_gone(*map(int, asker.stdout.readline().split()))
        assert asker.poll() is None  # the worker has not ended with it
        asker.communicate("go on\n")
        assert asker.returncode == 0


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
    assert turns > 50  # of 200 or so; with the lock held there is not one


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


def test_a_limit_below_the_first_row_gives_none(shop: GuardedDatabase) -> None:
    """The result says that it was cut, and by what."""
    rows = shop.query("SELECT printf('%.5000c', 'a') FROM shop", Limits(bytes=200, cell=10_000))
    assert (rows.rows, rows.cut, rows.total) == ((), "bytes", 3)


def test_a_worker_that_cannot_start_is_one_clear_error(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No Python, no memory or no right to start one."""
    processes._close_fork_server()
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(InfrastructureError, match=r"cannot be started.*isolation=\"none\""):
        dqa.open_database(file)


def test_a_fork_server_that_somebody_ended_is_replaced(file: Path) -> None:
    """So are the workers that end with it."""
    with closing(dqa.open_database(file)) as database:
        server: Any = processes._server
        numbers = numbers_of(pool_of(database))
        server._process.kill()
        server._process.wait()
        wait_until_gone(*numbers)
        assert database.query("SELECT 1").rows == ((1,),)


def test_what_cannot_be_opened_says_so_as_before(tmp_path: Path) -> None:
    """The error is the one that opening in this process raises."""
    with pytest.raises(UsageError, match="no database file"):
        dqa.open_database(f"sqlite:///{tmp_path}/none.db")
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"SQLite format 3\x00" + b"?" * 100)
    with pytest.raises(DataError, match="cannot be read as an SQLite database"):
        dqa.open_database(broken)


def test_a_fresh_python_serves_as_well(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on systems where nothing is forked."""
    monkeypatch.setattr(sys, "platform", "darwin")
    with closing(dqa.open_database(file)) as database:
        assert database.query("SELECT sum(price) FROM shop").rows == ((6.0,),)
        with pytest.raises(StatementTimeoutError):
            database.query(DEAF, SHORT)
        assert database.query("SELECT sum(price) FROM shop").rows == ((6.0,),)


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


def test_workers_are_where_and_what_their_asker_is_now(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not where it was when the first worker was made."""
    with closing(dqa.open_database(file)):
        pass
    monkeypatch.chdir(file.parent)
    with closing(dqa.open_database(file.name)) as database:
        assert database.query("SELECT count(*) FROM shop").rows == ((3,),)


def test_situations_are_loaded_into_a_file_that_is_open(
    situation: Situation, tmp_path: Path
) -> None:
    """DuckDB's file belongs to its writer alone, so the readers step aside."""
    from dataclasses import replace

    backend = plugins.backend("duckdb")
    where = f"duckdb:///{tmp_path}/both.duckdb"
    with closing(backend.load(situation, where)) as one:
        assert isinstance(one, GuardedDatabase)
        count = "SELECT count(*) FROM duckdb_tables()"
        before = one._session.run(count, SHORT).rows
        with closing(backend.load(replace(situation, name="other"), where)) as other:
            assert other.schema() == one.schema()
            assert one._session.run(count, SHORT).rows != before


def test_what_a_worker_says_is_plain_data() -> None:
    """No message makes its reader run anything, and none is longer than it may be."""
    import socket

    class Malicious:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.system, ("true",)

    ours, theirs = socket.socketpair()
    reader, writer = Wire(ours, trusts=False), Wire(theirs, trusts=True)
    with closing(reader), closing(writer):
        writer.send(("done", [1, "a", None, 2.5, True, b"x"]))
        assert reader.receive() == ("done", [1, "a", None, 2.5, True, b"x"])
        writer.send(Malicious())
        with pytest.raises(ClosedError):
            reader.receive()
        writer.send("a" * 1000)
        with pytest.raises(TooLongError):
            reader.receive(most=100)
        with pytest.raises(TimeoutError):
            writer.receive(time.monotonic() + 0.01)


def test_a_late_answer_of_the_fork_server_is_nobody_elses(file: Path) -> None:
    """A question that nobody waits for any more does not shift the answers after it."""
    with closing(dqa.open_database(file)) as database:
        server: Any = processes._server
        server._process.send_signal(signal.SIGSTOP)
        with pytest.raises(TimeoutError):
            server._ask(["ended", 0], 0.1)
        server._process.send_signal(signal.SIGCONT)
        with closing(dqa.open_database(file)) as another:
            assert another.query("SELECT 1").rows == ((1,),)
        assert processes._server is server
        assert database.query("SELECT 1").rows == ((1,),)


def test_a_process_that_is_not_to_be_had_ends_no_others(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What runs goes on where one more worker is refused."""
    with closing(dqa.open_database(file)) as database:
        server: Any = processes._server
        (number,) = numbers_of(pool_of(database))
        refused = [None, "Resource temporarily unavailable"]
        with monkeypatch.context() as patch:
            patch.setattr(server, "_ask", lambda *_: refused)
            with pytest.raises(InfrastructureError, match="Resource temporarily unavailable"):
                dqa.open_database(file)
        assert processes._server is server
        assert is_running(number)


def test_a_server_that_another_thread_has_replaced_is_kept(file: Path) -> None:
    """Two threads that find the old one gone do not end each other's workers."""
    with closing(dqa.open_database(file)):
        old: Any = processes._server
        processes._close_fork_server(old)
        with closing(dqa.open_database(file)) as database:
            new = processes._server
            processes._close_fork_server(old)
            assert processes._server is new
            assert is_running(*numbers_of(pool_of(database)))


def test_garbage_may_be_collected_while_the_fork_server_is_asked(file: Path) -> None:
    """A database that is forgotten in that moment waits for no lock of the same thread."""
    database = dqa.open_database(file)
    numbers = numbers_of(pool_of(database))
    server: Any = processes._server
    with server._lock:
        del database
    wait_until_gone(*numbers)


def test_a_fork_of_this_process_closes_nothing_of_it(shop: GuardedDatabase) -> None:
    """Its workers and their server are the parent's, also when the child closes its database."""
    server: Any = processes._server
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
    with pool_of(shop).pause():
        pass  # nobody is waited for
    assert shop.query("SELECT 1").rows == ((1,),)


def test_an_interrupted_pause_is_over(shop: GuardedDatabase) -> None:
    """Ctrl-C while a writer waits for statements leaves the database usable."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pool_of(shop).lease(time.monotonic() + 5.0):
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with pytest.raises(KeyboardInterrupt), pool_of(shop).pause():
                pass
    finally:
        signal.signal(signal.SIGALRM, before)
    assert shop.query("SELECT 1", SHORT).rows == ((1,),)


def test_a_signal_without_a_name_is_told(shop: GuardedDatabase) -> None:
    """Those for real time have none."""
    (number,) = numbers_of(pool_of(shop))
    later = threading.Timer(0.3, os.kill, (number, 40))
    later.start()
    with pytest.raises(StatementError, match=r"signal 40"):
        shop.query(DEAF, Limits(seconds=10.0))
    later.join()


def test_a_folder_that_is_gone_is_no_matter(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database is opened by its whole path from anywhere."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with closing(dqa.open_database(f"sqlite:///{file}")) as database:
        assert database.query("SELECT 1").rows == ((1,),)


def test_a_fresh_python_that_ends_at_once_is_not_waited_for(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It will not connect any more."""
    program = file.with_name("python")
    program.write_text("#!/bin/sh\nread line\nread line\nexit 1\n", "ascii")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(sys, "executable", str(program))
    started = time.monotonic()
    with pytest.raises(InfrastructureError, match="ended at once"):
        dqa.open_database(file)
    assert time.monotonic() - started < processes.STARTING / 2
