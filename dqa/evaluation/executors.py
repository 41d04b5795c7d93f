"""Executors: threads of this process, processes of this machine, or a Ray cluster."""

from __future__ import annotations

import os
import pickle
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import copy_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from typing import TYPE_CHECKING, Final

from dqa.core.decision import Usage
from dqa.core.distribution import install_command
from dqa.core.errors import MissingKeyError, UsageError
from dqa.core.interpreters import describe_exit, start_process
from dqa.core.jobs import IN_ORDER, Mapper
from dqa.evaluation.build import BuiltRun
from dqa.evaluation.connecting import GivenObjects
from dqa.evaluation.options import DEFAULT_ENGINE, CallOptions, EngineOptions, RunOptions
from dqa.evaluation.plan import Group, Task
from dqa.evaluation.remote import Batch, Parcel, divide, pack, serve
from dqa.evaluation.runner import Executor, WorkerDiedError, WorkerNotStartedError
from dqa.evaluation.worker import TaskWorker, Worker

if TYPE_CHECKING:
    from dqa.evaluation.keys import DecisionKey
    from dqa.evaluation.ray_cluster import RayCluster

CLOSING_SECONDS: Final = 10.0
"""How long a worker may take to close its databases."""
_EXIT_SECONDS: Final = 1.0
"""How long the system may take to report how a process ended."""


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
    """A worker elsewhere, which makes one batch after the other."""

    @abstractmethod
    def make(self, keys: Sequence[DecisionKey], used: Usage) -> Batch:
        """Make a batch; `WorkerDiedError` if the worker dies. The next call replaces it."""

    @abstractmethod
    def close(self, *, at_once: bool) -> None:
        """End the worker, also while it makes a batch."""


class LaneExecutor:
    """Makes decisions by workers elsewhere.

    Parameters
    ----------
    lanes
        The workers.
    batch
        How many decisions of one group a worker makes at once.
    """

    is_local = False

    def __init__(self, lanes: Sequence[Lane], batch: int) -> None:
        self.slots = len(lanes)
        self.batch = batch
        self._free: list[tuple[Lane, Group | None]] = [(lane, None) for lane in lanes]
        self._lanes = lanes
        self._threads = ThreadPoolExecutor(len(lanes), "dqa-lane")

    def submit(self, tasks: Sequence[Task], used: Usage) -> Future[Batch]:
        """Begin a batch, by a free worker that has its database open if there is one."""
        group = tasks[0].group
        chosen = next((free for free in self._free if free[1] == group), self._free[0])
        self._free.remove(chosen)
        lane = chosen[0]

        def make() -> Batch:
            try:
                return lane.make([task.key for task in tasks], used)
            finally:
                self._free.append((lane, group))

        return self._threads.submit(make)

    def close(self, *, at_once: bool) -> None:
        """End the workers."""
        free = [lane for lane, _ in self._free]
        for lane in self._lanes:
            lane.close(at_once=at_once or lane not in free)
        self._threads.shutdown()


class ProcessLane(Lane):
    """A worker process of this machine."""

    def __init__(self, *given: object) -> None:
        self._given = given
        self._process: BaseProcess | None = None
        self._requests: Connection | None = None
        self._is_closed = False

    def make(self, keys: Sequence[DecisionKey], used: Usage) -> Batch:
        """Make a batch."""
        died: type[WorkerDiedError] = WorkerNotStartedError
        try:
            if self._process is None or self._requests is None:
                self._process, self._requests = start_process(
                    serve, *self._given, environment=os.environ, daemon=False, quiet=False
                )
                if self._is_closed:
                    self.close(at_once=True)
                self._requests.recv()
            died = WorkerDiedError
            self._requests.send((keys, used))
            batch: Batch = pickle.loads(self._requests.recv_bytes())  # noqa: S301  (of our worker)
        except (EOFError, OSError) as error:
            process, self._process = self._process, None
            code = None
            if process is not None:
                process.join(_EXIT_SECONDS)
                code = process.exitcode
            raise died(f"{describe_exit(code)}.") from error
        return batch

    def close(self, *, at_once: bool) -> None:
        """End the process."""
        self._is_closed = True
        process, requests = self._process, self._requests
        if process is None or requests is None:
            return
        if not at_once:
            with suppress(OSError):
                requests.send(None)
                process.join(CLOSING_SECONDS)
        process.kill()
        process.join()


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
        lanes = [ProcessLane(parcel.versions, parcel.packed, *share) for share in parcel.shares]
        yield LaneExecutor(lanes, max(threads))
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
