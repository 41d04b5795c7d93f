"""Answers that name no candidate, or several: the model is told, and asked again within a bound."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from dqa import plugins
from dqa.core.database import Database, Limits
from dqa.core.decision import Decision, Ending
from dqa.core.errors import DatabaseUnavailableError
from dqa.core.question_set import QuestionSet
from dqa.deciders.base import Settings
from dqa.models.scripted import scripted_model
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
def test_few_candidates_are_all_listed(
    protocol: Protocol, questions: QuestionSet, database: Database
) -> None:
    """So that no query is needed to name one."""
    question = replace(questions.find("locating/1"), candidates=("north", "south"))
    model = Replies(replies=[deciding(protocol, "west"), deciding(protocol, "south")])
    decider = plugins.decider("iterrag")(model, Settings(protocol=protocol))
    assert decider.decide(question, database).choice == "south"
    assert model.shown[1][-1].text.endswith("There are: north, south.")


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


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_was_read_meanwhile_starts_the_count_anew(
    protocol: Protocol, questions: QuestionSet, database: Database
) -> None:
    """Only decisions in a row end a run, and steps are bounded all the same."""
    wrong = deciding(protocol, "nowhere")
    query = calling(("query_database", {"statement": COUNT[database.kind]}))
    act = f"Thought: t\nAction: query_database\nAction Input: {COUNT[database.kind]}"
    look = query if protocol == "tools" else act
    replies = [wrong, wrong, look, wrong, wrong, look, wrong]
    decision, _ = decided(protocol, questions, database, *replies, max_steps=7)
    assert decision.ending is Ending.STEP_LIMIT
    assert len(decision.evidence) == 2


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


def test_a_database_that_fails_before_the_loop_ends_as_infrastructure(
    questions: QuestionSet, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While candidates are listed, say: no model is asked."""

    def gone(statement: str, limits: Limits | None = None) -> None:
        raise DatabaseUnavailableError("the server went away")

    monkeypatch.setattr(database, "query", gone)
    question = replace(open_question(questions), candidate_query="SELECT 1")
    model = Replies(replies=[])
    decision = plugins.decider("iterrag")(model, Settings()).decide(question, database)
    assert (decision.ending, decision.outage) == (Ending.INFRASTRUCTURE, "database")
    assert not model.shown


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_script_whose_decision_is_refused_says_it_again(
    protocol: Protocol, questions: QuestionSet, database: Database
) -> None:
    """It knows no other, and the run ends as any model's that goes on naming nothing."""
    question = replace(questions.find("locating/1"), candidates=("somewhere", "else"))
    decider = plugins.decider("planrag")(scripted_model("analyst"), Settings(protocol=protocol))
    decision = decider.decide(question, database)
    assert decision.ending is Ending.UNPARSABLE
    said = [event.data for event in decision.trace if event.kind == "reply"][-3:]
    assert len({str(reply["calls"]) + reply["text"] for reply in said}) == 1
