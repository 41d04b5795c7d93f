"""Plans: which replies contain one, and which steps make another plan."""

from __future__ import annotations

import pytest

from dqa.core.database import Database
from dqa.core.decision import Ending
from dqa.core.question_set import QuestionSet
from dqa_planrag.react import ReAct
from tests.planrag.conftest import act, kinds, problems, run

PLAN = "Plan:\n1. Count the nodes.\n2. Choose one."
END = "Thought: t\nFinal Answer: x"
NOTED = ReAct.after_plan


@pytest.mark.parametrize("agent", ["planrag", "planrag-no-replan", "planrag-no-thought"])
def test_a_reply_that_is_only_the_plan_is_recorded(
    agent: str, questions: QuestionSet, database: Database
) -> None:
    """The model is asked to continue, and the reply counts as a step."""
    decision, model = run(agent, questions, database, PLAN, act(database), END)
    assert kinds(decision) == [
        *("prompt", "reply", "plan", "reply", "retrieval", "reply", "answer")
    ]
    assert decision.plans == ("1. Count the nodes.\n2. Choose one.",)
    assert model.requests[1].last == NOTED
    assert decision.steps == 3


@pytest.mark.parametrize(
    ("verdict", "plans"), [("Re-plan: keep", 1), ("Re-plan:\n1. Other.", 2), ("Plan: 1. Other.", 2)]
)
def test_a_reply_that_is_only_a_verdict_is_recorded(
    verdict: str, plans: int, questions: QuestionSet, database: Database
) -> None:
    replies = (act(database, f"{PLAN}\n"), verdict, act(database), END)
    decision, model = run("planrag", questions, database, *replies)
    assert decision.ending is Ending.ANSWERED
    assert (len(decision.plans), len(decision.evidence)) == (plans, 2)
    assert problems(decision) == []
    assert model.requests[2].last == NOTED


@pytest.mark.parametrize("agent", ["iterrag", "singlerag"])
@pytest.mark.parametrize("only", [PLAN, "Re-plan: keep"])
def test_an_agent_without_a_plan_may_not_only_plan(
    agent: str, only: str, questions: QuestionSet, database: Database
) -> None:
    read = [act(database)] if agent == "singlerag" else []
    decision, _ = run(agent, questions, database, only, *read, END)
    assert problems(decision) == ["The reply neither calls a tool nor decides."]
    assert (decision.ending, decision.plans) == (Ending.ANSWERED, ())


@pytest.mark.parametrize(
    ("verdict", "replaced"),
    [
        ("keep\n1. Count the nodes.\n2. Choose one.", False),
        ("\n1) count  the nodes\n2) CHOOSE ONE", False),
        ("N\nPlan: [Step 1: Count, Step 2: Something else]", False),
        ("Y\nPlan: [Step 1: Count the nodes, Step 2: Choose one]", False),
        ("Y\nPlan: [Step 1: Count, Step 2: Something else]", True),
        ("\n1. Count the nodes.", True),
        ("\n1. Count the nodes.\n2. Choose one.\n3. Say so.", True),
    ],
)
def test_only_other_steps_are_another_plan(
    verdict: str, replaced: bool, questions: QuestionSet, database: Database
) -> None:
    """Numbers, spaces, case, full stops and "keep" before a list do not count."""
    again = act(database, f"Re-plan: {verdict}\nCurrent step: Step 2-3\n")
    first = act(database, f"{PLAN}\nCurrent step: 1\n")
    decision, model = run("planrag", questions, database, first, again, END)
    assert problems(decision) == []
    assert kinds(decision).count("replan") == replaced
    assert len(decision.plans) == 1 + replaced
    assert "keep" not in decision.plans[-1]
    assert "your last step was 1:" in model.requests[1].last
    assert "your last step was 2-3:" in model.requests[2].last
