"""The agents' prompts differ only in the blocks of their recipes."""

from __future__ import annotations

import pytest

from dqa.deciders.base import ProtocolName, Settings
from dqa_planrag.prompting import instructions, layout
from dqa_planrag.recipes import RECIPES

BY_NAME = {recipe.name: recipe for recipe in RECIPES}
PLAN, REPLAN = ("planning", "plan", "current_step"), ("judging", "replan")


@pytest.mark.parametrize("protocol", ["react", "tools"])
@pytest.mark.parametrize(
    ("agent", "removed", "rest"),
    [
        ("planrag", REPLAN, "planrag-no-replan"),
        ("planrag", (*PLAN, *REPLAN), "iterrag"),
        ("planrag-sim", ("simulating",), "planrag"),
    ],
)
def test_without_its_own_blocks_an_agent_has_the_prompt_of_another(
    agent: str, removed: tuple[str, ...], rest: str, protocol: ProtocolName
) -> None:
    """So differences in results come from the method, not from the wording."""
    settings = Settings(protocol=protocol)
    blocks = layout(BY_NAME[agent])
    other = instructions(layout(BY_NAME[rest]), settings)
    assert instructions([name for name in blocks if name not in removed], settings) == other
    assert instructions(blocks, settings) != other
