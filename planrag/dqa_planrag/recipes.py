"""What sets the agents apart: each is a recipe for the one loop in `loop.py`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template

__all__ = ["RECIPES", "Recipe", "prompt"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """One agent.

    Attributes
    ----------
    name
        What commands call it.
    description
        One line on what it does and where it comes from.
    instructions
        The prompt file with its format.
    plans
        Whether its first reply has to open with a plan.
    replans
        Whether it may replace the plan after an observation.
    closing
        The prompt file shown with the only observation it gets, for an agent that reads once.
    """

    name: str
    description: str
    instructions: str
    plans: bool = False
    replans: bool = False
    closing: str | None = None

    @property
    def reads_once(self) -> bool:
        """Whether it may query the database only once."""
        return self.closing is not None


@cache
def prompt(name: str) -> Template:
    """Return the prompt file called `name`."""
    return Template((files(__package__) / "prompts" / f"{name}.md").read_text("utf-8").strip())


RECIPES = (
    Recipe(
        "singlerag",
        "one retrieval, then the decision (PlanRAG, section 4: single-turn RAG)",
        "single",
        closing="single_answer",
    ),
    Recipe(
        "iterrag",
        "Thought, Action, Observation until decided (PlanRAG, section 4: iterative RAG)",
        "iterative",
    ),
    Recipe(
        "planrag",
        "a plan first, re-planned after any observation (PlanRAG, section 4)",
        "replanned",
        plans=True,
        replans=True,
    ),
    Recipe(
        "planrag-no-replan",
        "a plan first, carried out as it is (PlanRAG, section 5: w/o RP)",
        "planned",
        plans=True,
    ),
)
