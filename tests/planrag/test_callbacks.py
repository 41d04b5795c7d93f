"""An agent's run is the same whether callbacks of LangChain listen or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig, RunnableLambda

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decision import Decision
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.deciders.base import Settings
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.traces import Trace
from dqa.models.scripted import scripted_model
from dqa_planrag.deciders import Agent
from dqa_planrag.recipes import RECIPES, Recipe

PROTOCOLS: tuple[Literal["react", "tools"], ...] = ("react", "tools")


@pytest.fixture(scope="module")
def relational(questions: QuestionSet) -> Iterator[Database]:
    """The world of the first Locating question."""
    question = questions.find("locating/1")
    loaded = plugins.backend("sqlite").load(questions.situation_of(question))
    yield loaded
    loaded.close()


class Heard(BaseCallbackHandler):
    """Keeps what LangChain tells its callbacks of: tools and calls of models."""

    def __init__(self) -> None:
        self.names: list[str] = []

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
    """Let an agent decide within a chain of LangChain's."""

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
@pytest.mark.parametrize("recipe", RECIPES)
def test_a_run_that_is_watched_is_the_run_that_is_not(
    recipe: Recipe, name: Literal["react", "tools"], questions: QuestionSet, relational: Database
) -> None:
    """Every agent says, does and records the same; a tracer sees its calls and tools."""
    question = questions.find("locating/1")
    agent = Agent(recipe, scripted_model("analyst"), Settings(protocol=name, rules="paper"))
    alone, heard = agent.decide(question, relational), Heard()
    watched = around(agent, question, relational, heard)
    assert told(alone) == told(watched)
    assert heard.names.count("query_database") == len(watched.evidence) - heard.simulations()
    assert heard.names.count("model") >= watched.steps
