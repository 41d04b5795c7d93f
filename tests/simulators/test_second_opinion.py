"""Rules and schema say all that decides: an implementation of them alone agrees everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import isclose
from pathlib import Path

import pytest
from hypothesis import strategies as st

from dqa import plugins
from dqa.core.question import Candidate, Question
from dqa.core.question_set import QuestionSet
from dqa.core.simulator import Outcomes
from dqa.core.situation import Situation
from dqa.loaders.generator.generate import generate
from dqa.loaders.release import read_release
from dqa.scenarios.generation import Difficulty
from tests.simulators import second_opinion
from tests.simulators.test_agreement import COUNTS, Drawn, on_drawn
from tests.simulators.worlds import economies, worlds

RULES = "paper"
CLOSE = 1e-11
"""Relative: both add hundreds of numbers, each in an order of its own."""

USUAL: Mapping[str, Mapping[str, int]] = {}
SMALL = {
    "locating": {"nodes": 12, "edges": 24, "countries": 30, "node_countries": 80},
    "building": {"goods": 8, "buildings": 16, "demands": 20, "supplies": 24},
}
LARGE = {
    "locating": {"nodes": 160, "edges": 400, "countries": 700, "node_countries": 2600},
    "building": {"goods": 80, "buildings": 260, "demands": 300, "supplies": 500},
}


@dataclass(frozen=True)
class Kind:
    """Generated questions of one kind: how many, from which worlds."""

    name: str
    count: int
    sizes: Mapping[str, Mapping[str, int]] = field(default_factory=lambda: USUAL)
    difficulty: Difficulty = field(default_factory=Difficulty)


KINDS = (
    Kind("usual", 150),
    Kind("small", 130, SMALL),
    Kind("large", 40, LARGE),
    Kind("two hops", 80, USUAL, Difficulty(hops=2)),
    Kind("three hops", 20, USUAL, Difficulty(hops=3)),
    Kind("close", 40, USUAL, Difficulty(rivals=2, max_margin=0.5)),
    Kind("distracted", 40, USUAL, Difficulty(distractors=3)),
)


def tables_of(situation: Situation) -> second_opinion.Tables:
    """Return the rows of every table as the second opinion takes them."""
    return {
        name: [dict(zip(table.columns, row, strict=True)) for row in table.rows()]
        for name, table in situation.tables.items()
    }


def second(tables: second_opinion.Tables, question: Question) -> Mapping[Candidate, float]:
    """Return the second opinion on every candidate of a question."""
    target = question.target
    if question.scenario == "locating":
        profits = second_opinion.locating_profits(tables, target["country"], target["home"])
        return dict(profits.items())
    return dict(second_opinion.building_prices(tables, target["goods"]).items())


def differences(outcomes: Outcomes, opinion: Mapping[Candidate, float]) -> list[str]:
    """Return what two opinions on a question differ in: candidates, values, ties."""
    if {*outcomes.candidates} != {*opinion}:
        return [f"other candidates: {sorted(map(str, {*outcomes.candidates} ^ {*opinion}))}"]
    best = (max if outcomes.goal == "maximise" else min)(opinion.values())
    found = [
        f"ties: {one}" for one in outcomes.ties if not isclose(opinion[one], best, rel_tol=CLOSE)
    ]
    for one, value in zip(outcomes.candidates, outcomes.values.tolist(), strict=True):
        if not isclose(value, opinion[one], rel_tol=CLOSE, abs_tol=1e-300):
            found.append(f"{one}: {value} and {opinion[one]}")
    return found


def compared(questions: QuestionSet) -> tuple[int, dict[str, list[str]]]:
    """Return how many candidates were compared, and by question what differs."""
    count, found = 0, {}
    by_situation: dict[str, list[Question]] = {}
    for question in questions.questions:
        by_situation.setdefault(question.situation, []).append(question)
    for name, asked in by_situation.items():
        situation = questions.situations[name]
        tables = tables_of(situation)
        simulator = plugins.simulator(asked[0].scenario)
        for question, one in zip(asked, simulator.outcomes(situation, asked, RULES), strict=True):
            count += len(one.candidates)
            differ = differences(one, second(tables, question))
            if differ:
                found[question.key] = differ
    return count, found


@pytest.mark.deep
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("scenario", ["locating", "building"])
def test_an_implementation_of_the_rules_alone_agrees(scenario: str, kind: Kind) -> None:
    """Every candidate of 1,000 generated questions has the same value by both."""
    check_kind(scenario, kind)


@pytest.mark.parametrize("scenario", ["locating", "building"])
def test_an_implementation_of_the_rules_alone_agrees_on_a_few(scenario: str) -> None:
    """Every candidate of small worlds has the same value by both, and labels lead by both."""
    questions = check_kind(scenario, Kind("small", 10, SMALL))
    goal = max if plugins.scenario(scenario).goal == "maximise" else min
    for question in questions.questions:
        opinion = second(tables_of(questions.situation_of(question)), question)
        assert goal(opinion, key=opinion.__getitem__) == questions.truth_of(question).official


def check_kind(scenario: str, kind: Kind) -> QuestionSet:
    """Compare both opinions on all questions of a kind, and return the questions."""
    sizes = kind.sizes.get(scenario)
    questions = generate(
        (scenario,),
        kind.count,
        seed=12,
        sizes={scenario: sizes} if sizes else (),
        difficulty=kind.difficulty,
    )
    count, differ = compared(questions)
    assert differ == {}
    assert count > 2 * kind.count
    return questions


@pytest.mark.slow
def test_it_agrees_on_the_official_questions(release_dir: Path) -> None:
    """Every candidate of the release's questions has the same value by both."""
    whole = read_release(release_dir)
    part = replace(whole, questions=whole.questions[::2])
    count, differ = compared(part)
    assert differ == {}
    assert count > 1000


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize(
    "drawn_from",
    [
        worlds(),
        # The second opinion divides by the level; the plain reference tests levels of 0.
        economies().filter(lambda drawn: bool((drawn[0]["building"]["level"] > 0).all())),
    ],
    ids=["worlds", "economies"],
)
def test_it_agrees_on_drawn_situations(drawn_from: st.SearchStrategy[Drawn], count: int) -> None:
    """Situations that no generator makes: no power, no routes, no demand, needs of 0."""
    on_drawn(count, check_drawn, drawn_from)


def check_drawn(drawn: Drawn) -> None:
    """Hold both opinions on every question of a small situation against each other."""
    situation, questions = drawn
    simulator = plugins.simulator(questions[0].scenario)
    tables = tables_of(situation)
    for question, outcomes in zip(
        questions, simulator.outcomes(situation, questions, RULES), strict=True
    ):
        assert differences(outcomes, second(tables, question)) == []
