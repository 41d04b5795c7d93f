"""The text of a scenario's rules states everything that its simulator uses."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from dqa import plugins
from dqa.core.errors import ParseError
from dqa.core.simulator import counting_of
from dqa.scenarios import catalogue
from dqa.scenarios.checks import unstated_rule

ROOT = Path(__file__).parents[2] / "schemas"
SCENARIOS = ("locating", "building")


def numbered_rules(scenario: str) -> list[str]:
    """Return the shipped rules without their numbers."""
    text = (ROOT / scenario / "rules.md").read_text("utf-8")
    return [line.partition(". ")[2] for line in text.splitlines()]


def text_of(rules: list[str]) -> str:
    """Return numbered rules."""
    return "\n".join(f"{number}. {rule}" for number, rule in enumerate(rules, 1))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_no_rule_and_no_figure_can_be_left_out(scenario: str) -> None:
    """The message names the missing rule, constant or word."""
    counting, rules = counting_of(plugins.simulator(scenario)), numbered_rules(scenario)
    assert counting is not None
    assert unstated_rule(text_of(rules), counting) is None
    assert [rule.partition(".")[0] for rule in rules] == [rule.heading for rule in counting.stated]
    for number, (heading, figures) in enumerate(counting.stated):
        before, after = rules[:number], rules[number + 1 :]
        problem = unstated_rule(text_of(before + after), counting)
        assert f"it lacks the rule '{heading}'" in str(problem)
        assert figures
        for figure in figures:
            blunt = rules[number].replace(figure, "something")
            problem = unstated_rule(text_of([*before, blunt, *after]), counting)
            assert f"the rule '{heading}' lacks '" in str(problem)


def test_a_longer_constant_is_another_constant() -> None:
    """30 contains a 3 but is another number."""
    for scenario, original, changed in (
        ("locating", "development / 3,", "development / 30,"),
        ("locating", "1.05 * flow", "11.05 * flow"),
        ("locating", "1.05 * (base", "1.055 * (base"),
        ("building", "ten rounds", "often rounds"),
    ):
        counting, text = counting_of(plugins.simulator(scenario)), text_of(numbered_rules(scenario))
        assert counting is not None
        assert original in text
        assert unstated_rule(text.replace(original, changed), counting) is not None


def copied(scenario: str, folder: Path) -> Path:
    """Copy a scenario's folder under another name."""
    copy = folder / "copy"
    shutil.copytree(ROOT / scenario, copy)
    document = copy / "scenario.toml"
    renamed = document.read_text("utf-8").replace(f'name = "{scenario}"', 'name = "copied"', 1)
    document.write_text(renamed, "utf-8")
    return copy


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_whose_rules_lack_one_is_refused(scenario: str, tmp_path: Path) -> None:
    """Its copy has no simulator; the message names file and rule."""
    folder = copied(scenario, tmp_path)
    (folder / "rules.md").write_text(text_of(numbered_rules(scenario)[:-2]), "utf-8")
    catalogue.register(folder)
    with pytest.raises(ParseError, match=re.escape(f"{folder}/rules.md: it lacks the rule")):
        plugins.simulator("copied")
