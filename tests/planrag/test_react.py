"""Reading replies in the agents' text format."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dqa.core.errors import UnparsableReplyError
from dqa_planrag.react import parse_reply, parse_verdict, spoken
from dqa_planrag.reply import Reply, ToolRequest


def test_an_action_with_its_input_is_read() -> None:
    """The tool, the statement and the thought come out as written."""
    reply = parse_reply(
        "Thought: look first\nAction: query_database\nAction Input: SELECT 1\nFROM t"
    )
    assert reply == Reply(
        thought="look first", requests=(ToolRequest("query_database", "SELECT 1\nFROM t"),)
    )


def test_a_plan_and_an_action_stand_in_one_reply() -> None:
    """A first reply opens with its plan and acts at once."""
    reply = parse_reply("Plan:\n1. look\n2. choose\nThought: x\nAction: q\nAction Input: SELECT 1")
    assert reply.plan == "1. look\n2. choose"
    assert reply.requests == (ToolRequest("q", "SELECT 1"),)


@pytest.mark.parametrize(
    "verdict",
    [
        *("keep", "Keep.", '"keep"', "**keep**", "No", "none", "not needed", "", "keep the plan"),
        *("The plan still serves.", "No change needed.", "Keep the current plan", "unchanged"),
        *("keep. The data fits.", "keep the plan as it is", "No need to re-plan."),
        *("The plan is still valid.", "keep (no change needed)", "Keep, step 2 is next."),
        *("No new plan is needed:\nit stands.", "The threshold of\n2.5 is fine, continue."),
    ],
)
def test_a_plan_that_is_kept_is_no_new_plan(verdict: str) -> None:
    """Whatever words keep the plan, none of them is taken for a plan."""
    reply = parse_reply(f"Re-plan: {verdict}\nThought: go on\nFinal Answer: a")
    assert reply.replan is None


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


@pytest.mark.parametrize(
    "verdict",
    [
        "I should look at other nodes",
        "The plan is no longer valid.",
        "This is not sufficient",
        "I would not keep it",
    ],
)
def test_a_verdict_that_is_neither_is_asked_for_again(verdict: str) -> None:
    """A re-plan is never lost in silence, and no remark is taken for a plan."""
    with pytest.raises(UnparsableReplyError, match="numbered list"):
        parse_reply(f"Re-plan: {verdict}\nFinal Answer: a")


@pytest.mark.parametrize("kept", ["keep", "Keep.", "**keep**", "keep the plan:"])
def test_what_keeps_the_plan_before_a_list_is_no_step(kept: str) -> None:
    """The list alone is left, for whoever compares it with the current one."""
    reply = parse_reply(f"Re-plan: {kept}\n1. look\n2. choose\nFinal Answer: a")
    assert reply.replan == "1. look\n2. choose"


@pytest.mark.parametrize(
    "text",
    [
        "Thought: t\nAction: None\nFinal Answer: x",
        "Thought: t\nAction: N/A\nAction Input: none\nFinal Answer: x",
        "Thought: t\nAction: **None**\nAction Input:\nFinal Answer: x",
        "Thought: t\nAction:\nFinal Answer: x",
        "Thought: t\nAction: No further action.\nFinal Answer: x",
        "Thought: t\nAction: Final Answer\nAction Input: x",
        "Thought: t\nAction: decide\nAction Input: x",
        'Thought: t\nAction: `Finish`\nAction Input: "x"',
        'Thought: t\nAction: decide\nAction Input: {"decision": "x"}',
        "Thought: t\nAction: decide\nAction Input: y\nFinal Answer: x",
    ],
)
def test_an_action_that_only_decides_is_the_decision(text: str) -> None:
    """Models fill in every label, or take the decision for an action."""
    assert parse_reply(text) == Reply(thought="t", answer="x")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Action: decide", "Final Answer is empty"),
        ("Action: Final Answer\nAction Input:", "Final Answer is empty"),
        ("Action: None", "gives it nothing to do"),
    ],
)
def test_an_action_that_decides_nothing_is_told(text: str, told: str) -> None:
    """Neither an empty decision nor no action at all is an answer."""
    with pytest.raises(UnparsableReplyError, match=told):
        parse_reply(text)


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
    assert (reply.requests, reply.plan) == ((ToolRequest("query_database", statement),), None)


@pytest.mark.parametrize(
    "action",
    [
        "Action: query_database\nAction Input: ```SELECT 1```",
        "Action: query_database\nAction Input: ```sql\nSELECT 1\n```\nThis counts them.",
        'Action: query_database\nAction Input: {"statement": "SELECT 1"}',
        'Action: query_database\nAction Input: {"statement": "SELECT 1", "limit": 5}',
        'Action: query_database\nAction Input: {"limit": 5, "query": " SELECT 1 "}',
        'Action: query_database\nAction Input: {"whatever": "SELECT 1"}',
        "Action: query_database\nAction Input: Here it is:\n```sql\nSELECT 1\n```",
        'Action: query_database\nAction Input: "SELECT 1"',
        "Action: query_database\nAction Input: 'SELECT 1'",
        "Action: query_database(SELECT 1)",
        'Action: query_database("SELECT 1")',
        "Action: query_database\n```sql\nSELECT 1\n```",
    ],
)
def test_statements_are_found_in_the_shapes_that_models_give_them(action: str) -> None:
    """Fences, call syntax and JSON arguments are unwrapped."""
    reply = parse_reply(f"Thought: t\n{action}")
    assert reply.requests == (ToolRequest("query_database", "SELECT 1"),)


@pytest.mark.parametrize("quote", ["", '"'])
def test_a_literal_at_the_end_of_a_call_keeps_its_quote(quote: str) -> None:
    """Only quotes around the whole statement are taken off."""
    statement = "SELECT 1 FROM t WHERE name = 'x'"
    reply = parse_reply(f"Action: query_database({quote}{statement}{quote})")
    assert reply.requests == (ToolRequest("query_database", statement),)


@pytest.mark.parametrize(
    "statement",
    [
        "`a` + `b`",
        "'a' || 'b'",
        '"a" = "b"',
        "SELECT 'a'",
        'SELECT name FROM t WHERE name = "a"',
        '"',
        '{"limit": 5, "rows": "SELECT 1"}',
        '{"statement": 5}',
        "{statement: 1}",
        '["SELECT 1"]',
    ],
)
def test_what_belongs_to_the_statement_stays(statement: str) -> None:
    """Quoted names and literals are no wrapping, and no argument is guessed."""
    reply = parse_reply(f"Action: q\nAction Input: {statement}")
    assert reply.requests == (ToolRequest("q", statement),)


@pytest.mark.parametrize("gap", ["\n\n", "\n  \n", ";\n", "; \n", ";\n\n"])
@pytest.mark.parametrize("label", ["Thought", "Plan", "Re-plan", "Action"])
def test_a_label_after_the_end_of_a_statement_is_no_part_of_it(gap: str, label: str) -> None:
    """An empty line or a semicolon ended it."""
    reply = parse_reply(f"Action: q\nAction Input: SELECT 1{gap}{label}: 1. next")
    (request,) = reply.requests
    assert request.given == ("SELECT 1;" if ";" in gap else "SELECT 1")
    assert reply.thought == ("1. next" if label == "Thought" else "")
    assert reply.plan == ("1. next" if label == "Plan" else None)
    assert reply.replan == ("1. next" if label == "Re-plan" else None)


def test_an_observation_of_the_models_own_is_cut() -> None:
    """What a model invents after its action never counts, not even as an answer."""
    text = "Action: q\nAction Input: SELECT 1\nObservation: [1]\nFinal Answer: invented"
    assert parse_reply(text).answer is None
    assert spoken(text) == "Action: q\nAction Input: SELECT 1"


def test_an_action_goes_before_an_answer_in_the_same_reply() -> None:
    """The answer was written before the action's result was known."""
    reply = parse_reply("Action: q\nAction Input: SELECT 1\nFinal Answer: guess")
    assert (reply.requests, reply.answer) == ((ToolRequest("q", "SELECT 1"),), None)


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


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        ("Plan:\n1. look\n2. choose", "1. look\n2. choose"),
        ("1. look\n2. choose", "1. look\n2. choose"),
        ("Here it is.\nStep 1: look", "Here it is.\nStep 1: look"),
        ("Plan: look, then choose", "look, then choose"),
    ],
)
def test_a_planner_brings_a_plan(text: str, plan: str) -> None:
    """With its label, or as a bare numbered list."""
    assert parse_verdict(text) == Reply(plan=plan)


@pytest.mark.parametrize("text", ["Re-plan: keep", "keep", "Keep.", "Plan: keep", "No changes"])
def test_a_planner_keeps_the_plan(text: str) -> None:
    """With or without a label: no plan comes of it."""
    assert parse_verdict(text) == Reply()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "has no plan"),
        ("Action: query_database\nAction Input: SELECT 1", "has no plan"),
        ("I would look at other nodes", "has no plan"),
        ("Re-plan: I would look at other nodes", "neither keeps the plan nor brings"),
    ],
)
def test_a_planner_that_does_something_else_is_told(text: str, told: str) -> None:
    """It only plans: what it would do itself is not carried out."""
    with pytest.raises(UnparsableReplyError, match=told):
        parse_verdict(text)


@pytest.mark.parametrize(
    ("text", "acts"),
    [
        ("Plan" + " " * 500_000 + "x", False),
        ("Action: q\nAction Input: ```" + " " * 500_000 + "x", True),
        ("Action: q\nAction Input: " + '{"a":' * 100_000, True),
        ("Re-plan: " + " ." * 250_000 + "x", False),
        ("Re-plan: " + "1" * 500_000, False),
        ("<think>" * 100_000, False),
        ("```" * 100_000 + "Action: " * 1_000, False),
    ],
    ids=["label", "fence", "nested", "verdict", "number", "thinking", "fences"],
)
def test_no_reply_keeps_the_parser_busy(text: str, acts: bool) -> None:
    """Work grows with a reply's length and not with its square, which would be hours here."""
    if acts:
        assert parse_reply(text).requests
    else:
        with pytest.raises(UnparsableReplyError):
            parse_reply(text)
    with pytest.raises(UnparsableReplyError):
        parse_verdict(text)


@given(st.text(max_size=400))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No reply crashes the parser, and a reply that is read never acts and answers."""
    try:
        reply = parse_reply(text)
    except UnparsableReplyError:
        return
    assert not (reply.requests and reply.answer is not None)


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
@example("Thought: \nSELECT 1 \nAction: \n```")  # an action of nothing but markup is none
def test_shuffled_labels_are_read_or_refused(text: str) -> None:
    """Labels in any order, repeated or empty, never crash the parser.

    What is read acts or answers, never both, or holds a plan or a verdict on one.
    """
    try:
        reply = parse_reply(text)
    except UnparsableReplyError:
        return
    assert not (reply.requests and reply.answer is not None)
    assert reply.requests or reply.answer or reply.plan or "Re-plan:" in text
