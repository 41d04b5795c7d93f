"""Mixes of distances, questions that deciders get wrong, and errors if no question is left."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import pytest

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.core.question_set import QuestionSet
from dqa.core.situation import Situation
from dqa.core.truth import LabelledQuestion
from dqa.loaders.generator.generate import generate
from dqa.loaders.generator.simulated import SimulatedGenerator
from dqa.scenarios.generation import Difficulty, Mix, Request

SCENARIOS = ("locating", "building")


class Keeping:
    """A resistance that selects about one question in `one_in`, and records all; 0 selects none."""

    def __init__(self, one_in: int) -> None:
        self.one_in = one_in
        self.asked: list[LabelledQuestion] = []

    def holds(self, labelled: LabelledQuestion) -> bool:
        """Return whether a question is selected."""
        about = " ".join(labelled.question.target.values())
        return bool(self.one_in) and crc32(about.encode()) % self.one_in == 0

    def keeps(self, situation: Situation, asked: Sequence[LabelledQuestion]) -> Sequence[bool]:
        """Select by the target of a question."""
        assert {question.situation for question, _ in asked} == {situation.name}
        self.asked += asked
        return [self.holds(labelled) for labelled in asked]


def distances(made: QuestionSet) -> list[float]:
    """Return the steps from each answer to the target of its question, in order."""
    found = []
    for question, truth in made.labelled:
        generator = plugins.generator(question.scenario)
        assert isinstance(generator, SimulatedGenerator)
        steps = generator.steps(made.situation_of(question), question)
        found.append(float(steps[(question.candidates or ()).index(truth.answers[0])]))
    return found


def test_a_mix_is_met_by_the_largest_remainder_at_any_count() -> None:
    """So the first questions of a larger set are those of a smaller one."""
    for far in (0.0, 0.15, 0.5, 0.85, 1.0):
        mix = Mix(1.0 - far, far)
        for count in (*range(1, 30), 200):
            there = sum(mix.is_far(number) for number in range(1, count + 1))
            assert abs(there - far * count) <= 0.5
    for shares in ((0.3, 0.6), (-0.1, 1.1), (0.0, 0.0)):
        with pytest.raises(UsageError, match="must sum to 1"):
            Mix(*shares)


def test_bounds_that_one_small_world_cannot_meet_draw_larger_ones() -> None:
    """Small worlds have no far answers with rivals and a small margin."""
    bounds = Difficulty(hops=2, rivals=3, max_margin=0.3)
    made = generate(("building",), 12, seed=1, difficulty=bounds)
    assert len(made.questions) == 12
    assert min(distances(made)) >= 2.0


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_world_is_drawn_again_from_its_draw(scenario: str) -> None:
    """World, questions and answers, without the search that found them."""
    generator, known = plugins.generator(scenario), plugins.scenario(scenario)
    harder = Difficulty(hops=2, mix=Mix(0.25, 0.75), distractors=2)
    keeping = Keeping(3)
    request = Request(8, 7, difficulty=harder, resistance=keeping, databases_before=3)
    assert isinstance(generator, SimulatedGenerator)
    for drawn in generator.questions(known, request):
        assert drawn.draw is not None
        assert all(map(keeping.holds, drawn.questions))
        again = generator.redraw(known, drawn.draw)
        assert again.situation.content_hash == drawn.situation.content_hash
        assert again.questions == drawn.questions
