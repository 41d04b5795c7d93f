"""The tools that agents are given, by themselves and in an agent of LangChain's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import ToolCall
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool, StructuredTool, ToolException, tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, Field

from dqa import plugins
from dqa.core.database import Database, Limits
from dqa.core.errors import DatabaseUnavailableError, PluginError
from dqa.core.evidence import Evidence
from dqa.core.question_set import QuestionSet
from dqa.deciders.base import Settings
from dqa.deciders.simulation import Simulation
from dqa.deciders.tools import (
    checked_arguments,
    observe,
    plugin_tools,
    query_tool,
    simulation_tools,
    use_tool,
)
from dqa.loaders.generator import generate
from dqa_simulators.locating.generator import LocatingSize

COUNT = {
    "relational": "SELECT COUNT(*) AS nodes FROM trade_node",
    "graph": "MATCH (n:Trade_node) RETURN COUNT(*) AS nodes",
}


@pytest.fixture(scope="module")
def questions() -> QuestionSet:
    """One question on a small world."""
    return generate(("locating",), count=1, seed=3, sizes=(LocatingSize(12, 20, 20, 60),))


@pytest.fixture(params=["sqlite", "ladybug"])
def database(request: pytest.FixtureRequest, questions: QuestionSet) -> Iterator[Database]:
    """The world in each kind of database."""
    loaded = plugins.backend(request.param).load(next(iter(questions.situations.values())))
    yield loaded
    loaded.close()


@pytest.fixture
def relational(questions: QuestionSet) -> Iterator[Database]:
    """The world in SQLite."""
    loaded = plugins.backend("sqlite").load(next(iter(questions.situations.values())))
    yield loaded
    loaded.close()


def call(statement: object) -> dict[str, object]:
    """Return a tool call as a chat model makes it."""
    name = "query_database"
    return {"type": "tool_call", "id": "1", "name": name, "args": {"statement": statement}}


def test_rows_are_content_and_evidence_is_the_artifact(database: Database) -> None:
    """The model reads the text; the trace keeps the whole."""
    message = query_tool(database).invoke(call(COUNT[database.kind]))
    assert message.content == '["nodes"]\n[12]\n(1 row)'
    assert isinstance(message.artifact, Evidence)
    assert message.artifact.row_count == 1
    assert message.artifact.error is None


def test_a_wrong_statement_is_an_error_the_model_can_act_on(database: Database) -> None:
    """Nothing is raised, and the evidence names the error."""
    message = query_tool(database).invoke(call("DROP everything"))
    assert str(message.content).startswith("Error: The statement was not run")
    assert message.artifact.error == "RefusedStatementError"


def test_cuts_are_part_of_the_evidence(relational: Database) -> None:
    """By rows, and by seconds where the statement was stopped."""
    assert observe(relational, "SELECT * FROM trade_node", Limits(rows=1)).cut == "rows"
    endless = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT count(*) FROM r"
    assert observe(relational, endless, Limits(seconds=0.05)).cut == "seconds"


def test_a_failing_database_is_no_observation(database: Database) -> None:
    """It propagates, so that nobody takes it for a wrong answer."""
    asked = query_tool(database)
    database.close()
    with pytest.raises(DatabaseUnavailableError):
        asked.invoke(call({"graph": "RETURN 1", "relational": "SELECT 1"}[database.kind]))
    with pytest.raises(DatabaseUnavailableError):
        use_tool(asked, {"statement": {"graph": "RETURN 1"}.get(database.kind, "SELECT 1")})


class Weather(BaseModel):
    """Where and when."""

    place: str = Field(description="where")
    day: int = 1


@tool(args_schema=Weather)
def weather(place: str, day: int = 1) -> str:
    """Tell the weather."""
    if place == "nowhere":
        raise ToolException("There is no such place.")
    return f"sunny in {place} on day {day}"


weather.handle_tool_error = True


def test_a_tool_of_somebody_else_s_gives_evidence_under_its_own_name() -> None:
    """Its answer is the observation, its errors are told to the model."""
    found = use_tool(weather, checked_arguments(weather, {"place": "Genoa", "day": "2"}))
    assert (found.tool, found.observation, found.error) == (
        "weather",
        "sunny in Genoa on day 2",
        None,
    )
    assert json.loads(found.statement) == {"place": "Genoa", "day": 2}
    lost = use_tool(weather, {"place": "nowhere", "day": 1})
    assert (lost.error, lost.observation) == ("ToolException", "There is no such place.")


class Registered:
    """Tools under a name, as an entry point brings them."""

    def __init__(self, tools: Sequence[Any], monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[tuple[object, ...]] = []
        self._tools = tools
        names = plugins.names
        monkeypatch.setattr(
            plugins, "names", lambda kind: ("mine",) if kind == "tool" else names(kind)
        )
        monkeypatch.setattr(plugins, "tools", lambda _: self)

    def __call__(self, *given: object) -> Sequence[Any]:
        """Make the tools."""
        self.asked.append(given)
        return self._tools


def test_a_package_may_add_tools(
    questions: QuestionSet, relational: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are made for the question, its database and the settings."""
    question, settings = questions.questions[0], Settings()
    assert plugin_tools(question, relational, settings) == ()
    added = Registered([weather], monkeypatch)
    assert plugin_tools(question, relational, settings) == (weather,)
    assert added.asked == [(question, relational, settings)]


@pytest.mark.parametrize(
    "broken",
    [
        print,
        StructuredTool(
            name="raw", description="", func=print, args_schema={"type": "object", "title": "x"}
        ),
    ],
)
def test_a_package_s_broken_tool_is_named(
    broken: object, questions: QuestionSet, relational: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No tool at all, or one whose arguments nobody can check."""
    Registered([broken], monkeypatch)
    with pytest.raises(PluginError, match=r"no LangChain tool|in no pydantic model"):
        plugin_tools(questions.questions[0], relational, Settings())


class Caller(BaseChatModel):
    """Calls what a test says, one reply after the other."""

    turns: list[list[tuple[str, dict[str, Any]]]]
    offered: list[str] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "caller"

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        turn = self.turns[sum(isinstance(message, AIMessage) for message in messages)]
        calls = [
            ToolCall(name=name, args=given, id=f"{len(messages)}-{place}", type="tool_call")
            for place, (name, given) in enumerate(turn)
        ]
        said = AIMessage("" if calls else "done", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=said)])

    def bind_tools(
        self, tools: Sequence[Any], **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Remember what was offered."""
        self.offered[:] = [convert_to_openai_tool(each)["function"]["name"] for each in tools]
        return self


def test_langchain_s_agent_works_with_the_same_tools(
    questions: QuestionSet, database: Database
) -> None:
    """It queries, simulates and compares, and errors come back to be mended."""
    question = questions.questions[0]
    first = str((question.candidates or ())[0])
    tools: list[BaseTool] = [
        query_tool(database),
        *simulation_tools(Simulation.of(question, database)),
    ]
    model = Caller(
        turns=[
            [("query_database", {"statement": COUNT[database.kind]})],
            [("simulate", {"decision": first}), ("compare", {"candidates": []})],
            [("simulate", {"decision": "nowhere"}), ("query_database", {"statement": "DROP x"})],
            [],
        ]
    )
    agent = create_agent(model, tools)
    messages = agent.invoke({"messages": [HumanMessage(question.text)]})["messages"]
    assert model.offered == ["query_database", "simulate", "compare"]
    results = [message for message in messages if isinstance(message, ToolMessage)]
    assert messages[-1].text == "done"
    counted, simulated, compared, unknown, refused = results
    assert counted.text.startswith('["nodes"]\n[12]')
    assert simulated.artifact.tool == "simulate"
    assert all(f'"{name}"' in compared.text for name in question.candidates or ())
    assert "'nowhere' names no trade node" in unknown.text
    assert refused.artifact.error == "RefusedStatementError"
