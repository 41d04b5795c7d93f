"""A person in the loop: what is shown for approval, what may be answered, and who is asked.

A `Reviewer` is a callable of the caller's. Whoever makes a plan, a statement or a decision settles
it with the `Reviewing` of its context. Without a reviewer there is none, and nothing is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Self, TypeAlias, get_args

from pydantic import ValidationError, model_validator

from dqa.core.errors import StoppedError, UnknownNameError, UsageError
from dqa.core.events import Event, ReplyEvent, ReviewAction, ReviewEvent, ReviewKind
from dqa.core.journal import remembered
from dqa.core.records import Record, problem_of
from dqa.core.text import shortened

if TYPE_CHECKING:
    from dqa.core.recorder import Recorder

MOST_TRIES = 5
"""Corrections of one thing that cannot be used, before it counts as refused."""
_LONGEST_NAME = 100


class Review(Record):
    """What a person is asked to approve.

    Attributes
    ----------
    kind
        What it is: a plan, a statement before it runs, or the decision.
    text
        The plan, the statement, or what would be decided.
    question
        What is to be decided.
    step
        Number of the model's reply that it stands in; 0 where no model was asked.
    thought
        What the model says it follows from; empty where it does not say.
    plan
        The plan that holds so far; empty where there is none.
    database, language
        What a statement would run on, and what it is written in; empty for anything else.
    verdict
        What the guard says of a statement: what it refuses is not shown.
    problem
        Why the last correction could not be used, where this is asked again; else empty.
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
    """What a person says to a `Review`.

    Attributes
    ----------
    action
        ``approve``; ``correct``, with `text` in its place; ``refuse``, of which the model is told
        the `reason`; or ``end``, which ends the run.
    text
        The correction.
    reason
        Why, for the model and the record.
    by
        Who says so, for the record.
    """

    action: ReviewAction
    text: str = ""
    reason: str = ""
    by: str = ""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.action == "correct" and not self.text.strip():
            raise UsageError("A correction needs the text that takes its place: give 'text'.")
        if self.action != "correct" and self.text:
            raise UsageError(
                f"'{self.action}' takes no 'text': what it says to the model is its 'reason', and "
                "a new text is a 'correct'."
            )
        return self

    @classmethod
    def of(cls, given: object) -> Self:
        """Return an answer, or what a JSON object says of one.

        Raises
        ------
        UsageError
            It is neither.
        """
        if isinstance(given, cls):
            return given
        if not isinstance(given, Mapping):
            raise UsageError(
                f"A review was answered with {shortened(repr(given), 60)}: answer with a "
                "ReviewAnswer, or a mapping with its 'action': approve, correct, refuse or end."
            )
        try:
            return cls.model_validate(dict(given))
        except ValidationError as error:
            raise UsageError(f"The answer to a review: {problem_of(error)}.") from error


Reviewer: TypeAlias = Callable[[Review], ReviewAnswer]
"""Whoever is asked; it waits for the person."""


@dataclass(frozen=True, slots=True)
class Settled:
    """What a review led to.

    Attributes
    ----------
    text
        What holds: as it was, or the correction; None where it was refused.
    corrected
        Whether it is the correction.
    reason
        Why it was refused or corrected, where that was said.
    by
        Who said so.
    """

    text: str | None
    corrected: bool = False
    reason: str = ""
    by: str = ""


def review_kinds(given: Iterable[str]) -> tuple[ReviewKind, ...]:
    """Return what is to be reviewed; `UnknownNameError` where a name is no kind of review."""
    known: tuple[ReviewKind, ...] = get_args(ReviewKind)
    names = tuple(given)
    for name in names:
        if name not in known:
            raise UnknownNameError("kind of review", name, known)
    return tuple(kind for kind in known if kind in names)


class Reviewing:
    """The reviews of one decision. Used by one thread at a time.

    Parameters
    ----------
    reviewer
        Who is asked.
    kinds
        What about.

    Attributes
    ----------
    question
        What is to be decided, as reviews tell it.
    waited
        Seconds that the reviewer took so far; no limit on time counts them.
    events
        Every review, in order.
    recorder
        Keeps the decision that is under way; None before it begins.
    """

    def __init__(self, reviewer: Reviewer, kinds: Iterable[ReviewKind]) -> None:
        self._reviewer = reviewer
        self._kinds = frozenset(kinds)
        self.question = ""
        self._approved: set[str] = set()
        self.waited = 0.0
        self.events: list[ReviewEvent] = []
        self.recorder: Recorder | None = None

    def wants(self, kind: ReviewKind) -> bool:
        """Whether somebody wants to see such a thing."""
        return kind in self._kinds

    def has_approved(self, statement: str) -> bool:
        """Whether a statement was approved in this decision, or is somebody's correction."""
        return statement in self._approved

    def trust(self, statement: str) -> None:
        """Take a statement for approved: a person wrote it."""
        self._approved.add(statement)

    @property
    def has_decided(self) -> bool:
        """Whether somebody has approved the decision, or corrected it so that it could be used."""
        said = [event for event in self.events if event.about == "decision"]
        settled = bool(said) and said[-1].action in {"approve", "correct"}
        return settled and said[-1].problem is None

    def settle(
        self,
        review: Review,
        problem_with: Callable[[str], str] = lambda _text: "",
    ) -> Settled:
        """Ask until there is an answer that can be used.

        Parameters
        ----------
        review
            What is asked; the question, and what it follows from, are filled in.
        problem_with
            Says why a correction cannot be used; empty where it can.

        Raises
        ------
        StoppedError
            The person ends the run.
        UsageError
            What the reviewer returned is no answer.
        """
        asked = review.changed(**self._following())
        for _ in range(MOST_TRIES):
            answer = self._answered(asked)
            if answer.action == "correct" and answer.text.strip() == asked.text.strip():
                answer = answer.changed(action="approve", text="")
            problem = problem_with(answer.text) if answer.action == "correct" else ""
            self._note(asked, answer, problem)
            if problem:
                asked = asked.changed(problem=problem)
                continue
            return self._settled(asked, answer)
        return Settled(None, reason="No correction of it could be used", by=answer.by)

    def _settled(self, asked: Review, answer: ReviewAnswer) -> Settled:
        reason, by = answer.reason.strip().rstrip("."), answer.by
        if answer.action == "end":
            who = f" ({by})" if by else ""
            raise StoppedError(
                f"A person{who} ended the run when asked about the {asked.kind}"
                + (f": {reason}." if reason else ".")
            )
        if answer.action == "refuse":
            return Settled(None, reason=reason, by=by)
        corrected = answer.action == "correct"
        text = answer.text.strip() if corrected else asked.text
        if asked.kind == "statement":
            self.trust(text)
        return Settled(text, corrected, reason, by)

    def _answered(self, asked: Review) -> ReviewAnswer:
        began = perf_counter()
        try:
            said = remembered(
                "review",
                asked.to_json(),
                lambda: ReviewAnswer.of(self._reviewer(asked)).to_json(),
            )
        finally:
            self.waited += perf_counter() - began
        answer = ReviewAnswer.of(said)
        return answer.changed(by=shortened(answer.by, _LONGEST_NAME))

    def _following(self) -> dict[str, object]:
        """Return what a review follows from, as far as it was recorded."""
        recorder, found = self.recorder, {"question": self.question}
        if recorder is None:
            return dict(found)
        replies = (event for event in reversed(recorder.events) if isinstance(event, ReplyEvent))
        reply = next(replies, None)
        found["thought"] = "" if reply is None else reply.thought or ""
        found["plan"] = recorder.plans[-1] if recorder.plans else ""
        return {**found, "step": 0 if reply is None else reply.step}

    def _note(self, asked: Review, answer: ReviewAnswer, problem: str) -> None:
        event = ReviewEvent(
            step=asked.step,
            about=asked.kind,
            text=asked.text,
            thought=asked.thought,
            verdict=asked.verdict,
            action=answer.action,
            correction=answer.text.strip() or None,
            reason=answer.reason,
            by=answer.by,
            problem=problem or None,
        )
        self.events.append(event)
        if self.recorder is not None:
            self.recorder.note(event)


_reviewing: ContextVar[Reviewing | None] = ContextVar("dqa_reviewing", default=None)


def current_reviewing() -> Reviewing | None:
    """Return who is asked in this context; None where nobody is."""
    return _reviewing.get()


@contextmanager
def reviewed_by(reviewing: Reviewing | None) -> Iterator[None]:
    """Let what is planned, asked and decided in this context be reviewed; by nobody for None."""
    token = _reviewing.set(reviewing)
    try:
        yield
    finally:
        _reviewing.reset(token)


def reviewing_by(reviewer: Reviewer | None, kinds: Iterable[str]) -> Reviewing | None:
    """Return the reviews of a decision; None where nobody is asked.

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
