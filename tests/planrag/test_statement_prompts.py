"""What models are told where a statement is the answer: the same blocks, of which some say so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import dqa
from dqa.core.database import DEFAULT_LIMITS
from dqa.deciders.base import ProtocolName
from dqa.models.scripted import GivenReplies, Reply, Request
from dqa.testing.models import answer
from dqa_planrag.prompting import Bounds, blocks, closing, planner_instructions
from dqa_planrag.recipes import RECIPES, Recipe
from tests.text_to_sql import QUESTIONS, write_bird

PROTOCOLS: tuple[ProtocolName, ...] = ("react", "tools")
BOUNDS = Bounds(DEFAULT_LIMITS, 20)
ANSWERING = [r for r in RECIPES if not r.simulates and not r.sees_example]
OTHERS = {"role", "reading_once", "planning", "plan", "observation_once", "stop", "last_thought"}
"""The blocks that say something else, beside the answer's."""


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("recipe", ANSWERING, ids=lambda recipe: recipe.name)
def test_the_same_blocks_ask_for_a_statement(recipe: Recipe, protocol: ProtocolName) -> None:
    """Agents differ in what they differ in, and no text speaks of decisions, rules or names."""
    usual = blocks(recipe, protocol, BOUNDS)
    found = blocks(recipe, protocol, replace(BOUNDS, answer_form="statement"))
    assert [block.name for block in found] == [block.name for block in usual]
    changed = {
        mine.name for mine, other in zip(found, usual, strict=True) if mine.text != other.text
    }
    assert "role" in changed
    assert changed <= {*OTHERS, "answer"}
    texts = [block.text for block in found]
    texts += [planner_instructions(protocol, "statement"), closing(protocol, "statement")]
    for text in texts:
        words = text.replace("`decide`", "").lower()
        assert not [word for word in ("decision", "business rule", "by the name") if word in words]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_task_has_hints_only_where_there_are_any(
    tmp_path: Path, protocol: ProtocolName
) -> None:
    """And the tool that hands the answer in asks for a statement."""
    read = dqa.read_release(write_bird(tmp_path / "bird"))
    asked: list[str] = []

    def watching(request: Request) -> Reply:
        asked.append(request.messages[1].text)
        return answer("SELECT 1")

    model = GivenReplies(watching)
    dqa.evaluate(read, "iterrag", model=model, protocol=protocol)
    assert len(asked) == len(QUESTIONS)
    for question in read.questions:
        (text,) = (text for text in asked if question.text in text)
        assert ("# Hints\n" in text) is bool(question.rules)
        assert question.rules in text
        assert "Business rules" not in text
