"""A trace becomes passages that say what happened, in its order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from dqa.report.trace_verdict import verdict_lines

from dqa.core.decision import Ending, Usage
from dqa.core.events import EndingEvent, Event, event_from_json
from dqa.core.evidence import Evidence
from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.traces import Trace
from dqa.report.passages import (
    Called,
    Crash,
    FinalAnswer,
    Heading,
    Judgement,
    ModelFault,
    Other,
    Passage,
    Plan,
    Prompt,
    RefusedReply,
    Section,
    ShownStep,
    Spent,
    Thought,
    Unjudged,
    WholeReply,
)
from dqa.report.reading import read
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


def told(*events: Event, **changes: Any) -> Trace:
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
    """Return an event as a trace that was written has it."""
    return event_from_json({"kind": kind, "step": step, **data})


def replied(step: int, thought: str | None, role: str = "agent", **data: Any) -> Event:
    """Return the event of a reply."""
    spoken: dict[str, Any] = {
        "text": f"the reply {step}",
        "thought": thought,
        "calls": [],
        "role": role,
    }
    return event("reply", step, spoken | data)


def retrieved(step: int, **data: Any) -> Event:
    """Return the event of a statement that gave `ROWS`."""
    evidence = {"statement": "SELECT 1", "observation": ROWS, "row_count": 2, "error": None}
    return event("retrieval", step, evidence | data)


def between(trace: Trace) -> list[Passage]:
    """Return the passages without what frames every run."""
    framing = Heading | FinalAnswer | Spent | Judgement | Unjudged
    return [passage for passage in read(trace) if not isinstance(passage, framing)]


def test_a_run_is_framed_by_who_was_asked_and_what_it_took() -> None:
    """Heading first; answer and cost last, and what is said of the worth where one was to judge."""
    heading, answer, spent = read(told())
    assert heading == Heading("locating/1", "sqlite", "planrag", "scripted:analyst")
    assert answer == FinalAnswer("a1", "a1", compared=False)
    assert spent == Spent(3, 0, 0, 0.5, 3, 10, 5)
    *_, worth = read(told(ending=Ending.STEP_LIMIT))
    assert worth == Unjudged("step_limit", None, None)


def test_passages_follow_the_events() -> None:
    """Thought, plan, statement, rows, the thought after them."""
    events = (
        replied(1, "first this"),
        event("plan", 1, {"text": "1. Look\n2. Decide"}),
        retrieved(1, translated="SELECT 2", cut="rows"),
        replied(2, ""),
        event("simulation", 2, {"tool": "simulate", "statement": "a1", "observation": "fine"}),
        replied(3, "so a1"),
        event("answer", 3, {"text": "a1"}),
    )
    thought, plan, statement, simulation, last = between(told(*events))
    assert thought == Thought(1, "agent", "first this")
    assert plan == Plan(1, "agent", 1, (ShownStep("Look", "kept"), ShownStep("Decide", "kept")))
    assert statement == Called(
        step=1,
        tool="query_database",
        asked="SELECT 1",
        translated="SELECT 2",
        columns=("name", "profit"),
        rows=(("a1", 2.5), ("b1", None)),
        notes=("(2 rows)",),
        row_count=2,
        cut="rows",
    )
    assert simulation == Called(2, "simulate", "a1", text="fine")
    assert last == Thought(3, "agent", "so a1")


def test_a_new_plan_says_what_is_new_and_what_is_gone() -> None:
    """Numbers and case make no step another one, and a line without a number goes on."""
    events = (
        event("plan", 1, {"text": "1. Look up\n   the home.\n2. Add\n3. Decide"}),
        event("replan", 2, {"text": "1) look up the home\n2) Multiply\n3) Decide"}),
    )
    _, plan = between(told(*events))
    assert isinstance(plan, Plan)
    assert plan.number == 2
    assert [(step.change, step.text) for step in plan.steps] == [
        ("kept", "look up the home"),
        ("gone", "Add"),
        ("new", "Multiply"),
        ("kept", "Decide"),
    ]


def test_faults_and_failures_stand_where_they_happened() -> None:
    """A reply that could not be read is shown whole, before what it was told."""
    fault = {"fault": "rate_limit", "error": "E", "message": "slow", "attempt": 1, "wait": 0.5}
    events = (
        event("fault", 1, fault),
        replied(1, None),
        event("parse_failure", 1, {"problem": "no action", "role": "agent"}),
    )
    assert between(told(*events)) == [
        ModelFault(1, "rate_limit", "E", "slow", 1, 0.5),
        WholeReply(1, "agent", "the reply 1"),
        RefusedReply(1, "agent", "no action"),
    ]


def test_the_statement_that_a_database_failed_on_is_shown() -> None:
    """What came back before it is not shown twice, and other calls are no statements."""
    calls = [
        {"tool": "plan", "input": '{"steps": []}'},
        {"tool": "query_database", "input": '{"statement": "SELECT 1"}'},
        {"tool": "compare", "input": ["a1", "b1"]},
    ]
    events = (
        replied(1, "", calls=calls),
        retrieved(1),
        event("infrastructure", 1, {"problem": "gone"}),
    )
    trace = told(*events, ending=Ending.INFRASTRUCTURE, outage="database", error="gone", answer="")
    *_, asked, _, worth = read(trace)
    assert asked == Called(1, "compare", "a1, b1", done=False)
    assert worth == Unjudged("infrastructure", "database", "gone")


def test_a_bug_is_shown_with_its_traceback() -> None:
    """And the verdict says that nothing was judged."""
    words = "Traceback\n  KeyError"
    crashed = EndingEvent(kind="crashed", problem="KeyError: 'a'", traceback=words)
    trace = told(crashed, ending=Ending.CRASHED, error="KeyError: 'a'", answer="", choice=None)
    _, crash, _, worth = read(trace, judged(Outcome.CRASHED, choice=None, value=None))
    assert crash == Crash(0, "KeyError: 'a'", words)
    assert isinstance(worth, Unjudged)
    first, *_ = verdict_lines(worth)
    assert first == "A bug ended the run, which says nothing of the decision. KeyError: 'a'"


def test_two_models_are_told_apart_and_their_task_is_shown_once() -> None:
    """A plan is the planner's, a thought the agent's."""
    task = ["human", "# Question\nWhere?\n\n# Rules\nNone."]
    events = (
        event("prompt", 0, {"messages": [["system", "plan"], task], "role": "planner"}),
        replied(1, "hm", "planner"),
        event("plan", 1, {"text": "Look"}),
        event("prompt", 1, {"messages": [["system", "act"], task], "role": "agent"}),
        replied(2, "so"),
    )
    first, _, plan, second, thought = between(told(*events))
    sections = (Section("Question", "Where?"), Section("Rules", "None."))
    assert first == Prompt("planner", sections, (Section("system", "plan"),))
    assert second == Prompt("agent", (), (Section("system", "act"),))
    assert isinstance(plan, Plan)
    assert isinstance(thought, Thought)
    assert (plan.role, thought.role) == ("planner", "agent")


def test_a_decider_without_events_shows_its_evidence() -> None:
    """A baseline reads the database and tells nothing of how."""
    trace = told(evidence=(Evidence("SELECT 1", ROWS, 2),))
    (called,) = between(trace)
    assert isinstance(called, Called)
    assert (called.step, called.asked, called.rows[0]) == (None, "SELECT 1", ("a1", 2.5))


@pytest.mark.parametrize(
    "odd",
    [
        event("dream", 1, {"of": "sheep"}),
        event("prompt", 0, {"messages": ["one text"]}),
        event("fault", 1, {"oops": 1}),
        event("reply", 1, {"thought": None, "calls": [5]}),
    ],
)
def test_what_follows_no_schema_is_shown_as_it_is(odd: Event) -> None:
    """Deciders are plug-ins: an event of theirs is never lost and never a crash."""
    assert between(told(odd)) == [Other(odd.step, odd.kind, odd.data)]


@pytest.mark.parametrize(
    "observation",
    ["", "[", '["a"]', '["a"]\n["b", "c"]\n(1 row)', '["a"]\nmore', "[" * 100_000, "Error: no"],
)
def test_what_is_no_table_stays_text(observation: str) -> None:
    """Only header, rows and closing notes are a table."""
    (called,) = between(told(retrieved(1, observation=observation)))
    assert isinstance(called, Called)
    if observation == '["a"]':
        assert called.columns == ("a",)
    else:
        assert (called.columns, called.text) == ((), observation)


def test_the_judgement_is_the_results() -> None:
    """With the choice that was judged, in the scenario's unit."""
    *_, answer, _, worth = read(told(), judged(Outcome.WRONG), "profit")
    assert answer == FinalAnswer("a1", "b1")
    assert isinstance(worth, Judgement)
    assert (worth.outcome, worth.choice, worth.value, worth.unit) == ("wrong", "b1", 1.0, "profit")


@pytest.mark.parametrize("outcome", [Outcome.INFRASTRUCTURE, Outcome.BUDGET])
def test_what_is_not_judged_still_says_what_was_best(outcome: Outcome) -> None:
    """And why nothing was judged."""
    trace = told(ending=Ending(outcome.value), error="why", answer="", choice=None)
    worth = read(trace, judged(outcome, choice=None, value=None), "profit")[-1]
    assert isinstance(worth, Unjudged)
    assert (worth.ending, worth.problem, worth.ties) == (outcome.value, "why", ("a1",))
    assert (worth.best_value, worth.unit) == (1.5, "profit")
