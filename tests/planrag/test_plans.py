"""Plans: who brings them, what keeps them, and what counts as another one."""

from __future__ import annotations

from typing import Any

import pytest

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decision import Decision, Ending
from dqa.core.question_set import QuestionSet
from dqa.deciders.base import Settings
from tests.planrag.conftest import (
    COUNT,
    Replies,
    assert_alternating,
    assert_sendable,
    open_question,
)

PLAN = "Plan:\n1. Count the nodes.\n2. Choose one."
END = "Thought: t\nFinal Answer: x"
NOTED = "The plan is noted. Go on with the Action."


def act(database: Database, before: str = "") -> str:
    """A reply that counts the nodes."""
    return f"{before}\nAction: query_database\nAction Input: {COUNT[database.kind]}".strip()


def run(
    agent: str,
    questions: QuestionSet,
    database: Database,
    *replies: object,
    planner: list[Any] | None = None,
    **bounds: Any,
) -> tuple[Decision, Replies, Replies]:
    """Let an agent decide with the given replies; turns alternate in whatever was sent."""
    model, plans = Replies(replies=list(replies)), Replies(replies=planner or [])
    settings = Settings(planner=plans, **bounds)
    decision = plugins.decider(agent)(model, settings).decide(open_question(questions), database)
    for messages in (*model.shown, *plans.shown):
        assert_sendable(messages)
        if settings.protocol == "react":
            assert_alternating(messages)
    return decision, model, plans


def kinds(decision: Decision) -> list[str]:
    """What happened, in order."""
    return [event.kind for event in decision.trace]


def problems(decision: Decision) -> list[str]:
    """What models were told about replies that could not be read."""
    return [e.data["problem"] for e in decision.trace if e.kind == "parse_failure"]


@pytest.mark.parametrize("agent", ["planrag", "planrag-no-replan", "planrag-no-thought"])
def test_a_reply_that_is_only_the_plan_is_taken_down(
    agent: str, questions: QuestionSet, database: Database
) -> None:
    """Models stop there often; they are told to go on, and the reply counts as one."""
    decision, model, _ = run(agent, questions, database, PLAN, act(database), END)
    assert kinds(decision) == [
        *("prompt", "reply", "plan", "reply", "retrieval", "reply", "answer")
    ]
    assert decision.plans == ("1. Count the nodes.\n2. Choose one.",)
    assert model.shown[1][-1].text == NOTED
    assert decision.steps == 3


@pytest.mark.parametrize(
    ("verdict", "plans"), [("Re-plan: keep", 1), ("Re-plan:\n1. Other.", 2), ("Plan: 1. Other.", 2)]
)
def test_a_reply_that_is_only_a_verdict_is_taken_down(
    verdict: str, plans: int, questions: QuestionSet, database: Database
) -> None:
    """Whether the plan is kept or replaced."""
    first = act(database, PLAN)
    decision, model, _ = run("planrag", questions, database, first, verdict, act(database), END)
    assert (decision.ending, len(decision.plans), len(decision.evidence)) == (
        *(Ending.ANSWERED, plans),
        2,
    )
    assert problems(decision) == []
    assert model.shown[2][-1].text == NOTED


def test_only_plans_end_at_the_limit_of_steps(questions: QuestionSet, database: Database) -> None:
    """They can be read, so they are no failures, and the run ends all the same."""
    decision, _, _ = run("planrag", questions, database, *[PLAN] * 5, max_steps=5)
    assert (decision.ending, decision.steps, problems(decision)) == (Ending.STEP_LIMIT, 5, [])


@pytest.mark.parametrize("agent", ["iterrag", "singlerag", "planrag-two-models"])
@pytest.mark.parametrize("only", [PLAN, "Re-plan: keep"])
def test_who_has_no_plan_of_its_own_may_not_only_plan(
    agent: str, only: str, questions: QuestionSet, database: Database
) -> None:
    """It is told that it has to act or to decide."""
    read = [act(database)] if agent == "singlerag" else []
    planner: list[Any] = [PLAN]
    decision, _, _ = run(agent, questions, database, only, *read, END, planner=planner)
    assert problems(decision) == ["The reply neither asks for anything nor decides."]
    assert decision.ending is Ending.ANSWERED
    assert len(decision.plans) == (1 if agent == "planrag-two-models" else 0)


@pytest.mark.parametrize(
    ("verdict", "replaced"),
    [
        ("keep", False),
        ("keep\n1. Count the nodes.\n2. Choose one.", False),
        ("1. Count the nodes.\n2. Choose one.", False),
        ("\n1) count  the nodes\n2) CHOOSE ONE", False),
        ("\nStep 1: Count the nodes.\n\nStep 2: choose one.", False),
        ("\n**1.** Count the nodes.\n**2.** Choose one.", False),
        ("\n1. Count the nodes.", True),
        ("keep\n1. Choose one.\n2. Count the nodes.", True),
        ("keep\n1. Count the nodes twice.\n2. Choose one.", True),
        ("\n1. Count the nodes.\n2. Choose one.\n3. Say so.", True),
    ],
)
def test_only_other_steps_are_another_plan(
    verdict: str, replaced: bool, questions: QuestionSet, database: Database
) -> None:
    """Numbers, spaces, case and full stops say nothing, nor does "keep" before a list."""
    again = act(database, f"Re-plan: {verdict}")
    decision, _, _ = run("planrag", questions, database, act(database, PLAN), again, END)
    assert problems(decision) == []
    assert kinds(decision).count("replan") == replaced
    assert len(decision.plans) == 1 + replaced
    assert "keep" not in decision.plans[-1]
