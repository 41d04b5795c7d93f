"""Create and change SQLite files."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

WAREHOUSES = (
    "CREATE TABLE warehouse (name TEXT, cost REAL);"
    "INSERT INTO warehouse VALUES ('North', 7.5), ('South', 2.0);"
)


def run_script(file: Path | str, script: str) -> Path:
    """Run a script on a SQLite file, which is created if it is missing. Return the file."""
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(script)
    return Path(file)


def rows_of(file: Path | str, statement: str) -> list[tuple[Any, ...]]:
    """Return the rows of a statement on a SQLite file."""
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(statement).fetchall()
