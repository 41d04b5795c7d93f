"""What the prompts ask for can be done, and they contradict neither each other nor a goal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dqa_dellma.prompting import prompt
from dqa_dellma.utilities.beliefs import WEIGHTS
from tests.dellma.talking import PROBLEM, decide, saying, world


@pytest.mark.parametrize(
    ("actions", "factors", "own"), [(2, 6, True), (7, 16, True), (16, 16, False), (79, 16, False)]
)
def test_factors_of_each_action_are_asked_for_where_there_are_enough(
    actions: int, factors: int, own: bool
) -> None:
    """With more actions than factors, not every action can have its own."""
    counts = {"general": 2, "own": 2, "whole": own}
    text = prompt("enumeration", task="", actions=actions, factors=factors, values=3, **counts)
    assert (
        "2 that bear on all actions, and 2 for each action that bear on it alone" in text
    ) is own
    assert (f"many of the {actions} actions" in text) is not own
    assert f"Name {factors} such factors, the weightiest first" in text


def test_values_are_asked_for_with_sizes() -> None:
    """For items are ranked by them later."""
    counts = {"general": 2, "own": 2, "whole": True}
    text = prompt("enumeration", task="", actions=2, factors=6, values=3, **counts)
    assert "says how large it is" in text


def test_only_a_goal_in_other_words_may_say_how_to_answer() -> None:
    """A scenario's goal has no such form, and nothing is said of one."""
    assert "how to answer" not in prompt("task", problem=PROBLEM)
    assert "how to answer" in prompt("task", problem=replace(PROBLEM, states_form=True))
    question, database = world()
    for text, told in ((question.text, False), ("Which one? Answer in French.", True)):
        model = saying('{"decision": "1"}')
        decide("zero-shot", model, replace(question, text=text), database)
        assert ("how to answer" in model.prompts[0]) is told
    database.close()


def test_words_of_likelihood_say_what_they_weigh() -> None:
    """As chances are made of them."""
    weights = [f"{words} ({weight})" for words, weight in WEIGHTS.items()]
    text = prompt("forecasting", task="", factors={"Rain": ("much",)}, weights=weights)
    assert "very likely (6), likely (5)" in text
