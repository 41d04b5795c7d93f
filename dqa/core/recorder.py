"""Record the events of a decision, and create the `Decision` at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from dqa.core.budgets import ENDLESS, DecisionBudget, Meter, Spent
from dqa.core.context import ContextValue
from dqa.core.decision import Decision, Ending, Outage, Usage, ending_of
from dqa.core.events import AnswerEvent, BudgetEvent, EndingEvent, Event, WarningEvent, event_of
from dqa.core.evidence import Evidence
from dqa.core.question import Candidate
from dqa.core.review import current_reviewing, reviewed_by


class DecisionWatcher:
    """Receives the events of a decision while the decider works, e.g. to show progress.

    The thread of the decision calls these methods. This base class ignores all events.
    """

    def asking(self, step: int) -> None:
        """Handle the start of a request to a model; `step` is the number of the expected reply."""

    def happened(self, event: Event, usage: Usage) -> None:
        """Handle an event; `usage` contains all tokens and calls so far."""


_watcher = ContextValue[DecisionWatcher]("dqa_watcher", DecisionWatcher())
current_watcher = _watcher.get
"""Return the watcher for decisions that begin in this context."""
watched_by = _watcher.use
"""Use a watcher for every decision that begins in this context."""


_recorders = ContextValue["list[Recorder] | None"]("dqa_recorders", None)


@contextmanager
def collect_recorders() -> Iterator[list[Recorder]]:
    """Yield a list that collects the recorders of this context.

    The events of a decision are then known even if an exception ends the decision.
    """
    recorders: list[Recorder] = []
    with _recorders.use(recorders):
        yield recorders


class Recorder:
    """The record of one decision. The clock starts when the record is created. Used by one thread.

    Parameters
    ----------
    budget
        The budget of the decision.
    clock
        Returns the time in seconds, for the budget's time limit.

    Attributes
    ----------
    events
        The events so far, in order.
    evidence
        The statements and other tool calls, with their results.
    plans
        The plan, and each plan that replaced an earlier plan.
    usage
        The tokens and calls so far.
    lost
        The tokens and calls of incomplete replies.
    uncounted
        The estimated tokens of replies whose tokens the provider did not report. Only the budget
        counts these tokens.
    steps
        The number of replies of the deciding model so far.
    spent
        The limit of the budget that is reached; None if no limit is reached.
    ended_by
        The limit that ended the decision early. None if no limit has ended it so far.
    """

    def __init__(
        self, budget: DecisionBudget = ENDLESS, clock: Callable[[], float] = perf_counter
    ) -> None:
        self.spent: str | None = None
        self.ended_by: str | None = None
        self.events: list[Event] = []
        self.evidence: list[Evidence] = []
        self.plans: list[str] = []
        self.usage = self.lost = self.uncounted = Usage()
        self.steps = 0
        self._watcher = current_watcher()
        self._reviewing = current_reviewing()
        if self._reviewing is not None:
            self._reviewing.recorder = self
        recorders = _recorders.get()
        if recorders is not None:
            recorders.append(self)
        self._budget, self._meter = budget, Meter(budget)
        self._clock = clock
        self._budgeted_from = clock() - self._waited()
        self._began = perf_counter() - self._waited()

    def asking(self) -> None:
        """Notify the watcher of a request for the next model reply."""
        self._watcher.asking(self.steps + 1)

    def note(self, event: Event) -> None:
        """Add an event."""
        self.events.append(event)
        self._watcher.happened(event, self.usage)

    def warn_once(self, warning: WarningEvent) -> None:
        """Add a warning if no warning with the same text exists."""
        if all(getattr(event, "text", None) != warning.text for event in self.events):
            self.note(warning)

    def add_evidence(self, evidence: Evidence) -> None:
        """Add the evidence of a tool call, and add the event of this call."""
        self.evidence.append(evidence)
        self.note(event_of(evidence, self.steps))

    @classmethod
    def branch(cls) -> Recorder:
        """Return a recorder for another thread. `merge` later adds its events to the main recorder.

        The new recorder has no budget, watcher or reviews. Only `merge` sends the events to the
        watcher of the main recorder and counts the usage.
        """
        with reviewed_by(None), watched_by(DecisionWatcher()), _recorders.use(None):
            return cls()

    def merge(self, branch: Recorder) -> None:
        """Add the events and the usage of a branch. The branch's first step becomes `steps` + 1."""
        before = self.steps
        self.steps += branch.steps
        self.usage += branch.usage
        self.lost += branch.lost
        self.uncounted += branch.uncounted
        for event in branch.events:
            self.note(event.model_copy(update={"step": before + event.step}))

    def over_budget(self, *, reads: bool = True) -> str | None:
        """Return the budget limit that prevents another step; None if no limit does.

        Parameters
        ----------
        reads
            Whether another step may call a tool.
        """
        now = self._spent()
        self._meter.step(now)
        enough = self._meter.has_read_enough(now) if reads else None
        self.spent = enough or self._meter.has_no_room(now)
        return self.spent

    def has_read_enough(self) -> str | None:
        """Return the limit on statements or rows that is reached; None if neither is reached."""
        return self._meter.has_read_enough(self._spent())

    def close_by_budget(self) -> bool:
        """Record that the budget ends the decision. Return whether one more reply is possible."""
        spent = self.spent or "nothing"
        self.ended_by = f"budget: {spent}"
        left = self._meter.has_no_room(self._spent(), steps=0) is None
        self.note(BudgetEvent(step=self.steps, spent=spent, asked=left))
        return left

    def _spent(self) -> Spent:
        usage = self.usage + self.lost + self.uncounted
        return {
            "seconds": self._clock() - self._waited() - self._budgeted_from,
            "tokens": usage.input_tokens + usage.output_tokens,
            "cost": self._budget.cost_of(usage),
            "statements": len(self.evidence),
            "rows": sum(evidence.row_count for evidence in self.evidence),
        }

    def answered(self, answer: str, choice: Candidate | None) -> Decision:
        """Record the answer, and return the decision."""
        self.note(AnswerEvent(step=self.steps, text=answer))
        return self.decision(Ending.ANSWERED, answer=answer, choice=choice)

    def ended(self, ending: Ending, problem: str, outage: Outage | None = None) -> Decision:
        """Return the decision without an answer."""
        self.note(EndingEvent.of(ending, self.steps, problem))
        return self.decision(ending, error=problem, outage=outage)

    def failed(self, error: Exception) -> Decision:
        """Return the decision that an error ended; see `dqa.core.decision.ending_of`."""
        return self.ended(*ending_of(error))

    def _waited(self) -> float:
        """Return the seconds that people took to answer reviews. Time limits exclude this time."""
        return 0.0 if self._reviewing is None else self._reviewing.waited

    def decision(self, ending: Ending, **fields: Any) -> Decision:  # noqa: ANN401
        """Return a decision with the recorded data, and with `fields` as its other fields."""
        return Decision(
            ending,
            evidence=tuple(self.evidence),
            plans=tuple(self.plans),
            usage=self.usage,
            steps=self.steps,
            seconds=perf_counter() - self._waited() - self._began,
            trace=tuple(self.events),
            lost=self.lost,
            ended_by=self.ended_by,
            **fields,
        )
