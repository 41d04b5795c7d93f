"""Reading replies in the agents' text format."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dqa.errors import UnparsableReplyError
from dqa_planrag.replies import Reply, parse_reply, spoken


def test_an_action_with_its_input_is_read() -> None:
    """The tool, the statement and the thought come out as written."""
    reply = parse_reply(
        "Thought: look first\nAction: query_database\nAction Input: SELECT 1\nFROM t"
    )
    assert reply == Reply(thought="look first", tool="query_database", statement="SELECT 1\nFROM t")


def test_a_plan_and_an_action_stand_in_one_reply() -> None:
    """A first reply opens with its plan and acts at once."""
    reply = parse_reply("Plan:\n1. look\n2. choose\nThought: x\nAction: q\nAction Input: SELECT 1")
    assert reply.plan == "1. look\n2. choose"
    assert reply.statement == "SELECT 1"


@pytest.mark.parametrize(
    "verdict",
    [
        *("keep", "Keep.", '"keep"', "**keep**", "No", "none", "not needed", "", "keep the plan"),
        *("The plan still serves.", "No change needed.", "Keep the current plan", "unchanged"),
    ],
)
def test_a_plan_that_is_kept_is_no_new_plan(verdict: str) -> None:
    """Whatever words keep the plan, none of them is taken for a plan."""
    reply = parse_reply(f"Re-plan: {verdict}\nThought: go on\nFinal Answer: a")
    assert reply.replan is None


def test_a_new_plan_is_read_with_or_without_hyphen() -> None:
    """Both spellings of the label count."""
    for label in ("Re-plan", "Replan", "RE-PLAN"):
        assert parse_reply(f"{label}: 1. other\nFinal Answer: a").replan == "1. other"


@pytest.mark.parametrize(
    "plan",
    [
        "1. other",
        "No data came back, so:\n1. try other names",
        "Keep steps 1-2. New plan:\n1. look\n2. choose",
        "Step 1: look",
    ],
)
def test_a_new_plan_is_known_by_its_steps(plan: str) -> None:
    """Whatever words stand before them."""
    assert parse_reply(f"Re-plan: {plan}\nFinal Answer: a").replan == plan


def test_a_verdict_that_is_neither_is_asked_for_again() -> None:
    """A re-plan is never lost in silence, and no remark is taken for a plan."""
    with pytest.raises(UnparsableReplyError, match="numbered list"):
        parse_reply("Re-plan: I should look at other nodes\nFinal Answer: a")


@pytest.mark.parametrize(
    "text",
    [
        "<think>\nPlan: none\nAction: foo\n</think>\nThought: t\nFinal Answer: x",
        "Plan: 1. hm\nAction: foo\n</think>\n\nThought: t\nFinal Answer: x",
        "<THINKING>Final Answer: y</THINKING>Thought: t\nFinal Answer: x",
    ],
)
def test_what_a_model_thinks_aloud_is_no_part_of_its_reply(text: str) -> None:
    """Labels inside it do not count, even where the server has cut its first tag."""
    assert parse_reply(text) == Reply(thought="t", answer="x")


def test_labels_inside_a_statement_belong_to_it() -> None:
    """A map's key or a column may be called like a label."""
    statement = "MATCH (n) RETURN {\n  plan: n.plan,\n  action: n.action\n} AS m"
    reply = parse_reply(f"Thought: t\nAction: query_database\nAction Input: {statement}")
    assert (reply.statement, reply.plan) == (statement, None)


@pytest.mark.parametrize(
    "action",
    [
        "Action: query_database\nAction Input: ```SELECT 1```",
        "Action: query_database\nAction Input: ```sql\nSELECT 1\n```\nThis counts them.",
        'Action: query_database\nAction Input: {"statement": "SELECT 1"}',
        "Action: query_database(SELECT 1)",
        'Action: query_database("SELECT 1")',
        "Action: query_database\n```sql\nSELECT 1\n```",
    ],
)
def test_statements_are_found_in_the_shapes_that_models_give_them(action: str) -> None:
    """Fences, call syntax and JSON arguments are unwrapped."""
    reply = parse_reply(f"Thought: t\n{action}")
    assert (reply.tool, reply.statement) == ("query_database", "SELECT 1")


@pytest.mark.parametrize(
    "text",
    [
        "**Thought:** t\n**Action:** query_database\n**Action Input:** SELECT 1",
        "thought: t\naction: `query_database`\naction input: ```sql\nSELECT 1\n```",
        "## Thought: t\n> Action: query_database.\n  Action Input: `SELECT 1`",
    ],
)
def test_markdown_around_labels_and_statements_is_dropped(text: str) -> None:
    """Models decorate; the statement arrives bare."""
    reply = parse_reply(text)
    assert (reply.tool, reply.statement) == ("query_database", "SELECT 1")


def test_backticks_that_belong_to_the_statement_stay() -> None:
    """Quoted identifiers are no code span."""
    reply = parse_reply("Action: q\nAction Input: `a` + `b`")
    assert reply.statement == "`a` + `b`"


def test_an_observation_of_the_models_own_is_cut() -> None:
    """What a model invents after its action never counts, not even as an answer."""
    text = "Action: q\nAction Input: SELECT 1\nObservation: [1]\nFinal Answer: invented"
    assert parse_reply(text).answer is None
    assert spoken(text) == "Action: q\nAction Input: SELECT 1"


def test_an_action_goes_before_an_answer_in_the_same_reply() -> None:
    """The answer was written before the action's result was known."""
    reply = parse_reply("Action: q\nAction Input: SELECT 1\nFinal Answer: guess")
    assert (reply.statement, reply.answer) == ("SELECT 1", None)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "neither an Action nor a Final Answer"),
        ("I would choose genoa.", "neither an Action nor a Final Answer"),
        ("Action: query_database", "gives it nothing to do"),
        ("Action Input: SELECT 1", "names no Action"),
        ("Final Answer:", "is empty"),
    ],
)
def test_an_unreadable_reply_is_told_what_to_change(text: str, told: str) -> None:
    """Each kind of failure has its own advice."""
    with pytest.raises(UnparsableReplyError, match=told):
        parse_reply(text)


@given(st.text(max_size=400))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No reply crashes the parser, and a reply that is read acts or answers, never both."""
    try:
        reply = parse_reply(text)
    except UnparsableReplyError:
        return
    assert (reply.statement is None) != (reply.answer is None)


@given(
    st.lists(
        st.sampled_from(
            [
                "Plan:",
                "Re-plan:",
                "Thought:",
                "Action:",
                "Action Input:",
                "Final Answer:",
                "Observation:",
                "SELECT 1",
                "keep",
                "\n",
                "```",
                "**",
                "1. look",
            ]
        ),
        max_size=30,
    ).map(" \n".join)
)
def test_shuffled_labels_are_read_or_refused(text: str) -> None:
    """Labels in any order, repeated or empty, never crash the parser."""
    try:
        reply = parse_reply(text)
    except UnparsableReplyError:
        return
    assert reply.statement or reply.answer
