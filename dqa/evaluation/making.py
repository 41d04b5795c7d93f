"""Making one decision and judging it, whoever asks for it: threads here, or a cluster's workers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, Protocol

from dqa.core.database import Database, Kind
from dqa.core.decider import Decider
from dqa.core.decision import Decision, Usage
from dqa.evaluation.crashes import ended_by
from dqa.evaluation.outages import Patience
from dqa.evaluation.plan import Setup, Task
from dqa.evaluation.results import Result
from dqa.evaluation.score import Assessment, Judge
from dqa.evaluation.traces import Trace
from dqa.models.attempts import attempt_by


class Made(NamedTuple):
    """A decision that was made and judged, as the store keeps it.

    Attributes
    ----------
    lost
        What was used on the way to it and led to nothing.
    """

    result: Result
    trace: Trace
    lost: Usage


class TaskDatabases(Protocol):
    """The open databases of some tasks."""

    def of(self, task: Task) -> Database:
        """Return the task's database, opened where it is not yet."""
        ...

    def done(self, task: Task) -> None:
        """Take note that a task needs its database no more."""
        ...


class Maker:
    """Makes decisions, each again where a database went away and came back. Threads share it.

    Parameters
    ----------
    databases
        Opens and closes what is asked.
    decider_of
        Returns who decides a task.
    patience
        Seconds to wait for a database that went away.
    stopped
        Set when nothing is to be waited for any more.
    """

    def __init__(
        self,
        databases: TaskDatabases,
        decider_of: Callable[[Task], Decider],
        patience: float,
        stopped: threading.Event,
    ) -> None:
        self._databases = databases
        self._decider_of = decider_of
        self._patience_of: Callable[[], Patience] = lambda: Patience(patience, stopped)
        self._patience: dict[str, Patience] = {}
        self._lock = threading.Lock()

    def make(self, task: Task) -> Decision:
        """Make one decision; close its database where nobody else needs it."""
        decision = self._decide(task)
        try:
            self._databases.done(task)
        except Exception as error:  # noqa: BLE001  (a driver's bug ends one decision)
            return ended_by(error, decision.seconds)
        return decision

    def _decide(self, task: Task) -> Decision:
        made: list[Decision] = []
        played: list[bool] = []

        def attempt() -> bool:
            started = time.perf_counter()
            with attempt_by(*task.key.requester) as now:
                try:
                    database = self._databases.of(task)
                    made.append(_asked(self._decider_of(task), task, database))
                except Exception as error:  # noqa: BLE001  (one bug ends one decision)
                    error.add_note(f"It was raised at {task.key}.")
                    made.append(ended_by(error, time.perf_counter() - started))
            played.append(bool(now.played))
            return made[-1].outage != "database"

        with self._lock:
            patience = self._patience.setdefault(task.database, self._patience_of())
        patience.retried(attempt)
        lost = sum((one.lost for one in made), Usage())
        for earlier, had_its_replies in zip(made, played[1:], strict=False):
            lost += Usage() if had_its_replies else earlier.usage
        return replace(made[-1], lost=lost)


def _asked(decider: Decider, task: Task, database: Database) -> Decision:
    decision: object = decider.decide(task.question, database)
    if not isinstance(decision, Decision):
        raise TypeError(f"the decider '{task.decider}' returned no Decision but {decision!r}")
    return decision


def judged(task: Task, setup: Setup, judge: Judge, decision: Decision) -> Made:
    """Return a decision with what it is worth; a bug in judging is the end of that decision."""
    kind, model = setup.kind_of(task), setup.models[task.decider]
    try:
        return _lines(task, kind, model, decision, judge.judge(task.question, decision))
    except Exception as error:  # noqa: BLE001  (a simulator's bug is one decision's end)
        return unjudged(task, setup, ended_by(error, decision.seconds))


def unjudged(task: Task, setup: Setup, decision: Decision) -> Made:
    """Return a decision that ended without anything to judge."""
    kind, model = setup.kind_of(task), setup.models[task.decider]
    return _lines(task, kind, model, decision, Assessment.of_ending(decision))


def _lines(task: Task, kind: Kind, model: str, decision: Decision, assessed: Assessment) -> Made:
    result = Result.of(task, kind, model, decision, assessed)
    return Made(result, Trace.of(task.key, kind, model, decision), decision.lost)
