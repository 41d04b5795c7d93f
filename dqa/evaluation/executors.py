"""Executors: threads of this process, processes of this machine, or a Ray cluster."""

from __future__ import annotations

import os
import pickle
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import copy_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any, Final

from dqa.core.decision import Usage
from dqa.core.distribution import install_command
from dqa.core.errors import MissingKeyError, UsageError
from dqa.core.interpreters import describe_exit, start_process
from dqa.evaluation.build import BuiltRun
from dqa.evaluation.connecting import GivenObjects
from dqa.evaluation.options import DEFAULT_ENGINE, CallOptions, EngineOptions, RunOptions
from dqa.evaluation.plan import Group, Task
from dqa.evaluation.remote import (
    Batch,
    divide,
    own_versions,
    pack_run,
    serve,
    share_options,
)
from dqa.evaluation.runner import WorkerDiedError, WorkerNotStartedError
from dqa.evaluation.worker import TaskWorker, Worker

if TYPE_CHECKING:
    from dqa.evaluation.ray_cluster import RayCluster

CLOSING_SECONDS: Final = 10.0
"""How long a worker may take to close its databases."""
_EXIT_SECONDS: Final = 1.0
"""How long the system may take to report how a process ended."""


class Lane(ABC):
    """A worker that makes one batch after the other."""

    @abstractmethod
    def make(self, tasks: Sequence[Task], used: Usage) -> Batch:
        """Make a batch; `WorkerDiedError` if the worker dies. The next call replaces it."""

    @abstractmethod
    def close(self, *, at_once: bool) -> None:
        """End the worker, also while it makes a batch."""


class Executor:
    """Makes batches of decisions, each by a free worker in a thread.

    The threads are daemons, which do not delay the end of an interrupted command.

    Parameters
    ----------
    lanes
        The workers.
    batch
        How many decisions of one group a worker makes at once.

    Attributes
    ----------
    slots
        How many batches are made at once.
    is_local
        Whether decisions are made in this process, where watchers see their events at once.
    """

    is_local = False

    def __init__(self, lanes: Sequence[Lane], batch: int = 1) -> None:
        self.slots = len(lanes)
        self.batch = batch
        self._free: list[tuple[Lane, Group | None]] = [(lane, None) for lane in lanes]
        self._lanes = lanes

    def submit(self, tasks: Sequence[Task], used: Usage) -> Future[Batch]:
        """Begin a batch, by a free worker that has its database open if there is one.

        Parameters
        ----------
        tasks
            What to decide; a spent budget may end the batch early.
        used
            The usage of the whole run so far.
        """
        group = tasks[0].group
        chosen = next((free for free in self._free if free[1] == group), self._free[0])
        self._free.remove(chosen)
        lane, context, future = chosen[0], copy_context(), Future[Batch]()

        def make() -> None:
            try:
                batch = context.run(lane.make, tasks, used)
            except BaseException as error:  # noqa: BLE001  (raised again by the runner)
                self._free.append((lane, group))
                future.set_exception(error)
            else:
                self._free.append((lane, group))
                future.set_result(batch)

        threading.Thread(target=make, name="dqa-worker", daemon=True).start()
        return future

    def close(self, *, at_once: bool) -> None:
        """End the workers; `at_once` while they still make decisions."""
        free = [lane for lane, _ in self._free]
        for lane in self._lanes:
            lane.close(at_once=at_once or lane not in free)


class _ThreadLane(Lane):
    def __init__(self, worker: TaskWorker) -> None:
        self._worker = worker

    def make(self, tasks: Sequence[Task], used: Usage) -> Batch:
        """Make a batch."""
        del used  # the threads share one budget
        made = map(self._worker.decide, tasks)
        return Batch([one for one in made if one is not None])

    def close(self, *, at_once: bool) -> None:
        """Do nothing: a thread that still waits for a model is left alone."""


class ThreadExecutor(Executor):
    """Makes decisions by one worker in several threads of this process."""

    is_local = True

    def __init__(self, worker: TaskWorker, threads: int) -> None:
        super().__init__([_ThreadLane(worker) for _ in range(threads)])
        self._worker = worker

    def close(self, *, at_once: bool) -> None:
        """Close the worker, unless a decision still waits for a model."""
        del at_once
        self._worker.close(is_deciding=len(self._free) < self.slots)


class ProcessLane(Lane):
    """A worker process of this machine."""

    def __init__(self, *given: object) -> None:
        self._given = given
        self._process: BaseProcess | None = None
        self._requests: Connection | None = None
        self._is_closed = False

    def make(self, tasks: Sequence[Task], used: Usage) -> Batch:
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
            self._requests.send(([task.key for task in tasks], used))
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
    """Open the executor of a run.

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
        packed = pack_run(built, given, pickle.dumps, {})
        shares = share_options(calls, options, threads)
        lanes = [ProcessLane(own_versions(), packed, *share) for share in shares]
        yield Executor(lanes, max(threads))
    else:
        worker = Worker(built.setup, built.judge, options.patience, options.workers)
        yield ThreadExecutor(worker, options.workers)


@contextmanager
def open_mapper(options: EngineOptions = DEFAULT_ENGINE) -> Iterator[Callable[..., Iterator[Any]]]:
    """Give `map` of this process or of a cluster; errors as `open_executor`."""
    if options.engine == "ray":
        with open_ray(options) as cluster:
            yield cluster.map
    else:
        yield map


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
