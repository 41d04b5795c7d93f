"""The idiom of models trained on PlanRAG's own format (section 4, appendix A.6) is understood."""

from __future__ import annotations

from typing import Any

import pytest

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decision import Decision, Ending
from dqa.core.errors import UnparsableReplyError
from dqa.core.plans import steps_of
from dqa.core.question_set import QuestionSet
from dqa.deciders.base import Settings
from dqa_planrag.react import parse_reply, parse_verdict
from dqa_planrag.reply import ToolRequest
from tests.planrag.conftest import COUNT, Replies, open_question

THINK = "Action: Self thinking\nAction Input: The gain is 3 at a and 5 at b."
THOUGHT = "The gain is 3 at a and 5 at b."
ONE_LINE = "Plan: [Step 1: Count the nodes, Step 2: Choose one]"


def act(database: Database) -> str:
    """An action that counts the nodes."""
    return f"Action: query_database\nAction Input: {COUNT[database.kind]}"


def run(
    agent: str, questions: QuestionSet, database: Database, *replies: object, **bounds: Any
) -> tuple[Decision, Replies]:
    """Let an agent decide an open question with the given replies."""
    model = Replies(replies=list(replies))
    decider = plugins.decider(agent)(model, Settings(**bounds))
    return decider.decide(open_question(questions), database), model


@pytest.mark.parametrize(
    "action",
    [
        THINK,
        "Action: self-thinking\nAction Input: The gain is 3 at a and 5 at b.",
        "Action: `Self_Thinking`\nAction Input:\nThe gain is 3 at a and 5 at b.",
        'Action: Self thinking("The gain is 3 at a and 5 at b.")',
        "Action: Self thinking: The gain is 3 at a and 5 at b.",
        "Action: self_thinking[The gain is 3 at a and 5 at b.]",
        "Action: Self thinking (no query)\nAction Input: The gain is 3 at a and 5 at b.",
        "Thought: The gain is 3 at a and 5 at b.\nAction: Self thinking\nAction Input: None",
        "Action: Think\nAction Input: The gain is 3 at a and 5 at b.",
        "Thought: The gain is 3 at a and 5 at b.\nAction: Self thinking",
        "Thought: The gain is 3 at a and 5 at b.\nAction: None\nAction Input: None",
        "Thought: The gain is 3 at a and 5 at b.\nAction: none",
    ],
)
def test_an_action_may_only_think(action: str) -> None:
    """Its input is a thought, and nothing is asked for."""
    reply = parse_reply(action, ("query_database",))
    assert (reply.only_thinks, reply.requests, reply.answer) == (True, (), None)
    assert reply.thought == THOUGHT


def test_a_tool_that_is_called_so_is_a_tool() -> None:
    """And an answer beside no action, or behind a thought, is an answer."""
    reply = parse_reply("Action: think\nAction Input: hard", ("query_database", "think"))
    assert reply.requests == (ToolRequest("think", "hard"),)
    assert parse_reply("Thought: t\nAction: Self thinking\nAction Input: x").thought == "t\nx"
    decided = parse_reply("Thought: t\nAction: None\nFinal Answer: b")
    assert (decided.answer, decided.only_thinks) == ("b", False)
    decided = parse_reply(f"{THINK}\nFinal Answer: b")
    assert (decided.answer, decided.thought, decided.only_thinks) == ("b", THOUGHT, False)


@pytest.mark.parametrize("agent", ["iterrag", "planrag", "planrag-no-replan", "singlerag"])
def test_a_thinking_step_is_a_step_without_a_statement(
    agent: str, questions: QuestionSet, database: Database
) -> None:
    """It counts, the trace has it, and the run goes on: it is never an error."""
    plan = f"{ONE_LINE}\n" if agent.startswith("planrag") else ""
    decision, model = run(
        *(agent, questions, database, plan + act(database), THINK, "Final Answer: x"),
        max_parse_failures=1,
    )
    assert (decision.ending, decision.answer, decision.steps) == (Ending.ANSWERED, "x", 3)
    assert len(decision.evidence) == 1
    assert "parse_failure" not in {event.kind for event in decision.trace}
    thinking = [event for event in decision.trace if event.kind == "reply"][1]
    assert (thinking.step, thinking.data["thought"]) == (2, THOUGHT)
    assert model.shown[2][-1].text.startswith("Observation: Nothing was read; go on.")


@pytest.mark.parametrize(
    "kept",
    [
        *("N", "n.", "No", "**N**", "[N]", "N\nThe plan holds."),
        *("N - the rows do for now", "No, we have what we need.", "**No** (data found)"),
    ],
)
@pytest.mark.parametrize("behind", ["", "\nPlan: [Step 1: Look, Step 2: Choose]"])
def test_n_keeps_the_plan_whatever_is_repeated(kept: str, behind: str) -> None:
    """A plan below it is the old one, in other words."""
    reply = parse_reply(f"Re-plan: {kept}{behind}\nFinal Answer: a")
    assert (reply.replan, reply.keeps) == (None, True)
    assert parse_verdict(f"Re-plan: {kept}{behind}").replan is None


@pytest.mark.parametrize("yes", ["Y", "y", "Yes", "**Yes.**", "Y\n", "Yes, the flows do not do."])
@pytest.mark.parametrize("plan", ["[Step 1: Look, Step 2: Choose]", "1) Look 2) Choose", "1. Look"])
def test_y_brings_the_plan_below_it(yes: str, plan: str) -> None:
    """Behind the line ``Plan:``, in any form that plans have."""
    text = f"Re-plan: {yes}\nPlan: {plan}"
    assert parse_reply(f"{text}\nFinal Answer: a").replan == plan
    assert parse_verdict(text).replan == plan


@pytest.mark.parametrize(
    ("verdict", "plan"),
    [
        ("Y [Step 1: Look, Step 2: Choose]", "[Step 1: Look, Step 2: Choose]"),
        ("Yes, Plan: [Step 1: Look, Step 2: Choose]", "[Step 1: Look, Step 2: Choose]"),
        ("Y [Step 1: Look,\nStep 2: Choose]", "[Step 1: Look, Step 2: Choose]"),
        ("Yes\n\nNew plan: 1. Look\n2. Choose", "1. Look\n2. Choose"),
        ("Y\n1. Look\n2. Choose", "1. Look\n2. Choose"),
        ("Y\n- Look\n- Choose", "- Look\n- Choose"),
        ("[Step 1: Look, Step 2: Choose]", "[Step 1: Look, Step 2: Choose]"),
        ("No, the plan is wrong.\n1. Look\n2. Choose", "1. Look\n2. Choose"),
    ],
)
def test_a_new_plan_may_stand_in_the_verdict(verdict: str, plan: str) -> None:
    """Behind the word, or alone."""
    found = parse_reply(f"Re-plan: {verdict}\nFinal Answer: a").replan
    assert found is not None
    assert steps_of(found) == steps_of(plan)


@pytest.mark.parametrize(
    ("verdict", "replaced"),
    [
        ("The plan still holds: 1) the power is 5, 2) the flow is 3", False),
        ("No change needed, because 1. a leads 2. b does not", False),
        ("Keep what is known. New plan: [Step 1: Look, Step 2: Choose]", True),
        ("The flows do not do: 1) look again 2) choose", True),
    ],
)
def test_counted_reasons_to_keep_the_plan_are_no_plan(verdict: str, replaced: bool) -> None:
    """Numbers within a line are a plan where no words before them keep the one there is."""
    found = parse_reply(f"Re-plan: {verdict}\nFinal Answer: a")
    assert (found.replan is not None) == replaced


def test_a_yes_without_a_plan_is_asked_for_it() -> None:
    """A re-plan is never lost in silence."""
    with pytest.raises(UnparsableReplyError, match="brings no new one"):
        parse_reply("Re-plan: Y\nAction: q\nAction Input: SELECT 1")
    assert parse_reply("Re-plan: Yes, the plan still serves.\nFinal Answer: a").replan is None
    assert parse_reply("Re-plan: Y\nPlan: keep\nFinal Answer: a").replan is None


@pytest.mark.parametrize(
    ("verdict", "plans"),
    [
        ("Re-plan: N\nPlan: [Step 1: Count, Step 2: Something else]", 1),
        ("Re-plan: Y\nPlan: [Step 1: Count the nodes, Step 2: Choose one]", 1),
        ("Re-plan: Y\nPlan: [Step 1: Count, Step 2: Something else]", 2),
    ],
)
def test_only_a_yes_with_other_steps_changes_the_plan(
    verdict: str, plans: int, questions: QuestionSet, database: Database
) -> None:
    """In a run whose every reply is in the idiom."""
    replies = [
        f"{ONE_LINE}\nCurrent step: 1\nThought: t\n{act(database)}",
        f"{verdict}\nCurrent step: Step 2\nThought: t\n{THINK}",
        "Re-plan: N\nThought: t\nFinal Answer: x",
    ]
    decision, model = run("planrag", questions, database, *replies)
    assert (decision.answer, len(decision.plans)) == ("x", plans)
    assert "your last step was 1:" in model.shown[1][-1].text
    assert "your last step was 2:" in model.shown[2][-1].text


@pytest.mark.parametrize(
    "given",
    [
        "SELECT a,\n       b\nFROM t\nWHERE a > 1",
        "\nSELECT a,\n       b\nFROM t\nWHERE a > 1\n",
        "```sql\nSELECT a,\n       b\nFROM t\nWHERE a > 1\n```",
        "\n```\nSELECT a,\n       b\nFROM t\nWHERE a > 1\n```\nThis gives the rows.",
    ],
)
def test_a_statement_may_have_several_lines(given: str) -> None:
    """As the prompt says, in a fence or without."""
    reply = parse_reply(f"Thought: t\nAction: query_database\nAction Input: {given}")
    assert reply.requests[0].given == "SELECT a,\n       b\nFROM t\nWHERE a > 1"
