"""Answers that name no candidate or several.

The model is asked again, a limited number of times.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from dqa.core.database import Database
from dqa.core.decision import Ending
from dqa.core.question_set import QuestionSet
from tests.planrag.conftest import calling, kinds, open_question, run

Protocol = Literal["react", "tools"]
PROTOCOLS = pytest.mark.parametrize("protocol", ["react", "tools"])


def deciding(protocol: Protocol, answer: str) -> str | AIMessage:
    """Return a reply that decides."""
    if protocol == "tools":
        return calling(("decide", {"decision": answer}))
    return f"Thought: t\nFinal Answer: {answer}"


@PROTOCOLS
def test_a_decision_that_names_a_candidate_is_accepted(
    protocol: Protocol, questions: QuestionSet, database: Database
) -> None:
    """In the database's spelling, with its noun, in other letters, or with a remark."""
    question = questions.find("locating/1")
    name = str((question.candidates or ())[0])
    spoken = name.replace("_", " ").title()
    for answer in (name, f"**{spoken}**", f"trade node {spoken}", f"{spoken}, as it gains most."):
        reply = deciding(protocol, answer)
        decision, _ = run(
            "iterrag", questions, database, reply, question=question, protocol=protocol
        )
        assert (decision.ending, decision.choice) == (Ending.ANSWERED, name)
        # Emphasis around a label is removed.
        assert decision.answer in (answer, answer.removeprefix("**"))


@PROTOCOLS
def test_a_decision_for_no_candidate_is_asked_again(
    protocol: Protocol, questions: QuestionSet, database: Database
) -> None:
    """The prompt names the problem; for tool calls it is the result of the call."""
    question = questions.find("locating/1")
    first, second = map(str, (question.candidates or ())[:2])
    answers = ("nowhere_at_all", f"{first} or {second}", first)
    replies = [deciding(protocol, answer) for answer in answers]
    decision, model = run(
        "iterrag", questions, database, *replies, question=question, protocol=protocol
    )
    assert (decision.ending, decision.choice, decision.steps) == (Ending.ANSWERED, first, 3)
    assert kinds(decision) == [
        *("prompt", "reply", "parse_failure", "reply", "parse_failure", "reply", "answer")
    ]
    shown = [request.messages[-1] for request in model.requests[1:]]
    assert all(isinstance(m, ToolMessage if protocol == "tools" else HumanMessage) for m in shown)
    assert "'nowhere_at_all' names no trade node that can be chosen" in shown[0].text
    assert f"names more than one trade node: {first}, {second}. Give exactly one" in shown[1].text


def test_candidates_may_be_listed_by_a_query(questions: QuestionSet, database: Database) -> None:
    listing = {
        "relational": "SELECT trade_node FROM trade_node ORDER BY 1",
        "graph": "MATCH (n:Trade_node) RETURN n.name ORDER BY 1",
    }
    first = str((questions.find("locating/1").candidates or ())[0])
    question = replace(open_question(questions), candidate_query=listing[database.kind])
    replies = ("Final Answer: nowhere", f"Final Answer: {first.upper()}")
    decision, _ = run("iterrag", questions, database, *replies, question=question)
    assert (decision.choice, decision.steps) == (first, 2)
    assert not decision.evidence
