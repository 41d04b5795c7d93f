"""Statements that are scored by their rows: our score next to those of the published programs.

``pairs.json`` holds answers with their right statements or tables, the scores of the programs of
BIRD (``evaluation_ex.py``, ``evaluation_f1.py``), Spider (``exec_eval.py`` of the test suite),
Spider 2 and Defog on them, and the reason for each difference.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dqa.core.database import Database
from dqa.core.display import Value
from dqa.core.question import Question
from dqa.core.truth import GoldTable, MatchRule, Truth
from dqa.evaluation.execution import compare_statements, efficiency_reward, rows_match
from dqa.evaluation.prepare import locations_of
from tests.sqlite_files import run_script

FILE: dict[str, Any] = json.loads((Path(__file__).parent / "pairs.json").read_text("utf-8"))
_Rows = list[tuple[Value, ...]]
QUESTION = Question("custom", "1", "?", "", situation="harbour", answer_form="statement")


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """Return the small database of the pairs."""
    file = run_script(
        tmp_path_factory.mktemp("pairs") / "harbour.sqlite", "\n".join(FILE["schema"])
    )
    with closing(locations_of({"harbour": str(file)})["harbour"].open()) as opened:
        yield opened


def truth_of(pair: dict[str, Any]) -> Truth:
    """Return the truth of a pair."""
    rule: MatchRule = pair["rule"]
    tables = tuple(
        GoldTable(tuple(map(tuple, rows)), tuple(pair["columns"]), pair["ordered"])
        for rows in pair.get("tables", ())
    )
    return Truth(tuple(pair["gold"]), match=rule, tables=tables)


def test_scores_are_the_official_ones_or_their_difference_is_explained(harbour: Database) -> None:
    """Ours, and the official metrics that stand next to it."""
    wrong = []
    for pair in FILE["pairs"]:
        found = compare_statements(harbour, QUESTION, truth_of(pair), pair["answer"])
        official = dict(pair["official"])
        score = official.pop("score", official.get("EX", official.get("Spider EX")))
        explained = (found.right == bool(score)) is ("why" not in pair)
        if found.right is not pair["right"] or not explained:
            wrong.append((pair, found))
        if found.metrics != pytest.approx(official):
            wrong.append((pair, found))
    assert not wrong
    assert len(FILE["pairs"]) >= 60


def test_an_answer_may_match_any_right_statement(harbour: Database) -> None:
    """One that cannot run is a fault of the data, unless another matches."""
    truth = Truth(("SELECT nme FROM ship", "SELECT id FROM ship"), match="set", source="dev.json")
    assert compare_statements(harbour, QUESTION, truth, "SELECT id FROM ship ORDER BY 1").right
    unknown = compare_statements(harbour, QUESTION, truth, "SELECT name FROM ship")
    assert unknown.right is None
    assert unknown.problem is not None
    assert "(dev.json) cannot run" in unknown.problem


def test_efficiency_is_rewarded_as_by_bird(harbour: Database) -> None:
    """The square root of the reward: of twice as fast statements, equal ones and slower ones."""
    ratios = {4.0: 1.25, 2.0: 1.25, 1.5: 1.0, 1.0: 1.0, 0.9: 0.75, 0.3: 0.5, 0.1: 0.25}
    for ratio, reward in ratios.items():
        assert efficiency_reward([ratio] * 5) == pytest.approx(reward**0.5)
    assert efficiency_reward([1.2] * 50 + [1000.0]) == 1.0, "an outlier does not count"
    truth = Truth(("SELECT name FROM ship",), match="set")
    found = compare_statements(
        harbour, QUESTION, truth, "SELECT name FROM ship ORDER BY 1", repetitions=3
    )
    assert 0.5 <= found.metrics["R-VES"] <= 1.25**0.5
    wrong = compare_statements(harbour, QUESTION, truth, "SELECT id FROM ship", repetitions=3)
    assert wrong.metrics["R-VES"] == 0.0
    truth = Truth(("SELECT nme FROM ship", "SELECT name FROM ship"), match="set")
    other = compare_statements(
        harbour, QUESTION, truth, "SELECT name FROM ship ORDER BY 1", repetitions=3
    )
    assert other.metrics["R-VES"] > 0.0, "the gold statement that matched is timed"


def test_any_order_of_columns_and_rows_is_found_and_any_other_cell_is_not() -> None:
    """Also where columns look alike, so that many orders have to be tried."""
    drawn = random.Random(1)  # noqa: S311  (no secret)
    rules: tuple[MatchRule, ...] = ("set", "table")
    for _ in range(20):
        width, height = drawn.randint(1, 8), drawn.randint(1, 30)
        right: _Rows = [tuple(drawn.randint(0, 1) for _ in range(width)) for _ in range(height)]
        places = drawn.sample(range(width), width)
        given: _Rows = [tuple(row[place] for place in places) for row in right]
        drawn.shuffle(given)
        assert rows_match(given, right, "table")
        place, column = drawn.randrange(height), drawn.randrange(width)
        given[place] = tuple(2 if n == column else cell for n, cell in enumerate(given[place]))
        assert not any(rows_match(given, right, rule) for rule in rules)


def test_many_equal_columns_are_compared_at_once() -> None:
    """Twelve columns that are all alike have half a billion orders, of which one is tried."""
    right: _Rows = [tuple([n] * 12) for n in range(50)]
    other: _Rows = [*right[:-1], (*([49] * 11), 48)]
    assert rows_match(right[::-1], right, "table")
    assert not rows_match(other, right, "table")
