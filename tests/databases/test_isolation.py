"""Statements run in worker processes: their limits, their crashes, and what is left behind."""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from multiprocessing import Pipe
from pathlib import Path
from typing import Any, Literal

import duckdb
import pytest

import dqa
from dqa import Limits, plugins
from dqa.core.database import Database
from dqa.core.errors import (
    DatabaseUnavailableError,
    DqaError,
    InfrastructureError,
    StatementError,
    StatementTimeoutError,
)
from dqa.core.situation import Situation
from dqa.databases import worker, worker_pool
from dqa.databases.opening import Opening
from tests.programs import run_python, start_python
from tests.sqlite_files import run_script

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")

SHORT = Limits(seconds=0.5)
LATE = 10.0
"""Seconds for a machine that is busy with other things."""
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
DEAF = "SELECT instr(printf('%.8000000c', 'a'), printf('%.4000000c', 'a') || 'b')"
"""Compares texts for hours and does not react to an interrupt meanwhile."""
CRASH = "RETURN id(NULL)"
"""Ends LadybugDB with a segmentation fault."""


@pytest.fixture(scope="module")
def shop_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a SQLite file with a table of three rows."""
    return run_script(
        tmp_path_factory.mktemp("isolation") / "shop.db",
        "CREATE TABLE shop (name TEXT, price REAL);"
        "INSERT INTO shop VALUES ('a', 1.0), ('b', 2.0), ('c', 3.0);",
    )


@pytest.fixture(scope="module")
def shop(shop_file: Path) -> Iterator[Database]:
    """Return that file, opened."""
    with closing(dqa.open_database(shop_file)) as database:
        yield database


def parents() -> dict[int, int]:
    """Return the parent of each process that runs; a process that ended is not among them."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text("ascii", "replace").rsplit(")", 1)[1].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        state, parent, threads = fields[0], fields[1], int(fields[17])
        if state != "Z" or threads > 1:  # until its last thread ends, its files are open
            found[int(entry.parent.name)] = int(parent)
    return found


def descendants(number: int) -> set[int]:
    """Return all processes below a process."""
    known, found, last = parents(), {number}, set[int]()
    while found != last:
        last = found
        found = found | {child for child, parent in known.items() if parent in found}
    return found - {number}


def ticks(number: int) -> int:
    """Return for how many hundredths of a second a process has computed."""
    return int(Path(f"/proc/{number}/stat").read_text("ascii").rsplit(")", 1)[1].split()[11])


def wait_for(is_so: Any, what: str) -> None:
    """Wait until something is so; only a hang reaches the end."""
    until = time.monotonic() + 60.0
    while not is_so():
        assert time.monotonic() < until, what
        time.sleep(0.01)


def wait_until_gone(numbers: set[int]) -> None:
    """Wait until processes have ended."""
    wait_for(lambda: not numbers & parents().keys(), "a process is left running")


def test_answers_are_those_of_this_process(shop: Database, shop_file: Path) -> None:
    """Values of every kind, cut results, errors and the schema are the same."""

    def answer(database: Database, statement: str) -> object:
        try:
            rows = database.query(statement, Limits(rows=100))
        except DqaError as error:
            return type(error), str(error)
        return rows.columns, rows.rows, rows.cut, rows.total

    with closing(dqa.open_database(shop_file, isolation="none")) as other:
        for statement in (
            "SELECT name, price, price > 1 AS dear, NULL, x'00ff', 9223372036854775807 FROM shop",
            "SELECT * FROM shop, shop AS b, shop AS c, shop AS d, shop AS e, shop AS f",
            "SELECT 1e999, -1e999",
            "SELECT nam FROM shop",
            "SELECT * FROM shops",
            "SELECT abs('x', 1)",
            "DELETE FROM shop",
        ):
            assert answer(shop, statement) == answer(other, statement)
        assert shop.schema() == other.schema()


@pytest.mark.parametrize("statement", [ENDLESS, DEAF])
def test_a_statement_over_its_limit_ends_and_the_next_one_works(
    shop: Database, statement: str
) -> None:
    """Whether the engine stops it or its process is ended; the message names the limit."""
    with pytest.raises(StatementTimeoutError, match=r"stopped after 0.4 seconds"):
        shop.query(statement, Limits(seconds=0.4))
    assert shop.query("SELECT count(*) FROM shop").rows == ((3,),)


def test_a_crash_is_the_statements_error(situation: Situation) -> None:
    """It ends neither this process nor the database."""
    with closing(plugins.backend("ladybug").load(situation)) as graph:
        for _ in range(2):
            with pytest.raises(StatementError, match="segmentation fault") as caught:
                graph.query(CRASH)
            assert type(caught.value) is StatementError
            assert graph.query("MATCH (n) RETURN count(n) > 0").rows == ((True,),)


def resident() -> int:
    """Return the bytes of memory of this process."""
    pages = Path("/proc/self/statm").read_text("ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGESIZE")


def test_32_expensive_statements_at_once_return_within_their_limits(shop: Database) -> None:
    """Each within a second; one whose worker came late was not stopped for its own cost."""

    def ask(_: int) -> tuple[float, type[BaseException] | None]:
        started = time.monotonic()
        try:
            shop.query(DEAF, Limits(seconds=2.0))
        except (StatementTimeoutError, DatabaseUnavailableError) as error:
            return time.monotonic() - started, type(error)
        return 0.0, None

    before = resident()
    with ThreadPoolExecutor(32) as threads:
        ends = list(threads.map(ask, range(32)))
    assert max(seconds for seconds, _ in ends) < 2.0 + 1.0 + LATE
    assert StatementTimeoutError in {kind for _, kind in ends}
    assert resident() - before < 300_000_000
    assert shop.query("SELECT 1").rows == ((1,),)


ENVIRONMENTS = """
import os, sys, dqa
from pathlib import Path
database = dqa.open_database(sys.argv[1])
shown = [
    (path.parent / name).read_bytes()
    for path in Path("/proc").glob("[0-9]*/stat")
    if path.read_text("ascii", "replace").rsplit(")", 1)[1].split()[1] == str(os.getpid())
    for child in [path.parent.name]
    for grandchild in [child, *Path(f"/proc/{child}/task/{child}/children").read_text().split()]
    for name in (f"../{grandchild}/environ", f"../{grandchild}/cmdline")
]
assert len(shown) >= 4
assert b"s3cret-w0rd" not in b"".join(shown)
assert os.environ["SECRET_API_KEY"] == "s3cret-w0rd"
print(*database.query("SELECT 1").rows)
"""


def test_a_worker_knows_no_secret(shop_file: Path) -> None:
    """Neither in its environment, which the system shows, nor in its arguments."""
    done = run_python(
        "-c", ENVIRONMENTS, str(shop_file), env=os.environ | {"SECRET_API_KEY": "s3cret-w0rd"}
    )
    assert done.stdout == "(1,)\n", done.stderr


def test_a_wait_for_a_worker_is_the_databases_error(
    shop_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where all workers are busy, the statement that waits is not to blame."""
    monkeypatch.setattr(worker_pool, "MOST_WORKERS", 1)
    with closing(dqa.open_database(shop_file)) as database, ThreadPoolExecutor(1) as threads:
        before = descendants(os.getpid())
        begun = {number: ticks(number) for number in before}
        long = threads.submit(database.query, DEAF, Limits(seconds=3.0))
        wait_for(
            lambda: any(ticks(number) > begun[number] + 5 for number in before), "nothing runs"
        )
        with pytest.raises(DatabaseUnavailableError, match="fewer threads"):
            database.query("SELECT 1", Limits(seconds=0.3))
        assert isinstance(long.exception(), StatementTimeoutError)
        assert database.query("SELECT 1").rows == ((1,),)


def test_a_worker_that_starts_late_still_ends_a_statement(
    shop_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine, a slow statement is no outage."""

    class Busy(worker.Worker):
        starts = 0

        def __init__(self, opening: Opening, until: float) -> None:
            Busy.starts += 1
            if Busy.starts > 1:
                time.sleep(1.2)
            else:
                super().__init__(opening, until)
                self.mark = "mark"

        def send(self, request: str, *arguments: object) -> None:
            if request == "end":
                raise TimeoutError
            super().send(request, *arguments)

    monkeypatch.setattr(worker_pool, "Worker", Busy)
    opening = Opening(plugins.backend("sqlite").namespaces, str(shop_file), is_server=True)
    with closing(worker_pool.IsolatedSession(opening)) as session:
        started = time.monotonic()
        with pytest.raises(StatementTimeoutError):
            session.run(DEAF, Limits(seconds=0.3))
        assert Busy.starts == 2
        assert time.monotonic() - started < 0.3 + 1.0 + LATE


@pytest.mark.parametrize("kind", [DatabaseUnavailableError, StatementError])
def test_a_killed_worker_is_replaced(
    shop_file: Path,
    shop: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: type[DqaError],
) -> None:
    """An idle one unseen; one that runs a statement ends that statement only.

    The statement is wrong if the system killed the worker for lack of memory.
    """
    counts = tmp_path / "vmstat"
    counts.write_text("oom_kill 0\n")
    monkeypatch.setattr(worker, "_VMSTAT", counts)
    shop.query("SELECT 1")
    before = descendants(os.getpid())
    with closing(dqa.open_database(shop_file)) as database:
        workers = descendants(os.getpid()) - before
        assert workers
        for number in workers:
            os.kill(number, signal.SIGKILL)
        wait_until_gone(workers)
        assert database.query("SELECT 1").rows == ((1,),)
        (number,) = descendants(os.getpid()) - before
        begun = ticks(number)
        with ThreadPoolExecutor(1) as threads:
            asked = threads.submit(database.query, DEAF, Limits(seconds=60.0))
            wait_for(lambda: ticks(number) > begun + 5, "the worker does nothing")
            counts.write_text(f"oom_kill {int(kind is StatementError)}\n")
            os.kill(number, signal.SIGKILL)
            assert type(asked.exception()) is kind
        assert database.query("SELECT 1").rows == ((1,),)


def test_nothing_is_left_running(shop_file: Path, shop: Database) -> None:
    """Not after a database is closed, and not after it is forgotten."""
    shop.query("SELECT 1")
    before = descendants(os.getpid())
    database = dqa.open_database(shop_file)
    workers = descendants(os.getpid()) - before
    database.close()
    wait_until_gone(workers)
    database = dqa.open_database(shop_file)
    workers = descendants(os.getpid()) - before
    assert workers
    del database
    gc.collect()
    wait_until_gone(workers)


ASKING = """
import sys, dqa
database = dqa.open_database(sys.argv[1])
database.query("SELECT 1")
print("ready", flush=True)
try:
    database.query(sys.argv[2], dqa.Limits(seconds=60.0))
except KeyboardInterrupt:
    print("interrupted", *database.query("SELECT 1").rows, flush=True)
    sys.stdin.readline()
"""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_a_signal_to_the_asker_ends_the_worker(shop_file: Path, sent: signal.Signals) -> None:
    """Ctrl-C leaves a database that works; nothing survives a process that is killed."""
    asker = start_python("-c", ASKING, str(shop_file), DEAF)
    with asker:
        assert asker.stdout is not None
        assert asker.stdout.readline() == "ready\n"
        below = descendants(asker.pid)
        begun = {number: ticks(number) for number in below}

        def busy() -> set[int]:
            return {number for number in below if ticks(number) > begun[number] + 10}

        wait_for(busy, "the worker does nothing")
        working = busy()
        asker.send_signal(sent)
        if sent == signal.SIGINT:
            assert asker.stdout.readline() == "interrupted (1,)\n"
            wait_until_gone(working)
            asker.communicate("end\n")
            assert asker.returncode == 0
        else:
            asker.wait()
        wait_until_gone(below)


@pytest.mark.filterwarnings(r"ignore:os\.fork\(\) was called:RuntimeWarning")
def test_a_fork_of_this_process_needs_databases_of_its_own(shop: Database, shop_file: Path) -> None:
    """Using its parent's is one clear error, and the parent's workers stay."""
    shop.query("SELECT 1")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            with pytest.raises(InfrastructureError, match="forked"):
                shop.query("SELECT 1")
            shop.close()
            with closing(dqa.open_database(shop_file)) as own:
                code = 0 if own.query("SELECT 1").rows == ((1,),) else 2
        finally:
            os._exit(code)
    answers = [shop.query(f"SELECT {n}").rows for n in range(50)]
    assert answers == [((n,),) for n in range(50)]
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert shop.query("SELECT 1").rows == ((1,),)


def test_a_worker_that_cannot_start_is_one_clear_error(shop_file: Path) -> None:
    """The cause is that of the operating system, and no memory is asked for."""
    program = (
        "import sys, dqa\n"
        "import multiprocessing\n"
        "multiprocessing.set_executable('/nowhere/python')\n"
        "try:\n"
        "    dqa.open_database(sys.argv[1])\n"
        "except dqa.InfrastructureError as error:\n"
        "    print(error)\n"
    )
    done = run_python("-c", program, str(shop_file), check=True)
    assert "cannot be started" in done.stdout


def test_too_many_open_files_are_an_infrastructure_error(shop_file: Path, shop: Database) -> None:
    """Open databases keep their workers."""
    shop.query("SELECT 1")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (4, limits[1]))
    try:
        with pytest.raises(InfrastructureError, match="Too many open files"):
            dqa.open_database(shop_file)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert shop.query("SELECT 1").rows == ((1,),)


@pytest.mark.parametrize(
    ("engine", "replace"),
    [
        ("sqlite", Path.replace),
        ("duckdb", Path.replace),
        ("duckdb", lambda new, old: old.write_bytes(new.read_bytes())),
    ],
    ids=["sqlite", "duckdb", "duckdb overwritten in place"],
)
def test_a_replaced_file_is_an_error(
    tmp_path: Path, engine: Literal["sqlite", "duckdb"], replace: Callable[[Path, Path], object]
) -> None:
    """The rows of one file are not given as those of the other."""
    files = [tmp_path / f"{name}.{engine}" for name in ("old", "new")]
    connect: Any = {"sqlite": sqlite3.connect, "duckdb": duckdb.connect}[engine]
    for file in files:
        with closing(connect(str(file))) as made:
            made.execute(f"CREATE TABLE shop AS SELECT '{file.stem}' AS name")
            made.commit()
    with closing(dqa.open_database(files[0])) as database:
        assert database.query("SELECT name FROM shop").rows == (("old",),)
        replace(files[1], files[0])
        with pytest.raises(DatabaseUnavailableError, match="replaced or removed after"):
            database.query("SELECT name FROM shop")


def test_rows_of_a_failed_attempt_do_not_count_against_the_limit() -> None:
    """A session that sends its rows from the start again may send as many as before."""
    ours, theirs = Pipe()
    receiving = object.__new__(worker.Worker)
    receiving._connection = ours
    for found in ([], [["x" * 600]], [], [["y" * 600]]):
        theirs.send_bytes(json.dumps(["rows", [0, found], True]).encode())
    theirs.send_bytes(b'["done", 7, true]')
    rows: list[tuple[Any, ...]] = []
    assert receiving.wait(time.monotonic() + 60.0, 1_000, rows) == 7
    assert rows == [("y" * 600,)]
