"""Questions of a set as examples for each other."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

import pytest

from dqa import plugins
from dqa.core.database import Limits
from dqa.core.errors import DatabaseUnavailableError
from dqa.core.question_set import QuestionSet
from dqa.evaluation.examples import OtherQuestions
from dqa.loaders.generator import generate
from dqa_simulators.building.generator import BuildingSize
from dqa_simulators.locating.generator import LocatingSize

SIZES = (LocatingSize(12, 20, 20, 60), BuildingSize(6, 12, 10, 14))


@pytest.fixture(scope="module")
def asked() -> QuestionSet:
    """Six questions of each scenario, two about each world."""
    return generate(count=6, seed=3, sizes=SIZES, per_database=2)


@pytest.fixture
def source(asked: QuestionSet) -> Iterator[OtherQuestions]:
    """The set as examples."""
    others = OtherQuestions()
    others.take(asked)
    yield others
    others.close()


def test_examples_are_other_questions_of_the_scenario(
    asked: QuestionSet, source: OtherQuestions
) -> None:
    """Those of the set about other data, from the question's place on, then generated ones."""
    for place, question in enumerate(asked.questions):
        found = [other.question for other in source.others(question, "relational")]
        assert {other.scenario for other in found} == {question.scenario}
        around = (*asked.questions[place + 1 :], *asked.questions[:place])
        fitting = [
            other
            for other in around
            if other.scenario == question.scenario and other.situation != question.situation
        ]
        assert found[: len(fitting)] == fitting
        assert len(fitting) >= 4
        assert len(found) == len(fitting) + 10
        assert not any(other in asked.questions for other in found[len(fitting) :])


def test_no_example_shows_the_data_that_the_question_is_about(asked: QuestionSet) -> None:
    """Not even under another name: what counts is the content."""
    question = asked.questions[0]
    own = asked.situation_of(question)
    twin = replace(question, id="twin", situation="twin")
    questions = (question, twin, *asked.questions[1:2])
    with closing(OtherQuestions()) as source:
        source.take(
            QuestionSet("set", questions, {**asked.situations, "twin": replace(own, name="twin")})
        )
        found = list(source.others(question, "relational"))
        assert [other.question.id for other in found] == [str(number) for number in range(1, 11)]
        rows = Limits(rows=10_000, bytes=10_000_000)
        statement = "SELECT * FROM flow ORDER BY source, dest"
        with closing(plugins.backend("sqlite").load(own)) as database:
            shown = database.query(statement, rows).to_text()
        assert shown not in {
            d.query(statement, rows).to_text() for d in (other.database for other in found)
        }


def test_generated_examples_are_the_same_for_everybody(asked: QuestionSet) -> None:
    """Whatever else is asked: only the scenario decides."""
    one, other = asked.questions[0], asked.questions[3]
    made = []
    for question in (one, other):
        with closing(OtherQuestions()) as source:
            source.take(QuestionSet("one", (question,), asked.situations))
            made.append([one.question for one in source.others(question, "graph")])
    assert made[0] == made[1]
    assert len(made[0]) == 10


def test_a_question_has_the_same_example_whoever_asks(
    asked: QuestionSet, source: OtherQuestions
) -> None:
    """The next one in the set, round to its beginning; neighbours do not share one by chance."""

    def example(key: str) -> str:
        return next(source.others(asked.find(key), "relational")).question.key

    keys = [question.key for question in asked.questions]
    first = [example(key) for key in keys]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(example, keys)) == first
    assert len(set(first)) > 2


def test_databases_are_embedded_loaded_once_and_closed_in_the_end(asked: QuestionSet) -> None:
    """Whatever server is evaluated, an example costs it nothing."""
    source = OtherQuestions()
    source.take(asked)
    question = asked.questions[0]
    opened = [one.database for one in source.others(question, "graph")]
    assert {database.dialect for database in opened} == {"ladybug"}
    again = [one.database for one in source.others(question, "graph")]
    assert [id(database) for database in again] == [id(database) for database in opened]
    assert len({id(database) for database in opened}) < len(opened)
    source.close()
    for database in opened:
        with pytest.raises(DatabaseUnavailableError, match="closed"):
            database.query("RETURN 1")


def test_a_scenario_without_others_has_no_example(asked: QuestionSet) -> None:
    """Nothing is made up for a scenario that nothing generates, and nothing is loaded."""
    question = replace(asked.questions[0], scenario="custom")
    with closing(OtherQuestions()) as source:
        source.take(QuestionSet("one", (question,), asked.situations))
        assert list(source.others(question, "relational")) == []
