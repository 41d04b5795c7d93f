"""The fast simulators agree with the plain reference, and with what must hold of any world."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dqa.core.question import Candidate, Question
from dqa.core.simulator import Outcomes, Simulator
from dqa.core.situation import Situation, Table
from dqa_simulators.building.outcomes import SIMULATOR as BUILDING
from dqa_simulators.locating.outcomes import SIMULATOR as LOCATING
from tests.simulators import reference
from tests.simulators.worlds import economies, worlds

RULES = ("released", "paper")
RULE_SETS = st.sampled_from(RULES)
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


def best(values: list[float], candidates: Candidates, goal: str) -> list[Candidate | None]:
    """Candidates with exactly the best value."""
    limit = max(values) if goal == "maximise" else min(values)
    return [c for c, value in zip(candidates, values, strict=True) if value == limit]


def differences(outcomes: Outcomes, plain: list[float], baseline: float) -> list[str]:
    """Return what differs: values by more than rounding, and ties at all."""
    found = []
    if not np.allclose(outcomes.values, plain, rtol=1e-9, atol=1e-300):
        found.append(f"values {outcomes.values.tolist()}, not {plain}")
    assert outcomes.baseline is not None
    if not np.allclose(outcomes.baseline, baseline, rtol=1e-9, atol=1e-300):
        found.append(f"baseline {outcomes.baseline}, not {baseline}")
    ties = best(plain, outcomes.candidates, outcomes.goal)
    if list(outcomes.ties) != ties:
        found.append(f"ties {outcomes.ties}, not {ties}")
    return found


@PATIENT
@given(worlds(), RULE_SETS)
def test_locating_agrees_with_the_plain_reference(drawn: Drawn, rules: str) -> None:
    """Every candidate's profit, and exactly the same ties, on random worlds."""
    situation, questions = drawn
    for question, outcomes in zip(
        questions, LOCATING.outcomes(situation, questions, rules), strict=True
    ):
        plain = plain_profits(situation, question, outcomes.candidates, rules)
        (nothing,) = plain_profits(situation, question, [None], rules)
        assert not differences(outcomes, plain, nothing)


@PATIENT
@given(economies(), RULE_SETS)
def test_building_agrees_with_the_plain_reference(drawn: Drawn, rules: str) -> None:
    """Every candidate's price, and exactly the same ties, on random economies."""
    situation, questions = drawn
    for question, outcomes in zip(
        questions, BUILDING.outcomes(situation, questions, rules), strict=True
    ):
        plain = plain_prices(situation, question, outcomes.candidates, rules)
        (nothing,) = plain_prices(situation, question, [None], rules)
        assert not differences(outcomes, plain, nothing)


@PATIENT
@given(worlds(), RULE_SETS, st.data())
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
@given(economies(), RULE_SETS, st.data())
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


def shuffled(situation: Situation, seed: int) -> Situation:
    """Return the situation with the rows of every table but `flow` in another order.

    Flows stay: which of several a merchant supports depends on their order.
    """
    rng = np.random.default_rng(seed)
    tables = {
        name: table
        if name == "flow"
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


@pytest.mark.parametrize(
    ("simulator", "drawn_from"), [(LOCATING, worlds()), (BUILDING, economies())]
)
def test_the_order_of_rows_changes_no_outcome(
    simulator: Simulator, drawn_from: st.SearchStrategy[Drawn]
) -> None:
    """Rows in another order give every candidate the same value, up to the order of summation."""

    @PATIENT
    @given(drawn_from, RULE_SETS, st.integers(0, 2**32 - 1))
    def check_orders(drawn: Drawn, rules: str, seed: int) -> None:
        situation, questions = drawn
        other = simulator.outcomes(shuffled(situation, seed), questions, rules)
        for one, two in zip(simulator.outcomes(situation, questions, rules), other, strict=True):
            for candidate in one.candidates:
                assert one.value(candidate) == pytest.approx(two.value(candidate), rel=1e-9)

    check_orders()


@PATIENT
@given(worlds(), RULE_SETS)
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


@PATIENT
@given(worlds(), RULE_SETS, st.data())
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
