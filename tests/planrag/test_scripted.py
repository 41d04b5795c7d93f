"""Scripted models hold the agents' conversations, and decide from these alone."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.deciders.base import Settings
from dqa.loaders.generator import generate
from dqa.models.scripted import scripted_model
from dqa_planrag.scripted import check_script
from dqa_simulators.building.generator import BuildingSize
from dqa_simulators.locating.generator import LocatingSize

SCHEMA = (
    "country(country_name: TEXT)\ntrade_node(trade_node: TEXT)\nflow(source: TEXT)\n"
    "node_country(trade_node: TEXT)"
)
QUESTION = (
    'You rule the country "ABC" and have one merchant to send out. Your home is the trade node '
    '"home": it cannot be chosen, every other trade node can. At which trade node do you place the '
    'merchant so that the profit of "ABC" at "home" becomes as large as it can be?'
)
SIZES = (LocatingSize(12, 20, 20, 60), BuildingSize(6, 12, 10, 14))
ONCE = "Thought: x\nAction: query_database\nAction Input: one statement"
ROWS = '["source"]\n["coast"]\n(1 row)\n\nThe database cannot be read again.'
"""The result of a statement, as the query layer shows it."""


def conversation(*observed: str, schema: str = SCHEMA) -> list[BaseMessage]:
    """A conversation of the single-retrieval format, with what its statement returned."""
    task = (
        f"# Question\n{QUESTION}\n\n# Business rules\nAs known.\n\n"
        "# Database\nKind: relational database\nLanguage: SQL (SQLite)\n"
        f"Schema, as the database describes it:\n{schema}\n"
    )
    messages: list[BaseMessage] = [SystemMessage(ONCE), HumanMessage(task)]
    for text in observed:
        messages += [AIMessage("Action: ..."), HumanMessage(f"Observation: {text}")]
    return messages


def test_the_same_conversation_gets_the_same_reply() -> None:
    """A script keeps nothing between calls."""
    model = scripted_model("analyst")
    first = model.invoke(conversation()).text
    assert (
        first
        == model.invoke(conversation()).text
        == scripted_model("analyst").invoke(conversation()).text
    )
    assert "Action: query_database" in first


def test_the_analyst_chooses_what_most_rules_of_thumb_say() -> None:
    """With one statement it asks the first of them."""
    answer = scripted_model("analyst").invoke(conversation(ROWS)).text
    assert answer.endswith("Final Answer: coast")


def offered(*names: str) -> list[dict[str, Any]]:
    """Tools as a chat model is offered them."""
    return [{"type": "function", "function": {"name": name, "parameters": {}}} for name in names]


def in_tools(system: str) -> list[BaseMessage]:
    """A conversation of the protocol whose tools stand in backticks."""
    return [SystemMessage(system), *conversation()[1:]]


def test_offered_tools_are_called_and_no_others() -> None:
    """The plan where that comes first, then the statement, then the decision on its rows."""
    model = scripted_model("analyst")
    told = in_tools("Call `plan`, `query_database`, `replan` and `decide`.")
    plan = model.invoke(told, tools=offered("plan"))
    assert [call["name"] for call in plan.tool_calls] == ["plan"]
    assert len(plan.tool_calls[0]["args"]["steps"]) > 1
    told += [plan, ToolMessage("Noted.", tool_call_id="0", name="plan")]
    acting = offered("query_database", "replan", "decide")
    asked = model.invoke(told, tools=acting)
    assert [call["name"] for call in asked.tool_calls] == ["query_database"]
    assert asked.text
    told += [asked, ToolMessage("Error: gone", tool_call_id="0", name="query_database")]
    names = {call["name"] for call in model.invoke(told, tools=acting).tool_calls}
    assert names <= {"query_database", "replan", "decide"}


def test_text_and_tools_hold_the_same_statement_and_decision() -> None:
    """The format says how it is said and never what."""
    model = scripted_model("analyst")
    told = in_tools("Call the tool `query_database`. Afterwards decide.")
    said = model.invoke(conversation()).text
    (call,) = model.invoke(told, tools=offered("query_database")).tool_calls
    assert said.endswith(call["args"]["statement"])
    told += [
        AIMessage("", tool_calls=[call]),
        ToolMessage(ROWS, tool_call_id="0", name="query_database"),
    ]
    (decision,) = model.invoke(told, tools=offered("decide")).tool_calls
    assert decision["name"] == "decide"
    assert decision["args"] == {"decision": "coast"}


@pytest.mark.parametrize("schema", ["goods_received(id: TEXT)", "person(id: TEXT)", ""])
def test_a_database_of_another_kind_is_refused(schema: str) -> None:
    """Nobody's tables are taken for a scenario's by the look of their names."""
    with pytest.raises(UsageError, match="name a language model with --model"):
        scripted_model("analyst").invoke(conversation(schema=schema))


@pytest.mark.parametrize("backend", ["sqlite", "ladybug"])
@pytest.mark.parametrize("script", ["analyst", "greedy", "random"])
def test_every_statement_of_a_script_has_an_order(script: str, backend: str) -> None:
    """Rows in another order would make the next request another one, which no cassette holds."""
    asked: dict[str, int] = {}
    world = generate(count=3, seed=7, sizes=SIZES)
    for agent in ("singlerag", "iterrag", "planrag", "planrag-sim"):
        decider = plugins.decider(agent)(scripted_model(script), Settings(rules="paper"))
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


@pytest.mark.parametrize("script", ["analyst", "greedy", "random"])
def test_which_scenarios_a_script_can_query_is_told_beforehand(script: str) -> None:
    """By a scenario's tables, so that no run ends in its middle; other models are not asked."""
    model = scripted_model(script)
    for scenario in ("locating", "building"):
        check_script(model, plugins.scenario(scenario).schema)
    for scenario in ("agriculture", "stocks"):
        schema = plugins.scenario(scenario).schema
        with pytest.raises(UsageError, match=f"scripted:{script} queries only.* building"):
            check_script(model, schema)
        check_script(GenericFakeChatModel(messages=iter(())), schema)
