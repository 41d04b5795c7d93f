"""A trace becomes passages in the order of its events."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from dqa.core.budgets import Prices
from dqa.core.decision import Ending, Usage
from dqa.core.events import Event, event_from_json
from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.traces import Trace
from dqa.report.reading import Passage, read
from dqa.report.spending import spending
from tests.evaluation.statistics.results import result

ROWS = '["name", "profit"]\n["a1", 2.5]\n["b1", null]\n(2 rows)'


def judged(outcome: Outcome, **changes: Any) -> Result:
    """Return a result."""
    known = {
        "choice": "b1",
        "official": "a1",
        "ties": ("a1",),
        "rank": 2,
        "value": 1.0,
        "best_value": 1.5,
        "baseline": 1.0,
        "goal": "maximise",
    }
    return result(1, outcome, **(known | changes))


def make_trace(*events: Event, **changes: Any) -> Trace:
    """Return a trace of these events."""
    trace = Trace(
        question="locating/1",
        database="sqlite",
        kind="relational",
        decider="planrag",
        model="scripted:analyst",
        ending=Ending.ANSWERED,
        answer="a1",
        choice="a1",
        steps=3,
        seconds=0.5,
        usage=Usage(10, 5, 3),
        error=None,
        outage=None,
        plans=(),
        evidence=(),
        events=events,
    )
    return trace.changed(**changes)


def event(kind: str, step: int, data: Mapping[str, Any]) -> Event:
    """Return an event as it is read from a trace."""
    return event_from_json({"kind": kind, "step": step, **data})


def replied(step: int, thought: str | None, **data: Any) -> Event:
    """Return the event of a reply."""
    spoken: dict[str, Any] = {
        "text": f"the reply {step}",
        "thought": thought,
        "calls": [],
        "role": "agent",
    }
    return event("reply", step, spoken | data)


def retrieved(step: int, **data: Any) -> Event:
    """Return the event of a statement that returned `ROWS`."""
    evidence = {"statement": "SELECT 1", "observation": ROWS, "row_count": 2}
    evidence["tool"] = "query_database"
    return event("retrieval", step, evidence | data)


def inner_passages(trace: Trace) -> list[Passage]:
    """Return the passages without those that frame every decision."""
    framing = {"heading", "answer", "spent", "verdict", "unjudged"}
    return [passage for passage in read(trace) if passage.kind not in framing]


def test_heading_answer_cost_and_verdict_frame_a_decision() -> None:
    heading, answer, spent = read(make_trace())
    assert heading.title == "locating/1 | sqlite | planrag"
    assert heading.text == "Model: scripted:analyst. A scripted program, not a language model."
    assert (answer.text, answer.notes) == ("a1", ("-> matched to a1",))
    assert spent.text == "3 replies, 0 calls of tools, 0 plans, 10 tokens in, 5 out, 0.5 s"
    *_, worth = read(make_trace(ending=Ending.STEP_LIMIT))
    assert (worth.kind, worth.text) == ("unjudged", "No result was recorded for this decision.")


def test_passages_follow_the_events() -> None:
    """Thought, plan, statement, rows, and the thought after them."""
    events = (
        replied(1, "first this"),
        event("plan", 1, {"text": "1. Look\n2. Decide"}),
        retrieved(1, translated="SELECT 2", cut="rows"),
        replied(2, ""),
        event("simulation", 2, {"tool": "simulate", "statement": "a1", "observation": "fine"}),
        replied(3, "so a1"),
        event("answer", 3, {"text": "a1"}),
    )
    thought, plan, statement, simulation, last = inner_passages(make_trace(*events))
    assert thought == Passage("thought", "thought", 1, text="first this")
    assert plan.items == (("kept", "Look"), ("kept", "Decide"))
    assert statement == Passage(
        "called",
        "statement",
        1,
        statement="SELECT 1",
        translated="SELECT 2",
        status="2 rows, cut by the limit on rows",
        columns=("name", "profit"),
        rows=(("a1", 2.5), ("b1", None)),
    )
    assert (simulation.title, simulation.statement, simulation.text) == ("simulation", "a1", "fine")
    assert last.text == "so a1"


def test_a_new_plan_marks_new_and_removed_steps() -> None:
    """Numbers and case do not change a step, and an unnumbered line continues one."""
    events = (
        event("plan", 1, {"text": "1. Look up\n   the home.\n2. Add\n3. Decide"}),
        event("replan", 2, {"text": "1) look up the home\n2) Multiply\n3) Decide"}),
    )
    _, plan = inner_passages(make_trace(*events))
    assert plan.title.startswith("plan 2")
    assert plan.items == (
        ("kept", "look up the home"),
        ("gone", "Add"),
        ("new", "Multiply"),
        ("kept", "Decide"),
    )


def test_faults_and_failures_are_listed_in_order() -> None:
    """An unreadable reply is shown in full, before its correction."""
    fault = {"fault": "rate_limit", "error": "E", "message": "slow", "attempt": 1, "wait": 0.5}
    failure = event("parse_failure", 1, {"problem": "no action"})
    found = inner_passages(make_trace(event("fault", 1, fault), replied(1, None), failure))
    assert [(one.kind, one.text) for one in found] == [
        ("fault", "attempt 1: rate_limit (E), asked again after 0.5 s\nslow"),
        ("reply", "the reply 1"),
        ("failure", "no action"),
    ]


def test_a_failure_of_a_database_is_not_a_verdict() -> None:
    """It names what failed."""
    *_, worth = read(
        make_trace(ending=Ending.INFRASTRUCTURE, outage="database", error="gone", answer="")
    )
    assert worth.text == "A failure of the database ended the decision, so it is not judged. gone"


def test_the_same_task_of_a_later_prompt_is_shown_once() -> None:
    """Only its new parts, and the earlier messages in a full view."""
    task = ["human", "# Question\nWhere?\n\n# Rules\nNone."]
    events = [
        event("prompt", step, {"messages": [["system", text], task], "role": "agent"})
        for step, text in enumerate(("plan", "act"))
    ]
    first, question, rules, second = inner_passages(make_trace(*events))
    assert (first.title, first.text, first.detail) == ("Prompt, system", "plan", True)
    assert [(one.title, one.text) for one in (question, rules)] == [
        ("Question", "Where?"),
        ("Rules", "None."),
    ]
    assert second.text == "act"


@pytest.mark.parametrize(
    "odd",
    [
        event("dream", 1, {"of": "sheep"}),
        event("fault", 1, {"oops": 1}),
        event("reply", 1, {"thought": None, "calls": [5]}),
    ],
)
def test_an_unknown_event_is_shown_as_json(odd: Event) -> None:
    """Deciders are plug-ins: their events are never lost and never crash."""
    (shown,) = inner_passages(make_trace(odd))
    assert (shown.kind, shown.step, shown.title) == ("other", odd.step, odd.kind)
    assert shown.text == json.dumps(odd.data, default=str)


def test_the_verdict_comes_from_the_result() -> None:
    """With the judged choice, in the scenario's unit."""
    *_, answer, _, worth = read(make_trace(), judged(Outcome.WRONG, regret=0.5), "profit")
    assert answer.notes == ("-> matched to b1",)
    assert (worth.kind, worth.tone) == ("verdict", "bad")
    assert worth.text.splitlines()[:2] == [
        "Wrong: b1 is not the best decision; it has rank 2.",
        "Best decision: a1, with a profit of 1.5 (higher is better).",
    ]
    assert "b1 leads to 1, and loses 0.5 of profit" in worth.text


def test_a_cost_without_token_counts_is_unknown() -> None:
    free = result(1, Outcome.WRONG, calls=2, input_tokens=0, output_tokens=0)
    paid = result(2, Outcome.WRONG, calls=2, input_tokens=1_000, output_tokens=0)
    spent = spending([free, paid], Prices(2.0, 8.0))
    assert spent.cost is None
    assert "(2 without token counts); cost unknown" in str(spent)
    assert str(spending([paid], Prices(2.0, 8.0))).endswith("2 calls; cost 0.0020.")
    assert "cost" not in str(spending([free], None))
    estimated = paid.changed(uncounted=1)
    assert "(2 without" in str(spending([estimated, paid], None, Usage(uncounted=1)))
