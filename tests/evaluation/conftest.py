"""A small world, its questions, and deciders made for the occasion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending, Usage
from dqa.core.evidence import Evidence
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.loaders.generator.generate import generate
from dqa_simulators.building.generator import BuildingSize
from dqa_simulators.locating.generator import LocatingSize


@dataclass
class Rule(Decider):
    """A decider that answers by a function, after one real statement on the database."""

    name: str
    answer: Callable[[Question, Database], str]
    statement: str = "SELECT 1"

    def decide(self, question: Question, database: Database) -> Decision:
        """Answer with the function's text and the evidence of one statement."""
        rows = database.query(self.statement)
        return Decision(
            Ending.ANSWERED,
            answer=self.answer(question, database),
            evidence=(Evidence.of(self.statement, rows),),
            usage=Usage(10, 5, 1),
            steps=2,
            seconds=0.25,
        )


@pytest.fixture(scope="session")
def questions() -> QuestionSet:
    """Six questions of two scenarios on three small worlds."""
    return generate(
        ("locating", "building"),
        count=3,
        seed=7,
        sizes=(LocatingSize(12, 20, 20, 60), BuildingSize(6, 12, 10, 14)),
        per_database=2,
    )


@pytest.fixture
def official(questions: QuestionSet) -> Callable[[Question, Database], str]:
    """Answer every question with its official answer."""
    return lambda question, _: str(questions.truth_of(question).official)
