"""What the prompts ask for can be done, and they contradict neither each other nor a goal."""

from __future__ import annotations

import pytest

from dqa_dellma.prompting import prompt


@pytest.mark.parametrize(
    ("actions", "factors", "own"), [(2, 6, True), (7, 16, True), (16, 16, False), (79, 16, False)]
)
def test_factors_of_each_action_are_asked_for_where_there_are_enough(
    actions: int, factors: int, own: bool
) -> None:
    """With more actions than factors, not every action can have its own."""
    text = prompt("enumeration", task="", actions=actions, factors=factors, values=3)
    assert ("at least one of each action's own" in text) is own
    assert (f"many of the {actions} actions" in text) is not own
    assert f"Name {factors} such factors, the weightiest first: some that" in text
