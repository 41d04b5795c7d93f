"""A user's scenario: a folder without Python, used like the shipped ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decision import Decision, Ending
from dqa.core.errors import DataError, UnknownNameError
from dqa.core.question_set import QuestionSet
from dqa.deciders.baselines import Oracle
from dqa.deciders.simulation import Simulation
from dqa.evaluation.audit import annotate
from dqa.evaluation.score import Judge
from dqa.loaders import live_questions as asking
from dqa.loaders.live_questions import ask_scenario
from dqa.loaders.reading import read_questions, reader_of
from dqa.loaders.release_writer import write_release
from dqa.scenarios import Scenario
from tests.scenarios.conftest import FIFTH

ANSWERS = {"suppliers/1": "O'Hara", "suppliers/2": "O'Hara", "suppliers/3": "Castle"}
EMBEDDED = ("sqlite", "duckdb", "ladybug")


@pytest.fixture
def questions(suppliers: Scenario) -> QuestionSet:
    """Read the release of the registered scenario."""
    del suppliers
    return read_questions(FIFTH / "release", strict=True)


@pytest.fixture(params=EMBEDDED)
def database(request: pytest.FixtureRequest, questions: QuestionSet) -> Iterator[Database]:
    """Open the first question's data in each embedded database."""
    situation = questions.situation_of(questions.questions[0])
    with closing(plugins.backend(request.param).load(situation)) as opened:
        yield opened


def test_a_scenario_is_unknown_until_its_folder_is_named() -> None:
    """Its release is unknown too."""
    assert "suppliers" not in plugins.names("scenario")
    with pytest.raises(UnknownNameError, match="no scenario 'suppliers'"):
        plugins.scenario("suppliers")
    with pytest.raises(DataError, match=r"not a DQA release.*questions of 'suppliers': give also"):
        read_questions(FIFTH / "release")


def test_a_release_in_its_own_layout_is_read(questions: QuestionSet) -> None:
    """A query lists the candidates; a supplier with too few gears is not among them."""
    assert reader_of(FIFTH / "release").rule_set == "released"
    assert {q.key: questions.truth_of(q).official for q in questions.questions} == ANSWERS
    first, second, third = questions.questions
    assert first.candidates == ("Arnold", "Bell and Sons", "O'Hara")
    assert second.candidates == ("Arnold", "O'Hara")
    assert third.situation == "south"
    assert first.target == {"part": "bolt", "pieces": "100", "days": "5", "warehouse": "north"}


def test_written_questions_are_read_back(
    questions: QuestionSet, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """In both forms, although the original release has only one."""
    folder = tmp_path_factory.mktemp("copy") / "release"
    write_release(questions, folder)
    for form in ("relational", "graph"):
        copy = read_questions(folder, form=form, strict=True)
        assert copy.labelled == questions.labelled
        assert copy.situations == questions.situations


def test_outcomes_by_query_are_the_ground_truth(questions: QuestionSet) -> None:
    """Every answer is the best; a bill of the same sum is a tie."""
    annotations = annotate(questions, "stated")
    assert all(annotation.agrees for annotation in annotations)
    assert [annotation.value for annotation in annotations] == [75.0, 937.5, 90.0]
    assert annotations[2].ties == ("Castle", "Dove")


def test_decisions_are_scored_by_their_cost(questions: QuestionSet) -> None:
    """Regret is the extra cost of a worse supplier."""
    judge = Judge(questions, "stated")
    question = questions.questions[0]
    right = judge.judge(question, Decision(Ending.ANSWERED, answer="O'Hara", choice="O'Hara"))
    assert (right.outcome, right.regret, right.goal) == ("correct", 0.0, "minimise")
    wrong = judge.judge(question, Decision(Ending.ANSWERED, answer="Arnold", choice="Arnold"))
    assert (wrong.outcome, wrong.regret, wrong.rank) == ("wrong", 15.0, 3)
    # Nothing says what ordering nowhere would cost, so nothing is gained or lost against it.
    assert (wrong.baseline, wrong.relative_regret) == (None, None)
    with pytest.raises(UnknownNameError, match=r"'paper'\. There are: stated"):
        Judge(questions, "paper")


def test_a_live_database_is_queried_in_place(
    questions: QuestionSet, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Oracle, simulations and candidates are statements in its language."""
    monkeypatch.setattr("dqa.deciders.simulation.read_situation", None)
    monkeypatch.setattr(asking, "read_situation", None)
    question = questions.questions[0]
    assert Oracle(None).decide(question, database).choice == "O'Hara"
    compared = Simulation(question, database).compare()
    assert compared.observation.splitlines()[1] == '["O\'Hara", 75.0]'
    target = {"part": "bolt", "pieces": "500", "days": "5"}
    again = ask_scenario(plugins.scenario("suppliers"), database, target)
    assert again.candidates == ("Arnold", "Bell and Sons")
    assert again.text.startswith('You need 500 pieces of "bolt" within 5 days')
