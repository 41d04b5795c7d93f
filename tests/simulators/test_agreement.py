"""The fast simulators agree with the plain reference, on drawn and on generated worlds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dqa.core.question import Candidate, Question
from dqa.core.simulator import ROUNDING, Outcomes, Simulator
from dqa.core.situation import Situation, Table
from dqa.loaders.generator.generate import generate
from dqa.scenarios.generation import Difficulty
from dqa_simulators.building.outcomes import SIMULATOR as BUILDING
from dqa_simulators.locating.outcomes import SIMULATOR as LOCATING
from tests.simulators import reference
from tests.simulators.worlds import economies, worlds

Drawn = tuple[Situation, list[Question]]
Values = Callable[[Sequence[Candidate | None]], list[float]]
COUNTS = [25, pytest.param(1_000, marks=pytest.mark.deep)]
"""The number of situations that hypothesis draws."""


def on_drawn(count: int, check: Callable[..., None], *drawn_from: st.SearchStrategy[Any]) -> None:
    """Run a check on `count` drawn situations."""
    many = settings(max_examples=count, suppress_health_check=list(HealthCheck))
    many(given(*drawn_from)(check))()


def check_outcomes(outcomes: Outcomes, plain: Values) -> None:
    """Check values and baseline up to rounding, the answer and the ties exactly."""
    values = plain(outcomes.candidates)
    np.testing.assert_allclose(outcomes.values, values, rtol=1e-9, atol=1e-300)
    (nothing,) = plain([None])
    assert outcomes.baseline == pytest.approx(nothing, rel=1e-9, abs=1e-300)
    best = max(values) if outcomes.goal == "maximise" else min(values)
    assert outcomes.answer == outcomes.candidates[values.index(best)]
    tied = [abs(value - best) <= ROUNDING * abs(best) for value in values]
    assert outcomes.ties == tuple(
        candidate for candidate, ties in zip(outcomes.candidates, tied, strict=True) if ties
    )


@pytest.mark.parametrize("count", COUNTS)
def test_locating_agrees_with_the_plain_reference(count: int) -> None:
    """Each outcome agrees, and each computed column after a decision to the last bit."""

    def check(drawn: Drawn, rules: str, decided: int) -> None:
        situation, questions = drawn
        found = LOCATING.outcomes(situation, questions, rules)
        for question, outcomes in zip(questions, found, strict=True):
            country, home = question.target["country"], question.target["home"]
            check_outcomes(
                outcomes,
                lambda at, country=country, home=home: [  # type: ignore[misc]
                    reference.profit(situation, country, home, one, rules) for one in at
                ],
            )
        decisions = (None, *found[0].candidates)
        decision = decisions[decided % len(decisions)]
        after = LOCATING.simulate(situation, questions[0], decision, rules)
        plain = reference.locating(situation, questions[0].target["country"], decision, rules)
        nodes = after["trade_node"]
        names = nodes["trade_node"].tolist()
        assert nodes["total_power"].tolist() == [plain.total_power[name] for name in names]
        assert nodes["outgoing"].tolist() == [plain.outgoing[name] for name in names]
        assert nodes["ingoing"].tolist() == [plain.ingoing[name] for name in names]
        assert after["flow"]["flow"].tolist() == list(plain.flow.values())
        powers = after["node_country"]["calculated_trading_power"]
        assert powers.tolist() == list(plain.power.values())

    on_drawn(count, check, worlds(), st.sampled_from(LOCATING.rule_sets), st.integers(0, 99))


@pytest.mark.parametrize("count", COUNTS)
def test_building_agrees_with_the_plain_reference(count: int) -> None:
    """Each outcome agrees, and each price after a decision to the last bit."""

    def check(drawn: Drawn, rules: str, decided: int) -> None:
        situation, questions = drawn
        found = BUILDING.outcomes(situation, questions, rules)
        for question, outcomes in zip(questions, found, strict=True):
            goods = question.target["goods"]
            check_outcomes(
                outcomes,
                lambda raised, goods=goods: [  # type: ignore[misc]
                    reference.building(situation, one, rules)[goods] for one in raised
                ],
            )
        decisions = (None, *found[0].candidates)
        decision = decisions[decided % len(decisions)]
        after = BUILDING.simulate(situation, questions[0], decision, rules)
        plain = reference.building(situation, decision, rules)
        assert after["goods"]["current_price"].tolist() == list(plain.values())

    on_drawn(count, check, economies(), st.sampled_from(BUILDING.rule_sets), st.integers(0, 99))


SMALL = {
    "locating": {"nodes": 12, "edges": 24, "countries": 30, "node_countries": 80},
    "building": {"goods": 8, "buildings": 16, "demands": 20, "supplies": 24},
}


def plain_values(situation: Situation, question: Question) -> Values:
    """Return the plain reference on candidates of a question, by the paper's rules."""
    target = question.target
    if question.scenario == "locating":
        ends = target["country"], target["home"]
        return lambda at: [reference.profit(situation, *ends, one, "paper") for one in at]
    goods = target["goods"]
    return lambda raised: [reference.building(situation, one, "paper")[goods] for one in raised]


@pytest.mark.parametrize(
    "count", [8, pytest.param(150, marks=pytest.mark.deep)], ids=["small", "usual"]
)
@pytest.mark.parametrize("simulator", [LOCATING, BUILDING])
def test_generated_questions_agree_with_the_plain_reference(
    simulator: Simulator, count: int
) -> None:
    """Every candidate has the same value, and the label is the best by both."""
    name = simulator.scenario
    made = generate((name,), count, seed=12, sizes={name: SMALL[name]} if count < 10 else ())
    for question in made.questions:
        situation = made.situation_of(question)
        (found,) = simulator.outcomes(situation, [question], "paper")
        check_outcomes(found, plain_values(situation, question))
        assert found.answer == made.truth_of(question).official


def shuffled(situation: Situation, seed: int) -> Situation:
    """Return the situation with the rows of every table in another order."""
    rng = np.random.default_rng(seed)
    tables = {}
    for name, table in situation.tables.items():
        order = rng.permutation(len(table))
        columns = {column: values[order] for column, values in table.columns.items()}
        tables[name] = Table(table.schema, columns)
    return situation.replace(**tables)


@pytest.mark.parametrize("difficulty", [Difficulty(), Difficulty(hops=2, distractors=2)])
@pytest.mark.parametrize("simulator", [LOCATING, BUILDING])
def test_the_order_of_rows_does_not_change_generated_answers(
    simulator: Simulator, difficulty: Difficulty
) -> None:
    """Values and answers stay the same."""
    made = generate((simulator.scenario,), 6, seed=5, difficulty=difficulty)
    for seed, question in enumerate(made.questions):
        bare = replace(question, candidates=None)
        situation = made.situation_of(question)
        (one,) = simulator.outcomes(situation, [bare], "paper")
        (other,) = simulator.outcomes(shuffled(situation, seed), [bare], "paper")
        found = [other.value(candidate) for candidate in one.candidates]
        np.testing.assert_allclose(found, one.values, rtol=ROUNDING, atol=1e-300)
        assert {*other.candidates} == {*one.candidates}
        assert other.answer == one.answer == made.truth_of(question).official
