"""Build the prompts of the agents from blocks of text in ``prompts/``.

The recipe of an agent selects the blocks, but the text of a block does not depend on the recipe.
The prompts of two agents therefore differ only in whole blocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, StrictUndefined, Template
from langchain_core.tools import BaseTool

from dqa.core.database import Database
from dqa.core.fitting import FittedSchema
from dqa.core.plans import read_plan
from dqa.core.question import AnswerForm, Question
from dqa.deciders.base import ProtocolName, Settings
from dqa_planrag.recipes import Recipe

_HEADING = re.compile(r"^<!-- (\w+) -->\n", re.MULTILINE)
_LABELLED = re.compile(r"[A-Z][\w-]*(?: \w+)?: ")
"""The start of a line in the format of replies: a label of one or two words."""
_ENVIRONMENT = Environment(  # noqa: S701  (text for a model, not a page)
    undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)


@cache
def _read(file: str) -> str:
    return (resources.files("dqa_planrag") / "prompts" / f"{file}.md").read_text(encoding="utf-8")


@cache
def _sources(protocol: ProtocolName, answer_form: AnswerForm) -> Mapping[str, str]:
    """Return the templates of a protocol's blocks by name.

    If the answer is a statement, some blocks are replaced.
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

    If a protocol has no text for a block, the instructions omit the block.
    """
    once, plans, replans = recipe.reads_once, recipe.plans, recipe.replans
    acting, planning = (recipe.thinks == phase for phase in ("acting", "planning"))
    chosen = (
        ("role", True),
        ("reading_once" if once else "reading", True),
        ("planning", plans),
        ("thought", plans and planning),
        ("plan", plans),
        ("turn", not once),
        ("current_step", plans),
        ("thought_once" if once else "thought", acting),
        ("action", True),
        ("simulating", recipe.simulates),
        ("looking_up", True),
        ("observation_once" if once else "observation", True),
        ("judging", replans),
        ("thought", replans and planning),
        ("replan", replans),
        ("stop", not once),
        ("last_thought", not once and acting),
        ("answer", not once),
    )
    return tuple(name for name, used in chosen if used)


def instructions(
    blocks: Sequence[str],
    settings: Settings,
    answer_form: AnswerForm = "candidate",
    looking_up: Sequence[BaseTool] = (),
) -> str:
    """Return the text before an agent's task.

    Parameters
    ----------
    blocks
        The result of `layout`.
    settings
        The settings with the protocol, and with the limits that the text states.
    answer_form
        The form of the answer.
    looking_up
        The tools that look up the part of the schema that the prompt omits.
    """
    limits, digits = settings.limits, settings.display.digits
    rounded = (
        f", numbers with a fraction rounded to {digits} significant digits, and to more if "
        "different values of a column would look the same"
    )
    return fill_blocks(
        blocks,
        settings.protocol,
        answer_form,
        max_steps=settings.max_steps,
        rows=f"{limits.rows:,}",
        characters=f"{limits.bytes:,}",
        seconds=f"{limits.seconds:g}",
        numbers=rounded if digits else "",
        looking_up=looking_up,
    )


def fill_blocks(
    names: Iterable[str],
    protocol: ProtocolName,
    answer_form: AnswerForm = "candidate",
    **values: Any,  # noqa: ANN401  (the values of a template)
) -> str:
    """Join blocks into one text.

    Adjacent blocks that begin with a label become lines. All other blocks become paragraphs.
    """
    known, text, follows = _sources(protocol, answer_form), "", False
    for name in names:
        block = _template(known.get(name, "")).render(values).strip()
        if not block:
            continue
        is_label = _LABELLED.match(block) is not None
        gap = "\n" if is_label and follows else "\n\n"
        text += gap + block if text else block
        follows = is_label
    return text


def standing_plan(protocol: ProtocolName, plan: str, current_step: str) -> str:
    """Return the text that shows the current plan after an observation.

    Parameters
    ----------
    protocol
        The protocol of the conversation.
    plan
        The plan in the words of the model. Lines that are not steps do not appear in the result.
    current_step
        The number of the step that the model named last; empty if it is unknown.
    """
    around = read_plan(plan).other_lines
    lines = [line for line in plan.splitlines() if line.strip() not in around]
    shown = "\n".join(lines).strip()
    return fill_blocks(("standing_plan",), protocol, plan=shown, current_step=current_step)


def task(
    question: Question, database: Database, schema: FittedSchema, candidates: str, plan: str = ""
) -> str:
    """Return the text of the task.

    Parameters
    ----------
    question
        The question with its rules.
    database
        The database of the question.
    schema
        The part of the schema to show.
    candidates
        A description of the candidates; empty if the question itself describes them.
    plan
        The last plan of the game; empty if there is none.
    """
    file = "task" if question.answer_form == "candidate" else "statement_task"
    filled = _template(_read(file)).render(
        question=question,
        kind=database.kind,
        language=database.language,
        schema=schema.to_text(),
        candidates=candidates,
        plan=plan,
    )
    return filled.strip()
