"""A SQLite file that another connection locks."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from time import monotonic

import pytest

from dqa import plugins
from dqa.core.database import Isolation, Limits
from dqa.core.errors import DatabaseUnavailableError


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
