"""Scripted models answer the agents' conversations."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import BaseMessage, SystemMessage

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.core.evidence import Evidence
from dqa.core.question import Question
from dqa.core.recorder import Recorder
from dqa.deciders.base import Settings
from dqa.loaders.generator.generate import generate
from dqa.models.scripted import scripted_model
from dqa_planrag.recipes import RECIPES
from dqa_planrag.scripted import TaskPrompt, check_script, task_of
from dqa_simulators.building.generator import BuildingSize
from dqa_simulators.locating.generator import LocatingSize

QUESTION = Question(
    "locating",
    "1",
    "At which trade node do you place the merchant?",
    "As known.",
    target={"country": "ABC", "home": "home"},
)
SIZES = (LocatingSize(12, 20, 20, 60), BuildingSize(6, 12, 10, 14))
ROWS = '["source"]\n["coast"]\n(1 row)'
"""The result of a statement, as the query layer shows it."""
BY_NAME = {recipe.name: recipe for recipe in RECIPES}


def conversation(agent: str, *observed: str, question: Question = QUESTION) -> list[BaseMessage]:
    """Return a conversation of an agent whose statements returned these texts."""
    recorder = Recorder()
    for text in observed:
        recorder.add_evidence(Evidence("SELECT 1", text))
    recipe = BY_NAME[agent]
    task = task_of(question, recipe, is_graph=False)
    prompt = TaskPrompt(content="# Question", task=task, recipe=recipe, recorder=recorder)
    return [SystemMessage("Decide."), prompt]


def test_the_analyst_chooses_by_the_majority_of_heuristics() -> None:
    """With one statement it uses the first heuristic."""
    answer = scripted_model("analyst").invoke(conversation("singlerag", ROWS)).text
    assert answer.endswith("Final Answer: coast")


@pytest.mark.parametrize("backend", ["sqlite", "ladybug"])
def test_every_statement_of_the_script_has_an_order(backend: str) -> None:
    """Otherwise rows in another order would change the next request, which no cassette holds."""
    asked: dict[str, int] = {}
    world = generate(count=3, seed=7, sizes=SIZES)
    for agent in ("singlerag", "iterrag", "planrag", "planrag-sim"):
        decider = plugins.decider(agent)(scripted_model("analyst"), Settings(rules="paper"))
        for question in world.questions:
            with closing(plugins.backend(backend).load(world.situation_of(question))) as database:
                for found in decider.decide(question, database).evidence:
                    if found.tool == "query_database":
                        rows = max(asked.get(found.statement, 0), found.row_count)
                        asked[found.statement] = rows
    assert len(asked) > 1
    assert max(asked.values()) > 1
    unordered = [s for s, rows in asked.items() if rows > 1 and "ORDER BY " not in s]
    assert unordered == []


def test_scenarios_without_a_script_are_refused_before_a_run() -> None:
    """Other models are not checked."""
    model = scripted_model("analyst")
    for scenario in ("locating", "building"):
        check_script(model, replace(QUESTION, scenario=scenario))
    for scenario in ("agriculture", "stocks"):
        question = replace(QUESTION, scenario=scenario)
        with pytest.raises(UsageError, match=r"scripted:analyst answers only.* building"):
            check_script(model, question)
        check_script(GenericFakeChatModel(messages=iter(())), question)
