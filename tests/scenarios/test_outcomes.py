"""Outcomes that a scenario states: by a query, and by a formula over columns."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from dqa import plugins
from dqa.core.errors import DataError, ParseError
from dqa.core.question import Question
from dqa.core.situation import Cell, Situation, Table
from dqa.deciders.simulation import Simulation
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
{outcomes}

[[tables]]
name = "shop"
key = ["name"]
columns = [
  {{ name = "name", type = "text" }},
  {{ name = "revenue", type = "float" }},
  {{ name = "order", type = "integer" }},
]

[[nodes]]
label = "Shop"
table = "shop"
key = "title"
properties = {{ title = "name", revenue = "revenue", order = "order" }}
"""
FORMULA = 'source = "formula"\ntable = "shop"\nkey = "name"\nformula = "{}"'
ROWS: list[tuple[Cell, ...]] = [("east", 9.0, 4), ("o'west", 8.0, 2), ("zero", 0.0, 0)]


def shops(folder: Path, outcomes: str, statement: str | None = None) -> Scenario:
    """Register a scenario with such outcomes."""
    (folder / "scenario.toml").write_text(DOCUMENT.format(outcomes=outcomes), "utf-8")
    (folder / "rules.md").write_text("1. Choose.", "utf-8")
    (folder / "question.txt").write_text("Which shop?\n\nAnswer with one shop.", "utf-8")
    if statement is not None:
        (folder / "outcomes.sql").write_text(statement, "utf-8")
    return register(folder)


def town(scenario: Scenario) -> tuple[Situation, Question]:
    """Return three shops, and the question which is best."""
    (table,) = scenario.schema.tables
    situation = Situation(scenario.schema, "town", {"shop": Table.from_rows(table, ROWS)})
    return situation, scenario.question(situation, "1", {})


@pytest.mark.parametrize("backend", [None, "sqlite", "duckdb", "ladybug"])
def test_a_formula_is_worked_out_for_every_candidate(tmp_path: Path, backend: str | None) -> None:
    """In memory and on a live database alike; whole numbers divide as fractions."""
    scenario = shops(tmp_path, FORMULA.format("-(revenue - 2 * order) / 2 + 0.5"))
    situation, question = town(scenario)
    if backend is None:
        (found,) = plugins.simulator("shops").outcomes(situation, [question])
    else:
        with closing(plugins.backend(backend).load(situation)) as database:
            found = Simulation.of(question, database).outcomes()
    assert found.candidates == ("east", "o'west", "zero")
    assert found.values.tolist() == [0.0, -1.5, 0.5]
    assert found.answer == "zero"


def test_a_formula_that_divides_by_nothing_names_the_candidate(tmp_path: Path) -> None:
    """An outcome is a number."""
    scenario = shops(tmp_path, FORMULA.format("revenue / order"))
    situation, question = town(scenario)
    with pytest.raises(DataError, match=r"shops/1': the outcome of 'zero'.* is NULL"):
        plugins.simulator("shops").outcomes(situation, [question])


def test_an_invalid_formula_is_refused_in_the_file(tmp_path: Path) -> None:
    """The message has the line of the formula."""
    for formula, words in (
        ("revenue -", "is not a formula"),
        ("abs(revenue)", "write the outcome as a query"),
        ("revenu", "did you mean 'revenue'"),
        ("name * 2", "holds text"),
    ):
        with pytest.raises(ParseError, match=words) as caught:
            shops(tmp_path, FORMULA.format(formula))
        assert caught.value.line == 14


def test_a_query_that_does_not_tell_every_outcome_is_an_error(tmp_path: Path) -> None:
    """Nothing is scored by half of a record."""
    for statement, words in (
        (
            "SELECT name, revenue FROM shop WHERE name <> 'zero'",
            "'zero', by the query.*is missing",
        ),
        ("SELECT s.name, s.revenue FROM shop s, shop t", "is there twice"),
        ("SELECT name, NULL FROM shop", "is NULL: .*leave the candidate out"),
        ("SELECT name FROM shop", r"outcomes\.sql returns 1 column:"),
        ("SELECT name, revenue FROM shops", r"outcomes\.sql cannot run: .*no such table"),
        ("DELETE FROM shop", "cannot run"),
    ):
        situation, question = town(shops(tmp_path, 'source = "query"', statement))
        with pytest.raises(DataError, match=words):
            plugins.simulator("shops").outcomes(situation, [question])


def test_rows_of_others_do_not_matter_and_nothing_is_decided_at_the_baseline(
    tmp_path: Path,
) -> None:
    """A question may let choose some of the candidates only."""
    outcomes = 'source = "query"\nbaseline = 1.0'
    scenario = shops(tmp_path, outcomes, "SELECT name, revenue FROM shop")
    situation, _ = town(scenario)
    question = Question("shops", "2", "?", "", "town", candidates=("zero", "east"))
    (found,) = plugins.simulator("shops").outcomes(situation, [question])
    assert (found.candidates, found.baseline) == (("zero", "east"), 1.0)
    assert found.values.tolist() == [0.0, 9.0]
