"""What can be chosen, where a statement lists it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from sqlite3 import connect

import pytest

from dqa import plugins
from dqa.core.database import Database
from dqa.core.errors import UsageError
from dqa.deciders.candidates import queried_candidates


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Numbers from 0 to 100,000, with a remainder that is missing for one of them."""
    path = tmp_path / "numbers.db"
    with connect(path) as made:
        made.execute("CREATE TABLE number (n INTEGER, remainder INTEGER)")
        rows = ((n, n % 3 if n else None) for n in range(100_001))
        made.executemany("INSERT INTO number VALUES (?, ?)", rows)
    made.close()
    opened = plugins.backend_for(str(path)).open(str(path))
    yield opened
    opened.close()


def test_the_first_column_lists_each_candidate_once(database: Database) -> None:
    """Ids stay numbers, other cells are texts, NULL is none, and nothing may be listed."""
    found = queried_candidates("SELECT remainder, n FROM number ORDER BY n LIMIT 9", database)
    assert found == (1, 2, 0)
    assert queried_candidates("SELECT 1.5", database) == ("1.5",)
    assert queried_candidates("SELECT n FROM number WHERE n < 0", database) == ()


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("SELECT nix FROM number", "mine cannot run"),
        ("DELETE FROM number", "mine cannot run"),
        ("SELECT n FROM number", "mine returns more than 100000 rows"),
    ],
)
def test_what_lists_none_is_said_by_its_name(
    database: Database, statement: str, problem: str
) -> None:
    """Whether it fails, changes something, or lists more than can be compared."""
    with pytest.raises(UsageError, match=problem):
        queried_candidates(statement, database, "mine")
