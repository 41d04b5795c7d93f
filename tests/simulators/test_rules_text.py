"""The text of a scenario's rules states every constant that its simulator uses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dqa_simulators.building.economy import CYCLES, LEVEL_INCREASE, PRICE_SWING
from dqa_simulators.locating.world import ADDED, ARRIVAL, INLAND, MERCHANT, RULE_SETS

ROOT = Path(__file__).parents[2] / "schemas"


@pytest.mark.parametrize(
    ("scenario", "heading", "figure"),
    [
        ("locating", "Power", f"{MERCHANT} * (base_trading_power + {ADDED:g})"),
        ("locating", "Power", f"max(development / {RULE_SETS['paper'].per_bonus:g}, {INLAND:g})"),
        ("locating", "Profit", "not subtracted"),
        ("locating", "Steering", "alphabetical"),
        ("locating", "Arrival", f"{ARRIVAL} * flow"),
        ("building", "Level", f"(L + {LEVEL_INCREASE}) / L"),
        ("building", "Rounds", {10: "ten rounds"}[CYCLES]),
        ("building", "Price", f"{PRICE_SWING} * (demand - supply) / max(demand, supply)"),
    ],
)
def test_the_rules_state_the_constants(scenario: str, heading: str, figure: str) -> None:
    """A changed constant in the code needs the same change in the text."""
    lines = (ROOT / scenario / "rules.md").read_text("utf-8").splitlines()
    (rule,) = (line for line in lines if line.partition(". ")[2].startswith(f"{heading}."))
    assert re.search(rf"(?<![\w.]){re.escape(figure)}(?!\w|\.\d)", rule)
