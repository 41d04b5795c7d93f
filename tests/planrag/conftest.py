"""A small world in a real database, a chat model with prepared replies, and runs of agents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import ToolCall
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decision import Decision
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.deciders.base import Settings
from dqa.loaders.generator import generate

COUNT = {
    "relational": "SELECT COUNT(*) FROM trade_node",
    "graph": "MATCH (n:Trade_node) RETURN COUNT(*)",
}
"""A statement that counts the nodes, by kind of database."""


class Replies(BaseChatModel):
    """Gives its replies in order, and records the messages and tools that it was sent."""

    replies: list[Any]
    shown: list[list[BaseMessage]] = Field(default_factory=list)
    offered: list[list[str]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "replies"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self.shown.append(list(messages))
        self.offered.append([tool["function"]["name"] for tool in kwargs.get("tools", ())])
        said = self.replies[len(self.shown) - 1]
        usage = {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}
        message = AIMessage(said) if isinstance(said, str) else said
        message = message.model_copy(update={"usage_metadata": usage})
        return ChatResult(generations=[ChatGeneration(message=message)])

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: str | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind the tools."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)


def calling(*calls: tuple[str, dict[str, Any]], text: str = "") -> AIMessage:
    """A reply that calls tools, all under the same id, as some servers have it."""
    named = [ToolCall(name=name, args=given, id="x", type="tool_call") for name, given in calls]
    return AIMessage(text, tool_calls=named)


def assert_sendable(messages: Sequence[BaseMessage]) -> None:
    """Providers take the conversation: every call has a name, and an id answered once, at once.

    Neither side speaks twice in a row, and results are answered by the model, never by the user.
    """
    asked: list[str] = []
    seen: set[str] = set()
    for last, message in zip((None, *messages), messages, strict=False):
        if isinstance(message, HumanMessage):
            assert not isinstance(last, HumanMessage | ToolMessage)
        if isinstance(message, AIMessage):
            assert not isinstance(last, AIMessage)
        if isinstance(message, ToolMessage):
            assert message.tool_call_id in asked
            asked.remove(message.tool_call_id)
            continue
        assert asked == []
        if isinstance(message, AIMessage):
            assert message.invalid_tool_calls == []
            assert message.text or message.tool_calls
            asked = [str(call["id"]) for call in message.tool_calls]
            assert len(set(asked)) == len(asked)
            assert seen.isdisjoint(asked)
            seen.update(asked)
            for call in message.tool_calls:
                assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", call["name"])
    assert asked == []


def open_question(questions: QuestionSet) -> Question:
    """The first Locating question without its list, so that any words are an answer."""
    return replace(questions.find("locating/1"), candidates=None)


def run(
    agent: str,
    questions: QuestionSet,
    database: Database,
    *replies: object,
    question: Question | None = None,
    **settings: Any,
) -> tuple[Decision, Replies]:
    """Let an agent decide a question, an open one by default, with these replies.

    Every conversation that it sends is checked.
    """
    model = Replies(replies=list(replies))
    decider = plugins.decider(agent)(model, Settings(**settings))
    decision = decider.decide(question or open_question(questions), database)
    for messages in model.shown:
        assert_sendable(messages)
    return decision, model


def act(database: Database, before: str = "") -> str:
    """A labelled reply that counts the nodes."""
    return f"{before}Thought: count\nAction: query_database\nAction Input: {COUNT[database.kind]}"


def query(database: Database) -> tuple[str, dict[str, Any]]:
    """A call that counts the nodes."""
    return "query_database", {"statement": COUNT[database.kind]}


def kinds(decision: Decision) -> list[str]:
    """The kinds of events, in order."""
    return [event.kind for event in decision.trace]


def problems(decision: Decision) -> list[str]:
    """The problems of replies that could not be used."""
    return [e.data["problem"] for e in decision.trace if e.kind == "parse_failure"]


@pytest.fixture(scope="session")
def questions() -> QuestionSet:
    """Two generated questions of each scenario."""
    return generate(count=2, seed=7)


@pytest.fixture(scope="session", params=["sqlite", "ladybug"])
def database(request: pytest.FixtureRequest, questions: QuestionSet) -> Iterator[Database]:
    """The world of the first Locating question, in each embedded database."""
    question = questions.find("locating/1")
    loaded = plugins.backend(request.param).load(questions.situation_of(question))
    yield loaded
    loaded.close()
