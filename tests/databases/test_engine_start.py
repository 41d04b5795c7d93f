"""Embedded engines are started once, by one thread, however many want them at once."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

THREADS = 8

START = """
import threading
from dqa.databases.ladybug.backend import BACKEND

barrier, failures = threading.Barrier({threads}), []

def work():
    barrier.wait()
    try:
        BACKEND.start()
        import ladybug
        with ladybug.Database(":memory:") as database, ladybug.Connection(database) as connection:
            with connection.execute("RETURN 1") as rows:
                assert rows.get_next() == [1]
    except BaseException as error:
        failures.append(repr(error))

threads = [threading.Thread(target=work) for _ in range({threads})]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("; ".join(failures))
"""


@pytest.mark.parametrize("count", [2, pytest.param(16, marks=pytest.mark.slow)])
def test_eight_threads_open_the_graph_engine_at_once_in_fresh_processes(count: int) -> None:
    """Its own fallback looks for a library that is not there where two threads are first."""
    script = START.format(threads=THREADS)

    def run(_: int) -> str:
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120
        )
        return done.stdout.strip() + done.stderr.strip()

    with ThreadPoolExecutor(2) as processes:
        assert [told for told in processes.map(run, range(count)) if told] == []


@pytest.mark.parametrize("heavy", ["sqlalchemy", "ladybug", "duckdb", "neo4j", "numpy", "sqlglot"])
def test_naming_the_backends_imports_no_engine(heavy: str) -> None:
    """What each is called, and whose a location is, is known without."""
    script = (
        "import sys\n"
        "from importlib.metadata import entry_points\n"
        "backends = [point.load() for point in entry_points(group='dqa.databases')]\n"
        "assert any(backend.accepts('postgresql://host/x') for backend in backends)\n"
        f"sys.exit({heavy!r} in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True)
    assert done.returncode == 0, done.stderr
