"""Scripted models hold the agents' conversations, and decide from these alone."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.core.evidence import Evidence
from dqa.core.question import Question
from dqa.core.recorder import Recorder
from dqa.deciders.base import Settings
from dqa.loaders.generator import generate
from dqa.models.scripted import scripted_model
from dqa_planrag.recipes import RECIPES
from dqa_planrag.run import in_turns
from dqa_planrag.scripted import TaskValues, check_script
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
    """Return a conversation of an agent, whose statements returned what is given."""
    recorder = Recorder()
    for text in observed:
        recorder.add_evidence(Evidence("SELECT 1", text))
    task = TaskValues(question, BY_NAME[agent], recorder, is_graph=False)
    return [SystemMessage("Decide."), task.to_message("# Question")]


def test_the_same_conversation_gets_the_same_reply() -> None:
    """A script has no state between calls."""
    model = scripted_model("analyst")
    first = model.invoke(conversation("singlerag")).text
    assert first == model.invoke(conversation("singlerag")).text
    assert first == scripted_model("analyst").invoke(conversation("singlerag")).text
    assert "Action: query_database" in first


def test_the_analyst_chooses_what_most_rules_of_thumb_say() -> None:
    """With one statement it asks the first of them."""
    answer = scripted_model("analyst").invoke(conversation("singlerag", ROWS)).text
    assert answer.endswith("Final Answer: coast")


def test_a_task_is_found_in_a_joined_message() -> None:
    """Turns of one side are joined for providers; the task stays readable."""
    messages = in_turns([*conversation("singlerag", ROWS), HumanMessage("Decide now.")])
    assert len(messages) == 2
    assert scripted_model("analyst").invoke(messages).text.endswith("Final Answer: coast")


def offered(*names: str) -> list[dict[str, Any]]:
    """Tools as a chat model is offered them."""
    return [{"type": "function", "function": {"name": name, "parameters": {}}} for name in names]


def test_offered_tools_are_called_and_no_others() -> None:
    """The plan if that comes first, then the statement, then the decision on its rows."""
    model = scripted_model("analyst")
    plan = model.invoke(conversation("planrag"), tools=offered("plan"))
    assert [call["name"] for call in plan.tool_calls] == ["plan"]
    assert len(plan.tool_calls[0]["args"]["steps"]) > 1
    acting = offered("query_database", "replan", "decide")
    asked = model.invoke(conversation("planrag"), tools=acting)
    assert [call["name"] for call in asked.tool_calls] == ["query_database"]
    assert asked.text
    after = model.invoke(conversation("planrag", "Error: gone"), tools=acting)
    assert {call["name"] for call in after.tool_calls} <= {"query_database", "replan", "decide"}


def test_text_and_tools_hold_the_same_statement_and_decision() -> None:
    """The format says how it is said and never what."""
    model = scripted_model("analyst")
    said = model.invoke(conversation("singlerag")).text
    told = conversation("singlerag")
    (call,) = model.invoke(told, tools=offered("query_database")).tool_calls
    assert said.endswith(call["args"]["statement"])
    told = conversation("singlerag", ROWS)
    (decision,) = model.invoke(told, tools=offered("decide")).tool_calls
    assert (decision["name"], decision["args"]) == ("decide", {"decision": "coast"})


@pytest.mark.parametrize("scenario", ["custom", "agriculture"])
def test_a_question_without_a_script_is_refused(scenario: str) -> None:
    """Before a run, and in it."""
    question = replace(QUESTION, scenario=scenario)
    with pytest.raises(UsageError, match="name a language model with --model"):
        scripted_model("analyst").invoke(conversation("singlerag", question=question))


@pytest.mark.parametrize("backend", ["sqlite", "ladybug"])
def test_every_statement_of_the_script_has_an_order(backend: str) -> None:
    """Rows in another order would make the next request another one, which no cassette holds."""
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
