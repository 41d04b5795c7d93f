"""What sets the agents apart: each is a recipe for the one loop in `loop.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Recipe:
    """One agent.

    Attributes
    ----------
    name
        What commands call it.
    description
        One line on what it does and where it comes from.
    plans
        Whether the run begins with a plan.
    replans
        Whether the plan may be replaced after an observation.
    reads_once
        Whether it may query the database only once.
    thinks
        Where its format asks for a thought: before each action, before each plan, or nowhere.
    simulates
        Whether it may run the scenario's rules on the database's rows.
    planner_apart
        Whether one model plans and another one carries the plan out.
    """

    name: str
    description: str
    plans: bool = False
    replans: bool = False
    reads_once: bool = False
    thinks: Literal["acting", "planning", "never"] = "acting"
    simulates: bool = False
    planner_apart: bool = False


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
        "planrag-two-models",
        "one model plans and re-plans, another retrieves (left open in PlanRAG, section 8)",
        plans=True,
        replans=True,
        planner_apart=True,
    ),
    Recipe(
        "planrag-sim",
        "PlanRAG that may also simulate decisions on the database's own rows",
        plans=True,
        replans=True,
        simulates=True,
    ),
)
