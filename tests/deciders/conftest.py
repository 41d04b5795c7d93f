"""Small worlds that the tests of deciders share."""

from __future__ import annotations

import pytest

from dqa.core.question_set import QuestionSet
from dqa.core.situation import Situation
from dqa.loaders.generator.generate import generate
from dqa_simulators.building.generator import BuildingSize
from dqa_simulators.locating.generator import LocatingSize


@pytest.fixture(scope="session")
def questions() -> QuestionSet:
    """Two questions of Locating and two of Building, on small worlds."""
    sizes = (LocatingSize(12, 20, 20, 60), BuildingSize(6, 12, 10, 14))
    return generate(("locating", "building"), count=2, seed=3, sizes=sizes)


@pytest.fixture(scope="session")
def world(questions: QuestionSet) -> Situation:
    """The world of the first Locating question."""
    return questions.situation_of(questions.questions[0])
