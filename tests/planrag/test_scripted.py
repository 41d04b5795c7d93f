"""Scripted models answer the agents' conversations."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest
from langchain_core.language_models import GenericFakeChatModel

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.core.question import Question
from dqa.deciders.base import Settings
from dqa.loaders.generator.generate import generate
from dqa.models.scripted import scripted_model
from dqa_planrag.scripted import check_script
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
