"""What happens while a decision is made, and the `Decision` that is made of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter

from dqa.core.decision import Decision, Ending, Outage, Usage
from dqa.core.endings import ending_of
from dqa.core.events import AnswerEvent, EndingEvent, Event, WarningEvent, event_of
from dqa.core.evidence import Evidence
from dqa.core.question import Candidate


class DecisionWatcher:
    """Is told what happens in a decision while it is made; does nothing by default.

    It is called by the thread that decides, which waits for it.
    """

    def asking(self, step: int) -> None:
        """Take note that a model is asked for its reply number `step`."""

    def happened(self, event: Event, usage: Usage) -> None:
        """Take note of an event, and of all tokens and calls so far."""


_watcher: ContextVar[DecisionWatcher] = ContextVar("dqa_watcher", default=DecisionWatcher())  # noqa: B039  (keeps nothing)


@contextmanager
def watched_by(watcher: DecisionWatcher) -> Iterator[None]:
    """Let `watcher` be told of every decision that begins in this context."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


class Recorder:
    """Keeps what happens in one decision; its clock starts when it is made. Used by one thread.

    Attributes
    ----------
    events
        What happened, in order.
    evidence
        What was asked of the database or another tool, and what came back.
    plans
        The plan and each one that replaced it.
    usage
        Tokens and calls so far.
    lost
        Those of replies that never came whole.
    steps
        Replies of the deciding model so far.
    """

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.evidence: list[Evidence] = []
        self.plans: list[str] = []
        self.usage = self.lost = Usage()
        self.steps = 0
        self._began = perf_counter()
        self._watcher = _watcher.get()

    def asking(self) -> None:
        """Say that a model is asked for its next reply."""
        self._watcher.asking(self.steps + 1)

    def note(self, event: Event) -> None:
        """Add an event."""
        self.events.append(event)
        self._watcher.happened(event, self.usage)

    def warn_once(self, warning: WarningEvent) -> None:
        """Add a warning, unless there is one of its words."""
        if all(getattr(event, "text", None) != warning.text for event in self.events):
            self.note(warning)

    def add_evidence(self, evidence: Evidence) -> None:
        """Add what a tool returned, with its event."""
        self.evidence.append(evidence)
        self.note(event_of(evidence, self.steps))

    def answered(self, answer: str, choice: Candidate | None) -> Decision:
        """Return the decision of a run that ended with an answer."""
        self.note(AnswerEvent(step=self.steps, text=answer))
        return self._decision(Ending.ANSWERED, answer=answer, choice=choice)

    def ended(self, ending: Ending, problem: str, outage: Outage | None = None) -> Decision:
        """Return the decision of a run that ended without an answer."""
        self.note(EndingEvent.of(ending, self.steps, problem))
        return self._decision(ending, problem=problem, outage=outage)

    def failed(self, error: Exception) -> Decision:
        """Return the decision of a run that `error` ended; see `dqa.core.endings.ending_of`."""
        return self.ended(*ending_of(error))

    def _decision(
        self,
        ending: Ending,
        answer: str = "",
        choice: Candidate | None = None,
        problem: str | None = None,
        outage: Outage | None = None,
    ) -> Decision:
        return Decision(
            ending=ending,
            answer=answer,
            choice=choice,
            evidence=tuple(self.evidence),
            plans=tuple(self.plans),
            usage=self.usage,
            steps=self.steps,
            seconds=perf_counter() - self._began,
            error=problem,
            outage=outage,
            trace=tuple(self.events),
            lost=self.lost,
        )
