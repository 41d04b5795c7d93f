"""Reviews: a person approves, corrects or refuses plans, statements and decisions.

A `Reviewer` is a callable of the caller. A decider settles each plan, statement and decision with
the `Reviewing` of its context. Without a reviewer nothing is asked.
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
"""Unusable corrections of one thing before it counts as refused."""
_LONGEST_NAME = 100


class Review(Record):
    """A plan, statement or decision that a person is asked to approve.

    Attributes
    ----------
    kind
        The kind: a plan, a statement before it runs, or the decision.
    text
        The plan, the statement, or the choice.
    question
        The question to decide.
    step
        Number of the model's reply that contains it; 0 where no model was asked.
    thought
        The model's reason; empty where it gives none.
    plan
        The current plan; empty where there is none.
    database, language
        The database of a statement and its language; empty for other kinds.
    verdict
        The guard's verdict on a statement; refused ones are not reviewed.
    problem
        Why the last correction could not be used, when this is asked again.
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
        ``approve``; ``correct``, with `text` in its place; ``refuse``, whose `reason` the model
        reads; or ``end``, which ends the run.
    text
        The correction.
    reason
        The reason, for the model and the record.
    by
        The person, for the record.
    """

    action: ReviewAction
    text: str = ""
    reason: str = ""
    by: str = ""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.action == "correct" and not self.text.strip():
            raise ValueError("a correction needs the text that takes its place: give 'text'")
        if self.action != "correct" and self.text:
            raise ValueError(
                f"'{self.action}' takes no 'text': the model reads its 'reason', and "
                "a new text is a 'correct'"
            )
        return self

    @classmethod
    def of(cls, given: object) -> Self:
        """Return an answer, or read it from a JSON object; `UsageError` where it is neither."""
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            raise UsageError(f"The answer to a review: {problem_of(error)}.") from error


Reviewer: TypeAlias = Callable[[Review], ReviewAnswer]
"""Asks the person and waits for the answer."""


@dataclass(frozen=True, slots=True)
class Settled:
    """The result of a review.

    Attributes
    ----------
    text
        The approved text or its correction; None where it was refused.
    corrected
        Whether it is the correction.
    reason
        The person's reason for a refusal or a correction.
    by
        The person.
    """

    text: str | None
    corrected: bool = False
    reason: str = ""
    by: str = ""


def review_kinds(names: Iterable[str]) -> tuple[ReviewKind, ...]:
    """Return the kinds of review by their names; `UnknownNameError` for another name."""
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
        The question, as reviews show it.
    kinds
        The kinds that are reviewed.
    approved
        The statements that were approved in this decision, or that a person wrote.
    waited
        Seconds that the reviewer took so far; no time limit counts them.
    events
        Every review, in order.
    recorder
        The record of the decision; None before it begins.
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
        """Whether a person has approved the decision, or corrected it in a usable way."""
        decisions = [event for event in self.events if event.about == "decision"]
        last = decisions[-1] if decisions else None
        return last is not None and last.action in {"approve", "correct"} and last.problem is None

    def settle(
        self, review: Review, problem_with: Callable[[str], str] = lambda _text: ""
    ) -> Settled:
        """Ask until there is a usable answer.

        Parameters
        ----------
        review
            The review; its question, thought and plan are filled in.
        problem_with
            Returns why a correction cannot be used; empty where it can.

        Raises
        ------
        StoppedError
            The person ends the run.
        UsageError
            The reviewer returned something else than an answer.
        """
        review = review.changed(**self._context())
        for _ in range(MOST_TRIES):
            answer = self._ask(review)
            problem = problem_with(answer.text) if answer.action == "correct" else ""
            self._note(review, answer, problem)
            if not problem:
                return self._settled(review, answer)
            review = review.changed(problem=problem)
        return Settled(None, reason="No correction of it could be used", by=answer.by)

    def _context(self) -> dict[str, object]:
        events = () if self.recorder is None else self.recorder.events
        plans = () if self.recorder is None else self.recorder.plans
        reply = ReplyEvent()
        for event in events:
            reply = event if isinstance(event, ReplyEvent) else reply
        return {
            "question": self.question,
            "step": reply.step,
            "thought": reply.thought or "",
            "plan": plans[-1] if plans else "",
        }

    def _ask(self, review: Review) -> ReviewAnswer:
        def ask() -> object:
            return ReviewAnswer.of(self._reviewer(review)).to_json()

        began = perf_counter()
        try:
            answer = ReviewAnswer.of(replay("review", review.to_json(), ask))
        finally:
            self.waited += perf_counter() - began
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

    def _settled(self, review: Review, answer: ReviewAnswer) -> Settled:
        reason, by = answer.reason.strip().rstrip("."), answer.by
        if answer.action == "end":
            who, why = f" ({by})" if by else "", f": {reason}." if reason else "."
            raise StoppedError(
                f"A person{who} ended the run when asked about the {review.kind}{why}"
            )
        if answer.action == "refuse":
            return Settled(None, reason=reason, by=by)
        corrected = answer.action == "correct"
        text = answer.text.strip() if corrected else review.text
        if review.kind == "statement":
            self.approved.add(text)
        return Settled(text, corrected, reason, by)


_reviewing = ContextValue[Reviewing | None]("dqa_reviewing", None)
current_reviewing = _reviewing.get
"""Return the reviews of this context; None where nothing is reviewed."""
reviewed_by = _reviewing.use
"""Review the plans, statements and decisions of this context; None reviews nothing."""


def reviewing_by(reviewer: Reviewer | None, kinds: Iterable[str]) -> Reviewing | None:
    """Return the reviews of a decision; None without a reviewer.

    Raises
    ------
    UsageError
        There is a reviewer and nothing to review, or the other way round; or an unknown kind.
    """
    wanted = review_kinds(kinds)
    if reviewer is None and wanted:
        raise UsageError(
            f"review names {', '.join(wanted)}, and there is no reviewer: give a callable that "
            "takes a Review and returns a ReviewAnswer."
        )
    if reviewer is not None and not wanted:
        raise UsageError(
            "There is a reviewer and nothing to review: name plan, statement or decision in review."
        )
    return None if reviewer is None else Reviewing(reviewer, wanted)


def reviews_in(events: Iterable[Event]) -> tuple[ReviewEvent, ...]:
    """Return the reviews among events."""
    return tuple(event for event in events if isinstance(event, ReviewEvent))
