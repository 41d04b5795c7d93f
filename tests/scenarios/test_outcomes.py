"""Outcomes by the query of a scenario."""

from __future__ import annotations

from pathlib import Path

import pytest

from dqa import plugins
from dqa.core.errors import DataError
from dqa.core.question import Question
from dqa.core.situation import Situation, Table
from dqa.scenarios import Scenario, register

DOCUMENT = """\
name = "shops"

[candidates]
noun = "shop"
table = "shop"
column = "name"

[outcomes]
unit = "profit"
goal = "maximise"
source = "query"
baseline = 1.0

[[tables]]
name = "shop"
key = ["name"]
columns = [{ name = "name", type = "text" }, { name = "revenue", type = "float" }]
"""


def shops(folder: Path, statement: str) -> tuple[Scenario, Situation]:
    """Register a scenario with a statement of outcomes; return it, and three shops."""
    (folder / "scenario.toml").write_text(DOCUMENT, "utf-8")
    (folder / "rules.md").write_text("1. Choose.", "utf-8")
    (folder / "question.txt").write_text("Which shop?\n\nAnswer with one shop.", "utf-8")
    (folder / "outcomes.sql").write_text(statement, "utf-8")
    scenario = register(folder)
    (table,) = scenario.schema.tables
    rows = [("east", 9.0), ("o'west", 8.0), ("zero", 0.0)]
    return scenario, Situation(scenario.schema, "town", {"shop": Table.from_rows(table, rows)})


def test_a_query_without_every_outcome_is_an_error(tmp_path: Path) -> None:
    """The error names the candidate or the file."""
    for statement, words in (
        ("SELECT name, revenue FROM shop LIMIT 1", "query.*'o'west', 'zero' is missing"),
        ("SELECT s.name, s.revenue FROM shop s, shop t", "occurs twice"),
        ("SELECT name, 1 / revenue FROM shop", "'zero'.* is NULL: .*leave out the candidate"),
        ("SELECT name FROM shop", r"outcomes\.sql returns 1 column"),
        ("SELECT name, revenue FROM shops", r"outcomes\.sql cannot run: .*no such table"),
        ("DELETE FROM shop", "cannot run"),
    ):
        scenario, situation = shops(tmp_path, statement)
        question = scenario.question(situation, "1", {})
        with pytest.raises(DataError, match=words):
            plugins.simulator("shops").outcomes(situation, [question])


def test_rows_of_other_candidates_are_ignored(tmp_path: Path) -> None:
    """A question may list some of the candidates only."""
    _, situation = shops(tmp_path, "SELECT name, revenue FROM shop")
    question = Question("shops", "2", "?", "", "town", candidates=("zero", "east"))
    (found,) = plugins.simulator("shops").outcomes(situation, [question])
    assert (found.candidates, found.baseline) == (("zero", "east"), 1.0)
    assert found.values.tolist() == [0.0, 9.0]
