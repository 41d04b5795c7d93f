"""The scripted Locating analyst counts by the rules that its conversation states."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dqa import plugins
from dqa.loaders.release import read_release
from dqa_simulators.locating.analyst import _Node, _Rules


def node(*, inland: bool) -> _Node:
    """A node where the country has a power of 4."""
    return _Node(1.0, inland, 1.0, 1.0, 0.0, 4.0, 0.0, 1.0)


def test_our_rules_and_the_official_ones_state_the_same_constants(release_dir: Path) -> None:
    """Both texts are read, and both follow figure 7."""
    official = read_release(release_dir, scenarios=["locating"]).questions[0].rules
    for text in (plugins.scenario("locating").rules, official):
        rules = _Rules.read(text)
        assert rules == _Rules(1.05, 1.05, 2.0, 50.0, 3.0)
        assert rules.power(node(inland=False), 300.0) == pytest.approx(1.05 * 6)
        assert rules.power(node(inland=True), 300.0) == pytest.approx(1.05 * 106)
        assert rules.power(node(inland=True), 30.0) == pytest.approx(1.05 * 56)


def test_constants_are_read_and_not_known_by_heart() -> None:
    """A text with other numbers is worked by those."""
    text = plugins.scenario("locating").rules
    for ours, other in (
        ("1.05 * flow", "1.5 * flow"),
        ("1.05 * (base_trading_power + 2", "1.25 * (base_trading_power + 7"),
        ("max(development / 3, 50)", "max(development / 4, 60)"),
    ):
        assert ours in text
        text = text.replace(ours, other)
    assert _Rules.read(text) == _Rules(1.5, 1.25, 7.0, 60.0, 4.0)


def test_the_program_s_bonus_is_understood_as_well() -> None:
    """A development that is not divided, on either side of the comma."""
    for bonus in ("max(50, development)", "max(development, 50)"):
        text = re.sub(r"max\([^)]*\)", bonus, plugins.scenario("locating").rules)
        assert _Rules.read(text).development_share == 1.0
