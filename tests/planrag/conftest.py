"""A small world in a real database, a chat model with prepared replies, and runs of agents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import ToolCall

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decision import Decision
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.deciders.base import Settings
from dqa.loaders.generator.generate import generate
from dqa.testing.models import PreparedReplies, Reply

COUNT = {
    "relational": "SELECT COUNT(*) FROM trade_node",
    "graph": "MATCH (n:Trade_node) RETURN COUNT(*)",
}
"""A statement that counts the nodes, by kind of database."""


def calling(*calls: tuple[str, dict[str, Any]], text: str = "") -> AIMessage:
    """Return a reply that calls tools. All calls have the same id, as some servers send them."""
    named = [
        ToolCall(name=name, args=arguments, id="x", type="tool_call") for name, arguments in calls
    ]
    return AIMessage(text, tool_calls=named)


def assert_sendable(messages: Sequence[BaseMessage]) -> None:
    """Assert that providers accept the conversation.

    Every call has a name, and an id that is answered once and at once. Neither side speaks twice in
    a row, and the user never answers a tool result.
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
    """Return the first Locating question without candidates, so that any text is an answer."""
    return replace(questions.find("locating/1"), candidates=None)


def run(
    agent: str,
    questions: QuestionSet,
    database: Database,
    *replies: Reply,
    question: Question | None = None,
    **settings: Any,
) -> tuple[Decision, PreparedReplies]:
    """Run an agent on a question, by default an open one, with these replies.

    Check every conversation that it sends.
    """
    model = PreparedReplies(replies)
    decider = plugins.decider(agent)(model, Settings(**settings))
    decision = decider.decide(question or open_question(questions), database)
    for request in model.requests:
        assert_sendable(request.messages)
    return decision, model


def act(database: Database, before: str = "") -> str:
    """Return a labelled reply that counts the nodes."""
    return f"{before}Thought: count\nAction: query_database\nAction Input: {COUNT[database.kind]}"


def query(database: Database) -> tuple[str, dict[str, Any]]:
    """Return a call that counts the nodes."""
    return "query_database", {"statement": COUNT[database.kind]}


def kinds(decision: Decision) -> list[str]:
    """Return the kinds of events, in order."""
    return [event.kind for event in decision.trace]


def problems(decision: Decision) -> list[str]:
    """Return the problems of unusable replies."""
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
