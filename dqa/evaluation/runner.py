"""Make the decisions of a run: claim tasks, submit them to workers, and store the results.

The same loop runs questions and games. This process plans the decisions and stores their results.
An executor makes batches of decisions in threads, processes or a Ray cluster.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from dqa.core.decision import Decision, Ending
from dqa.core.errors import CrashError, InfrastructureError
from dqa.core.events import EndingEvent
from dqa.core.recorder import DecisionWatcher, watched_by
from dqa.evaluation.decide import DecisionRecord, decide_task
from dqa.evaluation.observers import tell_observers
from dqa.evaluation.prepare import Task
from dqa.evaluation.results import DecisionKey, Result
from dqa.evaluation.store import RunStore

if TYPE_CHECKING:
    from dqa.evaluation.executors import Batch, Executor

_POLL_SECONDS: Final = 0.5
"""Interval at which the loop checks for Ctrl-C and for tasks that other processes released."""
_GRACE_SECONDS: Final = 2.0
"""Maximum time that an interrupted run waits for decisions in progress."""
_FAILED_STARTS: Final = 3
"""The run ends when this number of consecutive workers died before they were ready."""
MOST_IN_A_ROW: Final = 10
"""The run ends after this number of consecutive crashes, because more would probably follow."""
MOST_DEATHS: Final = 3
"""A decision during which this number of workers died is recorded as a crash."""


class WorkerDiedError(Exception):
    """The worker of a batch died. Other workers repeat the decisions of the batch."""


class WorkerNotStartedError(WorkerDiedError):
    """The worker died before it could make a decision, so no decision caused its death."""


def run_tasks(  # noqa: PLR0913  (each is a question of its own to the caller)
    tasks: Sequence[Task],
    executor: Executor,
    store: RunStore,
    on_result: Callable[[Result], object],
    *,
    watcher: DecisionWatcher | None = None,
    fail_fast: bool = False,
) -> tuple[Result, ...]:
    """Make and store every decision that is missing in the store.

    Parameters
    ----------
    tasks
        All tasks of the run in the order of its plan.
    executor
        Makes the decisions. It is closed at the end.
    store
        Stores each decision as soon as its batch is done.
    on_result
        A function that is called with each new result.
    watcher
        Receives the events of the decisions. Several threads may call it at the same time.
    fail_fast
        Whether the first crash stops the run.

    Returns
    -------
    tuple of Result
        One result per task, in the order of the plan.

    Raises
    ------
    KeyboardInterrupt
        The user stopped the run. Finished decisions are stored.
    CrashError
        Too many decisions crashed. All finished decisions are stored, including the crashed
        decisions.
    """
    store.plan(tasks)
    watcher = watcher or DecisionWatcher()
    with watched_by(watcher):
        _Loop(executor, store, watcher, on_result, 1 if fail_fast else MOST_IN_A_ROW).run()
    return store.results()


@dataclass
class _Loop:
    """The state of a run: the batches in progress, and consecutive failures.

    Attributes
    ----------
    again
        Batches whose worker died. Other workers repeat these batches.
    crashes, failed_starts
        Number of decisions that crashed in a row, and number of workers that did not start in a
        row.
    deaths
        For each decision, the number of workers that died while making it.
    """

    executor: Executor
    store: RunStore
    watcher: DecisionWatcher
    on_result: Callable[[Result], object]
    most_crashes: int
    running: dict[Future[Batch], Sequence[Task]] = field(default_factory=dict)
    again: deque[Sequence[Task]] = field(default_factory=deque)
    deaths: Counter[DecisionKey] = field(default_factory=Counter)
    crashes: int = 0
    failed_starts: int = 0
    is_spent: bool = False

    def run(self) -> None:
        """Make decisions until all are made or the budget is spent. Then close the executor."""
        is_whole = False
        try:
            while True:
                if self._begin_batches():
                    self._take(_POLL_SECONDS)
                elif self.is_spent or self.store.is_finished():
                    is_whole = True
                    return
                else:  # other processes work on the remaining tasks
                    time.sleep(_POLL_SECONDS)
        except BaseException:
            self.store.patience = min(self.store.patience, _GRACE_SECONDS)
            self._take(_GRACE_SECONDS, every=True)
            raise
        finally:
            self.executor.close(at_once=not is_whole)

    def _begin_batches(self) -> bool:
        """Start a batch in each free slot. Return whether any batch is in progress."""
        executor = self.executor
        free = 0 if self.is_spent else executor.slots - len(self.running)
        batches = [self.again.popleft() for _ in range(min(free, len(self.again)))]
        if (count := free - len(batches)) > 0:
            batches += self.store.claim(executor.batch, count)
        for tasks in batches:
            self.running[executor.submit(tasks, self.store.used)] = tasks
        return bool(self.running)

    def _take(self, seconds: float, *, every: bool = False) -> None:
        """Wait for batches for at most `seconds`, and store the batches that end."""
        until = time.monotonic() + seconds
        while self.running and (left := until - time.monotonic()) > 0:
            done, _ = wait(self.running, left, FIRST_COMPLETED)
            for future in done:
                self._take_batch(future, self.running.pop(future), is_ending=every)
            if done and not every:
                return

    def _take_batch(self, future: Future[Batch], tasks: Sequence[Task], *, is_ending: bool) -> None:
        try:
            batch = future.result()
        except WorkerDiedError as error:
            if not is_ending:
                self._repeat(tasks, error)
            return
        except BaseException:
            if not is_ending:
                raise
            return
        self.failed_starts = 0
        for record in batch.made:
            self.store.add(*record)
        if is_ending:
            return
        for record in batch.made:
            self._report(record)
            self.is_spent = self.is_spent or record.trace.ending is Ending.BUDGET
        if batch.problem is not None:
            raise batch.problem

    def _report(self, record: DecisionRecord) -> None:
        """Report a decision to the watcher. Raise `CrashError` after too many crashes in a row."""
        trace = record.trace
        if not self.executor.is_local:
            for event in trace.events:
                self.watcher.happened(event, trace.usage)
        tell_observers(trace)
        self.on_result(record.result)
        self.crashes = self.crashes + 1 if trace.ending is Ending.CRASHED else 0
        if self.crashes >= self.most_crashes:
            several = self.most_crashes > 1
            many = f"{self.crashes} decisions in a row" if several else "a decision"
            raise CrashError(
                f"The run was stopped because {many} crashed. The last crash was at "
                f"{record.result.key}: {trace.error}."
            )

    def _repeat(self, tasks: Sequence[Task], error: WorkerDiedError) -> None:
        """Queue the decisions of a dead worker again. Each decision gets its own batch.

        If too many workers died during a decision, the decision ends as a crash.
        """
        if isinstance(error, WorkerNotStartedError):
            self.failed_starts += 1
            if self.failed_starts >= _FAILED_STARTS:
                raise InfrastructureError(
                    f"{_FAILED_STARTS} workers in a row died before they were ready: {error}"
                ) from error
            self.again.append(tasks)
            return
        for task in tasks:
            self.deaths[task.key] += 1
            if self.deaths[task.key] < MOST_DEATHS:
                self.again.append([task])
                continue
            words = f"{MOST_DEATHS} workers died while they made this decision: {error}"
            event = EndingEvent(kind="crashed", problem=words)
            decision = Decision(Ending.CRASHED, error=words, trace=(event,))
            record = decide_task(task, partial(replace, decision))
            self.store.add(*record)
            self._report(record)
