"""Question sets from a seed: counts, sizes, trustworthy answers, difficulty."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from itertools import product
from math import inf

import numpy as np
import pytest
from numpy.typing import NDArray

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.core.simulator import Outcomes
from dqa.core.situation import Situation
from dqa.loaders.generator.generate import generate
from dqa.loaders.generator.manifest import GENERATOR_VERSION
from dqa.loaders.generator.simulated import SimulatedGenerator
from dqa.scenarios.generation import Difficulty, Size
from dqa_simulators.building.generator import BuildingSize, build_building
from dqa_simulators.locating.generator import LocatingSize, build_locating

SCENARIOS = ("locating", "building")


@pytest.fixture(scope="module")
def small() -> QuestionSet:
    """A few questions of each scenario."""
    return generate(count=24, seed=5)


def outcome(question_set: QuestionSet, question: Question, rules: str = "paper") -> Outcomes:
    """Simulate one question."""
    situation = question_set.situation_of(question)
    return plugins.simulator(question.scenario).outcomes(situation, [question], rules)[0]


def steps_to_target(situation: Situation, question: Question) -> NDArray[np.float64]:
    """Count the steps as the scenario's generator does."""
    generator = plugins.generator(question.scenario)
    assert isinstance(generator, SimulatedGenerator)
    return generator.steps(situation, question)


def contents(question_set: QuestionSet) -> list[object]:
    """Return every question with its truth and the hash of its world."""
    hashes = {name: s.content_hash for name, s in question_set.situations.items()}
    return [(q, truth, hashes[q.situation]) for q, truth in question_set.labelled]


def of(question_set: QuestionSet, scenario: str) -> list[tuple[Question, Situation]]:
    """Pair the questions of a scenario with their worlds."""
    return [
        (question, question_set.situation_of(question))
        for question in question_set.questions
        if question.scenario == scenario
    ]


def test_each_scenario_gets_as_many_questions_as_asked_for(small: QuestionSet) -> None:
    """24 questions of each scenario, numbered from 1, about 20 or 4 to a database."""
    assert [q.id for q, _ in of(small, "locating")] == [str(i) for i in range(1, 25)]
    assert [q.id for q, _ in of(small, "building")] == [str(i) for i in range(1, 25)]
    assert len({q.situation for q, _ in of(small, "locating")}) == 2
    assert len({q.situation for q, _ in of(small, "building")}) >= 6


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (LocatingSize(12, 60, 30, 200), (30, 12, 60, 200)),
        (BuildingSize(100, 1000, 5000, 4000), (100, 1000, 4000, 5000)),
    ],
    ids=repr,
)
def test_tables_have_exactly_the_rows_asked_for(size: Size, expected: tuple[int, ...]) -> None:
    """A size is met to the row, sparse or dense."""
    generated = generate((size.scenario,), count=3, sizes=[size])
    for situation in generated.situations.values():
        assert tuple(len(table) for table in situation.tables.values()) == expected


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: LocatingSize(nodes=80, edges=3158), "between 77 and 3157 edges"),
        (lambda: LocatingSize(countries=10, node_countries=801), "between 10 .* and 800"),
        (lambda: BuildingSize(goods=2, buildings=5, demands=6, supplies=5), "at most 10"),
        (lambda: Difficulty(min_margin=0.5, max_margin=0.5), "Margins"),
        (lambda: Difficulty(min_margin=-0.1), "Margins"),
        (lambda: generate(count=0), "count must be at least 1"),
        (lambda: generate(seed=-1), "seed must not be negative"),
        (lambda: generate(("locating",), sizes=[BuildingSize()]), "only about locating"),
        (lambda: generate(sizes=[LocatingSize(), LocatingSize()]), "'locating' has 2 sizes"),
    ],
)
def test_requests_that_cannot_be_met_are_refused(make: Callable[[], object], problem: str) -> None:
    """The message says which number is out of range, and which range there is."""
    with pytest.raises(UsageError, match=problem):
        make()


@pytest.mark.parametrize("scenario", ["locating", "building"])
def test_answers_are_unique_under_every_rule_set(small: QuestionSet, scenario: str) -> None:
    """The one answer is best, no other ties with it, and the lead is no rounding error."""
    for (question, truth), rules in product(
        small.select((scenario,)).labelled, plugins.simulator(scenario).rule_sets
    ):
        result = outcome(small, question, rules)
        assert result.ties == truth.answers
        assert result.margin > 1e-6 * abs(result.value(result.answer))
        assert not result.decided_by_last_bit


def test_a_seed_always_gives_the_same(small: QuestionSet) -> None:
    """Questions, answers and every value of every world come again."""
    assert contents(generate(count=24, seed=5)) == contents(small)


@pytest.mark.parametrize("scenario", [*SCENARIOS, "agriculture", "stocks"])
def test_another_scenario_or_count_changes_nothing(small: QuestionSet, scenario: str) -> None:
    """A scenario alone, or fewer of its questions, are the first ones of the whole."""
    whole = small if scenario in SCENARIOS else generate((scenario,), count=12, seed=5)
    alone = contents(generate((scenario,), count=7, seed=5))
    assert alone == contents(whole.select((scenario,), limit=7))
    assert alone != contents(generate((scenario,), count=7, seed=6))


@pytest.mark.parametrize(
    ("build", "size", "digest"),
    [
        (build_locating, LocatingSize(), "8dba03a690189380"),
        (build_building, BuildingSize(), "b81bb17abcabdfa8"),
    ],
)
def test_worlds_belong_to_the_generator_version(
    build: Callable[..., Situation], size: Size, digest: str
) -> None:
    """If a seed gives other worlds, GENERATOR_VERSION and this digest must change."""
    world = build(np.random.default_rng(2024), "pinned", size, Difficulty(distractors=2))
    rows = repr([list(table.rows()) for table in world.tables.values()])
    assert GENERATOR_VERSION == 2
    assert hashlib.sha256(rows.encode()).hexdigest()[:16] == digest


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize(
    ("hops", "rivals", "bounds"), [(3, 2, (0.0, inf)), (1, 4, (0.0, inf)), (2, 2, (0.05, 0.3))]
)
def test_questions_are_as_difficult_as_asked_for(
    scenario: str, hops: int, rivals: int, bounds: tuple[float, float]
) -> None:
    """Steps to the answer, candidates better than nothing, and the lead over the second."""
    difficulty = Difficulty(hops=hops, rivals=rivals, min_margin=bounds[0], max_margin=bounds[1])
    generated = generate((scenario,), count=5, seed=3, difficulty=difficulty)
    for question, situation in of(generated, scenario):
        steps = steps_to_target(situation, question)
        answer = generated.truth_of(question).answers[0]
        assert question.candidates is not None
        assert hops <= steps[question.candidates.index(answer)] < np.inf
        result = outcome(generated, question)
        assert result.baseline is not None
        gains = result.values - result.baseline
        gains = gains if result.goal == "maximise" else -gains
        assert np.count_nonzero(gains > 0.0) >= rivals
        share = result.margin / abs(result.value(result.answer) - result.baseline)
        assert bounds[0] <= share <= bounds[1]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_distractors_change_no_answer(scenario: str) -> None:
    """They add candidates, keep every answer and lead nowhere."""
    plain = generate((scenario,), count=6, seed=9)
    crowded = generate((scenario,), count=6, seed=9, difficulty=Difficulty(distractors=5))
    for (question, _), (other, world) in zip(
        of(plain, scenario), of(crowded, scenario), strict=True
    ):
        assert question.candidates is not None
        assert other.candidates is not None
        assert len(other.candidates) == len(question.candidates) + 5
        assert other.target == question.target
        assert crowded.truth_of(other) == plain.truth_of(question)
        assert np.isinf(steps_to_target(world, other)[-5:]).all()


def test_names_are_unique_and_fit_the_columns_of_the_release(small: QuestionSet) -> None:
    """Without regard to case, as MySQL compares; an answer could otherwise name two candidates."""
    names = {"locating": (("trade_node", "trade_node"), ("country", "country_name"))}
    for situation in small.situations.values():
        for table, column in names.get(situation.schema.scenario, (("goods", "goods_name"),)):
            found = [name.lower() for name in situation[table][column].tolist()]
            assert len(set(found)) == len(found)
            assert max(map(len, found)) <= 30
