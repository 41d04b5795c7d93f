"""Scripted models decide from the conversation alone."""

from __future__ import annotations

import json

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from dqa.errors import UnknownNameError, UsageError
from dqa.models.scripted import scripted_model
from dqa.models.scripted.conversation import read_conversation

SCHEMA = "trade_node(trade_node: TEXT)\nflow(source: TEXT)\nnode_country(trade_node: TEXT)"
RULES = (
    "With a merchant it is 1.05 * (base_trading_power + 2), and at an inland node "
    "1.05 * (base_trading_power + 2 + max(50, development)). The dest node's ingoing gains 1.05 "
    "times the flow."
)
ONCE = "Thought: x\nAction: query_database\nAction Input: one statement"
ROUTES = [
    # source, dest, flow, local, ingoing, inland, total, foreign, steering, own, leaving, routes
    ["inland", "home", 1.0, 10.0, 0.0, 1, 100.0, 50.0, 0.0, 1.0, 1.0, 1],
    ["coast", "home", 1.0, 10.0, 0.0, 0, 40.0, 20.0, 0.0, 20.0, 1.0, 1],
]


def conversation(*observed: str, rules: str = RULES, schema: str = SCHEMA) -> list[BaseMessage]:
    """A conversation of the single-retrieval format, with what its statement returned."""
    task = (
        f'# Question\nPlace a merchant of "ABC", home "home".\n\n# Business rules\n{rules}\n\n'
        "# Database\nKind: relational database\nLanguage: SQL (SQLite)\n"
        f"Schema, as the database describes it:\n{schema}\n"
    )
    messages: list[BaseMessage] = [SystemMessage(ONCE), HumanMessage(task)]
    for text in observed:
        messages += [AIMessage("Action: ..."), HumanMessage(f"Observation: {text}")]
    return messages


def rows(development: float) -> str:
    """What the routes' statement returns, as the query layer shows it."""
    header = ["c"] * 13
    lines = [json.dumps(line) for line in (header, *([*r, development] for r in ROUTES))]
    return "\n".join([*lines, "(2 rows)", "", "The database cannot be read again."])


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


def test_the_analyst_calculates_with_the_constants_that_the_rules_state() -> None:
    """An inland bonus of 50 makes the inland node best, one of 1 the other."""
    model = scripted_model("analyst")
    assert model.invoke(conversation(rows(10.0))).text.endswith("Final Answer: inland")
    weak = RULES.replace("max(50, development)", "max(1, development/30)")
    answer = model.invoke(conversation(rows(10.0), rules=weak)).text
    assert answer.endswith("Final Answer: coast")


def test_seeds_change_only_what_is_left_to_chance() -> None:
    """The random script follows its seed; the analyst has none to follow."""
    nodes = "\n".join(json.dumps([name]) for name in ["trade_node", *"abcdefghij"]) + "\n(10 rows)"
    answers = {scripted_model("random", seed).invoke(conversation(nodes)).text for seed in range(9)}
    assert len(answers) > 3
    found = {scripted_model("analyst", seed).invoke(conversation()).text for seed in range(3)}
    assert len(found) == 1


def test_a_failed_statement_is_an_observation_without_rows() -> None:
    """The script goes on to an answer instead of breaking."""
    reply = scripted_model("greedy").invoke(conversation("Error: no such table: flow")).text
    assert "Final Answer:" in reply


def test_a_conversation_of_another_kind_is_refused() -> None:
    """The message says what a scripted model can follow."""
    with pytest.raises(UsageError, match="headings"):
        read_conversation([HumanMessage("hello")])
    with pytest.raises(UsageError, match="do not fit each other"):
        read_conversation([*conversation(), AIMessage("hm"), HumanMessage("The reply could not")])


@pytest.mark.parametrize("schema", ["goods_received(id: TEXT)", "person(id: TEXT)", ""])
def test_a_database_of_another_kind_is_refused(schema: str) -> None:
    """Nobody's tables are taken for a scenario's by the look of their names."""
    with pytest.raises(UsageError, match="name a language model with --model"):
        scripted_model("analyst").invoke(conversation(schema=schema))


def test_an_unknown_script_lists_what_there_is() -> None:
    """Names come from a short list."""
    with pytest.raises(UnknownNameError, match="analyst, greedy, random"):
        scripted_model("analist")
