"""A user's own table of events: a question is a move, without any Python."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

import dqa
from dqa.core.database import Database
from dqa.core.errors import DataError, UsageError
from dqa.core.question import Question
from dqa.scenarios import register
from dqa.worlds.base import find_position, is_move
from dqa.worlds.world import GameEvent
from tests.sqlite_files import run_script

TALKS = """
CREATE TABLE talk (deal INTEGER, number INTEGER, side TEXT, act TEXT, price REAL);
INSERT INTO talk VALUES
  (2, 1, 'us', 'ask', NULL), (2, 2, 'supplier', 'offer', 90.0), (2, 3, 'us', 'wait', NULL),
  (2, 4, 'supplier', 'refuse', 95.5), (3, 1, 'us', 'ask', NULL), (4, 1, 'bank', 'call', NULL),
  (5, 1, 'us', NULL, NULL);
"""
DOCUMENT = """name = "deals"

[candidates]
noun = "act"
sql = "SELECT DISTINCT act FROM talk WHERE side = 'us' AND act IS NOT NULL ORDER BY act"

[outcomes]
unit = "price"
goal = "minimise"
source = "query"

[parameters.deal]
type = "integer"

[events]
sql = "SELECT side, act, price FROM talk WHERE deal = $deal ORDER BY number"
player = "us"
opponent = "supplier"
hidden = [{ name = "need", description = "how much it needs the deal", states = ["low", "high"] }]

[[tables]]
name = "talk"
key = ["deal", "number"]
columns = [
  { name = "deal", type = "integer" },
  { name = "number", type = "integer" },
  { name = "side", type = "text" },
  { name = "act", type = "text" },
  { name = "price", type = "float" },
]
"""
OUTCOMES = """SELECT act, AVG(price) FROM (
  SELECT a.act, b.price FROM talk a JOIN talk b ON b.deal = a.deal AND b.number = a.number + 1
) AS answered
WHERE act IN ($candidates) GROUP BY act;
"""


def written(folder: Path, document: str = DOCUMENT) -> Path:
    """Write the scenario's folder."""
    folder.mkdir()
    files = {
        "scenario.toml": document,
        "rules.md": "1. The price of a deal is what the supplier says last.\n",
        "question.txt": "What do you do next in deal $deal?\n\nAnswer with one act.\n",
        "outcomes.sql": OUTCOMES,
    }
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    return folder


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    """Create a database with the talks of some deals."""
    return run_script(tmp_path / "talks.db", TALKS)


def move(deal: int) -> Question:
    """Return a question about a deal."""
    return Question(
        "deals", "1", "What next?", "", target={"deal": str(deal)}, candidates=("ask", "wait")
    )


@contextmanager
def opened(talks: Path) -> Iterator[Database]:
    """Open the database behind the guard."""
    with closing(dqa.open_database(str(talks))) as database:
        yield database


def test_events_make_a_position(talks: Path, tmp_path: Path) -> None:
    """Both sides act in turn. Candidates and the history define their actions."""
    register(written(tmp_path / "deals"))
    assert is_move(move(2))
    with opened(talks) as database:
        position = find_position(move(2), database)
    assert position.events[1] == GameEvent(2, "event 2", "opponent", "offer", "90.0")
    assert [one.actor for one in position.events] == ["player", "opponent"] * 2
    assert (position.mover, position.actions) == ("player", ("ask", "wait"))
    whose = "deal: 2. You are 'us', here called player; 'supplier' is the opponent."
    assert position.describe() == whose
    (need,) = position.hidden
    assert (need.player, need.name, need.states) == ("opponent", "need", ("low", "high"))
    theirs = position.after("wait")
    assert (theirs.mover, theirs.actions) == ("opponent", ("offer", "refuse"))
    again = theirs.after("refuse")
    assert (again.mover, again.payoff(), again.events[-1].action) == ("player", None, "refuse")
    assert again.key == position.after("wait").after("refuse").key != position.key
    with pytest.raises(UsageError, match="not an action that opponent can take"):
        theirs.after("ask")


NUMBERED = DOCUMENT.replace("SELECT side, act, price", "SELECT side, number AS Number, act, price")


def test_a_history_that_cannot_be_read_is_named(talks: Path, tmp_path: Path) -> None:
    """The message names the row, and what to write. Numbers show gaps."""
    register(written(tmp_path / "deals", NUMBERED))
    with opened(talks) as database:
        assert find_position(move(2), database).events[1].detail == "90.0"
    for change, deal, words in (
        ("", 3, "'supplier' has not acted yet, .*replies = "),
        ("", 4, "row 1 must be an action of 'us' or 'supplier'"),
        ("", 5, "row 1 must be an action"),
        ("UPDATE talk SET number = NULL WHERE number = 4", 2, "is missing"),
        ("DELETE FROM talk WHERE number = 2", 2, "is missing"),
    ):
        run_script(talks, change)
        with opened(talks) as database, pytest.raises(DataError, match=words):
            find_position(move(deal), database)
