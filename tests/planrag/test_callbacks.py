"""LangChain callbacks observe an agent's model calls and tools."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig, RunnableLambda

from dqa import plugins
from dqa.core.decision import Decision
from dqa.core.question_set import QuestionSet
from dqa.deciders.base import Settings
from dqa.models.scripted import scripted_model


class Callbacks(BaseCallbackHandler):
    """Records the names of tools and the calls of models."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def on_tool_start(self, *args: Any, **details: Any) -> None:
        self.names.append(args[0]["name"])

    def on_chat_model_start(self, *args: Any, **details: Any) -> None:
        self.names.append("model")


@pytest.mark.parametrize("protocol", ["react", "tools"])
def test_callbacks_see_every_model_call_and_tool(
    protocol: Literal["react", "tools"], questions: QuestionSet
) -> None:
    question = questions.find("locating/1")
    agent = plugins.decider("planrag")(scripted_model("analyst"), Settings(protocol=protocol))
    database = plugins.backend("sqlite").load(questions.situation_of(question))
    alone, callbacks = agent.decide(question, database), Callbacks()
    chain = RunnableLambda[None, Decision](lambda _: agent.decide(question, database))
    watched = chain.invoke(None, RunnableConfig(callbacks=[callbacks]))
    database.close()
    assert (watched.choice, watched.plans) == (alone.choice, alone.plans)
    assert callbacks.names.count("query_database") == len(watched.evidence) > 0
    assert callbacks.names.count("model") >= watched.steps
