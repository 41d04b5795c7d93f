"""What models are told: the same text, but for the blocks that a recipe is there to vary."""

from __future__ import annotations

import pytest

from dqa.core.database import DEFAULT_LIMITS
from dqa.deciders.base import ProtocolName
from dqa_planrag.prompting import Bounds, blocks, joined
from dqa_planrag.recipes import RECIPES

PROTOCOLS: tuple[ProtocolName, ...] = ("react", "tools")
BOUNDS = Bounds(DEFAULT_LIMITS, 20)
BY_NAME = {recipe.name: recipe for recipe in RECIPES}

PLAN, REPLAN = ("planning", "plan", "current_step"), ("judging", "replan")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_three_retrieval_agents_differ_in_plan_and_replan(protocol: ProtocolName) -> None:
    """Taking the plan away leaves IterRAG's prompt, taking the re-plan away the one without it."""
    told = {name: blocks(recipe, protocol, BOUNDS) for name, recipe in BY_NAME.items()}
    for name, removed, left in (
        ("planrag", REPLAN, "planrag-no-replan"),
        ("planrag", (*PLAN, *REPLAN), "iterrag"),
        ("planrag-no-replan", PLAN, "iterrag"),
        ("planrag-sim", ("simulating",), "planrag"),
    ):
        rest = joined(block for block in told[name] if block.name not in removed)
        assert rest == joined(blocks(BY_NAME[left], protocol, BOUNDS))
        assert rest != joined(told[name])
