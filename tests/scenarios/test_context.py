"""The context of a question: equal rows on every database, and only about the question."""

from __future__ import annotations

from contextlib import closing
from statistics import median

import pytest

from dqa import guard, plugins
from dqa.core.database import Database, Rows
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
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


def kind_of(dialect: str) -> Kind:
    """Return the kind of databases that speak a dialect."""
    return "graph" if dialect in {"neo4j", "ladybug"} else "relational"


def test_the_guard_lets_every_context_pass() -> None:
    """In every dialect; an unusual name stays one text."""
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
    # Databases read a backslash in a text in different ways: `ansi` refuses these and no others.
    assert refused == [f"ansi {name}" for name in HOSTILE if "\\" in name]


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


@pytest.mark.deep
def test_building_has_the_right_answer_in_the_context_of_every_released_question(
    release: QuestionSet,
) -> None:
    """The context has few of all buildings, so a comparison can leave the others out."""
    release = release.select(("building",))
    counts: list[float] = []
    for name, situation in release.situations.items():
        with closing(plugins.backend("sqlite").load(situation)) as database:
            for question in release.questions:
                if question.situation != name:
                    continue
                _, makers, _, upstream = read(question, database)
                listed = {row[0] for row in (*makers.rows, *upstream.rows)}
                answers = {*release.truth_of(question).answers}
                assert answers <= listed <= {*(question.candidates or ())}, question.key
                assert (makers.cut, upstream.cut) == (None, None)
                counts.append(len(listed))
    assert len(counts) == 74
    assert median(counts) < 15
    assert max(counts) < 100


@pytest.mark.parametrize("backend", EMBEDDED)
def test_unusual_names_find_their_rows(backend: str) -> None:
    """No quote, escape or remark in a name reaches the statement."""
    question, situation = hostile_world()
    database = plugins.backend(backend).load(situation)
    overview, crops = read(question, database)
    database.close()
    assert len(overview.rows) == 1
    assert sorted(str(row[0]) for row in crops.rows) == sorted(HOSTILE)
