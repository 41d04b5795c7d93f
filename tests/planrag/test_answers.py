"""Answers that name no candidate, or several: the model is told, and asked again within a bound."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

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
    calling,
    open_question,
)

Protocol = Literal["react", "tools"]
PROTOCOLS: tuple[Protocol, ...] = ("react", "tools")


def deciding(protocol: Protocol, answer: str) -> str | AIMessage:
    """A reply that decides."""
    if protocol == "tools":
        return calling(("decide", {"decision": answer}))
    return f"Thought: t\nFinal Answer: {answer}"


def decided(
    protocol: Protocol,
    questions: QuestionSet,
    database: Database,
    *replies: object,
    agent: str = "iterrag",
    **bounds: Any,
) -> tuple[Decision, Replies]:
    """Let an agent decide the first Locating question with the given replies."""
    model = Replies(replies=list(replies))
    decider = plugins.decider(agent)(model, Settings(protocol=protocol, **bounds))
    decision = decider.decide(questions.find("locating/1"), database)
    for messages in model.shown:
        assert_sendable(messages)
        if protocol == "react":
            assert_alternating(messages)
    return decision, model


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_decision_that_names_a_candidate_is_taken(
    protocol: Protocol, questions: QuestionSet, database: Database
) -> None:
    """As the database spells it, or with its noun, in other letters, with a remark."""
    name = str((questions.find("locating/1").candidates or ())[0])
    spoken = name.replace("_", " ").title()
    for answer in (name, f"**{spoken}**", f"trade node {spoken}", f"{spoken}, as it gains most."):
        decision, _ = decided(protocol, questions, database, deciding(protocol, answer))
        assert (decision.ending, decision.choice) == (Ending.ANSWERED, name)
        # A label takes the emphasis around it along.
        assert decision.answer in (answer, answer.removeprefix("**"))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_decision_for_no_candidate_is_told_and_asked_again(
    protocol: Protocol, questions: QuestionSet, database: Database
) -> None:
    """With what was said and what may be said; under tools as the result of the call itself."""
    first, second = map(str, (questions.find("locating/1").candidates or ())[:2])
    decision, model = decided(
        protocol,
        questions,
        database,
        deciding(protocol, "nowhere_at_all"),
        deciding(protocol, f"{first} or {second}"),
        deciding(protocol, first),
    )
    assert (decision.ending, decision.choice, decision.steps) == (Ending.ANSWERED, first, 3)
    assert [event.kind for event in decision.trace] == [
        *("prompt", "reply", "parse_failure", "reply", "parse_failure", "reply", "answer")
    ]
    told = [messages[-1] for messages in model.shown[1:]]
    assert all(isinstance(m, ToolMessage if protocol == "tools" else HumanMessage) for m in told)
    assert "'nowhere_at_all' names no trade node that can be chosen" in told[0].text
    assert "There are 79, such as " in told[0].text
    assert f"names more than one trade node: {first}, {second}. Give exactly one" in told[1].text
    opening = "Error: the decision was not taken." if protocol == "tools" else "The reply could not"
    assert all(message.text.startswith(opening) for message in told)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("agent", ["iterrag", "singlerag", "planrag", "planrag-two-models"])
def test_a_model_that_names_no_candidate_ends_as_unparsable(
    agent: str, protocol: Protocol, questions: QuestionSet, database: Database
) -> None:
    """After the bounded number of replies in a row, and not as a wrong answer."""
    plan: list[object] = []
    if agent.startswith("planrag"):
        text = "Plan: 1. look" + ("" if agent.endswith("models") else "\nFinal Answer: x")
        plan = [calling(("plan", {"steps": ["look"]})) if protocol == "tools" else text]
    query = calling(("query_database", {"statement": COUNT[database.kind]}))
    act = f"Thought: t\nAction: query_database\nAction Input: {COUNT[database.kind]}"
    look = [query if protocol == "tools" else act] if agent == "singlerag" else []
    counted_already = protocol == "react" and agent == "planrag"
    wrong = [deciding(protocol, "nowhere")] * (2 if counted_already else 3)
    bounds: dict[str, Any] = {}
    if agent == "planrag-two-models":
        bounds, plan = {"planner": Replies(replies=plan)}, []
    decision, _ = decided(
        protocol, questions, database, *plan, *look, *wrong, agent=agent, **bounds
    )
    assert (decision.ending, decision.choice, decision.answer) == (Ending.UNPARSABLE, None, "")
    assert (decision.error or "").startswith(
        "3 replies in a row could not be used. 'nowhere' names no trade node that can be chosen"
    )


def test_candidates_may_be_listed_by_a_query(questions: QuestionSet, database: Database) -> None:
    """A question without a list, and with a statement that gives one."""
    listing = {
        "relational": "SELECT trade_node FROM trade_node ORDER BY 1",
        "graph": "MATCH (n:Trade_node) RETURN n.name ORDER BY 1",
    }
    first = str((questions.find("locating/1").candidates or ())[0])
    question = replace(open_question(questions), candidate_query=listing[database.kind])
    model = Replies(replies=["Final Answer: nowhere", f"Final Answer: {first.upper()}"])
    decision = plugins.decider("iterrag")(model, Settings()).decide(question, database)
    assert (decision.choice, decision.steps) == (first, 2)
    assert not decision.evidence
