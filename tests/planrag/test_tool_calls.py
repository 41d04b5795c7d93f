"""Agents and models that talk in tool calls."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    HumanMessage,
    InvalidToolCall,
    ToolMessage,
)

from dqa import plugins
from dqa.databases.base import Database
from dqa.deciders.base import Settings
from dqa.decision import Decision, Ending
from dqa.errors import UnparsableReplyError
from dqa.question import QuestionSet
from dqa_planrag.deciders import Agent
from dqa_planrag.recipes import RECIPES
from dqa_planrag.reply import Call
from dqa_planrag.tool_calls import ToolCalls
from tests.planrag.conftest import COUNT, Replies, assert_sendable, calling

READ = ToolCalls().read
ACTING = ("query_database", "simulate", "compare", "decide")
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


def query(database: Database) -> tuple[str, dict[str, Any]]:
    """A call that counts the nodes."""
    return "query_database", {"statement": COUNT[database.kind]}


def run(
    agent: str, questions: QuestionSet, database: Database, *replies: object
) -> tuple[Decision, Replies]:
    """Let an agent decide the first Locating question with the given replies."""
    model = Replies(replies=list(replies))
    decider = plugins.decider(agent)(model, Settings(protocol="tools"))
    decision = decider.decide(questions.find("locating/1"), database)
    for messages in model.shown:
        assert_sendable(messages)
    return decision, model


def kinds(decision: Decision) -> list[str]:
    """What happened, in order."""
    return [event.kind for event in decision.trace]


def problems(decision: Decision) -> list[str]:
    """What the model was told about replies that could not be read."""
    return [e.data["problem"] for e in decision.trace if e.kind == "parse_failure"]


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


def test_a_plan_may_come_with_the_first_query(questions: QuestionSet, database: Database) -> None:
    """A model that calls both at once has both taken down."""
    decision, _ = run(
        "planrag", questions, database, calling(PLAN, query(database)), calling(DECIDE)
    )
    assert kinds(decision)[:4] == ["prompt", "reply", "plan", "retrieval"]


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


def test_only_replanning_agents_replan(questions: QuestionSet, database: Database) -> None:
    """Whatever the model calls it."""
    new = {"steps": ["count again"]}
    for name in ("plan", "replan"):
        replies = [calling(PLAN), calling((name, new), query(database)), calling(DECIDE)]
        assert len(run("planrag-no-replan", questions, database, *replies)[0].plans) == 1
        assert len(run("planrag", questions, database, *replies)[0].plans) == 2


def test_of_two_plans_in_one_reply_the_last_one_holds(
    questions: QuestionSet, database: Database
) -> None:
    """Both calls are answered."""
    decision, _ = run(
        "planrag",
        questions,
        database,
        calling(PLAN, ("plan", {"steps": ["choose"]})),
        calling(DECIDE),
    )
    assert decision.plans == ("1. choose",)


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ("I would choose genoa.", "calls no tool"),
        (AIMessage(""), "calls no tool"),
        (AIMessage([]), "calls no tool"),
        (BROKEN, "arguments of query_database are no JSON object"),
        (calling(("query_database", {})), "'statement': Field required"),
        (calling(("query_database", {"statement": ["SELECT 1"]})), "valid string"),
        (calling(("query_database", {"statement": None})), "valid string"),
        (calling(("query_database", {"sql": "SELECT 1"})), "'statement'"),
        (calling(("query_database", {"statement": " \n"})), "query_database is empty"),
        (calling(("decide", {"decision": ""})), "decide is empty"),
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
    assert decision.trace[1].data["calls"] == [{"tool": "query_database", "input": "{statement: "}]


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
def test_steps_have_one_number_each(steps: object, plan: str) -> None:
    """Whichever they brought along; steps that came as one text are its lines."""
    for name in ("plan", "replan"):
        reply = READ(calling((name, {"steps": steps})), 1, (name,))
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
    decision = decider.decide(questions.find("locating/1"), database)
    assert problems(decision) == [f"There is no tool '{name}'. The tools are: query_database."] * 3
    result = model.shown[-1][-1]
    assert isinstance(result, ToolMessage)
    assert (result.text, result.name) == (problems(decision)[0], name)
    assert (decision.ending, decision.answer) == (Ending.UNPARSABLE, "")
    assert len(decision.plans) == (1 if agent.startswith("planrag") else 0)
    for messages in (*model.shown, *planner.shown):
        assert_sendable(messages)


def test_a_plan_where_only_a_new_one_is_offered_is_the_new_one(
    questions: QuestionSet, database: Database
) -> None:
    """Its label does not matter, its steps do; the same steps again change nothing."""
    again = ("plan", {"steps": ["1) Count.", "choose"]})
    other = ("plan", {"steps": ["choose"]})
    decision, _ = run(
        "planrag",
        questions,
        database,
        calling(PLAN),
        calling(again, query(database)),
        calling(other, query(database)),
        calling(DECIDE),
    )
    assert decision.plans == ("1. count\n2. choose", "1. choose")
    assert kinds(decision).count("replan") == 1
    assert problems(decision) == []


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
    results = [(Call("query_database", "SELECT 1", f"call_1_{n}"), f"row {n}") for n in (0, 1)]
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


def test_numbers_are_taken_for_ids(questions: QuestionSet, database: Database) -> None:
    """Buildings have numbers, and models write them as such."""
    decision, _ = run("iterrag", questions, database, calling(("decide", {"decision": 42})))
    assert decision.answer == "42"
    (call,) = READ(calling(("compare", {"candidates": [1, "2"]})), 1, ACTING).calls
    assert call.given == ("1", "2")


@pytest.mark.parametrize("protocol", ["react", "tools"])
@pytest.mark.parametrize("everyone", ["all", ["all"], []])
def test_all_candidates_are_compared_however_it_is_said(
    everyone: Any, protocol: str, questions: QuestionSet, database: Database
) -> None:
    """As the word alone, as a list of it, or as an empty list."""
    given = everyone if isinstance(everyone, str) else ", ".join(everyone) or "[]"
    replies: list[object] = [calling(PLAN), calling(("compare", {"candidates": everyone}))]
    if protocol == "react":
        replies = [f"Plan: 1. x\nAction: compare\nAction Input: {given}"]
    replies.append(calling(DECIDE) if protocol == "tools" else "Final Answer: x")
    settings = Settings(protocol=protocol, rules="paper")  # type: ignore[arg-type]
    decider = plugins.decider("planrag-sim")(Replies(replies=replies), settings)
    question = questions.find("locating/1")
    (compared,) = decider.decide(question, database).evidence
    assert (compared.error, compared.row_count) == (None, len(question.candidates or ()))


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


def test_what_stands_beside_the_calls_is_the_thought() -> None:
    """As text or in blocks, without what a model thinks to itself."""
    blocks: list[str | dict[str, Any]] = [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "<think>hm</think>look first"},
        {"type": "tool_use", "id": "toolu_1", "name": "query_database", "input": {}},
    ]
    called = calling(("query_database", {"statement": "SELECT 1"}))
    message = AIMessage(blocks, tool_calls=called.tool_calls)
    reply = READ(message, 3, ACTING)
    assert reply.thought == "look first"
    assert reply.calls == (Call("query_database", "SELECT 1", "call_3_0"),)
    (kept,) = ToolCalls().kept(message, reply)
    assert kept.content == "look first"


def test_a_planner_may_only_plan() -> None:
    """It is told which tools it has."""
    read = ToolCalls().read_verdict
    assert read(calling(PLAN), 1).plan == "1. count\n2. choose"
    assert read(calling(("replan", {"steps": []})), 1).replan is None
    with pytest.raises(UnparsableReplyError, match="call plan or replan"):
        read(calling(DECIDE), 1)


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
    assert "3 replies in a row could not be read" in (decision.error or "")
    failures = [e for e in decision.trace if e.kind == "parse_failure"]
    assert [e.data["role"] for e in failures] == [role] * 3
    failed, other = (agent, planner) if role == "agent" else (planner, agent)
    assert len(failed.shown) == 3
    assert len(other.shown) == (1 if role == "agent" else 0)
    assert "could not be read" in failed.shown[-1][-1].text


@pytest.mark.parametrize("protocol", ["react", "tools"])
def test_a_planner_does_not_make_up_for_tools_that_do_not_exist(
    protocol: Any, questions: QuestionSet, database: Database
) -> None:
    """It is not asked about calls that came to nothing, so they end the run as any others do."""
    plan = "Plan: 1. count" if protocol == "react" else calling(PLAN)
    wrong = "Action: web\nAction Input: x" if protocol == "react" else calling(("web", {"q": "x"}))
    planner, agent = Replies(replies=[plan]), Replies(replies=[wrong] * 3)
    chosen = Settings(protocol=protocol, planner=planner)
    decider = plugins.decider("planrag-two-models")(agent, chosen)
    decision = decider.decide(questions.find("locating/1"), database)
    assert (decision.ending, decision.steps) == (Ending.UNPARSABLE, 3)
    assert len(planner.shown) == 1


ARGUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "statement": st.sampled_from(["SELECT 1", "DROP TABLE flow", "", "RETURN 1", 5]),
        "decision": st.sampled_from(["genoa", "", None, 7]),
        "steps": st.lists(st.sampled_from(["look", "", "choose"]), max_size=3),
        "candidates": st.lists(st.sampled_from(["all", "genoa", ""]), max_size=2),
    },
)
NAMES = st.sampled_from(
    ["query_database", "simulate", "compare", "plan", "replan", "decide", "web.search", ""]
)
MESSAGES = st.one_of(
    st.lists(st.tuples(NAMES, ARGUMENTS), max_size=10).map(lambda calls: calling(*calls)),
    st.just(BROKEN),
    st.sampled_from(["", "Final Answer: x", "<think>"]).map(AIMessage),
)


@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(recipe=st.sampled_from([r for r in RECIPES if not r.sees_example]), data=st.data())
def test_every_call_in_a_conversation_is_answered_once_and_at_once(
    recipe: Any, data: st.DataObject, questions: QuestionSet, database: Database
) -> None:
    """Providers reject whole conversations for less, whatever a model replied before."""
    replies = data.draw(st.lists(MESSAGES, min_size=8, max_size=8))
    planner = Replies(replies=replies[::-1] * 3)
    model = Replies(replies=replies)
    chosen = Settings(protocol="tools", max_steps=6, planner=planner)
    decision = Agent(recipe, model, chosen).decide(questions.find("locating/1"), database)
    for messages in (*model.shown, *planner.shown):
        assert_sendable(messages)
    assert decision.ending in {Ending.ANSWERED, Ending.UNPARSABLE, Ending.STEP_LIMIT}
