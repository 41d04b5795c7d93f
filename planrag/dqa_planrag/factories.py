"""The factories of the agents, for the entry points.

The code of an agent is imported only when its factory is called. Listing the deciders stays fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dqa.deciders.base import DeciderFactory, Settings
from dqa_planrag.recipes import RECIPES, PlanSettings, Recipe

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from dqa_planrag.deciders import Agent


def _factory(recipe: Recipe) -> DeciderFactory:
    def make(model: BaseChatModel, settings: Settings) -> Agent:
        from dqa_planrag.deciders import Agent

        return Agent(recipe, model, settings)

    return DeciderFactory(
        recipe.name,
        recipe.description,
        make,
        settings=PlanSettings if recipe.plans else None,
        default_for=recipe.default_for,
    )


FACTORIES = {recipe.name: _factory(recipe) for recipe in RECIPES}
"""The factories of all agents by name."""

SINGLERAG = FACTORIES["singlerag"]
ITERRAG = FACTORIES["iterrag"]
PLANRAG = FACTORIES["planrag"]
PLANRAG_NO_REPLAN = FACTORIES["planrag-no-replan"]
PLANRAG_NO_THOUGHT = FACTORIES["planrag-no-thought"]
PLANRAG_THOUGHT_FIRST = FACTORIES["planrag-thought-first"]
PLANRAG_SIM = FACTORIES["planrag-sim"]
