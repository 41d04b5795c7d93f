"""A SQLite file that another connection locks."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from time import monotonic

import pytest

from dqa import plugins
from dqa.core.database import Isolation, Limits
from dqa.core.errors import DatabaseUnavailableError
from dqa.databases.store_locations import StoreLocation, open_store


@pytest.mark.parametrize("isolation", ["none", "process"])
def test_a_locked_file_is_an_outage_within_the_limit(tmp_path: Path, isolation: Isolation) -> None:
    """It is not the statement's fault, and it ends with the lock."""
    file = tmp_path / "locked.db"
    with closing(sqlite3.connect(file)) as other:
        other.executescript("CREATE TABLE t(a); INSERT INTO t VALUES (7)")
        backend = plugins.backend("sqlite")
        with closing(backend.open(str(file), isolation=isolation)) as database:
            other.execute("BEGIN EXCLUSIVE")
            started = monotonic()
            with pytest.raises(DatabaseUnavailableError, match="locked"):
                database.query("SELECT a FROM t", Limits(seconds=1.0))
            assert monotonic() - started < 8.0  # SQLite itself would wait for ten
            other.rollback()
            assert database.query("SELECT a FROM t").rows == ((7,),)
        other.execute("BEGIN EXCLUSIVE")
        started = monotonic()
        with pytest.raises(Exception, match="locked"):
            backend.open(str(file), isolation="none")
        assert monotonic() - started < 10.0


_WRITE = """
import sqlite3, sys
try:
    sqlite3.connect(sys.argv[1], timeout=0).execute("INSERT INTO t VALUES (8)")
except sqlite3.OperationalError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a process has its locks by descriptor there")
@pytest.mark.parametrize("opens", ["database", "store"])
def test_opening_a_file_leaves_the_locks_of_this_process(tmp_path: Path, opens: str) -> None:
    """Closing any descriptor of a file would end a transaction's lock on it (POSIX)."""
    file = tmp_path / "shared.db"
    with closing(sqlite3.connect(file)) as own:
        own.execute("CREATE TABLE t(a)")
        own.execute("BEGIN IMMEDIATE")
        if opens == "database":
            with closing(plugins.backend_for(str(file)).open(str(file))) as database:
                assert database.query("SELECT count(*) FROM t").rows == ((0,),)
        else:
            open_store(StoreLocation("", file, "store", ""), writing=False).dispose()
        command = [sys.executable, "-c", _WRITE, str(file)]
        written = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "locked" in written.stdout
