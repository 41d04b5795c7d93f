"""The tools that agents are given, by themselves and in an agent of LangChain's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import ToolCall
from langchain_core.tools import BaseTool

from dqa import plugins
from dqa.core.database import Database, Limits
from dqa.core.errors import DatabaseUnavailableError
from dqa.core.question_set import QuestionSet
from dqa.core.situation import Situation
from dqa.deciders.simulation import Simulation
from dqa.deciders.tools import observe, query_tool, simulation_tools, use_tool
from dqa.testing.models import PreparedReplies

COUNT = {
    "relational": "SELECT COUNT(*) AS nodes FROM trade_node",
    "graph": "MATCH (n:Trade_node) RETURN COUNT(*) AS nodes",
}


@pytest.fixture(params=["sqlite", "ladybug"])
def database(request: pytest.FixtureRequest, world: Situation) -> Iterator[Database]:
    """The world in each kind of database."""
    loaded = plugins.backend(request.param).load(world)
    yield loaded
    loaded.close()


@pytest.fixture
def relational(world: Situation) -> Iterator[Database]:
    """The world in SQLite."""
    loaded = plugins.backend("sqlite").load(world)
    yield loaded
    loaded.close()


def call(statement: object) -> dict[str, object]:
    """Return a tool call as a chat model makes it."""
    name = "query_database"
    return {"type": "tool_call", "id": "1", "name": name, "args": {"statement": statement}}


def test_cuts_are_part_of_the_evidence(relational: Database) -> None:
    """By rows, and by seconds where the statement was stopped."""
    assert observe(relational, "SELECT * FROM trade_node", Limits(rows=1)).cut == "rows"
    endless = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT count(*) FROM r"
    assert observe(relational, endless, Limits(seconds=0.05)).cut == "seconds"


def test_a_failing_database_is_no_observation(database: Database) -> None:
    """The error is raised, so that it is not scored as a wrong answer."""
    asked = query_tool(database)
    database.close()
    with pytest.raises(DatabaseUnavailableError):
        asked.invoke(call({"graph": "RETURN 1", "relational": "SELECT 1"}[database.kind]))
    with pytest.raises(DatabaseUnavailableError):
        use_tool(asked, {"statement": {"graph": "RETURN 1"}.get(database.kind, "SELECT 1")})


def calling(calls: Sequence[tuple[str, dict[str, Any]]]) -> AIMessage:
    """Return a reply with tool calls."""
    named = [
        ToolCall(name=name, args=given, id=str(place), type="tool_call")
        for place, (name, given) in enumerate(calls)
    ]
    return AIMessage("", tool_calls=named)


def test_langchain_s_agent_works_with_the_same_tools(
    questions: QuestionSet, database: Database
) -> None:
    """It queries, simulates and compares. It receives errors as observations."""
    question = questions.questions[0]
    first = str((question.candidates or ())[0])
    tools: list[BaseTool] = [
        query_tool(database),
        *simulation_tools(Simulation(question, database)),
    ]
    turns: list[list[tuple[str, dict[str, Any]]]] = [
        [("query_database", {"statement": COUNT[database.kind]})],
        [("simulate", {"decision": first}), ("compare", {"candidates": []})],
        [("simulate", {"decision": "nowhere"}), ("query_database", {"statement": "DROP x"})],
    ]
    model = PreparedReplies([*map(calling, turns), "done"])
    agent = create_agent(model, tools)
    messages = agent.invoke({"messages": [HumanMessage(question.text)]})["messages"]
    assert model.requests[0].tools == ("query_database", "simulate", "compare")
    results = [message for message in messages if isinstance(message, ToolMessage)]
    assert messages[-1].text == "done"
    counted, simulated, compared, unknown, refused = results
    assert counted.text.startswith('["nodes"]\n[12]')
    assert simulated.artifact.tool == "simulate"
    assert all(f'"{name}"' in compared.text for name in question.candidates or ())
    assert "'nowhere' names no trade node" in unknown.text
    assert refused.artifact.error == "RefusedStatementError"
