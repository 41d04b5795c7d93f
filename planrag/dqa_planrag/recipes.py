"""The differences between the agents: each is a recipe for the one loop in `loop.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class PlanSettings(BaseModel):
    """The settings of agents that plan."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    keep: bool = Field(
        default=False,
        description="whether the last plan of a game is shown at the next decision of the game",
    )


@dataclass(frozen=True, slots=True)
class Recipe:
    """One agent.

    Attributes
    ----------
    name
        Its name in commands.
    description
        One line with its source.
    plans
        Whether a run begins with a plan.
    replans
        Whether the plan may be replaced after an observation.
    reads_once
        Whether it may query the database only once.
    thinks
        Whether its format asks for a thought before each action, before each plan, or never.
    simulates
        Whether it may run the scenario's rules on the rows of the database.
    """

    name: str
    description: str
    plans: bool = False
    replans: bool = False
    reads_once: bool = False
    thinks: Literal["acting", "planning", "never"] = "acting"
    simulates: bool = False


RECIPES = (
    Recipe(
        "singlerag",
        "one retrieval, then the decision (PlanRAG, section 4: single-turn RAG)",
        reads_once=True,
    ),
    Recipe(
        "iterrag",
        "Thought, Action, Observation until decided (PlanRAG, section 4: iterative RAG)",
    ),
    Recipe(
        "planrag",
        "a plan first, re-planned after any observation (PlanRAG, section 4)",
        plans=True,
        replans=True,
    ),
    Recipe(
        "planrag-no-replan",
        "a plan first, carried out as it is (PlanRAG, section 5: w/o RP)",
        plans=True,
    ),
    Recipe(
        "planrag-no-thought",
        "Plan, Action, Observation, Re-plan (PlanRAG, Table 10)",
        plans=True,
        replans=True,
        thinks="never",
    ),
    Recipe(
        "planrag-thought-first",
        "Thought, Plan, Action, Observation, Re-plan (PlanRAG, Table 10)",
        plans=True,
        replans=True,
        thinks="planning",
    ),
    Recipe(
        "planrag-sim",
        "PlanRAG that may also simulate decisions on the database's own rows",
        plans=True,
        replans=True,
        simulates=True,
    ),
)
