"""Reviews: a person approves, corrects or refuses plans, statements and decisions.

The caller provides a `Reviewer`. A decider passes each plan, statement and decision to the
`Reviewing` of its context. Without a reviewer nothing is reviewed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Self, TypeAlias, get_args

from pydantic import ValidationError, model_validator

from dqa.core.context import ContextValue
from dqa.core.errors import StoppedError, UnknownNameError, UsageError
from dqa.core.events import Event, ReplyEvent, ReviewAction, ReviewEvent, ReviewKind
from dqa.core.journal import replay
from dqa.core.records import Record, problem_of
from dqa.core.text import shortened

if TYPE_CHECKING:
    from dqa.core.recorder import Recorder

MOST_TRIES = 5
"""After this number of unusable corrections, the reviewed text is refused."""
_LONGEST_NAME = 100


class Review(Record):
    """A plan, statement or decision that a person is asked to approve.

    Attributes
    ----------
    kind
        The kind of the text: a plan, a statement before it runs, or the decision.
    text
        The plan, the statement, or the choice.
    question
        The question to decide.
    step
        The number of the model's reply with this text; 0 without a model.
    thought
        The model's reason; empty if there is none.
    plan
        The current plan; empty if there is none.
    database, language
        The database of a statement and its language; empty for other kinds.
    verdict
        The guard's verdict on a statement. Statements that the guard refuses are not reviewed.
    problem
        The reason why the last correction could not be used; empty at the first request.
    """

    kind: ReviewKind
    text: str
    question: str = ""
    step: int = 0
    thought: str = ""
    plan: str = ""
    database: str = ""
    language: str = ""
    verdict: str = ""
    problem: str = ""


class ReviewAnswer(Record):
    """A person's answer to a `Review`.

    Attributes
    ----------
    action
        ``approve``; ``correct``, with a new `text`; ``refuse``, with a `reason` for the model; or
        ``end``, which stops the decision.
    text
        The correction.
    reason
        The reason, which the model reads and the trace stores.
    by
        The name of the person, which the trace stores.
    """

    action: ReviewAction
    text: str = ""
    reason: str = ""
    by: str = ""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.action == "correct" and not self.text.strip():
            raise ValueError("a correction needs the new text in 'text'")
        if self.action != "correct" and self.text:
            raise ValueError(
                f"'{self.action}' accepts no 'text': the model reads only its 'reason'. To give a "
                "new text, use the action 'correct'"
            )
        return self

    @classmethod
    def of(cls, value: object) -> Self:
        """Return an answer unchanged, or read it from a dictionary.

        Raise `UsageError` for any other value.
        """
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            raise UsageError(f"The answer to a review is invalid: {problem_of(error)}.") from error


Reviewer: TypeAlias = Callable[[Review], ReviewAnswer]
"""A function that asks a person and waits for the answer."""


@dataclass(frozen=True, slots=True)
class Settled:
    """The result of a review.

    Attributes
    ----------
    text
        The approved text or its correction; None after a refusal.
    corrected
        Whether `text` is a correction.
    reason
        The person's reason for a refusal or a correction.
    by
        The name of the person who answered.
    """

    text: str | None
    corrected: bool = False
    reason: str = ""
    by: str = ""


def review_kinds(names: Iterable[str]) -> tuple[ReviewKind, ...]:
    """Return the kinds of review with these names; raise `UnknownNameError` for another name."""
    known: tuple[ReviewKind, ...] = get_args(ReviewKind)
    wanted = tuple(names)
    for name in wanted:
        if name not in known:
            raise UnknownNameError("kind of review", name, known)
    return tuple(kind for kind in known if kind in wanted)


class Reviewing:
    """The reviews of one decision. Used by one thread at a time.

    Parameters
    ----------
    reviewer
        Asks the person.
    kinds
        The kinds that are reviewed.

    Attributes
    ----------
    question
        The text of the question, for reviews.
    kinds
        The kinds that are reviewed.
    approved
        The statements of this decision that a person approved or wrote.
    waited
        The seconds that the reviewer took so far. Time limits exclude this time.
    events
        All reviews, in order.
    recorder
        The record of the decision; None before the decision begins.
    """

    def __init__(self, reviewer: Reviewer, kinds: Iterable[ReviewKind]) -> None:
        self._reviewer = reviewer
        self.kinds = frozenset(kinds)
        self.approved: set[str] = set()
        self.question = ""
        self.waited = 0.0
        self.events: list[ReviewEvent] = []
        self.recorder: Recorder | None = None

    @property
    def has_decided(self) -> bool:
        """Whether a person has approved the decision or corrected it in a usable way."""
        decisions = [event for event in self.events if event.about == "decision"]
        last = decisions[-1] if decisions else None
        return last is not None and last.action in {"approve", "correct"} and last.problem is None

    def settle(
        self, review: Review, problem_with: Callable[[str], str] = lambda _text: ""
    ) -> Settled:
        """Ask the person until an answer can be used.

        Parameters
        ----------
        review
            The review. This method adds question, step, thought and plan.
        problem_with
            Returns the problem of a correction; an empty text if the correction can be used.

        Raises
        ------
        StoppedError
            The person stops the decision.
        UsageError
            The reviewer did not return an answer.
        """
        events = self.recorder.events if self.recorder is not None else []
        plans = self.recorder.plans if self.recorder is not None else []
        reply = next((e for e in reversed(events) if isinstance(e, ReplyEvent)), ReplyEvent())
        about = {"step": reply.step, "thought": reply.thought or "", "plan": "".join(plans[-1:])}
        review = review.changed(question=self.question, **about)
        for _ in range(MOST_TRIES):
            answer = self._ask(review)
            correction = answer.text.strip()
            problem = problem_with(answer.text) if correction else ""
            self._note(review, answer, problem)
            if not problem:
                break
            review = review.changed(problem=problem)
        else:
            return Settled(None, reason="No correction of the text could be used", by=answer.by)
        reason, by = answer.reason.strip().rstrip("."), answer.by
        if answer.action == "end":
            who, why = f" ({by})" if by else "", f": {reason}." if reason else "."
            raise StoppedError(f"A person{who} ended the run in the review of a {review.kind}{why}")
        text = None if answer.action == "refuse" else correction or review.text
        if review.kind == "statement" and text is not None:
            self.approved.add(text)
        return Settled(text, bool(correction), reason, by)

    def _ask(self, review: Review) -> ReviewAnswer:
        """Return the person's answer. A correction without a change counts as an approval."""
        began = perf_counter()
        try:
            reply = replay(
                "review",
                review.to_json(),
                lambda: ReviewAnswer.of(self._reviewer(review)).to_json(),
            )
        finally:
            self.waited += perf_counter() - began
        answer = ReviewAnswer.of(reply)
        answer = answer.changed(by=shortened(answer.by, _LONGEST_NAME))
        is_same = answer.action == "correct" and answer.text.strip() == review.text.strip()
        return answer.changed(action="approve", text="") if is_same else answer

    def _note(self, review: Review, answer: ReviewAnswer, problem: str) -> None:
        shared = review.model_dump(include={"step", "text", "thought", "verdict"})
        shared |= answer.model_dump(include={"action", "reason", "by"})
        correction = answer.text.strip() or None
        event = ReviewEvent(
            about=review.kind, correction=correction, problem=problem or None, **shared
        )
        self.events.append(event)
        if self.recorder is not None:
            self.recorder.note(event)


_reviewing = ContextValue[Reviewing | None]("dqa_reviewing", None)
current_reviewing = _reviewing.get
"""Return the reviews of this context; None if nothing is reviewed."""
reviewed_by = _reviewing.use
"""Use a `Reviewing` in this context; with None nothing is reviewed."""


def reviewing_by(reviewer: Reviewer | None, kinds: Iterable[str]) -> Reviewing | None:
    """Return a new `Reviewing` for a decision; None without a reviewer.

    Raises
    ------
    UsageError
        The caller passes only one of `reviewer` and `kinds`, or a kind is unknown.
    """
    wanted = review_kinds(kinds)
    if (reviewer is None) == bool(wanted):
        raise UsageError(
            "A review needs both arguments: 'reviewer', a function that takes a Review and "
            "returns a ReviewAnswer, and 'review', which lists the kinds to review (plan, "
            "statement, decision)."
        )
    return None if reviewer is None else Reviewing(reviewer, wanted)


def reviews_in(events: Iterable[Event]) -> tuple[ReviewEvent, ...]:
    """Return the review events among `events`."""
    return tuple(event for event in events if isinstance(event, ReviewEvent))
