"""Executors: threads of this process, processes of this machine, or a Ray cluster."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from contextvars import copy_context
from queue import SimpleQueue
from typing import TYPE_CHECKING, Final

from dqa.core.decision import Decision, Usage
from dqa.core.distribution import install_command
from dqa.core.errors import MissingKeyError, UsageError
from dqa.core.jobs import IN_ORDER, Mapper
from dqa.evaluation.child_process import ChildProcess
from dqa.evaluation.options import DEFAULT_ENGINE, CallOptions, EngineOptions, RunOptions
from dqa.evaluation.plan import Group, Setup, Task
from dqa.evaluation.remote import Batch, GivenObjects, Parcel, RemoteWorker, divide, pack, unpack
from dqa.evaluation.runner import Executor, WorkerDiedError, WorkerNotStartedError
from dqa.evaluation.worker import Made, TaskWorker, Worker, unjudged

if TYPE_CHECKING:
    from dqa.evaluation.build import BuiltRun
    from dqa.evaluation.keys import DecisionKey
    from dqa.evaluation.ray_cluster import RayCluster

CLOSING_SECONDS: Final = 10.0
"""How long a worker may take to close its databases."""


class ThreadExecutor:
    """Makes decisions in daemon threads, which do not delay the end of an interrupted command.

    Parameters
    ----------
    worker
        Makes each decision.
    threads
        How many decisions are made at once.
    """

    batch = 1
    is_local = True

    def __init__(self, worker: TaskWorker, threads: int) -> None:
        self.slots = threads
        self._worker = worker
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []

    def submit(self, tasks: Sequence[Task], used: Usage) -> Future[Batch]:
        """Begin a batch."""
        del used  # the threads share one budget
        future: Future[Batch] = Future()
        context = copy_context()

        def make() -> None:
            try:
                made = (context.run(self._worker.decide, task) for task in tasks)
                future.set_result(Batch([one for one in made if one is not None]))
            except BaseException as error:  # noqa: BLE001  (raised again by the runner)
                future.set_exception(error)

        self._jobs.put(make)
        if len(self._threads) < self.slots:
            thread = threading.Thread(target=self._work, name="dqa-worker", daemon=True)
            self._threads.append(thread)
            thread.start()
        return future

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()

    def fail(self, task: Task, decision: Decision) -> Made:
        """Raise an error: threads do not die."""
        raise NotImplementedError

    def close(self, *, at_once: bool) -> None:
        """End the threads; a thread that still waits for a model is left alone."""
        self._worker.stop()
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join(0.1 if at_once else None)
        if not any(thread.is_alive() for thread in self._threads):
            self._worker.close()


class Lane(ABC):
    """A worker elsewhere, which makes one batch after the other.

    Attributes
    ----------
    group
        The group whose database it has open.
    is_free
        Whether it makes nothing.
    """

    def __init__(self) -> None:
        self.group: Group | None = None
        self.is_free = True

    @abstractmethod
    def begin(self, keys: Sequence[DecisionKey], used: Usage) -> Future[Batch]:
        """Begin a batch; a worker that died is replaced. `WorkerDiedError` is its exception."""

    @abstractmethod
    def close(self, *, at_once: bool) -> None:
        """End the worker."""


class LaneExecutor:
    """Makes decisions by workers elsewhere.

    Parameters
    ----------
    setup
        What is decided.
    lanes
        The workers.
    batch
        How many decisions of one group a worker makes at once.
    """

    is_local = False

    def __init__(self, setup: Setup, lanes: Sequence[Lane], batch: int) -> None:
        self.slots = len(lanes)
        self.batch = batch
        self._setup = setup
        self._lanes = lanes

    def submit(self, tasks: Sequence[Task], used: Usage) -> Future[Batch]:
        """Begin a batch, by a free worker that has its database open if there is one."""
        group = tasks[0].group
        free = [lane for lane in self._lanes if lane.is_free]
        lane = next((one for one in free if one.group == group), free[0])
        lane.is_free, lane.group = False, group
        future: Future[Batch] = Future()

        def finish(done: Future[Batch]) -> None:
            lane.is_free = True
            try:
                future.set_result(done.result())
            except BaseException as error:  # noqa: BLE001  (raised again by the runner)
                future.set_exception(error)

        lane.begin([task.key for task in tasks], used).add_done_callback(finish)
        return future

    def fail(self, task: Task, decision: Decision) -> Made:
        """Return a decision that no worker could make."""
        return unjudged(task, self._setup, decision)

    def close(self, *, at_once: bool) -> None:
        """End the workers."""
        for lane in self._lanes:
            lane.close(at_once=at_once or not lane.is_free)


class ProcessLane(Lane):
    """A worker process of this machine."""

    def __init__(self, parcel: Parcel, recipe: bytes) -> None:
        super().__init__()
        self._given = (parcel.versions, recipe, parcel.questions, parcel.given)
        self._process: ChildProcess | None = None

    def begin(self, keys: Sequence[DecisionKey], used: Usage) -> Future[Batch]:
        """Begin a batch."""
        if self._process is None or self._process.has_ended:
            self._process = ChildProcess(_prepare, *self._given)
        process = self._process
        future: Future[Batch] = Future()

        def finish(done: Future[bytes]) -> None:
            try:
                future.set_result(unpack(done.result()))
            except BrokenProcessPool:
                self._process = None
                died = WorkerDiedError if process.is_prepared else WorkerNotStartedError
                future.set_exception(died(f"{process.describe_exit()}."))
            except BaseException as error:  # noqa: BLE001  (raised again by the runner)
                future.set_exception(error)

        process.submit(_decide, keys, used).add_done_callback(finish)
        return future

    def close(self, *, at_once: bool) -> None:
        """End the process."""
        if self._process is not None:
            self._process.end(None if at_once else _close, CLOSING_SECONDS)


_worker = RemoteWorker()
"""The worker of a worker process."""


def _prepare(*given: bytes) -> None:
    _worker.prepare(*given)  # type: ignore[arg-type]


def _decide(keys: Sequence[DecisionKey], used: Usage) -> bytes:
    return pack(_worker.decide(keys, used))


def _close() -> None:
    _worker.close()


@contextmanager
def open_executor(
    built: BuiltRun, given: GivenObjects, calls: CallOptions, options: RunOptions
) -> Iterator[Executor]:
    """Give what makes the decisions of a run.

    Parameters
    ----------
    built
        The run.
    given
        What a Python caller passed.
    calls, options
        The options of the run.

    Raises
    ------
    MissingKeyError
        The package of the cluster is not installed.
    UsageError
        The executor cannot do what the options or the deciders need.
    InfrastructureError
        The cluster cannot be reached.
    """
    if options.engine == "ray":
        with open_ray(options) as cluster:
            yield cluster.executor(built, given, calls, options)
    elif options.processes > 1:
        most = min(options.processes, options.workers, calls.max_concurrency or options.workers)
        threads = divide(options.workers, most)
        parcel = Parcel.of(built, given, calls, options, threads, pack, {})
        lanes = [ProcessLane(parcel, recipe) for recipe in parcel.recipes]
        yield LaneExecutor(built.setup, lanes, max(threads))
    else:
        worker = Worker(built.setup, built.judge, options.patience, options.workers)
        yield ThreadExecutor(worker, options.workers)


@contextmanager
def open_mapper(options: EngineOptions = DEFAULT_ENGINE) -> Iterator[Mapper]:
    """Give what runs independent jobs: this process, or a cluster; errors as `open_executor`."""
    if options.engine == "ray":
        with open_ray(options) as cluster:
            yield cluster
    else:
        yield IN_ORDER


def open_ray(options: EngineOptions) -> AbstractContextManager[RayCluster]:
    """Connect to a Ray cluster, or start one."""
    try:
        from dqa.evaluation.ray_cluster import connected
    except ImportError as error:
        raise MissingKeyError(
            f"engine='ray' (--engine ray) needs the package {error.name}: {install_command('ray')}."
        ) from error
    return connected(options.ray_address)


def check_engine(options: RunOptions, calls: CallOptions) -> None:
    """Raise `UsageError` for what several processes cannot do together."""
    is_ray = options.engine == "ray"
    if calls.record is not None and (is_ray or options.processes > 1):
        several = "engine='ray' (--engine ray)" if is_ray else "processes (--processes)"
        raise UsageError(
            f"record (--record) writes one file from one process, and {several} calls models from "
            "several: record with the local engine and one process. Several processes can replay "
            "the recording."
        )
    if is_ray and options.audit is not None:
        raise UsageError(
            "audit (--audit) appends to one file, and engine='ray' (--engine ray) runs statements "
            "on machines that may not share it: audit with the local engine, or leave it out."
        )
