"""What steps do is read from their words."""

from __future__ import annotations

import pytest

from dqa.core.plans import PlanStep
from dqa.evaluation.analysis.actions import Action, actions_in


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        ("Look up the sum of flows", {Action.LOOK_UP}),
        ("Query the database to calculate the total", {Action.LOOK_UP, Action.CALCULATE}),
        ("Find A, then compute B", {Action.LOOK_UP, Action.CALCULATE}),
        ("For each node, calculate the ratio", {Action.CALCULATE}),
        ("We should retrieve everything", {Action.LOOK_UP}),
        ("Choose the best", set()),
        ("Рассчитать прибыль", set()),
    ],
)
def test_actions_are_read_from_the_words_that_begin_clauses(
    text: str, actions: set[Action]
) -> None:
    """A noun like "sum" inside a look-up makes it no calculation."""
    assert actions_in(PlanStep(text)) == actions
