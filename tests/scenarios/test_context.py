"""What a scenario has deciders read about a question: on every database, and nothing beyond it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest

from dqa import guard, plugins
from dqa.core.database import Database, Rows
from dqa.core.display import cell_of
from dqa.core.errors import DataError
from dqa.core.question import Question
from dqa.loaders.release import read_release
from dqa.scenarios.statements import Kind
from tests.scenarios.worlds import HOSTILE, hostile_world, questions

SCENARIOS = ("agriculture", "building", "locating", "stocks")
EMBEDDED = ("sqlite", "duckdb", "ladybug")


def asked(scenario: str) -> Question:
    """Return the generated question of a scenario."""
    return questions().find(f"{scenario}/1")


def read(question: Question, database: Database) -> list[Rows]:
    """Run a question's context."""
    context = plugins.scenario(question.scenario).context(question, database.kind)
    return [database.query(statement) for statement in context]


@pytest.fixture(params=EMBEDDED)
def backend(request: pytest.FixtureRequest) -> str:
    """Each embedded database in turn."""
    return str(request.param)


@pytest.fixture
def sqlite(request: pytest.FixtureRequest) -> Iterator[Database]:
    """Give the generated world of the parametrised scenario in SQLite."""
    question = asked(request.param)
    database = plugins.backend("sqlite").load(questions().situation_of(question))
    yield database
    database.close()


def kind_of(dialect: str) -> Kind:
    """Return the kind of databases that speak a dialect."""
    return "graph" if dialect in {"neo4j", "ladybug"} else "relational"


def test_the_guard_lets_every_context_pass() -> None:
    """In every dialect; an odd name is one text and never begins a statement."""
    refused = []
    for dialect in guard.DIALECTS:
        kind = kind_of(dialect)
        for scenario in SCENARIOS:
            context = plugins.scenario(scenario).context(asked(scenario), kind)
            assert len(context) >= 2
            refused += [one for one in context if not guard.check(one, dialect).allowed]
        for name in HOSTILE:
            question = Question("agriculture", "1", "", "", candidates=(name,))
            statement = plugins.scenario("agriculture").context(question, kind)[1]
            if not guard.check(statement, dialect).allowed:
                refused.append(f"{dialect} {name}")
    assert refused == ["ansi a''b"]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_database_gives_the_same_rows(scenario: str) -> None:
    """Tables and graph alike, uncut, under the same column names."""
    question = asked(scenario)
    found = []
    for name in EMBEDDED:
        database = plugins.backend(name).load(questions().situation_of(question))
        found.append([(rows.columns, rows.rows, rows.cut) for rows in read(question, database)])
        database.close()
    assert found[0] == found[1] == found[2]
    assert all(rows and cut is None for _, rows, cut in found[0])


@pytest.mark.parametrize("sqlite", ["locating"], indirect=True)
def test_locating_tells_one_row_a_candidate(sqlite: Database) -> None:
    """The home first, then every node with what it holds and what of that is the country's own."""
    question = asked("locating")
    situation = questions().situation_of(question)
    home, nodes = read(question, sqlite)
    assert [row[0] for row in home.rows] == [question.target["home"]]
    assert sorted(str(row[0]) for row in nodes.rows) == sorted(map(str, question.candidates or ()))
    local = dict(
        zip(
            situation["trade_node"]["trade_node"],
            situation["trade_node"]["local_value"],
            strict=True,
        )
    )
    power = {
        row[0]: row[4]
        for row in situation["node_country"].rows()
        if row[1] == question.target["country"]
    }
    to_home = {s: f for s, d, f in situation["flow"].rows() if d == question.target["home"]}
    for row in nodes.rows:
        told = dict(zip(nodes.columns, row, strict=True))
        assert told["local_value"] == local[row[0]]
        assert told["own_base_power"] == power.get(cell_of(row[0]))
        assert told["flow_to_home"] == to_home.get(cell_of(row[0]))


@pytest.mark.parametrize("sqlite", ["building"], indirect=True)
def test_building_tells_who_makes_the_goods_and_what_they_lack(sqlite: Database) -> None:
    """The goods, their makers by id, the makers' inputs, and the makers of those."""
    question = asked("building")
    situation = questions().situation_of(question)
    goods, makers, inputs, upstream = read(question, sqlite)
    assert [row[0] for row in goods.rows] == [question.target["goods"]]
    code = dict(zip(situation["goods"]["goods_name"], situation["goods"]["code"], strict=True))
    made = {(g, b) for g, b, *_ in situation["supply"].rows()}
    needed = {(g, b) for g, b, *_ in situation["demand"].rows()}
    mine = {b for g, b in made if g == code[question.target["goods"]]}
    assert [row[0] for row in makers.rows] == [*dict.fromkeys(row[0] for row in makers.rows)]
    assert {row[0] for row in makers.rows} == mine <= {*(question.candidates or ())}
    assert {(code[row[1]], row[0]) for row in inputs.rows} == {n for n in needed if n[1] in mine}
    lacking = {g for g, b in needed if b in mine}
    assert {(code[row[3]], row[0]) for row in upstream.rows} == {m for m in made if m[0] in lacking}
    for row in makers.rows:
        ratios = [i / m for _, b, m, i, _ in situation["demand"].rows() if b == row[0]]  # type: ignore[operator]
        assert row[5:] == (len(ratios), min(ratios, default=None))


def test_building_has_the_right_answer_in_the_context_of_every_released_question(
    release_dir: Path,
) -> None:
    """Few of all buildings are, so a comparison can leave the others out."""
    release = read_release(release_dir)
    kept: list[float] = []
    databases: dict[str, Database] = {}
    for question in release.select(("building",)).questions:
        if question.situation not in databases:
            situation = release.situation_of(question)
            databases[question.situation] = plugins.backend("sqlite").load(situation)
        _, makers, _, upstream = read(question, databases[question.situation])
        told = {row[0] for row in (*makers.rows, *upstream.rows)}
        assert {*release.truth_of(question).answers} <= told <= {*(question.candidates or ())}, (
            question.key
        )
        assert makers.cut is None
        assert upstream.cut is None
        kept.append(len(told))
    for database in databases.values():
        database.close()
    assert len(kept) == 74
    assert median(kept) < 15
    assert max(kept) < 100


def test_odd_names_are_asked_about_as_they_are(backend: str) -> None:
    """No quote, escape or remark in a name reaches the statement; every name finds its row."""
    question, situation = hostile_world()
    database = plugins.backend(backend).load(situation)
    overview, crops = read(question, database)
    database.close()
    assert len(overview.rows) == 1
    assert sorted(str(row[0]) for row in crops.rows) == sorted(HOSTILE)


def test_a_question_that_does_not_tell_its_target_is_named() -> None:
    """The message says what is missing and what there is."""
    question = replace(asked("locating"), target={"home": "x"})
    with pytest.raises(DataError, match=r"locating/1.*'country'.*home, candidates"):
        plugins.scenario("locating").context(question, "relational")
    with pytest.raises(DataError, match="nothing"):
        plugins.scenario("agriculture").context(Question("agriculture", "1", "", ""), "graph")[1]
