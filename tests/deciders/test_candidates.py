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
from dqa.deciders.candidates import among
from dqa.scenarios.embedded import listed_candidates


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
    found = listed_candidates("SELECT remainder, n FROM number ORDER BY n LIMIT 9", database)
    assert found == (1, 2, 0)
    assert listed_candidates("SELECT 1.5", database) == ("1.5",)
    assert listed_candidates("SELECT n FROM number WHERE n < 0", database) == ()


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
    found = [listed_candidates(statement, opened) for statement in listed]
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
            "mine returns more than 100,000 rows: narrow it",
        ),
    ],
)
def test_what_lists_none_is_said_by_its_name(
    database: Database, statement: str, problem: str
) -> None:
    """Whether it fails, changes something, or lists more than can be compared."""
    with pytest.raises(UsageError, match=problem):
        listed_candidates(statement, database, "mine")


def test_a_long_list_is_read_by_the_words_of_an_answer(database: Database) -> None:
    """Whatever a model writes; a name that is not in it asks for a query."""
    choices = listed_candidates("SELECT n FROM number", database)
    assert among(choices, {"7", "0", "it's \ud800"}) == (0, 7)
    question = Question("custom", "1", "Which?", "")
    assert choice_of("Final Answer: candidate 7", question, choices) == 7
    for said in ("'; DROP TABLE number; --", "half \ud800 a\0b", "7 or 8", "not 7"):
        with pytest.raises(InvalidAnswerError, match="there are 50,001, such as"):
            choice_of(said, question, choices)
