"""Scenarios on a user's own database: it is queried in place and not copied."""

from __future__ import annotations

import re
import shutil
from contextlib import closing
from pathlib import Path

import pytest

import dqa
from dqa.core.errors import DataError, ParseError, UsageError
from dqa.loaders.live_questions import LiveScenario, ask_scenario
from dqa.models.scripted.steps import Answer, Step
from dqa.scenarios import register
from dqa.testing.models import PreparedReplies
from tests.scenarios.live_plants import (
    DAYS,
    GRAPH_SUM,
    LIVE,
    NORTH,
    SUMMED,
    agents_decide_alike,
    make_embedded,
    scores_are_those_of_the_database,
)
from tests.sqlite_files import run_script

EMBEDDED = ("sqlite", "duckdb", "ladybug")


@pytest.fixture(params=EMBEDDED)
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Create the warehouse in each embedded database."""
    return make_embedded(request.param, tmp_path)


@pytest.fixture(autouse=True)
def nothing_read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every reading of a whole table fail."""
    for module in ("dqa.loaders.custom", "dqa.loaders.live_questions", "dqa.deciders.simulation"):
        monkeypatch.setattr(f"{module}.read_situation", None)


def test_scores_come_from_the_database(location: str) -> None:
    """Candidates, outcomes, shortcuts and regret are statements in its own language."""
    assert scores_are_those_of_the_database(location, LIVE).counts.right == 1


def test_agents_decide_on_it(location: str) -> None:
    """With statements, with the simulator, and under uncertainty."""
    graph = location.endswith(".lbug")
    decided = agents_decide_alike(location, LIVE, GRAPH_SUM if graph else SUMMED)
    assert decided.choice == DAYS[0]


@pytest.mark.parametrize(
    ("scenario", "target", "words"),
    [
        ("close-plant", {"region": "nort", "active": "true"}, "Did you mean 'north'"),
        ("close-plant", {"region": "north", "active": "yes"}, "must be true or false"),
        ("close-plant", {"active": "true"}, '--target region="north"'),
        ("skip-audit", {"since": "2019-13-01", "least": "1"}, "must be a day as YYYY-MM-DD"),
        ("skip-audit", {"since": "2019-01-01", "least": "1e999"}, "must be a number"),
    ],
)
def test_a_wrong_target_is_an_error(
    location: str, scenario: str, target: dict[str, str], words: str
) -> None:
    """By type and by value; the message suggests the right one."""
    known = register(LIVE / scenario)
    with (
        closing(dqa.open_database(location)) as database,
        pytest.raises((DataError, UsageError), match=words),
    ):
        ask_scenario(known, database, target)


def test_values_of_a_parameter_are_listed(location: str) -> None:
    """In their order, as a target writes them; a free parameter lists none."""
    close, skip = register(LIVE / "close-plant"), register(LIVE / "skip-audit")
    with closing(dqa.open_database(location)) as database:
        assert LiveScenario(close, database).values("region", {}) == ("north", "south")
        assert LiveScenario(close, database).values("active", {}) == ("false", "true")
        assert LiveScenario(skip, database).values("since", {}) == ()


@pytest.mark.parametrize(
    ("value", "words"), [("NULL", "the outcome of 'York' is NULL: .* number"), ("'much'", None)]
)
def test_a_missing_outcome_is_an_error(tmp_path: Path, value: str, words: str | None) -> None:
    """SQLite reads a text as 0, which is an outcome."""
    location = run_script(
        make_embedded("sqlite", tmp_path), f"UPDATE plant SET revenue = {value} WHERE plant_id = 1"
    )
    line = [{"target": NORTH}]
    if words is None:
        found = dqa.read_questions(line, location, scenario=LIVE / "close-plant")
        assert found.labelled[0].truth.outcomes == (89.75, -100.25, 90.0)
        return
    with pytest.raises(UsageError, match=words):
        dqa.read_questions(line, location, scenario=LIVE / "close-plant")


def test_a_decision_page_escapes_its_content(tmp_path: Path) -> None:
    """It has the question, the statement, its rows and the alternatives, and loads nothing."""
    location = make_embedded("sqlite", tmp_path)
    asked = dqa.UserQuestion(scenario=str(LIVE / "close-plant"), target=NORTH)
    model = PreparedReplies([Step("<b>Sum.</b>", SUMMED), Answer("", "York")])
    trace = dqa.ask(location, asked, decider="planrag", model=model)
    dqa.write_decision_page(trace, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    for part in ("<h1>York</h1>", "GROUP BY region", "310.75", "89.75", "&lt;b&gt;Sum."):
        assert part.lower() in page.lower(), part
    assert "<script" not in page
    assert not re.search(r"https?://|@import|url\(", page)


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        (
            "tables.toml",
            'type = "date"',
            'type = "dat"',
            r"tables\.toml: tables\.plant\.columns\.\w+\.type",
        ),
        ("close-plant/scenario.toml", "../tables.toml", "/etc/passwd", "include.1: .*a .toml"),
        (
            "close-plant/scenario.toml",
            "../tables.toml",
            "../../up.toml",
            "include.1: .*is outside of",
        ),
    ],
)
def test_a_fault_in_an_included_file_is_located(
    tmp_path: Path, file: str, old: str, new: str, words: str
) -> None:
    """A path cannot leave the folder."""
    copy = tmp_path / "home" / "live"
    shutil.copytree(LIVE, copy)
    (tmp_path / "home" / "up.toml").write_text("", "utf-8")
    text = (copy / file).read_text("utf-8")
    (copy / file).write_text(text.replace(old, new), "utf-8")
    with pytest.raises(ParseError, match=words):
        register(copy / "close-plant")
