"""Agents and models that use tool calls."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, InvalidToolCall, ToolMessage

from dqa.core.database import Database
from dqa.core.decision import Decision, Ending
from dqa.core.question_set import QuestionSet
from dqa.deciders.simulation import Simulation
from dqa.deciders.tools import query_tool, simulation_tools
from dqa.testing.models import PreparedReplies, Reply
from dqa_planrag.reply import ToolRequest
from dqa_planrag.tool_calls import ToolCalls
from dqa_planrag.toolbox import Toolbox
from tests.planrag.conftest import COUNT, calling, kinds, problems, query
from tests.planrag.conftest import run as run_agent

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


def run(
    agent: str, questions: QuestionSet, database: Database, *replies: Reply
) -> tuple[Decision, PreparedReplies]:
    """Run an agent on an open question by tool calls."""
    return run_agent(agent, questions, database, *replies, protocol="tools")


def test_a_run_goes_from_plan_to_query_to_decision(
    questions: QuestionSet, database: Database
) -> None:
    """The rows return under the call's id."""
    decision, model = run(
        "planrag", questions, database, calling(PLAN), calling(query(database)), calling(DECIDE)
    )
    assert kinds(decision) == [
        *("prompt", "reply", "plan", "reply", "retrieval", "reply", "answer")
    ]
    assert decision.plans == ("1. count\n2. choose",)
    result = model.requests[2].messages[-1]
    assert isinstance(result, ToolMessage)
    nodes = len(questions.situation_of(questions.find("locating/1"))["trade_node"])
    assert f"[{nodes}]" in result.text
    assert (decision.answer, decision.steps) == ("x", 3)


SIMULATING = ["query_database", "simulate", "compare", "replan", "decide"]


@pytest.mark.parametrize(
    ("agent", "offered"),
    [
        ("singlerag", [["query_database"], ["decide"]]),
        ("iterrag", [["query_database", "decide"]] * 2),
        ("planrag", [["plan"], *[["query_database", "replan", "decide"]] * 2]),
        ("planrag-no-replan", [["plan"], *[["query_database", "decide"]] * 2]),
        ("planrag-sim", [["plan"], SIMULATING, SIMULATING]),
    ],
)
def test_every_stage_of_every_agent_has_its_tools(
    agent: str, offered: list[list[str]], questions: QuestionSet, database: Database
) -> None:
    """A tool that may not be called is not offered."""
    plan = [calling(PLAN)] if agent.startswith("planrag") else []
    replies = [*plan, calling(query(database)), calling(DECIDE)]
    _, model = run(agent, questions, database, *replies)
    assert [list(request.tools) for request in model.requests] == offered


def test_several_calls_in_one_reply_all_run_in_order(
    questions: QuestionSet, database: Database
) -> None:
    """Even if the provider sent them with the same id."""
    other = COUNT[database.kind].replace("COUNT(*)", "COUNT(*)+1")
    both = calling(query(database), ("query_database", {"statement": other}), text="both")
    decision, model = run("iterrag", questions, database, both, calling(DECIDE))
    assert [e.statement for e in decision.evidence] == [COUNT[database.kind], other]
    results = [m for m in model.requests[1].messages if isinstance(m, ToolMessage)]
    assert [result.tool_call_id for result in results] == ["call_1_0", "call_1_1"]
    assert results[0].text != results[1].text


def test_a_query_runs_before_a_decision_in_the_same_reply(
    questions: QuestionSet, database: Database
) -> None:
    """The decision did not know the rows, so the model is asked again."""
    later = calling(("decide", {"decision": "y"}))
    decision, model = run("iterrag", questions, database, calling(DECIDE, query(database)), later)
    assert decision.answer == "y"
    results = [m.text for m in model.requests[1].messages if isinstance(m, ToolMessage)]
    assert any(text.startswith("Not accepted") for text in results)
    assert len(decision.evidence) == 1


def test_replanning_changes_the_plan_and_an_empty_list_does_not(
    questions: QuestionSet, database: Database
) -> None:
    """Alone or with a query; every call is answered."""
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
    """Two calls at once, and a second call later, are refused."""
    both, one = calling(query(database), query(database)), calling(query(database))
    decision, _ = run("singlerag", questions, database, both, one, one, calling(DECIDE))
    assert len(decision.evidence) == 1
    first, second = problems(decision)
    assert "Make a single call" in first
    assert "cannot be read again" in second


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("I would choose genoa.", "does not call a tool"),
        (BROKEN, "arguments of query_database are not a JSON object"),
        (calling(("query_database", {})), '"statement": Field required. It takes statement.'),
        (calling(("query_database", {"statement": ["SELECT 1"]})), "valid string"),
        (calling(("decide", {"decision": ""})), '"decision": '),
        (calling(DECIDE, DECIDE), "contains two decisions"),
        (calling(*[("query_database", {"statement": "SELECT 1"})] * 9), "at most 8"),
    ],
)
def test_an_unreadable_reply_is_its_own_event(
    reply: Reply, problem: str, questions: QuestionSet, database: Database
) -> None:
    """Nothing of it runs, and the model is asked again with the problem."""
    decision, model = run("iterrag", questions, database, reply, calling(DECIDE))
    assert kinds(decision) == ["prompt", "reply", "parse_failure", "reply", "answer"]
    assert problem in problems(decision)[0]
    assert isinstance(model.requests[1].messages[-1], HumanMessage)
    assert problem in model.requests[1].last
    assert decision.trace[1].data["thought"] is None


@pytest.mark.parametrize(
    ("agent", "early", "name"),
    [("planrag-no-replan", 1, "replan"), ("iterrag", 0, "plan"), ("singlerag", 0, "decide")],
)
def test_a_tool_that_is_not_offered_now_does_not_exist(
    agent: str, early: int, name: str, questions: QuestionSet, database: Database
) -> None:
    """The call gets an error, and three such replies end the run."""
    arguments: dict[str, Any] = {"decide": DECIDE[1], "simulate": {"decision": "x"}}
    wrong = calling((name, arguments.get(name, PLAN[1])))
    replies = [calling(PLAN)] * early + [wrong] * 3
    decision, model = run(agent, questions, database, *replies)
    assert problems(decision) == [f"There is no tool '{name}'. The tools are: query_database."] * 3
    result = model.requests[-1].messages[-1]
    assert isinstance(result, ToolMessage)
    assert (result.text, result.name) == (problems(decision)[0], name)
    assert (decision.ending, decision.answer, len(decision.plans)) == (Ending.UNPARSABLE, "", early)


@pytest.mark.parametrize("name", ["browse_the_web", "", "a b" * 50])
def test_an_unknown_tool_is_answered_under_its_call(
    name: str, questions: QuestionSet, database: Database
) -> None:
    """The other calls of the reply run."""
    both = calling((name, {"q": 1}), query(database))
    decision, model = run("iterrag", questions, database, both, calling(DECIDE))
    assert problems(decision) == [f"There is no tool '{name}'. The tools are: query_database."]
    assert any(problems(decision)[0] == message.text for message in model.requests[1].messages)
    assert len(decision.evidence) == 1
    assert decision.ending is Ending.ANSWERED


def test_numbers_are_accepted_as_ids(questions: QuestionSet, database: Database) -> None:
    """Buildings have numbers. A field that nobody asked for is ignored."""
    more = {"purpose": "to end"}
    decision, _ = run("iterrag", questions, database, calling(("decide", {"decision": 42} | more)))
    assert decision.answer == "42"
    simulation = Simulation(questions.find("locating/1"), database)
    toolbox = Toolbox((query_tool(database), *simulation_tools(simulation)))
    reply = calling(("compare", {"candidates": [1, "2"]} | more))
    (request,) = ToolCalls().read(reply, 1, tuple(toolbox.tools), toolbox).requests
    assert request.arguments == {"candidates": ["1", "2"]}
    written = json.dumps({"candidates": []} | more)
    assert toolbox.use(ToolRequest("compare", written)).error is None
