"""A user's warehouse in any database: plain tables or nodes that this project did not write.

The scenarios of ``live/`` name its columns; it has another table, too.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import duckdb
import ladybug
import pytest

import dqa
from dqa.core.evidence import COMPARE
from dqa.models.scripted.steps import Answer, Step
from dqa.testing.models import PreparedReplies, Reply
from tests.sqlite_files import run_script

LIVE = Path(__file__).parent / "live"
ROWS: Sequence[tuple[int, str, str, str, str, str, int, bool]] = (
    (3, "O'Hare", "north", "2019-03-01", "120.50", "300.00", 2, True),
    (1, "York", "north", "2018-01-15", "100.25", "210.25", 1, True),
    (2, "Åre", "north", "2021-07-09", "80.00", "350.00", 3, True),
    (4, "Bath", "south", "2020-05-05", "60.00", "90.00", 2, True),
    (5, "Hull", "north", "2022-02-02", "10.00", "11.00", 1, False),
)
"""Key, name, region, day of the opening, cost, revenue, lines, and whether it works."""
CANDIDATES = ("O'Hare", "York", "Åre")
"""The plants that work in the north, in the order of their names' characters."""
OUTCOMES = (89.75, 110.0, 90.0)
DAYS = ("2019-03-01", "2020-05-05", "2021-07-09")
"""Days since 2019 of plants that cost 60 or more."""
SAVINGS = (1.205, 0.6, 0.8)

_TYPES = {
    "sqlite": ("TEXT", "NUMERIC"),
    "duckdb": ("DATE", "DECIMAL(12, 2)"),
    "postgres": ("DATE", "NUMERIC(12, 2)"),
    "mariadb": ("DATE", "DECIMAL(12, 2)"),
}
"""By dialect, the types of days and of money."""


def quoted(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def statements(dialect: str) -> Iterator[str]:
    """Yield the statements that create the warehouse in a relational database."""
    mark = "`" if dialect == "mariadb" else '"'
    name, lines_name = f"{mark}plant name{mark}", f"{mark}lines{mark}"
    day, money = _TYPES[dialect]
    yield (
        f"CREATE TABLE plant (plant_id INTEGER PRIMARY KEY, {name} VARCHAR(40), "
        f"region VARCHAR(20), opened {day}, cost {money}, revenue {money}, "
        f"{lines_name} INTEGER, active BOOLEAN)"
    )
    for key, plant, region, opened, cost, revenue, lines, active in ROWS:
        cells = (
            f"{key}, {quoted(plant)}, {quoted(region)}, {quoted(opened)}, {cost}, {revenue}, "
            f"{lines}, {str(active).upper()}"
        )
        yield f"INSERT INTO plant VALUES ({cells})"
    yield "CREATE TABLE unrelated (x INTEGER)"


def cypher(label: str, *, typed: bool) -> Iterator[str]:
    """Yield the statements that create the graph twin; a `typed` graph declares its properties."""
    if typed:
        yield (
            f"CREATE NODE TABLE {label} (plant_id INT64, name STRING, region STRING, opened DATE, "
            "cost DOUBLE, revenue DOUBLE, lines INT64, active BOOLEAN, PRIMARY KEY (plant_id))"
        )
    for key, plant, region, opened, cost, revenue, lines, active in ROWS:
        text = plant.replace("'", "\\'")
        yield (
            f"CREATE (:{label} {{plant_id: {key}, name: '{text}', region: '{region}', "
            f"opened: date('{opened}'), cost: {cost}, revenue: {revenue}, lines: {lines}, "
            f"active: {str(active).lower()}}})"
        )


def make_embedded(backend: str, folder: Path) -> str:
    """Create the warehouse in a file of an embedded database, and return its location."""
    if backend == "sqlite":
        file = run_script(folder / "plants.db", ";".join(statements("sqlite")))
    elif backend == "duckdb":
        file = folder / "plants.duckdb"
        with closing(duckdb.connect(str(file))) as opened:
            for statement in statements("duckdb"):
                opened.execute(statement)
    else:
        file = folder / "plants.lbug"
        database = ladybug.Database(str(file))
        connected = ladybug.Connection(database)
        for statement in cypher("LivePlant", typed=True):
            connected.execute(statement)
        connected.close()
        database.close()
    return str(file)


def folder_for(folder: Path, before: str, after: str, files: str = "*.*") -> Path:
    """Return a copy of the scenarios with another label, or another quote in some files."""
    copy = folder / "live"
    shutil.copytree(LIVE, copy)
    for file in copy.rglob(files):
        file.write_text(file.read_text("utf-8").replace(before, after), "utf-8")
    return copy


NORTH = {"region": "north", "active": "true"}
SINCE = {"since": "2019-01-01", "least": "60"}
SUMMED = "SELECT region, SUM(cost) AS cost FROM plant GROUP BY region ORDER BY region"
GRAPH_SUM = "MATCH (n:LivePlant) RETURN n.region AS region, SUM(n.cost) AS cost ORDER BY region"


def scores_are_those_of_the_database(location: str, folder: Path) -> dqa.Run:
    """Require that outcomes of the database judge questions; return a run with a shortcut."""
    close, skip = folder / "close-plant", folder / "skip-audit"
    found = dqa.read_questions([{"target": NORTH}], location, scenario=close)
    (question,) = found.questions
    assert question.candidates == CANDIDATES
    assert found.truth_of(question).outcomes == OUTCOMES
    run = dqa.evaluate(found, ["oracle", "first", "random"])
    judged = {result.decider: result for result in run.results}
    assert judged["oracle"].outcome == judged["first"].outcome == "correct"
    assert judged["oracle"].best_value == OUTCOMES[0]

    target = {"since": "2019-01-01", "least": 60}
    found = dqa.read_questions([{"target": target}], location, scenario=skip)
    (question,) = found.questions
    assert question.candidates == DAYS
    assert found.truth_of(question).outcomes == pytest.approx(SAVINGS, rel=1e-12)
    run = dqa.evaluate(found, ["oracle", "earliest-day"])
    assert [result.outcome for result in run.results] == ["correct", "correct"]
    assert "Best shortcut" in run.report()
    assert "100.0 (1/1)" in run.report()
    (shortcut,) = dqa.measure_shortcuts(found)
    assert (shortcut.name, shortcut.right, shortcut.questions) == ("earliest-day", 1, 1)
    return run


def agents_decide_alike(location: str, folder: Path, statement: str) -> dqa.Trace:
    """Require that agents, simulating ones and DeLLMa decide; return DeLLMa's decision."""
    asked = dqa.UserQuestion(scenario=str(folder / "close-plant"), target=NORTH)
    replies: list[Reply] = [Step("", statement), Answer("", "York")]
    trace = dqa.ask(location, asked, decider="planrag", model=PreparedReplies(replies), debug=True)
    assert trace.choice == "York"
    assert trace.evidence[0].error is None
    record = trace.asked
    assert record is not None
    assert [(one.candidate, one.outcome, one.rank) for one in record.alternatives] == [
        (CANDIDATES[0], OUTCOMES[0], 1),
        (CANDIDATES[2], OUTCOMES[2], 2),
        (CANDIDATES[1], OUTCOMES[1], 3),
    ]
    assert (record.unit, record.goal, record.total) == ("lost margin", "minimise", 3)

    replies = [Step("", "all", tool=COMPARE), Answer("", "O'Hare")]
    trace = dqa.ask(
        location, asked, decider="planrag-sim", model=PreparedReplies(replies), debug=True
    )
    (compared,) = trace.evidence
    assert compared.rows == tuple((one.candidate, one.outcome) for one in record.alternatives)
    assert compared.translated == record.statement
    assert "O''Hare" in str(record.statement) or "O\\'Hare" in str(record.statement)

    days = dqa.UserQuestion(scenario=str(folder / "skip-audit"), target=SINCE)
    trace = dqa.ask(
        location,
        days,
        decider="dellma-pairs",
        model="scripted:analyst",
        settings={"dellma.samples": "4"},
        debug=True,
    )
    assert not trace.warnings
    return trace
