"""What can be chosen, where a statement lists it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from sqlite3 import connect

import duckdb
import pytest

from dqa import plugins
from dqa.core.database import Database
from dqa.core.errors import InvalidAnswerError, UsageError
from dqa.core.question import Question
from dqa.deciders.answers import choice_of
from dqa.deciders.choices import listed_choices


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Numbers from 0 to 50,000, with a remainder that is missing for one of them."""
    path = tmp_path / "numbers.db"
    with connect(path) as made:
        made.execute("CREATE TABLE number (n INTEGER, remainder INTEGER)")
        rows = ((n, n % 3 if n else None) for n in range(50_001))
        made.executemany("INSERT INTO number VALUES (?, ?)", rows)
    made.close()
    opened = plugins.backend_for(str(path)).open(str(path))
    yield opened
    opened.close()


def test_the_first_column_lists_each_candidate_once(database: Database) -> None:
    """Ids stay numbers, other cells are texts, NULL is none, and nothing may be listed."""
    found = listed_choices("SELECT remainder, n FROM number ORDER BY n LIMIT 9", database)
    assert found.all() == (1, 2, 0)
    assert listed_choices("SELECT 1.5", database).all() == ("1.5",)
    assert listed_choices("SELECT n FROM number WHERE n < 0", database).all() == ()


def test_cells_that_are_no_texts_are_named_as_the_database_shows_them(tmp_path: Path) -> None:
    """A list or map is its JSON, a truth value its word, a day its text."""
    duckdb.connect(str(tmp_path / "empty.duckdb")).close()
    opened = plugins.backend("duckdb").open(str(tmp_path / "empty.duckdb"))
    listed = (
        "SELECT {'k': [1, NULL], 'ä': 'x'}",
        "SELECT * FROM (VALUES (true), (false)) t(a) ORDER BY 1",
        "SELECT DATE '2024-02-29'",
        "SELECT ['a', 'b']",
    )
    found = [listed_choices(statement, opened).all() for statement in listed]
    assert found == [
        ('{"k": [1, null], "ä": "x"}',),
        ("false", "true"),
        ("2024-02-29",),
        ('["a", "b"]',),
    ]
    opened.close()


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("SELECT nix FROM number", "mine cannot run"),
        ("DELETE FROM number", "mine cannot run"),
        (
            "SELECT a.n * 10 + b.n FROM number AS a, number AS b WHERE b.n < 10",
            "mine lists 500,010 candidates, and no decision is made between more than 100,000",
        ),
        (
            "SELECT a.n * 10 + b.n + 0.5 FROM number AS a, number AS b WHERE b.n < 10",
            "mine returns more than 100,000 rows: narrow it",
        ),
    ],
)
def test_what_lists_none_is_said_by_its_name(
    database: Database, statement: str, problem: str
) -> None:
    """Whether it fails, changes something, or lists more than can be compared."""
    with pytest.raises(UsageError, match=problem):
        listed_choices(statement, database, "mine")


@pytest.mark.parametrize(
    "said",
    [
        "half a character \ud800 and a\0b",
        "a backslash \\ and every stand-in ~^|#@!%&?*",
        "'; DROP TABLE number; --",
        " ".join(f"https://example.org/a/long/path/of/{'words' * 9}/{n}" for n in range(40, 90)),
    ],
)
def test_whatever_a_model_writes_is_looked_up_among_very_many(
    database: Database, said: str
) -> None:
    """What no statement can hold names nothing: that is the model's to mend, not the run's end."""
    choices = listed_choices("SELECT n FROM number", database)
    assert choices.is_large
    assert choices.held is None
    assert choices.among({said, "7", "0"}) == (0, 7)
    question = Question("custom", "1", "Which?", "")
    with pytest.raises(InvalidAnswerError):
        choice_of(said, question, choices)
