"""Running an evaluation: the threads that carry out a plan, judging and keeping as they go.

The plan groups tasks by situation and database, so a situation is loaded once a database, kept
while it is needed and closed after its last task: at most one database a worker, and the next,
is open at a time.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from dataclasses import replace

from dqa.core.database import Database, Kind
from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending, Usage
from dqa.core.recorder import DecisionWatcher, watched_by
from dqa.evaluation.crashes import Crashes, ended_by
from dqa.evaluation.observers import tell_observers
from dqa.evaluation.options import DEFAULT_RUN, RunOptions
from dqa.evaluation.outages import Patience
from dqa.evaluation.plan import Setup, Task, plan
from dqa.evaluation.results import Result
from dqa.evaluation.score import Assessment, Judge
from dqa.evaluation.store import RunStore
from dqa.evaluation.traces import Trace
from dqa.models.attempts import attempt_by

_GRACE_SECONDS = 2.0
"""How long an interrupted run waits for the decisions that are being made."""


def evaluate(  # noqa: PLR0913  (each is a question of its own to the caller)
    setup: Setup,
    judge: Judge,
    store: RunStore,
    options: RunOptions = DEFAULT_RUN,
    on_result: Callable[[Result], object] = id,
    *,
    watcher: DecisionWatcher | None = None,
) -> tuple[Result, ...]:
    """Make, judge and keep every decision that the store does not hold yet.

    Parameters
    ----------
    setup
        What is asked, of whom, on which databases.
    judge
        Judges each decision.
    store
        Keeps each result as soon as it is there.
    options
        Threads, patience, and what happens at a crash.
    on_result
        Called with each new result, by one thread at a time.
    watcher
        Is told what happens in the decisions, by several threads at once.

    Returns
    -------
    tuple of Result
        One result a task, in the order of the plan.

    Raises
    ------
    KeyboardInterrupt
        The user stopped the run; what was decided is in the store.
    CrashError
        Too many decisions crashed; they and what was decided before are in the store.
    """
    tasks = plan(setup)
    crashes = Crashes(fail_fast=options.fail_fast)

    def keep(task: Task, decision: Decision) -> None:
        kind, model = setup.kind_of(task), setup.models[task.decider]
        try:
            lines = _lines(task, kind, model, decision, judge.judge(task.question, decision))
        except Exception as error:  # noqa: BLE001  (a simulator's bug is one decision's end)
            decision = ended_by(error, decision.seconds)
            lines = _lines(task, kind, model, decision, Assessment.of_ending(decision))
        store.add(*lines, decision.lost)
        tell_observers(lines[1])
        on_result(lines[0])
        crashes.count(_where(task), decision)

    left = [task for task in tasks if task.key not in store.results]
    try:
        with watched_by(watcher or DecisionWatcher()):
            carry_out(left, setup, keep, options)
    finally:
        store.close()
    return store.finish(tasks)


def _where(task: Task) -> str:
    return f"{task.question.key}, decided by {task.decider} on {task.database}"


def _lines(
    task: Task, kind: Kind, model: str, decision: Decision, assessed: Assessment
) -> tuple[Result, Trace]:
    result = Result.of(task, kind, model, decision, assessed)
    return result, Trace.of(task.key, kind, model, decision)


def carry_out(
    tasks: Sequence[Task],
    setup: Setup,
    on_decided: Callable[[Task, Decision], None],
    options: RunOptions = DEFAULT_RUN,
) -> None:
    """Make every decision of a plan, or of what is left of it.

    Parameters
    ----------
    tasks
        In the order of the plan.
    setup
        Everything that the tasks name.
    on_decided
        Called with each decision as soon as it is made, by one thread at a time.
    options
        Threads and patience.

    Raises
    ------
    KeyboardInterrupt
        The user stopped the run; what was decided has been handed to `on_decided`.
    DqaError
        What no further decision could do without; a failing server is a decision, not an error.
    Exception
        What `on_decided` raised. What a decider raises ends its decision as `Ending.CRASHED`.
    """
    pool = _WorkerPool(_Databases(tasks, setup), tasks, setup.deciders, on_decided, options)
    pool.work(max(1, min(options.workers, len(tasks))))


class _Databases:
    """The open databases of a run, each shared by the tasks of its group."""

    def __init__(self, tasks: Sequence[Task], setup: Setup) -> None:
        self._setup = setup
        self._left = Counter(task.group for task in tasks)
        self._locks = {group: threading.Lock() for group in self._left}
        self._open: dict[str, Database] = {}

    def of(self, task: Task) -> Database:
        """Return the task's database, opened where no other task has yet."""
        with self._locks[task.group]:
            found = self._open.get(task.group)
            if found is None:
                found = self._setup.open(task)
                self._open[task.group] = found
        return found

    def done(self, task: Task) -> None:
        """Close the task's database where no other task needs it."""
        with self._locks[task.group]:
            self._left[task.group] -= 1
            if not self._left[task.group] and task.group in self._open:
                self._open.pop(task.group).close()

    def close(self) -> None:
        """Close whatever is open; no task may be using it."""
        while self._open:
            self._open.popitem()[1].close()


class _WorkerPool:
    """The threads of a run."""

    def __init__(
        self,
        databases: _Databases,
        tasks: Sequence[Task],
        deciders: Mapping[str, Decider],
        on_decided: Callable[[Task, Decision], None],
        options: RunOptions,
    ) -> None:
        self._databases = databases
        self._todo = deque(tasks)
        self._deciders = deciders
        self._on_decided = on_decided
        self._reporting = threading.Lock()
        self._stopped = threading.Event()
        self._failures: list[BaseException] = []
        self._patience = {
            name: Patience(options.patience, self._stopped)
            for name in {task.database for task in tasks}
        }

    def work(self, workers: int) -> None:
        """Decide everything, or stop at the first failure or interrupt."""
        # Daemons: an interrupted run must not hang on a reply that a provider still owes.
        threads = [
            threading.Thread(
                # A context of its own, for each can be entered once.
                target=copy_context().run,
                args=(self._work,),
                name=f"dqa-worker-{number}",
                daemon=True,
            )
            for number in range(workers)
        ]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        finally:
            self._stopped.set()
            deadline = time.monotonic() + _GRACE_SECONDS
            for thread in threads:
                thread.join(max(0.0, deadline - time.monotonic()))
            if not any(thread.is_alive() for thread in threads):
                self._databases.close()
        if self._failures:
            raise self._failures[0]

    def _work(self) -> None:
        while not self._stopped.is_set():
            try:
                task = self._todo.popleft()
            except IndexError:
                return
            try:
                decision = self._closed(task, self._decide(task))
                with self._reporting:
                    self._on_decided(task, decision)
                if decision.ending is Ending.BUDGET:
                    # What is under way ends the same way by itself; the rest is not asked.
                    self._todo.clear()
            except BaseException as error:  # noqa: BLE001  (raised again by the main thread)
                self._failures.append(error)
                self._stopped.set()

    def _closed(self, task: Task, decision: Decision) -> Decision:
        """Close the task's database where nobody else needs it; a driver may crash even there."""
        try:
            self._databases.done(task)
        except Exception as error:  # noqa: BLE001  (one bug ends one decision)
            return ended_by(error, decision.seconds)
        return decision

    def _decide(self, task: Task) -> Decision:
        """Make one decision, again where the database went away and came back."""
        made: list[Decision] = []
        played: list[bool] = []

        def attempt() -> bool:
            started = time.perf_counter()
            with attempt_by(*task.key) as now:
                try:
                    database = self._databases.of(task)
                    made.append(_asked(self._deciders[task.decider], task, database))
                except Exception as error:  # noqa: BLE001  (one bug ends one decision)
                    error.add_note(f"It was raised at {_where(task)}.")
                    made.append(ended_by(error, time.perf_counter() - started))
            played.append(bool(now.played))
            return made[-1].outage != "database"

        self._patience[task.database].retried(attempt)
        lost = sum((one.lost for one in made), Usage())
        for earlier, had_its_replies in zip(made, played[1:], strict=False):
            lost += Usage() if had_its_replies else earlier.usage
        return replace(made[-1], lost=lost)


def _asked(decider: Decider, task: Task, database: Database) -> Decision:
    decision: object = decider.decide(task.question, database)
    if not isinstance(decision, Decision):
        raise TypeError(f"the decider '{task.decider}' returned no Decision but {decision!r}")
    return decision
