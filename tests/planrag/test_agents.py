"""The agents' loop over real databases."""

from __future__ import annotations

import pytest

from dqa.core.database import Database, Limits
from dqa.core.decision import Ending
from dqa.core.errors import DatabaseUnavailableError, ModelUnavailableError
from dqa.core.question_set import QuestionSet
from tests.planrag.conftest import act, kinds, run

AGENTS = ("singlerag", "iterrag", "planrag", "planrag-no-replan")


def test_single_retrieval_reads_once_and_then_decides(
    questions: QuestionSet, database: Database
) -> None:
    """One statement, its rows with the closing prompt, and the decision."""
    decision, model = run(
        "singlerag", questions, database, act(database), "Thought: t\nFinal Answer: x"
    )
    assert (decision.ending, decision.answer, decision.steps) == (Ending.ANSWERED, "x", 2)
    assert kinds(decision) == ["prompt", "reply", "retrieval", "reply", "answer"]
    assert decision.evidence[0].row_count == 1
    assert "cannot be read again" in model.requests[1].last
    assert decision.usage.calls == 2


@pytest.mark.parametrize("agent", ["planrag", "planrag-no-replan"])
def test_a_plan_comes_first(agent: str, questions: QuestionSet, database: Database) -> None:
    """An agent whose first reply lacks a plan is asked for one before anything runs."""
    replies = [act(database), act(database, "Plan: 1. count\n"), "Final Answer: x"]
    decision, model = run(agent, questions, database, *replies)
    assert kinds(decision) == [
        *("prompt", "reply", "parse_failure", "reply", "plan", "retrieval", "reply", "answer")
    ]
    assert "begin with the plan" in model.requests[1].last
    assert decision.plans == ("1. count",)


def test_only_planrag_replans(questions: QuestionSet, database: Database) -> None:
    """The same replies change PlanRAG's plan, but not the plan without re-planning."""
    replies = [
        act(database, "Plan: 1. count\n"),
        act(database, "Re-plan: keep\n"),
        act(database, "Re-plan: 1. count again\n"),
        "Re-plan: keep\nThought: t\nFinal Answer: x",
    ]
    decision, _ = run("planrag", questions, database, *replies)
    assert decision.plans == ("1. count", "1. count again")
    assert kinds(decision).count("replan") == 1
    decision, _ = run("planrag-no-replan", questions, database, *replies)
    assert decision.plans == ("1. count",)
    assert "replan" not in kinds(decision)


def test_failed_and_writing_statements_return_to_the_model(
    questions: QuestionSet, database: Database
) -> None:
    """The error is an observation, the run continues, and the data is unchanged."""
    wrong = act(database).replace("trade_node", "nowhere").replace("Trade_node", "Nowhere")
    harm = {"relational": "DELETE FROM trade_node", "graph": "MATCH (n) DETACH DELETE n"}
    writing = f"Action: query_database\nAction Input: {harm[database.kind]}"
    replies = (wrong, writing, act(database), "Final Answer: x")
    decision, model = run("iterrag", questions, database, *replies)
    assert [one.error for one in decision.evidence] == [
        *("StatementError", "RefusedStatementError", None)
    ]
    assert "nowhere" in model.requests[1].last.lower()
    nodes = len(questions.situation_of(questions.find("locating/1"))["trade_node"])
    assert f"[{nodes}]" in decision.evidence[2].observation
    assert decision.ending is Ending.ANSWERED


def test_the_step_limit_ends_a_run(questions: QuestionSet, database: Database) -> None:
    """The trace says so, and the prompt names the limit."""
    decision, model = run("iterrag", questions, database, *[act(database)] * 3, max_steps=3)
    assert (decision.ending, decision.steps) == (Ending.STEP_LIMIT, 3)
    assert kinds(decision)[-1] == "step_limit"
    assert "at most 3 replies" in model.requests[0].messages[0].text


@pytest.mark.parametrize("agent", AGENTS)
def test_a_failing_model_ends_as_infrastructure_with_the_trace_so_far(
    agent: str, questions: QuestionSet, database: Database
) -> None:
    plan = "Plan: 1. count\n" if agent.startswith("planrag") else ""
    error = ModelUnavailableError("the model went away")
    decision, _ = run(agent, questions, database, act(database, plan), error)
    assert (decision.ending, decision.error) == (Ending.INFRASTRUCTURE, "the model went away")
    assert len(decision.evidence) == 1


def test_a_failing_database_ends_as_infrastructure(
    questions: QuestionSet, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(statement: str, limits: Limits) -> None:
        raise DatabaseUnavailableError("the server went away")

    monkeypatch.setattr(database, "query", lose)
    decision, _ = run("iterrag", questions, database, act(database))
    assert (decision.ending, decision.error) == (Ending.INFRASTRUCTURE, "the server went away")
