"""The Building simulator on economies with known results, and on broken ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dqa.core.errors import SituationError, UnknownNameError
from dqa.core.question import Question
from dqa.core.simulator import Outcomes
from dqa.core.situation import Situation
from dqa.loaders.release import read_release
from dqa_simulators.building.outcomes import SIMULATOR
from tests.simulators.worlds import building_question, economy

ASK = building_question("goods1")


def small(**changes: Any) -> Situation:
    """Return an economy in which a mine without inputs makes goods 0, from which a mill makes goods
    1.
    """
    parts: dict[str, Any] = {
        "goods": [(0, 20.0, 5.0), (1, 30.0, 8.0)],
        "buildings": [(7, 5), (8, 10)],
        "supply": [(0, 7, 10.0, 6.0), (1, 8, 12.0, 4.0)],
        "demand": [(0, 8, 15.0)],
    }
    return economy(**{**parts, **changes})


def ask(situation: Situation, question: Question = ASK, rules: str = "paper") -> Outcomes:
    """Return the outcomes of one question."""
    return SIMULATOR.outcomes(situation, [question], rules)[0]


def refusal(situation: Situation, question: Question = ASK) -> str:
    """Return the message with which a question is refused."""
    with pytest.raises(SituationError) as caught:
        ask(situation, question)
    return str(caught.value)


def price(base: float, demand: float, supply: float) -> float:
    """Return the price by equation 6."""
    return base * (1 + 0.75 * (demand - supply) / max(demand, supply))


def test_prices_worked_out_by_hand() -> None:
    """Two rule sets on an economy of two buildings."""
    outcomes = ask(small())
    # The mine makes 6 at any level; the mill gets 6 / (5 + 15) of its demand.
    assert outcomes.baseline == pytest.approx(price(30, 8, 12 * 6 / 20))
    assert outcomes.value(7) == pytest.approx(outcomes.baseline)
    # After the expansion, the mill demands 22.5 and makes 18 * 6 / 27.5.
    assert outcomes.value(8) == pytest.approx(price(30, 8, 18 * 6 / 27.5))
    released = ask(small(), rules="released")
    assert released.value(8) == pytest.approx(price(30, 8, 18 * 6 / (5 + 15 + 22.5)))


def test_the_state_after_a_decision_has_new_quantities_and_prices() -> None:
    after = SIMULATOR.simulate(small(), ASK, 8, "paper")
    assert after["building"]["level"].tolist() == [5, 15]
    assert after["supply"]["level"].tolist() == [5, 15]
    assert after["supply"]["max_supply"].tolist() == [10.0, 18.0]
    assert after["supply"]["current_output"].tolist() == pytest.approx([6.0, 18 * 6 / 27.5])
    assert after["demand"]["max_demand"].tolist() == [22.5]
    assert after["demand"]["current_input"].tolist() == pytest.approx([22.5 * 6 / 27.5])
    assert after["goods"]["current_price"][1] == pytest.approx(ask(small()).value(8))


def test_unknown_candidates_goods_and_rule_sets_are_named() -> None:
    """Also an id as text, and an economy without buildings."""
    for candidate in (9, "8"):
        question = Question("building", "1", "", "", target=ASK.target, candidates=(candidate,))
        assert f"'{candidate}' is not a candidate" in refusal(small(), question)
        with pytest.raises(SituationError, match="is not a candidate"):
            SIMULATOR.simulate(small(), ASK, candidate, "paper")
    assert "is about goods 'silk'" in refusal(small(), building_question("silk"))
    with pytest.raises(UnknownNameError, match=r"no rule set 'papr'.*Did you mean 'paper'"):
        ask(small(), rules="papr")
    assert "nothing to decide" in refusal(small(buildings=[], supply=[], demand=[]))


def test_broken_tables_are_named() -> None:
    """The message names table, row and column of the fault."""
    changes: dict[str, Any]
    for changes, message in (
        ({"supply": [(5, 7, 1.0, 1.0)]}, "goods_id of row 0 of table 'supply' is 5"),
        ({"demand": [(0, 9, 1.0)]}, "building_id of row 0 of table 'demand' is 9"),
        ({"demand": [(0, 8, 1.0), (0, 8, 2.0)]}, "rows 0 and 1 of table 'demand'"),
        ({"demand": [(0, 8, float("nan"))]}, "max_demand of row 0 of table 'demand' is nan"),
        ({"buildings": [(7, -5), (8, 10)]}, "level of row 0 of table 'building' is -5"),
    ):
        assert message in refusal(small(**changes))


def test_every_released_price_is_reproduced_to_the_last_bit(release_dir: Path) -> None:
    """By the rule set `paper` without a decision."""
    questions = read_release(release_dir, scenarios=["building"])
    for situation in questions.situations.values():
        after = SIMULATOR.simulate(situation, questions.questions[0], None, "paper")
        assert after["goods"] == situation["goods"], situation.name
