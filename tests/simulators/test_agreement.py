"""The fast simulators agree with the plain reference, and with what must hold of any world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

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

LOCATING_RULES = st.sampled_from(LOCATING.rule_sets)
BUILDING_RULES = st.sampled_from(BUILDING.rule_sets)
Candidates = Sequence[Candidate | None]
Drawn = tuple[Situation, list[Question]]
PATIENT = settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))


def plain_profits(
    situation: Situation, question: Question, candidates: Candidates, rules: str
) -> list[float]:
    """Profits of some candidates by the plain reference."""
    country, home = question.target["country"], question.target["home"]
    return [reference.profit(situation, country, home, c, rules) for c in candidates]


def plain_prices(
    situation: Situation, question: Question, candidates: Candidates, rules: str
) -> list[float]:
    """Prices after some candidates by the plain reference."""
    goods = question.target["goods"]
    return [reference.building(situation, c, rules)[goods] for c in candidates]


def differences(outcomes: Outcomes, plain: list[float], baseline: float) -> list[str]:
    """Return what differs: values by more than rounding, the answer and the ties at all."""
    found = []
    if not np.allclose(outcomes.values, plain, rtol=1e-9, atol=1e-300):
        found.append(f"values {outcomes.values.tolist()}, not {plain}")
    assert outcomes.baseline is not None
    if not np.allclose(outcomes.baseline, baseline, rtol=1e-9, atol=1e-300):
        found.append(f"baseline {outcomes.baseline}, not {baseline}")
    best = max(plain) if outcomes.goal == "maximise" else min(plain)
    answer = outcomes.candidates[plain.index(best)]
    if outcomes.answer != answer:
        found.append(f"answer {outcomes.answer}, not {answer}")
    tied = [abs(value - best) <= ROUNDING * abs(best) for value in plain]
    ties = tuple(c for c, ties in zip(outcomes.candidates, tied, strict=True) if ties)
    if outcomes.ties != ties:
        found.append(f"ties {outcomes.ties}, not {ties}")
    return found


@PATIENT
@given(worlds(), LOCATING_RULES)
def test_locating_agrees_with_the_plain_reference(drawn: Drawn, rules: str) -> None:
    """Every candidate's profit, and the same answer and ties, on random worlds."""
    situation, questions = drawn
    for question, outcomes in zip(
        questions, LOCATING.outcomes(situation, questions, rules), strict=True
    ):
        plain = plain_profits(situation, question, outcomes.candidates, rules)
        (nothing,) = plain_profits(situation, question, [None], rules)
        assert not differences(outcomes, plain, nothing)


@PATIENT
@given(economies(), BUILDING_RULES)
def test_building_agrees_with_the_plain_reference(drawn: Drawn, rules: str) -> None:
    """Every candidate's price, and the same answer and ties, on random economies."""
    situation, questions = drawn
    for question, outcomes in zip(
        questions, BUILDING.outcomes(situation, questions, rules), strict=True
    ):
        plain = plain_prices(situation, question, outcomes.candidates, rules)
        (nothing,) = plain_prices(situation, question, [None], rules)
        assert not differences(outcomes, plain, nothing)


@PATIENT
@given(worlds(), LOCATING_RULES, st.data())
def test_locating_state_is_the_plain_reference_to_the_last_bit(
    drawn: Drawn, rules: str, data: st.DataObject
) -> None:
    """Every computed column after a decision equals the plain reference exactly."""
    situation, questions = drawn
    question = data.draw(st.sampled_from(questions))
    country, home = question.target["country"], question.target["home"]
    names = situation["trade_node"]["trade_node"].tolist()
    decision = data.draw(st.sampled_from([None, *(name for name in names if name != home)]))
    after = LOCATING.simulate(situation, question, decision, rules)
    plain = reference.locating(situation, country, decision, rules)
    nodes = after["trade_node"]
    assert nodes["total_power"].tolist() == [plain.total_power[name] for name in names]
    assert nodes["outgoing"].tolist() == [plain.outgoing[name] for name in names]
    assert nodes["ingoing"].tolist() == [plain.ingoing[name] for name in names]
    assert after["flow"]["flow"].tolist() == list(plain.flow.values())
    assert after["node_country"]["calculated_trading_power"].tolist() == list(plain.power.values())


@PATIENT
@given(economies(), BUILDING_RULES, st.data())
def test_building_prices_are_the_plain_reference_to_the_last_bit(
    drawn: Drawn, rules: str, data: st.DataObject
) -> None:
    """Every price after a decision equals the plain reference exactly."""
    situation, questions = drawn
    ids = situation["building"]["id"].tolist()
    decision = data.draw(st.sampled_from([None, *ids]))
    after = BUILDING.simulate(situation, questions[0], decision, rules)
    plain = reference.building(situation, decision, rules)
    assert after["goods"]["current_price"].tolist() == list(plain.values())


def shuffled(situation: Situation, seed: int, keep: Sequence[str] = ()) -> Situation:
    """Return the situation with the rows of every table in another order, but of those to keep."""
    rng = np.random.default_rng(seed)
    tables = {
        name: table
        if name in keep
        else Table(
            table.schema,
            {
                column: values[order]
                for order in [rng.permutation(len(table))]
                for column, values in table.columns.items()
            },
        )
        for name, table in situation.tables.items()
    }
    return situation.replace(**tables)


def check_same(one: Outcomes, other: Outcomes) -> None:
    """Hold that every candidate has the same value in both, up to the order of summation."""
    found = [other.value(candidate) for candidate in one.candidates]
    np.testing.assert_allclose(found, one.values, rtol=ROUNDING, atol=1e-300)
    assert {*other.candidates} == {*one.candidates}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("simulator", "drawn_from"), [(LOCATING, worlds()), (BUILDING, economies())]
)
def test_the_order_of_rows_changes_no_outcome(
    simulator: Simulator, drawn_from: st.SearchStrategy[Drawn]
) -> None:
    """Rows in another order give every candidate the same value under every rule set.

    But for the flows where the released program picks the first of several in the table.
    """

    @PATIENT
    @given(drawn_from, st.sampled_from(simulator.rule_sets), st.integers(0, 2**32 - 1))
    def check_orders(drawn: Drawn, rules: str, seed: int) -> None:
        situation, questions = drawn
        other = shuffled(situation, seed, () if rules == "paper" else ("flow",))
        for question in questions:
            (one,) = simulator.outcomes(situation, [question], rules)
            check_same(one, simulator.outcomes(other, [question], rules)[0])

    check_orders()


@pytest.mark.parametrize("difficulty", [Difficulty(), Difficulty(hops=2, distractors=2)])
@pytest.mark.parametrize("simulator", [LOCATING, BUILDING])
def test_the_order_of_rows_answers_no_generated_question(
    simulator: Simulator, difficulty: Difficulty
) -> None:
    """What the text's rules say of a generated question hangs on no table's order of rows."""
    made = generate((simulator.scenario,), 12, seed=5, difficulty=difficulty)
    for seed, question in enumerate(made.questions):
        bare = replace(question, candidates=None)
        situation = made.situation_of(question)
        (one,) = simulator.outcomes(situation, [bare], "paper")
        (other,) = simulator.outcomes(shuffled(situation, seed), [bare], "paper")
        check_same(one, other)
        assert other.answer == one.answer == made.truth_of(question).official


@pytest.mark.slow
@PATIENT
@given(worlds(), LOCATING_RULES)
def test_an_unconnected_node_changes_nothing(drawn: Drawn, rules: str) -> None:
    """A node without flows or countries is one more candidate, as good as doing nothing."""
    situation, questions = drawn
    nodes = situation["trade_node"]
    more = Table.from_rows(nodes.schema, [*nodes.rows(), ("island", 5.0, True, 0.0, 0.0, 0.0)])
    larger = situation.replace(trade_node=more)
    for one, two in zip(
        LOCATING.outcomes(situation, questions, rules),
        LOCATING.outcomes(larger, questions, rules),
        strict=True,
    ):
        assert two.candidates == (*one.candidates, "island")
        np.testing.assert_allclose(two.values[:-1], one.values, rtol=1e-12)
        assert two.value("island") == pytest.approx(two.baseline, rel=1e-12)


@pytest.mark.slow
@PATIENT
@given(worlds(), LOCATING_RULES, st.data())
def test_a_merchant_never_lowers_its_own_nodes_power(
    drawn: Drawn, rules: str, data: st.DataObject
) -> None:
    """Neither the total power of the node nor its country's power there falls."""
    situation, questions = drawn
    question = data.draw(st.sampled_from(questions))
    names = situation["trade_node"]["trade_node"].tolist()
    place = data.draw(st.sampled_from([n for n in names if n != question.target["home"]]))
    before = LOCATING.simulate(situation, question, None, rules)
    after = LOCATING.simulate(situation, question, place, rules)
    power, column = "total_power", "calculated_trading_power"
    assert (after["trade_node"][power] >= before["trade_node"][power]).all()
    assert (after["node_country"][column] >= before["node_country"][column]).all()
