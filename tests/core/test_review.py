"""Reviews by a person, and the journal that replays them."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

import dqa
from dqa.core.errors import StoppedError, UnknownNameError, UsageError
from dqa.core.events import ReviewEvent, event_from_json
from dqa.core.journal import Journal, replay, use_journal
from dqa.core.recorder import Recorder
from dqa.core.review import MOST_TRIES, Reviewing, reviewed_by, reviewing_by


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("yes", "not 'yes'"),
        ({"action": "nod"}, "must be 'approve', 'correct', 'refuse' or 'end'"),
        ({"action": "correct"}, "the new text in 'text'"),
        ({"action": "correct", "text": " \n"}, "the new text in 'text'"),
        ({"action": "refuse", "text": "no"}, "reads only its 'reason'"),
        ({"action": "approve", "why": "x"}, "no field 'why'"),
    ],
)
def test_what_is_no_answer_says_what_would_be(given: object, words: str) -> None:
    """The message is for the author of the reviewer."""
    with pytest.raises(UsageError, match=words):
        dqa.ReviewAnswer.of(given)


def test_a_reviewer_and_what_is_reviewed_belong_together() -> None:
    """A reviewer and the kinds of review are required together."""

    def approve(review: dqa.Review) -> dqa.ReviewAnswer:
        raise AssertionError(review)

    assert reviewing_by(None, ()) is None
    with pytest.raises(UsageError, match="reviewer"):
        reviewing_by(None, ("plan",))
    with pytest.raises(UsageError, match="reviewer"):
        reviewing_by(approve, ())
    with pytest.raises(UnknownNameError, match="Did you mean 'plan'"):
        reviewing_by(approve, ("plans",))


def settling(answer: Callable[[dqa.Review], dqa.ReviewAnswer]) -> Reviewing:
    """Return reviews of statements with a fixed answer."""
    found = reviewing_by(answer, ("statement",))
    assert found is not None
    return found


ASKED = dqa.Review(kind="statement", text="SELECT 1")


def test_corrections_that_cannot_be_used_are_asked_for_again_a_few_times() -> None:
    """The reviewer receives the reason, and has a limited number of attempts."""
    told: list[str] = []

    def correct(review: dqa.Review) -> dqa.ReviewAnswer:
        told.append(review.problem)
        return dqa.ReviewAnswer(action="correct", text="DROP TABLE x", by="ada")

    reviewing = settling(correct)
    settled = reviewing.settle(ASKED, lambda text: f"No {text}.")
    assert told == ["", *["No DROP TABLE x."] * (MOST_TRIES - 1)]
    assert (settled.text, settled.by) == (None, "ada")
    assert [event.problem for event in reviewing.events] == ["No DROP TABLE x."] * MOST_TRIES


def test_waiting_is_no_time_of_the_decision() -> None:
    """Times and time limits exclude the time of the reviewer."""

    def slow(review: dqa.Review) -> dqa.ReviewAnswer:
        time.sleep(0.2)
        return dqa.ReviewAnswer(action="approve")

    reviewing = settling(slow)
    with reviewed_by(reviewing):
        recorder = Recorder()
        reviewing.settle(ASKED)
        decision = recorder.answered("x", "x")
    assert reviewing.waited >= 0.2 > decision.seconds
    assert [event.kind for event in decision.trace] == ["review", "answer"]


def test_ending_says_who_and_why() -> None:
    """The event has the review."""
    reviewing = settling(lambda _: dqa.ReviewAnswer(action="end", reason="Lunch.", by="ada"))
    with pytest.raises(StoppedError, match=r"\(ada\) ended .* of a statement: Lunch\.$"):
        reviewing.settle(ASKED)
    (event,) = reviewing.events
    assert event_from_json(event.to_json()) == event
    assert isinstance(event, ReviewEvent)


def test_a_journal_gives_again_what_came_and_asks_for_what_did_not() -> None:
    """Equal requests get their replies in order. Failed requests run again."""
    came = iter(range(10))
    first = Journal()
    with use_journal(first):
        assert [replay("n", "a", lambda: next(came)) for _ in range(2)] == [0, 1]
        with pytest.raises(ZeroDivisionError):
            replay("n", "b", lambda: 1 // 0)
    first.record("n", "b", {"x": [float("inf")]})
    second = Journal(first.lines)
    with use_journal(second):
        assert [replay("n", "a", lambda: next(came)) for _ in range(3)] == [0, 1, 2]
        assert replay("n", "b", lambda: next(came)) == {"x": [float("inf")]}
        assert replay("m", "a", lambda: next(came)) == 3
    assert replay("n", "a", lambda: next(came)) == 4
    assert len(second.lines) == 5
