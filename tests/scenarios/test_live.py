"""Scenarios that decide on a stranger's own database where it is: nothing is read back."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import dqa
from dqa.core.errors import DataError, ParseError, UsageError
from dqa.loaders.asked import ask_scenario, list_values
from dqa.models.scripted import GivenReplies
from dqa.models.scripted.steps import Answer, Step
from dqa.scenarios import register
from tests.scenarios.live_plants import (
    GRAPH_SUM,
    LIVE,
    NORTH,
    SUMMED,
    agents_decide_alike,
    make_embedded,
    scores_are_those_of_the_database,
)

EMBEDDED = ("sqlite", "duckdb", "ladybug")


@pytest.fixture(params=EMBEDDED)
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Make the warehouse in each embedded database in turn."""
    return make_embedded(request.param, tmp_path)


@pytest.fixture(autouse=True)
def nothing_read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail whatever would read a whole table."""
    for module in ("dqa.loaders.own", "dqa.loaders.asked", "dqa.deciders.simulation"):
        monkeypatch.setattr(f"{module}.read_situation", None)


def test_scores_are_those_of_the_database(location: str) -> None:
    """Candidates, outcomes, shortcuts and regret are statements in its own language."""
    scores_are_those_of_the_database(location, LIVE)


def test_agents_decide_on_it(location: str) -> None:
    """With statements, with the simulator, and under uncertainty."""
    graph = location.endswith(".lbug")
    agents_decide_alike(location, LIVE, GRAPH_SUM if graph else SUMMED)


@pytest.mark.parametrize(
    ("scenario", "target", "words"),
    [
        (
            "close-plant",
            {"region": "nort", "active": "true"},
            "Did you mean 'north'",
        ),
        ("close-plant", {"region": "north", "active": "yes"}, "has to be true or false"),
        ("close-plant", {"active": "true"}, '--target region="north"'),
        ("skip-audit", {"since": "2019-13-01", "least": "1"}, "has to be a day as YYYY-MM-DD"),
        ("skip-audit", {"since": "2019-01-01", "least": "1e999"}, "has to be a number"),
        ("skip-audit", {"since": "2019-01-01", "least": "much"}, "has to be a number"),
    ],
)
def test_a_target_is_held_against_what_may_be(
    location: str, scenario: str, target: dict[str, str], words: str
) -> None:
    """By type and by value, each with what would be right."""
    known = register(LIVE / scenario)
    with (
        closing(dqa.open_database(location)) as database,
        pytest.raises((DataError, UsageError), match=words),
    ):
        ask_scenario(known, database, target)


def test_values_of_a_parameter_are_listed(location: str) -> None:
    """As a target tells them, in their order; one that can be anything lists none."""
    close, skip = register(LIVE / "close-plant"), register(LIVE / "skip-audit")
    with closing(dqa.open_database(location)) as database:
        assert list_values(close, database, "region", {}) == ("north", "south")
        assert list_values(close, database, "active", {}) == ("false", "true")
        assert list_values(skip, database, "since", {}) == ()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("NULL", "the outcome of 'York', by the formula of its scenario, is NULL: .* number"),
        ("'much'", None),
    ],
)
def test_an_outcome_that_is_none_is_an_error(tmp_path: Path, value: str, words: str | None) -> None:
    """Nothing is scored by half of a record; what SQLite takes for 0 is 0."""
    location = make_embedded("sqlite", tmp_path)
    with closing(sqlite3.connect(location)) as connection, connection:
        connection.execute(f"UPDATE plant SET revenue = {value} WHERE plant_id = 1")
    line = [{"target": NORTH}]
    if words is None:
        found = dqa.read_questions(line, location, scenario=LIVE / "close-plant")
        assert found.labelled[0].truth.outcomes == (89.75, -100.25, 90.0)
        return
    with pytest.raises(UsageError, match=words):
        dqa.read_questions(line, location, scenario=LIVE / "close-plant")


def test_columns_of_every_type_are_shown(tmp_path: Path) -> None:
    """Dates, decimals, NULLs, booleans, JSON, arrays, intervals and UUIDs, as plain values."""
    location = make_embedded("duckdb", tmp_path)
    found = dqa.query(location, "SELECT * EXCLUDE (plant_id) FROM plant WHERE plant_id = 3")
    assert found.rows[0][2:] == (
        *("2019-03-01", 120.5, 300, 2, True, None, "01:30:00"),
        *("b5d4045c-3f46-6c2f-a8f0-5b2f5f9e8c11", {"a": [1]}, ["x", "y"]),
    )


def test_a_decision_leaves_a_page(tmp_path: Path) -> None:
    """With the question, the alternatives and their outcomes, statements, rows and the cost."""
    location = make_embedded("sqlite", tmp_path)
    asked = dqa.AskedQuestion(scenario=str(LIVE / "close-plant"), target=NORTH)
    model = GivenReplies([Step("<b>Sum.</b>", SUMMED), Answer("", "York")])
    trace = dqa.ask(location, asked, decider="planrag", model=model)
    dqa.write_decision_page(trace, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    for part in ("<h1>York</h1>", "in &#34;north&#34;", "GROUP BY region", "310.75", "89.75"):
        assert part.lower() in page.lower(), part
    assert "&lt;b&gt;Sum." in page
    assert '<tr class="chosen"><td class="number">3</td><td>York</td>' in page
    assert "<script" not in page
    assert "http" not in page
    again = dqa.Trace.from_json(json.loads(json.dumps(trace.to_json())))
    assert again.asked == trace.asked
    with pytest.raises(UsageError, match="exists already"):
        dqa.write_decision_page(trace, tmp_path / "page.html")


@pytest.mark.parametrize(
    ("shared", "own", "place", "words"),
    [
        ('type = "date"', None, "tables.toml:15: tables.0.columns.3.type", "input should be"),
        ('type = "date" }', "nodes", "close-plant/scenario.toml:27: nodes.0.table", "no table 'x'"),
        (None, 'include = "x"', "scenario.toml:4: include", "a list of files"),
        (None, 'include = ["../no.toml"]', "scenario.toml:4: include.0", "there is no "),
        (None, 'include = ["/etc/passwd"]', "scenario.toml:4: include.0", "a .toml file"),
        (None, 'include = ["../../up.toml"]', "scenario.toml:4: include.0", "lies outside of"),
        (None, 'include = ["../close-plant"]', "scenario.toml:4: include.0", "a .toml file"),
    ],
)
def test_what_is_wrong_in_what_is_included_is_told_where_it_stands(
    tmp_path: Path, shared: str | None, own: str | None, place: str, words: str
) -> None:
    """With the file and the line, and paths lead to no other place."""
    copy = tmp_path / "home" / "live"
    shutil.copytree(LIVE, copy)
    (tmp_path / "home" / "up.toml").write_text("", "utf-8")
    tables, document = copy / "tables.toml", copy / "close-plant" / "scenario.toml"
    if own == "nodes":
        text = document.read_text("utf-8")
        added = '\n[[nodes]]\nlabel = "X"\ntable = "x"\nkey = "a"\nproperties = { a = "b" }\n'
        document.write_text(text + added, "utf-8")
    elif shared is not None:
        text = tables.read_text("utf-8")
        tables.write_text(text.replace(shared, 'type = "dat"'), "utf-8")
    else:
        text = document.read_text("utf-8")
        document.write_text(text.replace('include = ["../tables.toml"]', str(own)), "utf-8")
    with pytest.raises(ParseError) as caught:
        register(copy / "close-plant")
    assert place in str(caught.value)
    assert words in str(caught.value)
