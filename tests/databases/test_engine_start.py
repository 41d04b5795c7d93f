"""An embedded engine is started once, by one thread, however many threads want it at once."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib.metadata import EntryPoint
from types import SimpleNamespace

import pytest

from dqa import plugins
from dqa.databases.backends import BUILT_IN
from tests.programs import run_python

START = """
import threading
from dqa.databases.backends import BUILT_IN

barrier, failures = threading.Barrier(8), []

def work():
    barrier.wait()
    try:
        BUILT_IN["ladybug"].start()
        import ladybug
        with ladybug.Database(":memory:") as database, ladybug.Connection(database) as connection:
            with connection.execute("RETURN 1") as rows:
                assert rows.get_next() == [1]
    except BaseException as error:
        failures.append(repr(error))

threads = [threading.Thread(target=work) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert not failures, failures
"""
NAMING = """
import sys
from dqa.databases.backends import BUILT_IN
assert BUILT_IN["postgres"].accepts("postgresql://host/x")
heavy = {"sqlalchemy", "ladybug", "duckdb", "neo4j", "numpy", "sqlglot"}
assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()
"""


def test_eight_threads_may_be_the_first_to_open_the_graph_engine() -> None:
    """Two threads that import it at the same time look for a library that does not exist."""
    done = run_python("-c", START)
    assert done.returncode == 0, done.stderr


def test_naming_the_backends_imports_no_engine() -> None:
    """Their names and the locations that they accept are known without one."""
    done = run_python("-c", NAMING)
    assert done.returncode == 0, done.stderr


def test_a_plug_in_opens_its_urls_before_the_backend_for_any_url(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever its name is."""
    own = replace(BUILT_IN["postgres"], name="zeta", accepts=lambda url: url.startswith("zeta:"))
    monkeypatch.setitem(sys.modules, "zeta_backend", SimpleNamespace(BACKEND=own))
    point = EntryPoint("zeta", "zeta_backend:BACKEND", "dqa.databases")
    monkeypatch.setattr(plugins, "_registered", lambda kind: {"zeta": point})
    assert plugins.backend_for("zeta://host/x") is own
    assert plugins.backend_for("other://host/x") is BUILT_IN["sqlalchemy"]
