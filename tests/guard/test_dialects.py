"""The first statements of a process may come from several threads at once."""

from __future__ import annotations

import subprocess
import sys

from dqa.guard.sql import dialects

_SCRIPT = """
import threading
from dqa import guard

start, failed = threading.Barrier(8), []

def ask(dialect):
    start.wait()
    try:
        assert guard.check("SELECT a FROM t", dialect).allowed
    except Exception as error:
        failed.append(f"{dialect}: {error!r}")

names = ["sqlite", "postgres", "duckdb", "mysql", "mariadb", "ansi", "sqlite", "postgres"]
threads = [threading.Thread(target=ask, args=(name,)) for name in names]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert not failed, failed
"""


def test_eight_threads_may_be_the_first() -> None:
    """Each in a process of its own: what is imported once cannot race again."""
    for _ in range(5):
        done = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()


def test_a_dialect_is_loaded_whole_before_anybody_has_it() -> None:
    """Its parser and its generator, and once."""
    assert dialects.dialect_of("sqlite") is dialects.dialect_of("sqlite")
