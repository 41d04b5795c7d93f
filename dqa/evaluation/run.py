"""Running an evaluation: the threads that carry out a plan, judging and keeping as they go.

The plan groups tasks by situation and database, so a situation is loaded once a database, kept
while it is needed and closed after its last task: at most one database a worker, and the next,
is open at a time.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextvars import copy_context
from typing import Protocol

from dqa.core.database import Database
from dqa.core.decision import Decision, Ending
from dqa.core.recorder import DecisionWatcher, watched_by
from dqa.evaluation.collecting import collecting_new
from dqa.evaluation.crashes import Crashes
from dqa.evaluation.decision_spans import decision_span, tell_decision, tell_result
from dqa.evaluation.engines.base import Decide
from dqa.evaluation.making import Made, Maker, judged
from dqa.evaluation.observers import tell_observers
from dqa.evaluation.options import DEFAULT_RUN, RunOptions
from dqa.evaluation.plan import Setup, Task, plan
from dqa.evaluation.results import Result
from dqa.evaluation.score import Judge
from dqa.evaluation.store import RunStore

_LOOK_SECONDS = 0.5
"""How often a run looks for Ctrl-C, which may come just before the system begins to wait."""
_FIRST_PAUSE = 0.02
"""How long a thread waits before it looks again what other processes leave to it, at first."""
_MANY = 1_000
"""Decisions that are claimed at once for an engine: each is a value of a statement, and databases
bound how many one may have."""
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
    decide: Decide | None = None,
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
    decide
        Makes the decisions elsewhere; None for the threads of this process.

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
    watcher = watcher or DecisionWatcher()

    def keep(task: Task, made: Made) -> None:
        if decide is not None:  # what happened elsewhere is told when it is over
            for event in made.trace.events:
                watcher.happened(event, made.trace.usage)
        store.add(made.result, made.trace, made.lost)
        tell_observers(made.trace)
        if decide is None:  # else it was within no span of this process
            tell_result(made.result)
        on_result(made.result)
        crashes.count(str(task.key), made.trace)

    try:
        left = store.begin(tasks)
        with watched_by(watcher):
            if decide is not None:
                _decide_elsewhere(store, decide, keep)
            else:
                judging = _judging(setup, judge, keep)
                _carry_out(store, left, setup, judging, options)
    finally:
        store.close()
    return store.finish(tasks)


def _judging(
    setup: Setup, judge: Judge, keep: Callable[[Task, Made], None]
) -> Callable[[Task, Decision], None]:
    """Return what judges a decision and hands it on."""

    def judge_and_keep(task: Task, decision: Decision) -> None:
        keep(task, judged(task, setup, judge, decision))

    return judge_and_keep


def _decide_elsewhere(store: RunStore, decide: Decide, keep: Callable[[Task, Made], None]) -> None:
    """Let an engine make all that is left, and what other processes do not come to make."""
    is_spent = False

    def note(task: Task, made: Made) -> None:
        nonlocal is_spent
        keep(task, made)
        is_spent = is_spent or made.trace.ending is Ending.BUDGET

    while not (is_spent or store.is_finished()):
        tasks: list[Task] = []
        while claimed := store.claim(_MANY):
            tasks += claimed
        if tasks:
            decide(tasks, note)
        else:
            time.sleep(_LOOK_SECONDS)


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
    _carry_out(_Planned(tasks), len(tasks), setup, on_decided, options)


class TaskSource(Protocol):
    """Where tasks come from: a plan, or what is left of one that several processes share."""

    def claim(self, most: int) -> Sequence[Task]:
        """Return tasks that nobody else makes; none where others have claimed what is left."""

    def is_finished(self) -> bool:
        """Whether no claim will ever return a task again."""


class _Planned:
    """All tasks of a plan, at once."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._tasks = tasks

    def claim(self, most: int) -> Sequence[Task]:
        """Return all of them, the first time."""
        del most
        claimed, self._tasks = self._tasks, ()
        return claimed

    def is_finished(self) -> bool:
        """Whether they were returned."""
        return not self._tasks


class DecisionMaker(Protocol):
    """Makes decisions, for several threads at once."""

    def expect(self, tasks: Sequence[Task]) -> None:
        """Take down what is to be made next; called by one thread at a time."""

    def make(self, task: Task) -> Decision:
        """Make one decision; an outage or a bug is an ending, not an error."""
        ...

    def close(self) -> None:
        """Release what is open; nothing is being made."""


def _carry_out(
    source: TaskSource,
    left: int,
    setup: Setup,
    on_decided: Callable[[Task, Decision], None],
    options: RunOptions,
) -> None:
    """Make what a source gives, which is `left` tasks, or fewer where others make some."""
    stopped = threading.Event()
    maker = _QuestionMaker(setup, options.patience, stopped)
    make_all(source, left, maker, on_decided, options.workers, stopped)


def make_all(  # noqa: PLR0913, PLR0917  (each is a question of its own to the caller)
    source: TaskSource,
    left: int,
    maker: DecisionMaker,
    on_decided: Callable[[Task, Decision], None],
    workers: int,
    stopped: threading.Event,
) -> None:
    """Make what a source gives in threads; errors are those of `carry_out`.

    Parameters
    ----------
    source
        What gives tasks.
    left
        How many that are, or more where others make some.
    maker
        Makes one.
    on_decided
        Called with each decision as soon as it is made, by one thread at a time.
    workers
        Most threads.
    stopped
        Is set where nothing is to be made any more.
    """
    workers = max(1, min(workers, left))
    with collecting_new():
        _WorkerPool(maker, source, on_decided, workers, stopped).work()


class _QuestionMaker:
    """Has questions decided on their databases."""

    def __init__(self, setup: Setup, patience: float, stopped: threading.Event) -> None:
        self._databases = _Databases(setup)
        self._maker = Maker(self._databases, setup.decider_of, patience, stopped)
        self.expect = self._databases.expect
        self.make = self._maker.make
        self.close = self._databases.close


class _Databases:
    """The open databases of a run, each shared by the tasks of its group."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._left: Counter[tuple[str, str]] = Counter()
        self._locks: dict[tuple[str, str], threading.Lock] = {}
        self._open: dict[tuple[str, str], Database] = {}

    def expect(self, tasks: Sequence[Task]) -> None:
        """Take down which databases will be needed, and how often; called by one at a time."""
        for group, count in Counter(task.group for task in tasks).items():
            with self._locks.setdefault(group, threading.Lock()):
                self._left[group] += count

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
        maker: DecisionMaker,
        source: TaskSource,
        on_decided: Callable[[Task, Decision], None],
        workers: int,
        stopped: threading.Event,
    ) -> None:
        self._maker = maker
        self._source = source
        self._todo: deque[Task] = deque()
        self._claiming = threading.Lock()
        self._workers = workers
        self._on_decided = on_decided
        self._reporting = threading.Lock()
        self._stopped = stopped
        self._failures: list[BaseException] = []
        self._spent = threading.Event()
        self._look = threading.Event()

    def work(self) -> None:
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
            for number in range(self._workers)
        ]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                while thread.is_alive():  # nor does Ctrl-C end a wait on Windows
                    thread.join(_LOOK_SECONDS)
        finally:
            self._stopped.set()
            self._look.set()
            deadline = time.monotonic() + _GRACE_SECONDS
            for thread in threads:
                thread.join(max(0.0, deadline - time.monotonic()))
            if not any(thread.is_alive() for thread in threads):
                self._maker.close()
        if self._failures:
            raise self._failures[0]

    def _work(self) -> None:
        while not self._stopped.is_set():
            try:
                task = self._next()
                if task is None:
                    return
                with decision_span(task.key, task.question, task.situation) as span:
                    decision = self._maker.make(task)
                    tell_decision(span, decision)
                    with self._reporting:
                        self._on_decided(task, decision)
                self._look.set()
                if decision.ending is Ending.BUDGET:
                    # What is under way ends the same way by itself; the rest is not asked.
                    self._spent.set()
            except BaseException as error:  # noqa: BLE001  (raised again by the main thread)
                self._failures.append(error)
                self._stopped.set()

    def _next(self) -> Task | None:
        """Return a task; None where none is left. What other processes have claimed is awaited.

        The next ones are claimed before the last is begun, so that a database stays open which they
        need, too.
        """
        pause = _FIRST_PAUSE
        with self._claiming:
            while not (self._stopped.is_set() or self._spent.is_set()):
                if len(self._todo) < 2:
                    claimed = self._source.claim(self._workers)
                    self._maker.expect(claimed)
                    self._todo.extend(claimed)
                if self._todo:
                    return self._todo.popleft()
                if self._source.is_finished():
                    return None
                self._look.wait(pause)
                self._look.clear()
                pause = min(2 * pause, _LOOK_SECONDS)
        return None
