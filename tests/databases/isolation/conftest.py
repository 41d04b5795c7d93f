"""A small file, opened as everybody opens it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import dqa
from dqa.guard import GuardedDatabase


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
