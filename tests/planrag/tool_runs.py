"""Tools that tests call, and runs of agents that call them."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, InvalidToolCall

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decision import Decision
from dqa.core.question_set import QuestionSet
from dqa.deciders.base import Settings
from tests.planrag.conftest import COUNT, Replies, assert_sendable, open_question

PLAN = ("plan", {"steps": ["count", "choose"]})
DECIDE = ("decide", {"decision": "x"})
BROKEN = AIMessage(
    "",
    invalid_tool_calls=[
        InvalidToolCall(
            name="query_database", args="{statement: ", id="1", error=None, type="invalid_tool_call"
        )
    ],
)


def query(database: Database) -> tuple[str, dict[str, Any]]:
    """A call that counts the nodes."""
    return "query_database", {"statement": COUNT[database.kind]}


def run(
    agent: str, questions: QuestionSet, database: Database, *replies: object
) -> tuple[Decision, Replies]:
    """Let an agent decide an open question with the given replies."""
    model = Replies(replies=list(replies))
    decider = plugins.decider(agent)(model, Settings(protocol="tools"))
    decision = decider.decide(open_question(questions), database)
    for messages in model.shown:
        assert_sendable(messages)
    return decision, model


def kinds(decision: Decision) -> list[str]:
    """What happened, in order."""
    return [event.kind for event in decision.trace]


def problems(decision: Decision) -> list[str]:
    """What the model was told about replies that could not be read."""
    return [e.data["problem"] for e in decision.trace if e.kind == "parse_failure"]
