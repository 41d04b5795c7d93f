"""The Building simulator on economies small enough to work out by hand, and on broken ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dqa.core.errors import SituationError, UnknownNameError
from dqa.core.question import Question
from dqa.core.simulator import Outcomes
from dqa.core.situation import Situation
from dqa.loaders.release import read_release
from dqa_simulators.building.outcomes import SIMULATOR
from tests.simulators import reference
from tests.simulators.worlds import building_question, economy

ASK = building_question("goods1")


def small(**changes: Any) -> Situation:
    """A mine without inputs makes goods 0, of which a mill makes goods 1."""
    parts: dict[str, Any] = {
        "goods": [(0, 20.0, 5.0), (1, 30.0, 8.0)],
        "buildings": [(7, 5), (8, 10)],
        "supply": [(0, 7, 10.0, 6.0), (1, 8, 12.0, 4.0)],
        "demand": [(0, 8, 15.0)],
    }
    return economy(**{**parts, **changes})


def ask(situation: Situation, question: Question = ASK, rules: str = "paper") -> Outcomes:
    """Outcomes of one question."""
    return SIMULATOR.outcomes(situation, [question], rules)[0]


def refusal(situation: Situation, question: Question = ASK) -> str:
    """The message with which a question is refused."""
    with pytest.raises(SituationError) as caught:
        ask(situation, question)
    return str(caught.value)


def price(base: float, demand: float, supply: float) -> float:
    """Eq. 6."""
    return base * (1 + 0.75 * (demand - supply) / max(demand, supply))


def test_prices_worked_out_by_hand() -> None:
    """Both rule sets on an economy of two buildings."""
    outcomes = ask(small())
    # The mine keeps its 6 whatever its level; the mill gets 6 / (5 + 15) of what it asks for.
    assert outcomes.baseline == pytest.approx(price(30, 8, 12 * 6 / 20))
    assert outcomes.value(7) == pytest.approx(outcomes.baseline)
    # Raised, the mill asks for 22.5 and makes 18 * 6 / 27.5.
    assert outcomes.value(8) == pytest.approx(price(30, 8, 18 * 6 / 27.5))
    released = ask(small(), rules="released")
    assert released.value(8) == pytest.approx(price(30, 8, 18 * 6 / (5 + 15 + 22.5)))


def test_the_state_after_a_decision_shows_what_it_does() -> None:
    """Level, quantities, inputs, outputs and prices after the mill was raised."""
    after = SIMULATOR.simulate(small(), ASK, 8, "paper")
    assert after["building"]["level"].tolist() == [5, 15]
    assert after["supply"]["level"].tolist() == [5, 15]
    assert after["supply"]["max_supply"].tolist() == [10.0, 18.0]
    assert after["supply"]["current_output"].tolist() == pytest.approx([6.0, 18 * 6 / 27.5])
    assert after["demand"]["max_demand"].tolist() == [22.5]
    assert after["demand"]["current_input"].tolist() == pytest.approx([22.5 * 6 / 27.5])
    assert after["goods"]["current_price"][1] == pytest.approx(ask(small()).value(8))


def test_raising_a_building_of_level_0_changes_its_level_only() -> None:
    """Its rows do not say what a level needs, so every price stays."""
    situation = small(buildings=[(7, 5), (8, 0)])
    assert ask(situation).value(8) == ask(situation).baseline
    after = SIMULATOR.simulate(situation, ASK, 8, "paper")
    assert after["building"]["level"].tolist() == [5, 5]
    assert after["supply"]["max_supply"].tolist() == [10.0, 12.0]


def test_only_listed_candidates_are_judged() -> None:
    """A question that lists candidates gets just those, in its order."""
    question = Question("building", "1", "", "", target=ASK.target, candidates=(8, 7))
    outcomes = ask(small(), question)
    assert outcomes.candidates == (8, 7)
    assert outcomes.answer == 8


def test_unknown_candidates_goods_and_rule_sets_are_named() -> None:
    """Also an id as text; an economy without buildings has nothing to decide."""
    for candidate in (9, "8"):
        question = Question("building", "1", "", "", target=ASK.target, candidates=(candidate,))
        assert f"'{candidate}' is no candidate" in refusal(small(), question)
        with pytest.raises(SituationError, match="is no candidate"):
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


def chain(steps: int) -> Situation:
    """A chain of works: each turns goods i + 1 into goods i; a mine makes the last goods."""
    works = range(steps)
    return economy(
        goods=[(i, 20.0, 1.0) for i in range(steps + 1)],
        buildings=[(i, 5) for i in range(steps + 1)],
        supply=[(i, i, 6.0, 3.0) for i in works] + [(steps, steps, 2.0, 1.0)],
        demand=[(i + 1, i, 7.0) for i in works],
    )


@pytest.mark.parametrize("rules", ["released", "paper"])
def test_what_is_further_away_than_ten_steps_changes_nothing(rules: str) -> None:
    """The last building within reach moves the price; those beyond equal doing nothing."""
    situation = chain(14)
    outcomes = ask(situation, building_question("goods0"), rules)
    plain = [
        reference.building(situation, key, rules)["goods0"] for key in (*outcomes.candidates, None)
    ]
    np.testing.assert_allclose(outcomes.values, plain[:-1], rtol=1e-12)
    assert outcomes.value(10) != outcomes.baseline
    assert set(outcomes.values[11:].tolist()) == {outcomes.baseline}
    assert set(plain[11:-1]) == {plain[-1]}


def test_every_official_answer_is_reproduced(release_dir: Path) -> None:
    """The rule set `released` agrees with all of the release's Building answers."""
    questions = read_release(release_dir, scenarios=["building"])
    wrong = [
        question.id
        for question in questions.questions
        if ask(questions.situation_of(question), question, "released").answer
        != questions.truth_of(question).official
    ]
    assert questions.questions
    assert wrong == []


def test_every_released_price_is_reproduced_to_the_last_bit(release_dir: Path) -> None:
    """The rule set `paper`, with nothing decided, gives exactly the prices of the tables."""
    questions = read_release(release_dir, scenarios=["building"])
    for situation in questions.situations.values():
        after = SIMULATOR.simulate(situation, questions.questions[0], None, "paper")
        assert after["goods"] == situation["goods"], situation.name
