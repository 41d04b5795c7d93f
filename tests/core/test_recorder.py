"""The record of a decision, and how failures end it."""

from __future__ import annotations

import pytest

from dqa.core.decision import EXPECTED_FAILURES, Ending, Usage, ending_of
from dqa.core.errors import (
    BudgetSpentError,
    DatabaseUnavailableError,
    DataError,
    InfrastructureError,
    ModelUnavailableError,
    RequestTooLongError,
    UnparsableReplyError,
)
from dqa.core.events import Event, WarningEvent
from dqa.core.evidence import COMPARE, Evidence
from dqa.core.recorder import DecisionWatcher, Recorder, watched_by


@pytest.mark.parametrize(
    ("error", "ending", "outage"),
    [
        (UnparsableReplyError("x"), Ending.UNPARSABLE, None),
        (BudgetSpentError("x"), Ending.BUDGET, None),
        (DatabaseUnavailableError("x"), Ending.INFRASTRUCTURE, "database"),
        (ModelUnavailableError("x"), Ending.INFRASTRUCTURE, "model"),
        (RequestTooLongError("x"), Ending.INFRASTRUCTURE, "model"),
        (InfrastructureError("x"), Ending.INFRASTRUCTURE, "model"),
    ],
)
def test_every_expected_failure_has_its_ending(
    error: Exception, ending: Ending, outage: str | None
) -> None:
    """The decision has the message of the error."""
    assert isinstance(error, EXPECTED_FAILURES)
    assert ending_of(error) == (ending, "x", outage)


def test_another_error_is_a_crash() -> None:
    """The decision ends with one line: the class and the message without secrets."""
    error = DataError("mysql://me:pass-word-1@host/x\nfailed")
    assert not isinstance(error, EXPECTED_FAILURES)
    assert ending_of(error) == (Ending.CRASHED, "DataError: mysql://me:***@host/x failed", None)
    decision = Recorder().failed(error)
    assert (decision.ending, decision.choice) == (Ending.CRASHED, None)
    assert decision.error == decision.trace[-1].data["problem"]


def recorded() -> Recorder:
    """Return a record of a query, a comparison and another tool call."""
    recorder = Recorder()
    recorder.steps = 2
    recorder.usage += Usage(5, 1, 2)
    recorder.add_evidence(Evidence("SELECT 1", "[1]", 1))
    recorder.add_evidence(Evidence("all", "[2]", 1, tool=COMPARE))
    recorder.add_evidence(Evidence("{}", "sunny", tool="weather"))
    recorder.plans.append("1. look")
    return recorder


def test_a_decision_has_the_recorded_data() -> None:
    """The answer is its last event."""
    decision = recorded().answered("Genoa.", "genoa")
    assert (decision.ending, decision.answer, decision.choice) == (
        Ending.ANSWERED,
        "Genoa.",
        "genoa",
    )
    assert [event.kind for event in decision.trace] == [
        *("retrieval", "simulation", "tool", "answer")
    ]
    assert {event.step for event in decision.trace} == {2}
    assert (decision.steps, decision.usage, decision.plans) == (2, Usage(5, 1, 2), ("1. look",))
    assert len(decision.evidence) == 3
    assert decision.seconds > 0.0
    assert decision.error is None


def test_a_branch_is_merged_as_new_events() -> None:
    """The steps of a branch continue the numbers. Its usage and events are added."""
    recorder = Recorder()
    recorder.steps = 3
    recorder.note(WarningEvent(step=3, about="calls", text="before", considered=1, total=2))
    branch = Recorder.branch()
    branch.steps = 2
    branch.usage += Usage(5, 7)
    branch.lost += Usage(1, 0)
    branch.note(WarningEvent(step=2, about="rewards", text="there", considered=0, total=1))
    seen: list[Event] = []

    class Watching(DecisionWatcher):
        def happened(self, event: Event, usage: Usage) -> None:
            seen.append(event)

    with watched_by(Watching()):
        watched = Recorder()
    watched.steps = 3
    for into in (recorder, watched):
        into.merge(branch)
        assert (into.steps, into.usage, into.lost) == (5, Usage(5, 7), Usage(1, 0))
    assert [event.step for event in recorder.events] == [3, 5]
    assert [event.step for event in seen] == [5]
