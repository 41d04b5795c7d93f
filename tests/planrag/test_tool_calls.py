"""Replies in tool calls: what is read from them, and what is told where nothing is."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decision import Ending
from dqa.core.errors import UnparsableReplyError
from dqa.core.question_set import QuestionSet
from dqa.deciders.base import Settings
from dqa.deciders.simulation import Simulation
from dqa.deciders.tools import query_tool, simulation_tools
from dqa_planrag.reply import ToolRequest
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


def test_what_could_not_be_read_stays_in_the_conversation_and_the_trace(
    questions: QuestionSet, database: Database
) -> None:
    """As words: a call that nothing answers would make providers reject the whole conversation."""
    decision, model = run("iterrag", questions, database, BROKEN, calling(DECIDE))
    assert "(called query_database with {statement: )" in model.shown[1][-2].text
    assert decision.trace[1].data["calls"] == ({"tool": "query_database", "input": "{statement: "},)


@pytest.mark.parametrize(
    ("steps", "told"), [({"first": "count"}, "valid list"), ([], "no steps"), (" \n", "no steps")]
)
def test_a_plan_without_steps_is_asked_for_again(
    steps: object, told: str, questions: QuestionSet, database: Database
) -> None:
    """The plan that comes then is the first one."""
    decision, model = run(
        "planrag",
        questions,
        database,
        calling(("plan", {"steps": steps})),
        calling(PLAN, DECIDE),
    )
    assert told in problems(decision)[0]
    assert told in model.shown[1][-1].text
    assert decision.plans == ("1. count\n2. choose",)


@pytest.mark.parametrize(
    ("steps", "plan"),
    [
        (["1. count", "2) choose", "Step 3: decide"], "1. count\n2. choose\n3. decide"),
        (["**Step 1:** count", "- 2. choose"], "1. count\n2. choose"),
        ("1. count\n\n2. choose\n", "1. count\n2. choose"),
        ("count", "1. count"),
        (
            ["2.5 times the flow", "30 **nodes**"],
            "1. 2.5 times the flow\n2. 30 **nodes**",
        ),
    ],
)
def test_steps_have_one_number_each(steps: object, plan: str, toolbox: Toolbox) -> None:
    """Whichever they brought along; steps that came as one text are its lines."""
    for name in ("plan", "replan"):
        reply = READ(calling((name, {"steps": steps})), 1, (name,), toolbox)
        assert (reply.plan or reply.replan) == plan


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


def test_one_good_call_makes_a_reply_no_failure(questions: QuestionSet, database: Database) -> None:
    """Only replies of nothing but unknown tools are counted."""
    unknown, mixed = calling(("web", {})), calling(("web", {}), query(database))
    many = [unknown, unknown, mixed, unknown, unknown, mixed, mixed, mixed, mixed]
    decision, _ = run("iterrag", questions, database, *many, calling(DECIDE))
    assert decision.ending is Ending.ANSWERED
    assert len(problems(decision)) == len(many)
    assert len(decision.evidence) == 5
    decision, _ = run("iterrag", questions, database, mixed, *[unknown] * 3)
    assert (decision.ending, decision.steps) == (Ending.UNPARSABLE, 4)


def test_the_closing_words_stand_in_the_last_result() -> None:
    """A user's turn after a result is refused by some providers."""
    results = [
        (ToolRequest("query_database", "SELECT 1", f"call_1_{n}"), f"row {n}") for n in (0, 1)
    ]
    first, last = ToolCalls().observed(results, "Decide now.")
    assert isinstance(last, ToolMessage)
    assert (first.text, last.text) == ("row 0", "row 1\n\nDecide now.")
    assert [m.text for m in ToolCalls().observed(results, "")] == ["row 0", "row 1"]


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


def test_what_stands_beside_the_calls_is_the_thought(toolbox: Toolbox) -> None:
    """As text or in blocks, without what a model thinks to itself."""
    blocks: list[str | dict[str, Any]] = [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "<think>hm</think>look first"},
        {"type": "tool_use", "id": "toolu_1", "name": "query_database", "input": {}},
    ]
    called = calling(("query_database", {"statement": "SELECT 1"}))
    message = AIMessage(blocks, tool_calls=called.tool_calls)
    reply = READ(message, 3, ACTING, toolbox)
    assert reply.thought == "look first"
    assert reply.requests == (ToolRequest("query_database", {"statement": "SELECT 1"}, "call_3_0"),)
    (kept,) = ToolCalls().kept(message, reply)
    assert kept.content == "look first"


def test_a_planner_may_only_plan() -> None:
    """It is told which tools it has."""
    read = ToolCalls().read_verdict
    assert read(calling(PLAN), 1).plan == "1. count\n2. choose"
    assert read(calling(("replan", {"steps": []})), 1).replan is None
    with pytest.raises(UnparsableReplyError, match="call plan or replan"):
        read(calling(DECIDE), 1)
