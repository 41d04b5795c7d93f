"""Ctrl-C comes out of whatever a caller waits for, at once, and leaves nothing behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from dqa import Limits
from dqa.databases.isolation import fork_server
from dqa.guard import GuardedDatabase
from tests.databases.isolation.workers import (
    DEAF,
    NOISE,
    numbers_of,
    pool_of,
    wait_until_busy,
    wait_until_gone,
)


def test_an_interrupt_ends_the_worker(file: Path) -> None:
    """Ctrl-C comes out of the wait at once, and nothing goes on behind it."""
    program = (
        "import sys, dqa\n"
        "database = dqa.open_database(sys.argv[1])\n"
        "numbers = [w._process._number for w in database._session._pool._idle]\n"
        "database.query('SELECT 1')\n"  # what is imported late is there
        "try:\n"
        "    print(*numbers, flush=True)\n"
        "    database.query(sys.argv[2], dqa.Limits(seconds=60.0))\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', flush=True)\n"
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
        (number,) = map(int, asker.stdout.readline().split())
        wait_until_busy(number)
        asker.send_signal(signal.SIGINT)
        assert asker.stdout.readline() == "interrupted\n"
        wait_until_gone(number)
        assert asker.poll() is None  # the worker has not ended with it
        asker.communicate("go on\n")
        assert asker.returncode == 0


def _interrupt_elsewhere(seconds: float) -> threading.Thread:
    """Have another thread take Ctrl-C: the system ends no wait of this one.

    It is the same for a signal that comes just before the system begins to wait.
    """

    def interrupt() -> None:
        time.sleep(seconds)
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    return thread


def test_an_interrupt_that_ends_no_wait_of_the_system_is_seen(shop: GuardedDatabase) -> None:
    """A statement is not waited for until its limit."""
    (number,) = numbers_of(pool_of(shop))
    thread = _interrupt_elsewhere(0.3)
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        shop.query(DEAF, Limits(seconds=30.0))
    assert time.monotonic() - started < 1.0 + NOISE
    thread.join()
    wait_until_gone(number)
    assert shop.query("SELECT 1").rows == ((1,),)


def test_an_interrupt_is_seen_while_a_worker_is_waited_for(shop: GuardedDatabase) -> None:
    """Where the fork server does not answer, or another thread asks it."""
    server = fork_server._server
    assert server is not None
    (number,) = numbers_of(pool_of(shop))
    pool_of(shop)._idle.pop().leave()
    wait_until_gone(number)
    is_held, is_free = threading.Event(), threading.Event()

    def hold() -> None:
        with server._lock:
            is_held.set()
            is_free.wait(20.0)

    holder = threading.Thread(target=hold)
    holder.start()
    is_held.wait()
    thread = _interrupt_elsewhere(0.3)
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        shop.query("SELECT 1", Limits(seconds=10.0))
    assert time.monotonic() - started < 1.0 + NOISE
    is_free.set()
    holder.join()
    thread.join()
    assert shop.query("SELECT 1").rows == ((1,),)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes as Linux lists them")
@pytest.mark.parametrize(
    ("call", "step", "least"),
    [("query", 1, 100), ("begin", 4, 30), ("leave", 6, 20), ("pause", 4, 50)],
)
def test_an_interrupt_anywhere_comes_out_and_leaves_nothing(
    file: Path, call: str, step: int, least: int
) -> None:
    """At every place where the interpreter looks for signals: the next statement is answered."""
    program = Path(__file__).with_name("interrupting.py")
    ran = subprocess.run(
        [
            sys.executable,
            "-m",
            f"tests.databases.isolation.{program.stem}",
            str(file),
            call,
            str(step),
        ],
        cwd=program.parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    *problems, total = ran.stdout.splitlines() or [""]
    assert not problems
    assert total, ran.stderr
    assert int(total) >= least
