"""Replies in the agents' text format and in PlanRAG's own (section 4, appendix A.6)."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dqa.core.database import Database
from dqa.core.decision import Ending
from dqa.core.errors import UnparsableReplyError
from dqa.core.plans import steps_of
from dqa.core.question_set import QuestionSet
from dqa_planrag.react import parse_reply, spoken
from dqa_planrag.reply import Reply, ToolRequest
from tests.planrag.conftest import act, kinds, run

STATEMENT = "SELECT a,\n       b\nFROM t"
THOUGHT = "The gain is 3 at a and 5 at b."


def test_every_section_of_a_reply_is_read() -> None:
    """A first reply begins with its plan and acts at once."""
    acts = "Action: query_database\nAction Input: SELECT 1\nFROM t"
    reply = parse_reply(f"Plan:\n1. look\n2. choose\nThought: x\n{acts}")
    request = ToolRequest("query_database", "SELECT 1\nFROM t")
    assert reply == Reply(plan="1. look\n2. choose", thought="x", requests=(request,))


@pytest.mark.parametrize(
    "verdict",
    [
        *("keep", '"keep"', "**keep**", "No", "none", "", "keep the plan", "No change needed."),
        *("keep (no change needed)", "Keep, step 2 is next.", "No new plan is needed:\nit stands."),
        *("The plan still holds: 1) the power is 5, 2) the flow is 3", "Y\nPlan: keep"),
        *("N\nPlan: [Step 1: Look, Step 2: Choose]", "No, we have what we need.\nPlan: 1. Look"),
    ],
)
def test_words_that_keep_the_plan_are_not_a_plan(verdict: str) -> None:
    """With or without reasons, and with the old plan below it."""
    assert parse_reply(f"Re-plan: {verdict}\nThought: go on\nFinal Answer: a").replan is None


@pytest.mark.parametrize(
    ("verdict", "plan"),
    [
        ("1. other", "1. other"),
        ("No data came back, so:\n1. try other names", "1. try other names"),
        ("keep the plan:\n1. look\n2. choose", "1. look\n2. choose"),
        ("The flows do not do: 1) look again 2) choose", "1. look again\n2. choose"),
        ("Y\nPlan: [Step 1: Look, Step 2: Choose]", "1. Look\n2. Choose"),
        ("Y [Step 1: Look, Step 2: Choose]", "1. Look\n2. Choose"),
        ("[Step 1: Look, Step 2: Choose]", "1. Look\n2. Choose"),
    ],
)
def test_a_new_plan_is_known_by_its_steps(verdict: str, plan: str) -> None:
    """In the verdict or below it, in every form of a list."""
    found = parse_reply(f"Re-plan: {verdict}\nFinal Answer: a").replan
    assert found is not None
    assert steps_of(found) == steps_of(plan)


@pytest.mark.parametrize(
    "text",
    [
        "Thought: t\nAction: N/A\nAction Input: none\nFinal Answer: x",
        "Thought: t\nAction: Final Answer\nAction Input: x",
        'Thought: t\nAction: decide\nAction Input: {"decision": "x"}',
        "Thought: t\nAction: decide\nAction Input: y\nFinal Answer: x",
        "Action: Self thinking\nAction Input: t\nFinal Answer: x",
        "<think>\nPlan: none\nAction: foo\n</think>\nThought: t\nFinal Answer: x",
        "Plan: 1. hm\nAction: foo\n</think>\n\nThought: t\nFinal Answer: x",
    ],
)
def test_an_answer_is_read_within_other_labels(text: str) -> None:
    """Models fill in every label, write the decision as an action, or think aloud."""
    assert parse_reply(text) == Reply(thought="t", answer="x")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "neither an Action nor a Final Answer"),
        ("Action: query_database", "no Action Input"),
        ("Action Input: SELECT 1", "has an Action Input but no Action"),
        ("Final Answer:", "is empty"),
        ("Action: Final Answer\nAction Input:", "Final Answer is empty"),
        ("Re-plan: I should look at other nodes\nFinal Answer: a", "numbered list"),
        ("Re-plan: Y\nAction: q\nAction Input: SELECT 1", "does not contain a new plan"),
    ],
)
def test_an_unreadable_reply_has_its_problem(text: str, problem: str) -> None:
    """Each kind of failure has its own advice."""
    with pytest.raises(UnparsableReplyError, match=problem):
        parse_reply(text)


@pytest.mark.parametrize(
    "action",
    [
        "Action: self-thinking\nAction Input: {}",
        'Action: Self thinking("{}")',
        "Action: Self thinking (no query)\nAction Input: {}",
        "Thought: {}\nAction: Self thinking",
        "Thought: {}\nAction: None\nAction Input: None",
    ],
)
def test_an_action_may_only_think(action: str) -> None:
    """Its input is a thought, unless a tool has this name."""
    reply = parse_reply(action.format(THOUGHT), ("query_database",))
    assert (reply.only_thinks, reply.requests, reply.answer) == (True, (), None)
    assert reply.thought == THOUGHT
    assert parse_reply("Action: think\nAction Input: a", ("think",)).requests


@pytest.mark.parametrize("agent", ["iterrag", "planrag", "singlerag"])
def test_a_thinking_step_is_a_step_without_a_statement(
    agent: str, questions: QuestionSet, database: Database
) -> None:
    """It counts as a step, and never as an error."""
    plan = "Plan: [Step 1: Count the nodes, Step 2: Choose one]\n" if agent == "planrag" else ""
    think = f"Action: Self thinking\nAction Input: {THOUGHT}"
    replies = (act(database, plan), think, "Final Answer: x")
    decision, model = run(agent, questions, database, *replies, max_parse_failures=1)
    assert (decision.ending, decision.answer, decision.steps) == (Ending.ANSWERED, "x", 3)
    assert len(decision.evidence) == 1
    assert "parse_failure" not in kinds(decision)
    thinking = [event for event in decision.trace if event.kind == "reply"][1]
    assert (thinking.step, thinking.data["thought"]) == (2, THOUGHT)
    assert model.requests[2].last.startswith("Observation: Nothing was read")


@pytest.mark.parametrize(
    "text",
    [
        f"\nAction Input: {STATEMENT}",
        f"\nAction Input: ```sql\n{STATEMENT}\n```\nThis counts them.",
        f"\nAction Input: {json.dumps({'limit': 5, 'query': f' {STATEMENT} '})}",
        f'\nAction Input: "{STATEMENT}"',
        f'("{STATEMENT}")',
        f"\n```sql\n{STATEMENT}\n```",
    ],
)
def test_statements_are_found_in_the_shapes_that_models_write(text: str) -> None:
    """Fences, call syntax and JSON arguments are removed; a statement may have several lines."""
    reply = parse_reply(f"Thought: t\nAction: query_database{text}")
    assert reply.requests == (ToolRequest("query_database", STATEMENT),)


@pytest.mark.parametrize(
    "statement",
    [
        *("`a` + `b`", "'a' || 'b'", '"a" = "b"', "SELECT 'a'", '"', "{statement: 1}"),
        *('{"limit": 5, "rows": "SELECT 1"}', '{"statement": 5}', '["SELECT 1"]'),
        "MATCH (n) RETURN {\n  plan: n.plan,\n  action: n.action\n} AS m",
    ],
)
def test_text_that_belongs_to_a_statement_stays(statement: str) -> None:
    """Quoted names, literals and labels inside a statement are not removed."""
    reply = parse_reply(f"Action: q\nAction Input: {statement}")
    assert (reply.requests, reply.plan) == ((ToolRequest("q", statement),), None)
    assert parse_reply("Action: q(SELECT 'x')").requests[0].arguments == "SELECT 'x'"


@pytest.mark.parametrize("gap", ["\n\n", "\n  \n", ";\n", "; \n"])
@pytest.mark.parametrize("label", ["Thought", "Plan", "Re-plan"])
def test_a_label_after_the_end_of_a_statement_is_not_part_of_it(gap: str, label: str) -> None:
    """An empty line or a semicolon ends a statement."""
    reply = parse_reply(f"Action: q\nAction Input: SELECT 1{gap}{label}: 1. next")
    (request,) = reply.requests
    assert request.arguments == ("SELECT 1;" if ";" in gap else "SELECT 1")
    found = {"Thought": reply.thought, "Plan": reply.plan, "Re-plan": reply.replan}
    assert {name: text for name, text in found.items() if text} == {label: "1. next"}


def test_an_invented_observation_and_an_early_answer_do_not_count() -> None:
    """The result of the action is not known yet."""
    text = "Action: q\nAction Input: SELECT 1\nObservation: [1]\nFinal Answer: invented"
    assert spoken(text) == "Action: q\nAction Input: SELECT 1"
    for reply in (text, "Action: q\nAction Input: SELECT 1\nFinal Answer: guess"):
        found = parse_reply(reply)
        assert (found.requests, found.answer) == ((ToolRequest("q", "SELECT 1"),), None)


@pytest.mark.parametrize(
    ("text", "acts"),
    [
        ("Plan" + " " * 500_000 + "x", False),
        ("Action: q\nAction Input: ```" + " " * 500_000 + "x", True),
        ("Action: q\nAction Input: " + '{"a":' * 100_000, True),
        ("Re-plan: " + " ." * 250_000 + "x", False),
        ("```" * 100_000 + "Action: " * 1_000, False),
    ],
    ids=["label", "fence", "nested", "verdict", "fences"],
)
def test_long_replies_are_parsed_in_linear_time(text: str, acts: bool) -> None:
    if acts:
        assert parse_reply(text).requests
    else:
        with pytest.raises(UnparsableReplyError):
            parse_reply(text)


LINES = st.sampled_from(
    [
        *("Plan:", "Re-plan:", "Thought:", "Action:", "Action Input:", "Final Answer:"),
        *("Observation:", "SELECT 1", "keep", "\n", "```", "**", "1. look"),
    ]
)


@given(st.one_of(st.text(max_size=400), st.lists(LINES, max_size=30).map(" \n".join)))
@example("Thought: \nSELECT 1 \nAction: \n```")  # an action of markup only does not count
def test_any_text_is_read_or_refused(text: str) -> None:
    """A reply acts or answers but not both, or it contains a plan or a verdict."""
    try:
        reply = parse_reply(text)
    except UnparsableReplyError:
        return
    assert not (reply.requests and reply.answer is not None)
    assert reply.requests or reply.answer or reply.plan or "re-plan:" in text.lower()
