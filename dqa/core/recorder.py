"""What happens while a decision is made, and the `Decision` that is made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter

from dqa.core.budgets import ENDLESS, DecisionBudget, Meter, Spent
from dqa.core.decision import Decision, Ending, Outage, Usage
from dqa.core.endings import ending_of
from dqa.core.events import (
    AnswerEvent,
    BudgetEvent,
    EndingEvent,
    Event,
    WarningEvent,
    event_of,
)
from dqa.core.evidence import Evidence
from dqa.core.question import Candidate
from dqa.core.review import current_reviewing, reviewed_by


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


def current_watcher() -> DecisionWatcher:
    """Return the watcher of decisions that begin in this context."""
    return _watcher.get()


class Recorder:
    """Keeps what happens in one decision; its clock starts when it is made. Used by one thread.

    Parameters
    ----------
    budget
        What the decision may cost.
    clock
        Where the time that it may take comes from.

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
    uncounted
        Those of replies whose tokens nobody counted, by an estimate; for the budget alone.
    steps
        Replies of the deciding model so far.
    spent
        Which part of the budget is spent, as it was found last; None for none.
    ended_by
        Which budget ended the run, as in `Decision`; None before.
    """

    def __init__(
        self, budget: DecisionBudget = ENDLESS, clock: Callable[[], float] = perf_counter
    ) -> None:
        self.spent: str | None = None
        self.ended_by: str | None = None
        self._reviewing = current_reviewing()
        self._is_endless = budget == ENDLESS
        self._meter = Meter(budget, lambda: clock() - self._waited())
        self.events: list[Event] = []
        self.evidence: list[Evidence] = []
        self.plans: list[str] = []
        self.usage = self.lost = self.uncounted = Usage()
        self.steps = 0
        self._began = perf_counter() - self._waited()
        self._watcher = _watcher.get()
        if self._reviewing is not None:
            self._reviewing.recorder = self

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

    @classmethod
    def branch(cls) -> Recorder:
        """Return a recorder for what another thread does at the same time; `merge` takes it in.

        It bounds nothing and tells nobody: the recorder that takes it in does, in its own thread.
        """
        with reviewed_by(None), watched_by(DecisionWatcher()):
            return cls()

    def merge(self, branch: Recorder) -> None:
        """Take in what a branch recorded, as if it had happened now; its steps are numbered on."""
        before = self.steps
        self.steps += branch.steps
        self.usage += branch.usage
        self.lost += branch.lost
        self.uncounted += branch.uncounted
        for event in branch.events:
            self.note(event.model_copy(update={"step": before + event.step}))

    def over_budget(self, *, reads: bool = True) -> str | None:
        """Return what of the budget is spent, behind a step; None while there is room for another.

        Parameters
        ----------
        reads
            Whether another step may call a tool.
        """
        if self._is_endless:  # what was used is added up after every step, for nobody
            return None
        now = self._spent()
        self._meter.step(now)
        self.spent = (self.has_read_enough() if reads else None) or self._meter.has_no_room(now)
        return self.spent

    def has_read_enough(self) -> str | None:
        """Return which bound of statements or rows is reached; None where none is."""
        return None if self._is_endless else self._meter.has_read_enough(self._spent())

    def close_by_budget(self) -> bool:
        """Take note that a budget ends the run; return whether a last reply can be asked for."""
        spent = self.spent or "nothing"
        self.ended_by = f"budget: {spent}"
        left = not self._meter.is_overdrawn(self._spent())
        self.note(BudgetEvent(step=self.steps, spent=spent, asked=left))
        return left

    def _spent(self) -> Spent:
        usage = self.usage + self.lost + self.uncounted
        rows = [evidence.row_count for evidence in self.evidence]
        scanned = sum(
            returned if evidence.scanned is None else evidence.scanned
            for returned, evidence in zip(rows, self.evidence, strict=True)
        )
        return self._meter.read(
            usage.input_tokens, usage.output_tokens, len(rows), sum(rows), scanned
        )

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

    def _waited(self) -> float:
        """Return how long people took to answer: no time of the decision's own."""
        return 0.0 if self._reviewing is None else self._reviewing.waited

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
            seconds=perf_counter() - self._waited() - self._began,
            error=problem,
            outage=outage,
            trace=tuple(self.events),
            lost=self.lost,
            ended_by=self.ended_by,
        )
