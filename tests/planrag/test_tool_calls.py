"""Replies in tool calls: what is read from them, and what is told where nothing is."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decision import Ending
from dqa.core.question_set import QuestionSet
from dqa.deciders.base import Settings
from dqa.deciders.simulation import Simulation
from dqa.deciders.tools import query_tool, simulation_tools
from dqa_planrag.tool_calls import ToolCalls
from dqa_planrag.toolbox import Toolbox
from tests.planrag.conftest import Replies, assert_sendable, calling, open_question
from tests.planrag.tool_runs import BROKEN, DECIDE, PLAN, kinds, problems, query, run

READ = ToolCalls().read
ACTING = ("query_database", "simulate", "compare", "decide")


@pytest.fixture
def toolbox(questions: QuestionSet, database: Database) -> Toolbox:
    """Everything that an agent may act with."""
    simulation = Simulation.of(questions.find("locating/1"), database)
    return Toolbox((query_tool(database), *simulation_tools(simulation)))


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ("I would choose genoa.", "calls no tool"),
        (AIMessage(""), "calls no tool"),
        (AIMessage([]), "calls no tool"),
        (BROKEN, "arguments of query_database are no JSON object"),
        (calling(("query_database", {})), "it has no arguments; it takes 'statement'."),
        (calling(("query_database", {"statement": ["SELECT 1"]})), "valid string"),
        (calling(("query_database", {"statement": None})), "valid string"),
        (calling(("query_database", {"sql": "SELECT 1"})), "'statement'"),
        (
            calling(("query_database", {"statement": " \n"})),
            "query_database does not fit: the argument 'statement': it is empty",
        ),
        (
            calling(("decide", {"decision": ""})),
            "decide does not fit: the argument 'decision': it is empty",
        ),
        (calling(DECIDE, DECIDE), "decides twice"),
        (calling(*[("query_database", {"statement": "SELECT 1"})] * 9), "at most 8"),
    ],
)
def test_a_reply_that_cannot_be_read_is_its_own_event_and_is_told(
    reply: object, told: str, questions: QuestionSet, database: Database
) -> None:
    """Nothing of it runs, the model hears what to change, and the run goes on."""
    decision, model = run("iterrag", questions, database, reply, calling(DECIDE))
    assert kinds(decision) == ["prompt", "reply", "parse_failure", "reply", "answer"]
    assert told in problems(decision)[0]
    assert isinstance(model.shown[1][-1], HumanMessage)
    assert told in model.shown[1][-1].text
    assert decision.trace[1].data["thought"] is None


@pytest.mark.parametrize(
    ("agent", "early", "name"),
    [
        ("planrag-no-replan", 1, "replan"),
        ("planrag-no-replan", 1, "plan"),
        ("iterrag", 0, "plan"),
        ("iterrag", 0, "replan"),
        ("iterrag", 0, "simulate"),
        ("singlerag", 0, "decide"),
        ("planrag-two-models", 0, "plan"),
        ("planrag-two-models", 0, "replan"),
    ],
)
def test_a_tool_that_is_not_offered_now_is_none_that_exists(
    agent: str, early: int, name: str, questions: QuestionSet, database: Database
) -> None:
    """It is answered as such, and is nothing done: three such replies end the run."""
    given = {"decide": DECIDE[1], "simulate": {"decision": "x"}}.get(name, PLAN[1])
    wrong = calling((name, given))
    planner = Replies(replies=[calling(PLAN)])
    model = Replies(replies=[calling(PLAN)] * early + [wrong] * 3)
    decider = plugins.decider(agent)(model, Settings(protocol="tools", planner=planner))
    decision = decider.decide(open_question(questions), database)
    assert problems(decision) == [f"There is no tool '{name}'. The tools are: query_database."] * 3
    result = model.shown[-1][-1]
    assert isinstance(result, ToolMessage)
    assert (result.text, result.name) == (problems(decision)[0], name)
    assert (decision.ending, decision.answer) == (Ending.UNPARSABLE, "")
    assert len(decision.plans) == (1 if agent.startswith("planrag") else 0)
    for messages in (*model.shown, *planner.shown):
        assert_sendable(messages)


@pytest.mark.parametrize("name", ["browse_the_web", "functions.query_database", "", "a b" * 50])
def test_a_tool_that_does_not_exist_is_answered_under_its_call(
    name: str, questions: QuestionSet, database: Database
) -> None:
    """The model hears which there are, whatever name it made up; what stood beside it runs."""
    decision, model = run(
        "iterrag", questions, database, calling((name, {"q": 1}), query(database)), calling(DECIDE)
    )
    assert problems(decision) == [f"There is no tool '{name}'. The tools are: query_database."]
    assert any(problems(decision)[0] == message.text for message in model.shown[1])
    assert len(decision.evidence) == 1
    assert decision.ending is Ending.ANSWERED


def test_numbers_are_taken_for_ids(
    questions: QuestionSet, database: Database, toolbox: Toolbox
) -> None:
    """Buildings have numbers, and models write them as such."""
    decision, _ = run("iterrag", questions, database, calling(("decide", {"decision": 42})))
    assert decision.answer == "42"
    (request,) = READ(calling(("compare", {"candidates": [1, "2"]})), 1, ACTING, toolbox).requests
    assert request.given == {"candidates": ["1", "2"]}
