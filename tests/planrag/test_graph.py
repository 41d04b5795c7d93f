"""An agent's graph runs alike whether LangGraph runs it, for whoever watches, or it is walked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tracers.context import collect_runs

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decision import Decision
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.deciders.base import Settings
from dqa.deciders.tools import arguments_from_text, query_tool, use_tool
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.traces import Trace
from dqa.models.scripted import scripted_model
from dqa_planrag.deciders import Agent
from dqa_planrag.loop import agent_graph
from dqa_planrag.recipes import RECIPES, Recipe
from tests.planrag.conftest import COUNT, Replies

PROTOCOLS: tuple[Literal["react", "tools"], ...] = ("react", "tools")
HARD = (
    "Nothing that could be read",
    "Plan:\n1. count\nAction: query_database\nAction Input: SELECT COUNT(*) FROM trade_node",
    "Thought: no table\nAction: query_database\nAction Input: SELECT * FROM nowhere",
    "Re-plan: keep\nAction: no_such_tool\nAction Input: x",
    "Plan:\n1. count\n2. think\nAction: Self thinking\nAction Input: it is enough",
    "Final Answer: no such node",
    "Still nothing",
)
"""A model that fails in every way that a run goes on after."""


@pytest.fixture(scope="module")
def relational(questions: QuestionSet) -> Iterator[Database]:
    """The world of the first Locating question."""
    question = questions.find("locating/1")
    loaded = plugins.backend("sqlite").load(questions.situation_of(question))
    yield loaded
    loaded.close()


class Heard(BaseCallbackHandler):
    """Keeps what LangChain tells its callbacks of: nodes and routes, tools, calls of models."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def on_chain_start(self, *args: Any, **told: Any) -> None:
        """Keep what a node or route is called."""
        self.names.append(told["name"])

    def on_tool_start(self, *args: Any, **told: Any) -> None:
        """Keep what a tool is called."""
        self.names.append(args[0]["name"])

    def on_chat_model_start(self, *args: Any, **told: Any) -> None:
        """Keep that a model was asked."""
        self.names.append("model")

    def simulations(self) -> int:
        """How often a simulator's tool was used."""
        return sum(name in {"simulate", "compare"} for name in self.names)


def around(agent: Agent, question: Question, database: Database, *heard: Heard) -> Decision:
    """Let an agent decide within a chain of LangChain's, which runs its graph."""

    def decide(_: object) -> Decision:
        return agent.decide(question, database)

    return RunnableLambda(decide).invoke(None, RunnableConfig(callbacks=[*heard]))


def told(decision: Decision) -> Mapping[str, Any]:
    """All that a trace keeps of a decision but how long things took."""

    def timeless(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: timeless(one) for name, one in value.items() if name != "seconds"}
        return [timeless(one) for one in value] if isinstance(value, list | tuple) else value

    asked = DecisionKey("locating/1", "sqlite", "agent")
    found: Mapping[str, Any] = timeless(Trace.of(asked, "relational", "test", decision).to_json())
    return found


@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize("recipe", [one for one in RECIPES if not one.sees_example])
def test_a_run_that_is_watched_is_the_run_that_is_not(
    recipe: Recipe, name: Literal["react", "tools"], questions: QuestionSet, relational: Database
) -> None:
    """Every agent says, does and records the same; a tracer sees its nodes, calls and tools."""
    question = questions.find("locating/1")
    agent = Agent(recipe, scripted_model("analyst"), Settings(protocol=name, rules="paper"))
    walked, heard = agent.decide(question, relational), Heard()
    watched = around(agent, question, relational, heard)
    assert told(walked) == told(watched)
    nodes = [name for name in heard.names if name in {"deliberate", "reason", "answer"}]
    assert nodes[0] == ("deliberate" if recipe.planner_apart else "reason")
    assert nodes[-1] == "answer"
    assert heard.names.count("query_database") == len(watched.evidence) - heard.simulations()
    assert heard.names.count("model") >= watched.steps


@pytest.mark.parametrize("recipe", [one for one in RECIPES if not one.sees_example])
def test_what_goes_wrong_goes_wrong_alike(
    recipe: Recipe, questions: QuestionSet, relational: Database
) -> None:
    """Corrections, unknown tools, thoughts and refused answers lead the same way to the end."""
    question = questions.find("locating/1")
    settings = Settings(max_steps=6)
    runs, heard = [], []
    for watched in (False, True):
        model = Replies(replies=[*HARD, *HARD, *HARD])
        agent = Agent(recipe, model, settings)
        if watched:
            runs.append(around(agent, question, relational))
        else:
            runs.append(agent.decide(question, relational))
        heard.append([[one.content for one in messages] for messages in model.shown])
    assert told(runs[0]) == told(runs[1])
    assert heard[0] == heard[1]


def test_the_figure_is_the_graph() -> None:
    """What LangGraph compiles of an agent that plans has the paper's nodes and ways between."""
    recipe = next(one for one in RECIPES if one.name == "planrag")
    model = scripted_model("analyst")
    graph = agent_graph(recipe, {"agent": model, "planner": model}, Settings()).compiled
    drawn = graph.get_graph()
    assert {"reason", "plan", "retrieve", "answer", "correct", "stop", "close"} < set(drawn.nodes)
    ways = {(edge.source, edge.target) for edge in drawn.edges}
    assert {("__start__", "reason"), ("reason", "plan"), ("plan", "retrieve")} <= ways
    assert {("retrieve", "reason"), ("plan", "answer"), ("answer", "__end__")} <= ways
    assert ("reason", "retrieve") in ways
    assert ("retrieve", "plan") not in ways


def test_a_tool_of_ours_gives_the_same_with_and_without_a_tracer(relational: Database) -> None:
    """Only its time differs; the tracer sees the call."""
    tool = query_tool(relational)
    arguments = arguments_from_text(tool, COUNT["relational"])
    plain = use_tool(tool, arguments)
    with collect_runs() as seen:
        watched = use_tool(tool, arguments)
    assert replace(plain, seconds=0.0) == replace(watched, seconds=0.0)
    assert [run.name for run in seen.traced_runs] == ["query_database"]


def test_messages_of_a_conversation_are_not_changed_by_a_walk(
    questions: QuestionSet, relational: Database
) -> None:
    """What a model was shown grows from call to call, and nothing of it is rewritten."""
    recipe = next(one for one in RECIPES if one.name == "iterrag")
    model = Replies(replies=[HARD[2], "Final Answer: nowhere", "Final Answer: nowhere"])
    Agent(recipe, model, Settings(max_steps=3)).decide(questions.find("locating/1"), relational)
    first, second, third = (list[BaseMessage](messages) for messages in model.shown)
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    assert [isinstance(one, AIMessage) for one in third[len(first) :]] == [True, False, True, False]
