"""The Locating simulator on worlds with known results, and on broken ones."""

from __future__ import annotations

from typing import Any

import pytest

from dqa.core.errors import SituationError
from dqa.core.question import Question
from dqa.core.simulator import Outcomes
from dqa.core.situation import Situation
from dqa_simulators.locating.outcomes import SIMULATOR
from tests.simulators import reference
from tests.simulators.worlds import locating_question, world

ASK = locating_question("A", "home")
COUNTRIES = [("A", "home", 80.0), ("B", "far", 10.0)]
NODES = [("far", 4.0, False), ("mid", 10.0, True), ("home", 3.0, False), ("side", 1.0, False)]
FLOWS = [("far", "mid"), ("mid", "side"), ("mid", "home")]
PRESENCE = [
    ("home", "A", True, False, 6.0),
    ("home", "B", False, False, 2.0),
    ("mid", "A", False, False, 1.0),
    ("mid", "B", False, False, 3.0),
    ("far", "B", True, False, 5.0),
]


def small(**changes: Any) -> Situation:
    """Return a world:

    A trades at home and mid, B at home, mid and far; value flows far -> mid -> home, side.
    """
    parts: dict[str, Any] = {
        "countries": COUNTRIES,
        "nodes": NODES,
        "flows": FLOWS,
        "presence": PRESENCE,
    }
    return world(**{**parts, **changes})


def ask(situation: Situation, question: Question = ASK, rules: str = "paper") -> Outcomes:
    """Return the outcomes of one question."""
    return SIMULATOR.outcomes(situation, [question], rules)[0]


def refusal(situation: Situation, question: Question = ASK, rules: str = "paper") -> str:
    """Return the message with which a question is refused."""
    with pytest.raises(SituationError) as caught:
        ask(situation, question, rules)
    return str(caught.value)


def test_profits_worked_out_by_hand() -> None:
    """A clean run and the released program on a world of four nodes."""
    outcomes = ask(small())
    assert outcomes.candidates == ("far", "mid", "side")
    # No country is away from home in far, so mid has its own 10; all of it leaves, half goes home.
    base = (3 + 1.05 * 10 / 2) * 6 / 8
    steered = (3 + 1.05 * 10) * 6 / 8
    assert outcomes.baseline == pytest.approx(base)
    assert outcomes.values == pytest.approx([base, steered, base])
    assert outcomes.answer == "mid"
    again = small(nodes=[(*row, 8.0 if row[0] == "home" else 0.0, 0.0) for row in NODES])
    released = ask(again, rules="released")
    # Home has a power of 8 + 8, 2 of it away: an eighth leaves before the profit is computed.
    assert released.value("mid") == pytest.approx((3 + 10.5) * (1 - 2 / 16) * 6 / 16)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"flows": [*FLOWS, ("mid", "atlantis")]}, "dest of row 3 of table 'flow' is 'atlantis'"),
    ({"flows": [*FLOWS, FLOWS[0]]}, "rows 0 and 3 of table 'flow' have the same key"),
    ({"flows": [*FLOWS, ("side", "side")]}, "cycle: side -> side"),
    ({"nodes": [*NODES, NODES[0]]}, "trade_node of row 0 of table 'trade_node' is 'far'"),
    ({"nodes": [("far", -1.0, False), *NODES[1:]]}, "local_value of row 0"),
    ({"nodes": NODES[2:3], "flows": [], "presence": PRESENCE[:1]}, "nothing to decide"),
    (
        {
            "nodes": [(name, 1e308, False) for name, *_ in NODES],
            "flows": [("far", "mid"), ("mid", "home")],
            "presence": [("far", "A", False, False, 1.0), ("mid", "A", False, False, 1.0)],
        },
        "too large for",
    ),
    ({"countries": [("A", "home", float("nan")), COUNTRIES[1]]}, "development of row 0"),
    ({"presence": [("mid", "Z", False, False, 1.0)]}, "country_name of row 0"),
    ({"presence": [("mid", "A", False, False, float("inf"))]}, "base_trading_power of row 0"),
]


def test_broken_worlds_are_named() -> None:
    """The message names table, row and column of the fault."""
    for changes, message in REFUSED:
        assert message in refusal(small(**changes)), changes
    circle = refusal(small(flows=[*FLOWS, ("home", "far")]))
    assert all(f" {name} -> " in circle for name in ("far", "mid", "home"))


def test_unknown_countries_and_candidates_are_named() -> None:
    for target in ({"country": "Z", "home": "home"}, {"country": "A"}):
        question = Question("locating", "9", "", "", target=target)
        assert "Question locating/9 is about" in refusal(small(), question)
    for candidate in ("home", "atlantis"):
        question = Question("locating", "1", "", "", target=ASK.target, candidates=(candidate,))
        assert f"'{candidate}' is not a candidate" in refusal(small(), question)
        with pytest.raises(SituationError, match="is not a candidate"):
            SIMULATOR.simulate(small(), ASK, candidate, "paper")


def test_near_ties_are_settled_in_table_order() -> None:
    """For two equal nodes the order of summation decides; both tie, and the outcome says so."""
    values = {"n0": 1.3, "n1": 7.6, "n2": 1.3, "n3": 2.4}
    situation = world(
        countries=[("A", "home", 1.0), ("B", "n0", 1.0)],
        nodes=[("home", 0.0, False), *((name, value, False) for name, value in values.items())],
        flows=[(name, "home") for name in values],
        presence=[
            ("home", "A", True, False, 1.0),
            *((name, "A", False, False, 1.0) for name in ("n0", "n2")),
            *((name, "B", name in {"n0", "n2"}, False, 3.0) for name in values),
        ],
    )
    outcomes = ask(situation)
    plain = [reference.profit(situation, "A", "home", name, "paper") for name in values]
    assert outcomes.values.tolist() == plain
    assert plain[0] != plain[2] == pytest.approx(plain[0], rel=1e-15)
    assert outcomes.answer == "n0"
    assert outcomes.ties == ("n0", "n2")
    assert outcomes.decided_by_last_bit
