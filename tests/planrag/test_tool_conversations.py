"""Whole runs of agents and models that talk in tool calls."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decision import Ending
from dqa.core.question_set import QuestionSet
from dqa.deciders.base import Settings
from tests.planrag.conftest import COUNT, Replies, calling
from tests.planrag.tool_runs import DECIDE, PLAN, kinds, problems, query, run


def test_a_run_goes_from_plan_to_query_to_decision(
    questions: QuestionSet, database: Database
) -> None:
    """Each stage offers what may be called, and the rows come back under the call's id."""
    decision, model = run(
        "planrag", questions, database, calling(PLAN), calling(query(database)), calling(DECIDE)
    )
    assert kinds(decision) == [
        *("prompt", "reply", "plan", "reply", "retrieval", "reply", "answer")
    ]
    assert decision.plans == ("1. count\n2. choose",)
    assert model.offered == [
        ["plan"],
        ["query_database", "replan", "decide"],
        ["query_database", "replan", "decide"],
    ]
    result = model.shown[2][-1]
    assert isinstance(result, ToolMessage)
    nodes = len(questions.situation_of(questions.find("locating/1"))["trade_node"])
    assert f"[{nodes}]" in result.text
    assert (decision.answer, decision.steps) == ("x", 3)


def test_every_stage_of_every_agent_has_its_tools(
    questions: QuestionSet, database: Database
) -> None:
    """Whatever may not be called is not offered."""
    simulated = ["query_database", "simulate", "compare", "replan", "decide"]
    expected = {
        "singlerag": [["query_database"], ["decide"]],
        "iterrag": [["query_database", "decide"]] * 2,
        "planrag-no-replan": [["plan"], *[["query_database", "decide"]] * 2],
        "planrag-sim": [["plan"], simulated, simulated],
    }
    for agent, offered in expected.items():
        plan = [calling(PLAN)] if agent.startswith("planrag") else []
        replies = [*plan, calling(query(database)), calling(DECIDE)]
        _, model = run(agent, questions, database, *replies)
        assert model.offered == offered


def test_several_calls_in_one_reply_all_run_in_order(
    questions: QuestionSet, database: Database
) -> None:
    """Even where the provider gave them the same id."""
    other = (
        "query_database",
        {"statement": COUNT[database.kind].replace("COUNT(*)", "COUNT(*)+1")},
    )
    decision, model = run(
        "iterrag",
        questions,
        database,
        calling(query(database), other, text="both"),
        calling(DECIDE),
    )
    assert [e.statement for e in decision.evidence] == [
        query(database)[1]["statement"],
        other[1]["statement"],
    ]
    *_, reply, first, second = model.shown[1]
    assert isinstance(reply, AIMessage)
    assert [call["id"] for call in reply.tool_calls] == ["call_1_0", "call_1_1"]
    assert isinstance(first, ToolMessage)
    assert isinstance(second, ToolMessage)
    assert (first.tool_call_id, second.tool_call_id) == ("call_1_0", "call_1_1")
    assert first.text != second.text


def test_a_query_goes_before_a_decision_beside_it(
    questions: QuestionSet, database: Database
) -> None:
    """The decision was made before the rows were known; the model is told so."""
    decision, model = run(
        "iterrag",
        questions,
        database,
        calling(DECIDE, query(database)),
        calling(("decide", {"decision": "y"})),
    )
    assert decision.answer == "y"
    told = [m.text for m in model.shown[1] if isinstance(m, ToolMessage)]
    assert any(text.startswith("Not taken") for text in told)
    assert len(decision.evidence) == 1


def test_replanning_changes_the_plan_and_an_empty_list_keeps_it(
    questions: QuestionSet, database: Database
) -> None:
    """Alone or beside a query; every call has its answer."""
    decision, _ = run(
        "planrag",
        questions,
        database,
        calling(PLAN),
        calling(("replan", {"steps": []}), query(database)),
        calling(("replan", {"steps": ["count again"]})),
        calling(("replan", {"steps": ["  ", ""]}), query(database)),
        calling(DECIDE),
    )
    assert decision.plans == ("1. count\n2. choose", "1. count again")
    assert kinds(decision).count("replan") == 1
    assert decision.ending is Ending.ANSWERED


def test_a_single_retrieval_is_one_call(questions: QuestionSet, database: Database) -> None:
    """Two at once are refused before either runs, and so is one after the first."""
    both = calling(query(database), query(database))
    replies = [both, calling(query(database)), calling(query(database)), calling(DECIDE)]
    decision, model = run("singlerag", questions, database, *replies)
    assert len(decision.evidence) == 1
    first, second = problems(decision)
    assert "Make a single call" in first
    assert "cannot be read again" in second
    assert model.offered == [["query_database"], ["query_database"], ["decide"], ["decide"]]


GARBLED = "I shall think about it."


@pytest.mark.parametrize("protocol", ["react", "tools"])
@pytest.mark.parametrize("role", ["agent", "planner"])
def test_failures_of_either_model_are_bounded(
    role: str, protocol: Any, questions: QuestionSet, database: Database
) -> None:
    """Whoever is not understood is told, in its own conversation, and then the run ends."""
    plan = "Plan: 1. count" if protocol == "react" else calling(PLAN)
    agent = Replies(replies=[GARBLED] * 3)
    planner = Replies(replies=[plan] if role == "agent" else [GARBLED] * 3)
    chosen = Settings(protocol=protocol, planner=planner)
    decider = plugins.decider("planrag-two-models")(agent, chosen)
    decision = decider.decide(questions.find("locating/1"), database)
    assert decision.ending is Ending.UNPARSABLE
    assert "3 replies in a row could not be used" in (decision.error or "")
    failures = [e for e in decision.trace if e.kind == "parse_failure"]
    assert [e.data["role"] for e in failures] == [role] * 3
    failed, other = (agent, planner) if role == "agent" else (planner, agent)
    assert len(failed.shown) == 3
    assert len(other.shown) == (1 if role == "agent" else 0)
    assert "could not be used" in failed.shown[-1][-1].text
