"""The agents, each defined by a recipe for the loop in `loop.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from dqa.deciders.base import Use


class PlanSettings(BaseModel):
    """The settings of agents that plan."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    keep: bool = Field(
        default=False,
        description="whether the prompt of the next move in a game shows the last plan",
    )


@dataclass(frozen=True, slots=True)
class Recipe:
    """The definition of an agent: its permitted actions and its prompts.

    Attributes
    ----------
    name
        The name of the agent in commands.
    description
        One line that describes the agent and names its source.
    plans
        Whether a run begins with a plan.
    replans
        Whether the agent may replace the plan after an observation.
    reads_once
        Whether the agent may query the database only once.
    thinks
        When the prompt asks the model for a thought: before each action (``acting``), before each
        plan (``planning``), or never.
    simulates
        Whether the agent has the tools that simulate a decision on the rows of the database.
    default_for
        The uses for which the agent is a default decider; see `dqa.deciders.base.DeciderFactory`.
    """

    name: str
    description: str
    plans: bool = False
    replans: bool = False
    reads_once: bool = False
    thinks: Literal["acting", "planning", "never"] = "acting"
    simulates: bool = False
    default_for: tuple[Use, ...] = ()


RECIPES = (
    Recipe(
        "singlerag",
        "one retrieval, then the decision (PlanRAG, section 4: single-turn RAG)",
        reads_once=True,
        default_for=("evaluate",),
    ),
    Recipe(
        "iterrag",
        "Thought, Action, Observation until it decides (PlanRAG, section 4: iterative RAG)",
        default_for=("evaluate", "reference"),
    ),
    Recipe(
        "planrag",
        "plans first, and may re-plan after each observation (PlanRAG, section 4)",
        plans=True,
        replans=True,
        default_for=("evaluate", "ask"),
    ),
    Recipe(
        "planrag-no-replan",
        "plans first, and never re-plans (PlanRAG, section 5: w/o RP)",
        plans=True,
        default_for=("evaluate",),
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
        "like planrag, and may simulate decisions on the rows of the database",
        plans=True,
        replans=True,
        simulates=True,
    ),
)
