"""How worker processes are started, and what is said where they cannot be."""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import dqa
from dqa import plugins
from dqa.core.errors import (
    DatabaseUnavailableError,
    DataError,
    InfrastructureError,
    StatementTimeoutError,
    UsageError,
)
from dqa.databases.isolation import fork_server, processes, pythons, spawning
from dqa.databases.isolation.wire import ClosedError
from dqa.databases.isolation.workers import OpenWorker, WorkerBugError
from dqa.databases.opening import Opening
from dqa.guard import GuardedDatabase
from tests.databases.isolation.workers import (
    DEAF,
    SHORT,
    is_running,
    numbers_of,
    pool_of,
    wait_until_gone,
)


def test_a_worker_that_cannot_start_is_one_clear_error(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No Python, no memory or no right to start one."""
    fork_server._close_fork_server()
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(InfrastructureError, match=r"cannot be started.*isolation=\"none\""):
        dqa.open_database(file)


def test_a_fork_server_that_somebody_ended_is_replaced(file: Path) -> None:
    """So are the workers that end with it."""
    with closing(dqa.open_database(file)) as database:
        server: Any = fork_server._server
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


@pytest.fixture
def program(file: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the file of a shell script that stands for this Python, for a test to write."""
    program = file.with_name("python")
    program.touch(0o755)
    fork_server._close_fork_server()
    monkeypatch.setattr(sys, "executable", str(program))
    yield program
    fork_server._close_fork_server()


@pytest.mark.parametrize("platform", ["linux", "darwin"])
@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("exit 1", "cannot be started: it ended with code 1"),
        ("kill -TERM $$", "cannot be started: it was killed by SIGTERM"),
        ("exec sleep 60", "did not start within 0.5 seconds; the machine may be busy"),
    ],
)
def test_a_python_that_does_not_start_says_why(
    *, file: Path, program: Path, platform: str, script: str, message: str, monkeypatch: Any
) -> None:
    """Whether it ended by itself, was ended, or took too long; memory is not blamed for it."""
    program.write_text(f"#!/bin/sh\n{script}\n", "ascii")
    monkeypatch.setattr(sys, "platform", platform)
    if "sleep" in script:
        monkeypatch.setattr(processes, "STARTING", 0.5)
    with pytest.raises(InfrastructureError, match=message) as caught:
        dqa.open_database(file)
    assert "memory" not in str(caught.value)


def test_workers_are_where_and_what_their_asker_is_now(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not where it was when the first worker was made."""
    with closing(dqa.open_database(file)):
        pass
    monkeypatch.chdir(file.parent)
    with closing(dqa.open_database(file.name)) as database:
        assert database.query("SELECT count(*) FROM shop").rows == ((3,),)


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


def test_a_late_answer_of_the_fork_server_is_nobody_elses(file: Path) -> None:
    """A question that nobody waits for any more does not shift the answers after it."""
    with closing(dqa.open_database(file)) as database:
        server: Any = fork_server._server
        server._process.send_signal(signal.SIGSTOP)
        with pytest.raises(TimeoutError):
            server._ask(["ended", 0], 0.1)
        server._process.send_signal(signal.SIGCONT)
        with closing(dqa.open_database(file)) as another:
            assert another.query("SELECT 1").rows == ((1,),)
        assert fork_server._server is server
        assert database.query("SELECT 1").rows == ((1,),)


def test_a_process_that_is_not_to_be_had_ends_no_others(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What runs goes on where one more worker is refused."""
    with closing(dqa.open_database(file)) as database:
        server: Any = fork_server._server
        (number,) = numbers_of(pool_of(database))
        refused = [None, "Resource temporarily unavailable"]
        with monkeypatch.context() as patch:
            patch.setattr(server, "_ask", lambda *_: refused)
            with pytest.raises(InfrastructureError, match="Resource temporarily unavailable"):
                dqa.open_database(file)
        assert fork_server._server is server
        assert is_running(number)


def test_too_many_open_files_end_no_other_workers(file: Path) -> None:
    """The fork server is not to blame where its parent has no room for one more connection."""
    opening = Opening(plugins.backend("sqlite").namespaces, str(file))
    with closing(dqa.open_database(file)) as database:
        server: Any = fork_server._server
        (number,) = numbers_of(pool_of(database))
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (4, limits[1]))
        try:
            with pytest.raises(InfrastructureError, match="cannot be started: Too many open files"):
                OpenWorker(opening)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        assert fork_server._server is server
        assert is_running(number)


def test_too_many_open_files_are_told_where_a_file_is_looked_at(file: Path) -> None:
    """Before any worker is asked: one error of ours, and no other backend is tried for it."""
    dqa.open_database(file).close()  # what is imported late is there
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (4, limits[1]))
    try:
        with pytest.raises(InfrastructureError, match=r"cannot be opened: Too many open files.*-n"):
            dqa.open_database(file)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_a_worker_that_ends_with_its_fork_server_blames_no_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How it ended is not known then, and not told."""

    def end(*_: object) -> None:
        server: Any = fork_server._server
        server._process.kill()
        server._process.wait()
        raise ClosedError

    monkeypatch.setattr(OpenWorker, "_receive", end)
    with pytest.raises(DatabaseUnavailableError) as caught:
        dqa.open_database(file)
    assert "its exit code is not known" in str(caught.value)
    assert "damaged" not in str(caught.value)


def test_a_fork_server_that_takes_its_time_to_go_holds_nobody_up(
    file: Path, stopped: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another one is there before it has ended."""
    monkeypatch.setattr(fork_server, "LEAVING", 60.0)
    closing_it = threading.Thread(target=fork_server._close_fork_server, args=(stopped,))
    closing_it.start()
    while fork_server._server is stopped:
        time.sleep(0.001)
    with closing(dqa.open_database(file)) as database:
        assert database.query("SELECT 1").rows == ((1,),)
        assert closing_it.is_alive()
    stopped._process.send_signal(signal.SIGCONT)
    closing_it.join()
    assert stopped._process.poll() is not None


def test_a_server_that_another_thread_has_replaced_is_kept(file: Path) -> None:
    """Two threads that find the old one gone do not end each other's workers."""
    with closing(dqa.open_database(file)):
        old: Any = fork_server._server
        fork_server._close_fork_server(old)
        with closing(dqa.open_database(file)) as database:
            new = fork_server._server
            fork_server._close_fork_server(old)
            assert fork_server._server is new
            assert is_running(*numbers_of(pool_of(database)))


def test_garbage_may_be_collected_while_the_fork_server_is_asked(file: Path) -> None:
    """A database that is forgotten in that moment waits for no lock of the same thread."""
    database = dqa.open_database(file)
    numbers = numbers_of(pool_of(database))
    server: Any = fork_server._server
    with server._lock:
        del database
    wait_until_gone(*numbers)


@pytest.fixture
def stopped(shop: GuardedDatabase) -> Iterator[Any]:
    """Give a fork server that is stopped, and whose only worker has ended."""
    pool_of(shop).opening_seconds = 0.0  # however long it took to start
    server: Any = fork_server._server
    (number,) = numbers_of(pool_of(shop))
    os.kill(number, signal.SIGKILL)
    wait_until_gone(number)
    server._process.send_signal(signal.SIGSTOP)
    yield server
    server._process.send_signal(signal.SIGCONT)


def test_a_fork_server_that_hangs_holds_no_statement_up(
    stopped: Any, shop: GuardedDatabase
) -> None:
    """It says what is wrong before another one is there, and answers when it goes on."""
    with pytest.raises(DatabaseUnavailableError, match="worker process did not start"):
        shop.query("SELECT 1", SHORT)
    stopped._process.send_signal(signal.SIGCONT)
    assert shop.query("SELECT 1").rows == ((1,),)
    assert fork_server._server is stopped


def test_a_fork_server_that_hangs_for_long_is_replaced(
    stopped: Any, shop: GuardedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And ended, with all that it has forked."""
    monkeypatch.setattr(fork_server, "HUNG", 0.3)
    assert shop.query("SELECT 1").rows == ((1,),)
    assert fork_server._server is not stopped
    assert stopped._process.poll() == -signal.SIGKILL


class Unreadable:
    """Content that another process cannot read."""

    def __reduce__(self) -> tuple[Any, ...]:
        return int, ("no number",)


def test_an_opening_that_a_worker_cannot_read_is_told() -> None:
    """With what it raised there; the file is not blamed for it."""
    content: Any = Unreadable()
    namespaces = plugins.backend("sqlite").namespaces
    with pytest.raises(WorkerBugError, match="invalid literal for int") as caught:
        OpenWorker(Opening(namespaces, content=content))
    assert "Traceback" in caught.value.__notes__[0]


def test_a_stranger_does_not_take_a_workers_place() -> None:
    """One who connects first and says nothing, or something else, is turned away."""
    password = b"p" * 32

    def connect(port: int, said: bytes) -> socket.socket:
        end = socket.create_connection(("127.0.0.1", port))
        end.sendall(said)
        return end

    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process,
    ):
        port = server.getsockname()[1]
        ends = [connect(port, said) for said in (b"", b"x" * 32, password)]
        found = spawning.accept_worker(server, password, process, time.monotonic() + 20.0)
        with found:
            assert found.getpeername() == ends[-1].getsockname()
        for end in ends:
            end.close()
        process.kill()


def test_a_fresh_python_that_takes_its_time_to_go_is_no_error(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for that longer than a statement may."""
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(pythons, "ENDING", 0.0)
    with closing(dqa.open_database(file)) as database:
        (worker,) = pool_of(database)._idle
        process: Any = worker._process
        assert worker.kill() is None
        process.process.wait(10.0)
        assert database.query("SELECT 1").rows == ((1,),)
