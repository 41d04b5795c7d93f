"""The agents' prompts: blocks of text in ``prompts/``, chosen by what a recipe says.

No block reads the recipe, so what two recipes have in common is the same to the letter, and they
differ in whole blocks alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, StrictUndefined, Template
from langchain_core.tools import BaseTool

from dqa.core.database import Database, Limits
from dqa.core.display import DEFAULT_DISPLAY, Display
from dqa.core.fitting import FittedSchema
from dqa.core.plans import read_plan
from dqa.core.question import AnswerForm, Question
from dqa.deciders.base import ProtocolName
from dqa_planrag.recipes import Recipe

_HEADING = re.compile(r"^<!-- (\w+) -->\n", re.MULTILINE)
_LABELLED = re.compile(r"[A-Z][\w-]*(?: \w+)?: ")
"""What a line of a format begins with: a label of one or two words."""
_ENVIRONMENT = Environment(  # noqa: S701  (text for a model, not a page)
    undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a prompt.

    Attributes
    ----------
    name
        What its file calls it.
    text
        As a model reads it.
    """

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Bounds:
    """What an agent is told of its limits, of how it is shown values, and of its answer.

    Attributes
    ----------
    limits
        What one statement may cost.
    max_steps
        Most replies.
    display
        How numbers are shown.
    answer_form
        What it answers with.
    """

    limits: Limits
    max_steps: int
    display: Display = DEFAULT_DISPLAY
    answer_form: AnswerForm = "candidate"


@cache
def _read(file: str) -> str:
    return (resources.files("dqa_planrag") / "prompts" / f"{file}.md").read_text(encoding="utf-8")


@cache
def sources(protocol: ProtocolName, answer_form: AnswerForm = "candidate") -> Mapping[str, str]:
    """Return a protocol's blocks as they are written, by name, with those that both share.

    Where a statement is the answer, the blocks that speak of a decision are others.
    """
    found: dict[str, str] = {}
    files = ["common", protocol]
    if answer_form == "statement":
        files += ["statement", f"statement_{protocol}"]
    for file in files:
        _, *parts = _HEADING.split(_read(file))
        found |= zip(parts[::2], parts[1::2], strict=True)
    return found


@cache
def _template(text: str) -> Template:
    return _ENVIRONMENT.from_string(text.strip())


def layout(recipe: Recipe) -> tuple[str, ...]:
    """Return the names of the blocks of an agent's instructions, in order.

    A protocol may have no text for one of them.
    """
    once, apart = recipe.reads_once, recipe.planner_apart
    plans = recipe.plans and not apart
    replans = recipe.replans and not apart
    acting, planning = (recipe.thinks == place for place in ("acting", "planning"))
    chosen = (
        ("role", True),
        ("reading_once" if once else "reading", True),
        ("planning", plans),
        ("thought", plans and planning),
        ("plan", plans),
        ("plan_given", apart),
        ("turn", not once),
        ("current_step", plans),
        ("thought", acting),
        ("action", True),
        ("simulating", recipe.simulates),
        ("looking_up", True),
        ("observation_once" if once else "observation", True),
        ("new_plan", apart),
        ("judging", replans),
        ("thought", replans and planning),
        ("replan", replans),
        ("stop", not once),
        ("last_thought", not once and acting),
        ("answer", not once),
    )
    return tuple(name for name, used in chosen if used)


PLANNER = ("planner_role", "planner_first", "plan", "planner_judging", "replan", "planner_only")
"""The blocks of a model that only plans."""
CLOSING = ("closing", "last_thought", "answer")
"""The blocks that go with the only observation of an agent that reads once."""


def _numbers(display: Display) -> str:
    """Return what a prompt says of numbers after the size of an observation."""
    if not display.digits:
        return ""
    return f", numbers with a fraction rounded to {display.digits} significant digits or more"


def blocks(
    recipe: Recipe,
    protocol: ProtocolName,
    bounds: Bounds,
    looking_up: Sequence[BaseTool] = (),
) -> tuple[Block, ...]:
    """Return the parts of what an agent's model is told before its task.

    Parameters
    ----------
    recipe, protocol
        The agent, and how it and its model talk.
    bounds
        Its limits.
    looking_up
        Those that look up what of the schema has no room in the prompt.
    """
    return _filled(
        layout(recipe),
        protocol,
        bounds.answer_form,
        max_steps=bounds.max_steps,
        rows=f"{bounds.limits.rows:,}",
        characters=f"{bounds.limits.bytes:,}",
        seconds=f"{bounds.limits.seconds:g}",
        numbers=_numbers(bounds.display),
        looking_up=looking_up,
    )


def _filled(
    names: Iterable[str],
    protocol: ProtocolName,
    answer_form: AnswerForm = "candidate",
    **data: Any,  # noqa: ANN401  (what a template is given)
) -> tuple[Block, ...]:
    known = sources(protocol, answer_form)
    used = [name for name in names if name in known]
    found = (Block(name, _template(known[name]).render(data).strip()) for name in used)
    return tuple(block for block in found if block.text)


def joined(parts: Iterable[Block]) -> str:
    """Return blocks as one text: labels line by line, anything else in paragraphs."""
    text = ""
    follows = False
    for block in parts:
        labelled = _LABELLED.match(block.text) is not None
        gap = "\n" if labelled and follows else "\n\n"
        text += gap + block.text if text else block.text
        follows = labelled
    return text


def planner_instructions(protocol: ProtocolName, answer_form: AnswerForm = "candidate") -> str:
    """Return what a model that only plans is told before its task."""
    return joined(_filled(PLANNER, protocol, answer_form))


def closing(protocol: ProtocolName, answer_form: AnswerForm = "candidate") -> str:
    """Return what goes with the only observation of an agent that reads once."""
    return joined(_filled(CLOSING, protocol, answer_form))


def out_of_budget(protocol: ProtocolName, spent: str, answer_form: AnswerForm) -> str:
    """Return what asks for the decision where its budget is spent; `spent` says which."""
    return joined(_filled(["out_of_budget", "answer"], protocol, answer_form, spent=spent))


def standing_plan(protocol: ProtocolName, plan: str, current_step: str) -> str:
    """Return the plan that holds, as it is shown behind an observation.

    Parameters
    ----------
    protocol
        How the agent and its model talk.
    plan
        As the model wrote it; lines around its steps are left out.
    current_step
        The number of the step that the model took last; empty where it did not say.
    """
    beside = read_plan(plan).beside
    lines = [line for line in plan.splitlines() if line.strip() not in beside]
    shown = "\n".join(lines).strip()
    return joined(_filled(["standing_plan"], protocol, plan=shown, current_step=current_step))


def task(
    question: Question,
    database: Database,
    schema: FittedSchema,
    plan: str | None = None,
    *,
    candidates: str = "",
) -> str:
    """Return the task as a model reads it.

    Parameters
    ----------
    question
        What is asked, with its rules.
    database
        What it is asked about.
    schema
        What of its schema is shown.
    plan
        The plan to carry out, where somebody else made it.
    candidates
        What is said of what can be chosen; nothing where the question itself says it.
    """
    file = "task" if question.answer_form == "candidate" else "statement_task"
    filled = _template(_read(file)).render(
        question=question,
        kind=database.kind,
        language=database.language,
        schema=schema.to_text(),
        plan=plan,
        candidates=candidates,
    )
    return filled.strip()
