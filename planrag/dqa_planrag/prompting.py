"""The agents' prompts: templates in ``prompts/``, filled in by what a recipe says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from langchain_core.tools import BaseTool

from dqa.core.database import Database
from dqa.core.question import Question
from dqa.deciders.base import ProtocolName
from dqa.deciders.samples import sampled_schema
from dqa_planrag.recipes import Recipe

_BLANK_LINES = re.compile(r"\n{3,}")


@cache
def _template(name: str) -> Template:
    environment = Environment(  # noqa: S701  (text for a model, not a page)
        loader=PackageLoader("dqa_planrag", "prompts"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(f"{name}.md")


def instructions(
    recipe: Recipe,
    protocol: ProtocolName,
    tools: Sequence[str],
    max_steps: int,
    added: Sequence[BaseTool] = (),
) -> str:
    """Return what an agent's model is told before its task.

    Parameters
    ----------
    recipe, protocol
        The agent, and how it and its model talk.
    tools
        Names of the tools that the recipe has.
    max_steps
        Most replies.
    added
        The tools that plug-ins add.
    """
    if recipe.reads_once:
        thought = "which figures the decision hangs on"
    elif recipe.plans:
        thought = "which step of the plan comes next, and what it needs"
    else:
        thought = "what you have to find out next, and why"
    filled = _template(protocol).render(
        recipe=recipe,
        tools=[*tools, *(tool.name for tool in added)],
        added=added,
        max_steps=max_steps,
        thought=thought,
    )
    return _BLANK_LINES.sub("\n\n", filled).strip()


def planner_instructions(protocol: ProtocolName) -> str:
    """Return what a model that only plans is told before its task."""
    return _template(f"{protocol}_planner").render().strip()


def closing(protocol: ProtocolName) -> str:
    """Return what goes with the only observation of an agent that reads once."""
    return _template(f"{protocol}_closing").render().strip()


def task(
    question: Question,
    database: Database,
    plan: str | None = None,
    language: str | None = None,
    samples: int = 0,
) -> str:
    """Return the task as a model reads it.

    Parameters
    ----------
    question
        What is asked, with its rules.
    database
        What it is asked about.
    plan
        The plan to carry out, where somebody else made it.
    language
        What the task says that statements are written in, instead of the database's own.
    samples
        How many values of each text and boolean column stand in the schema.
    """
    filled = _template("task").render(
        question=question,
        kind=database.kind,
        language=language or database.language,
        schema=sampled_schema(database, samples).to_text(),
        plan=plan,
    )
    return filled.strip()
