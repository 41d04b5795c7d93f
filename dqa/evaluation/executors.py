"""Executors: threads of this process, processes of this machine, or a Ray cluster.

A worker in another process receives pickled data, and returns errors that can be pickled. Only
`dqa.evaluation.ray_cluster` imports Ray.
"""

from __future__ import annotations

import copyreg
import os
import pickle
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import copy_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

from dqa.core.decision import Usage
from dqa.core.distribution import install_command
from dqa.core.errors import DqaError, MissingKeyError, UsageError
from dqa.core.interpreters import describe_exit, end_with_parent, start_process
from dqa.core.secrets import redact
from dqa.evaluation.connecting import PassedObjects
from dqa.evaluation.decide import DecisionRecord, TaskWorker, Worker
from dqa.evaluation.options import CallOptions, RunOptions
from dqa.evaluation.prepare import PreparedRun, Task, parse_database, prepare
from dqa.evaluation.results import DecisionKey
from dqa.evaluation.runner import WorkerDiedError, WorkerNotStartedError
from dqa.loaders.locations import variable_of

CLOSING_SECONDS: Final = 10.0
"""Maximum time in which a worker closes its databases."""
_EXIT_SECONDS: Final = 1.0
"""Maximum time in which the system reports the exit code of a process."""
Dumps: TypeAlias = Callable[[Any], bytes]
"""Function that converts data and objects into bytes."""


def portable(error: Exception) -> Exception:
    """Return an error that other processes can read. It has the same message.

    For a `DqaError`, the result has the same class, or the nearest base class whose constructor
    needs only a message. For any other error, the result is a `RuntimeError`.
    """
    is_ours = isinstance(error, DqaError)
    message = str(error) if is_ours else f"{type(error).__name__}: {error}"
    ours = (found for found in type(error).__mro__ if issubclass(found, DqaError))
    kind = next((found for found in ours if "__init__" not in vars(found)), RuntimeError)
    return kind(redact(message))


class Batch(NamedTuple):
    """The decisions that a worker made, and the error that ended the batch early (or None)."""

    made: list[DecisionRecord]
    problem: Exception | None = None


class Lane(ABC):
    """A worker that processes batches one after another."""

    @abstractmethod
    def make(self, tasks: Sequence[Task], used: Usage) -> Batch:
        """Make a batch of decisions. Raise `WorkerDiedError` if the worker dies.

        After this error, the next call starts a new worker.
        """

    @abstractmethod
    def close(self, *, is_busy: bool, at_once: bool) -> None:
        """End the worker. `at_once` is set if an error or the user ended the run early."""


class Executor:
    """Gives each batch of decisions to a free worker. Each batch has its own thread.

    The threads are daemons, so they do not delay the end of an interrupted command.

    Parameters
    ----------
    lanes
        The workers.
    batch
        Maximum number of decisions in a batch.
    is_local
        Whether decisions are made in this process. If so, watchers receive events as they happen.

    Attributes
    ----------
    slots
        Number of batches that are made at the same time.
    """

    def __init__(self, lanes: Sequence[Lane], batch: int = 1, *, is_local: bool = False) -> None:
        self.slots, self.batch, self.is_local = len(lanes), batch, is_local
        self._free = list(lanes)
        self._lanes = lanes

    def submit(self, tasks: Sequence[Task], used: Usage) -> Future[Batch]:
        """Give a batch to a free worker.

        Parameters
        ----------
        tasks
            The decisions to make. A spent budget may end the batch early.
        used
            The tokens and calls of the whole run so far.
        """
        lane, context, future = self._free.pop(0), copy_context(), Future[Batch]()

        def make() -> None:
            try:
                batch = context.run(lane.make, tasks, used)
            except BaseException as error:  # noqa: BLE001  (raised again by the runner)
                self._free.append(lane)
                future.set_exception(error)
            else:
                self._free.append(lane)
                future.set_result(batch)

        threading.Thread(target=make, name="dqa-worker", daemon=True).start()
        return future

    def close(self, *, at_once: bool) -> None:
        """End the workers. `at_once` is set if an error or the user ends the run."""
        for lane in dict.fromkeys(self._lanes):
            is_busy = self._free.count(lane) < self._lanes.count(lane)
            lane.close(is_busy=is_busy, at_once=at_once)


class _ThreadLane(Lane):
    def __init__(self, worker: TaskWorker) -> None:
        self._worker = worker

    def make(self, tasks: Sequence[Task], used: Usage) -> Batch:
        """Make a batch of decisions."""
        del used  # the threads share one budget
        records = map(self._worker.decide, tasks)
        return Batch([one for one in records if one is not None])

    def close(self, *, is_busy: bool, at_once: bool) -> None:
        """Close the worker. Threads that wait for a model continue."""
        del at_once
        if not is_busy:
            self._worker.close()


def thread_executor(worker: TaskWorker, threads: int) -> Executor:
    """Return an executor whose threads in this process share one worker."""
    return Executor([_ThreadLane(worker)] * threads, is_local=True)


class ProcessLane(Lane):
    """A worker process of this machine."""

    def __init__(self, *arguments: object) -> None:
        self._given = arguments
        self._process: BaseProcess | None = None
        self._requests: Connection | None = None
        self._is_closed = False

    def make(self, tasks: Sequence[Task], used: Usage) -> Batch:
        """Make a batch of decisions."""
        died: type[WorkerDiedError] = WorkerNotStartedError
        try:
            if self._process is None or self._requests is None:
                self._process, self._requests = start_process(
                    serve, *self._given, environment=os.environ, daemon=False, quiet=False
                )
                if self._is_closed:
                    self.close(is_busy=True, at_once=True)
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

    def close(self, *, is_busy: bool, at_once: bool) -> None:
        """End the process."""
        self._is_closed = True
        process, requests = self._process, self._requests
        if process is None or requests is None:
            return
        if not (at_once or is_busy):
            with suppress(OSError):
                requests.send(None)
                process.join(CLOSING_SECONDS)
        process.kill()
        process.join()


def pack_run(
    run: PreparedRun, objects: PassedObjects, dumps: Dumps, environment: Mapping[str, str]
) -> bytes:
    """Pack a run for workers in other processes, with the environment variables that they need.

    Raises
    ------
    UsageError
        A decider or a chat model cannot be sent to another process.
    """
    try:
        return dumps((run.spec, run.questions, objects, environment))
    except (TypeError, ValueError, AttributeError, pickle.PicklingError) as error:
        names = ", ".join((*objects.deciders, *objects.chats))
        raise UsageError(
            f"{names} cannot be sent to another process ({error}): use deciders and models that a "
            "package registers, or run in this process (engine='local', processes=1)."
        ) from error


def divide(count: int, parts: int) -> list[int]:
    """Divide a number into parts that differ by at most 1."""
    each, more = divmod(count, parts)
    return [each + (number < more) for number in range(parts)]


def needed_variables(run: PreparedRun) -> dict[str, str]:
    """Return the environment variables that a worker needs: URLs of databases and model keys."""
    chats = [chat for epoch in run.connected.chats for chat in epoch.values()]
    keys = {key for chat in chats for key in getattr(chat, "lc_secrets", {}).values()}
    databases = {parse_database(database)[0] for database in run.spec.databases}
    databases |= {
        name for named in run.locations.items() for name in (named[0], named[1].backend.name)
    }
    names = keys | set(map(variable_of, databases))
    for other in ("API_BASE", "BASE_URL", "ORG_ID"):
        names |= {key.replace("API_KEY", other) for key in keys}
    return {name: os.environ[name] for name in sorted(names) if name in os.environ}


def share_options(
    calls: CallOptions, options: RunOptions, threads: Sequence[int]
) -> list[tuple[CallOptions, RunOptions]]:
    """Return the options of each worker.

    Limits of the run are divided, so that all workers together do not exceed them.
    """
    workers = len(threads)
    most: Sequence[int | None] = [None] * workers
    if calls.max_concurrency is not None:
        most = divide(calls.max_concurrency, workers)
    limits = {name: getattr(calls, name) for name in ("requests_per_minute", "tokens_per_minute")}
    shares = {name: limit and limit / workers for name, limit in limits.items()}
    return [
        (calls.changed(max_concurrency=own, **shares), options.changed(workers=each))
        for own, each in zip(most, threads, strict=True)
    ]


class RemoteWorker:
    """Builds a run from packed data, and makes batches of its decisions in threads."""

    def __init__(self) -> None:
        self._problem: Exception | None = None

    def prepare(self, packed: bytes, calls: CallOptions, options: RunOptions) -> None:
        """Build the run. If this fails, `decide` reports the error."""
        try:
            spec, questions, objects, environment = unpack(packed)
            os.environ.update(environment)
            run = prepare(spec, calls=calls, options=options, questions=questions, given=objects)
        except Exception as error:  # noqa: BLE001  (raised again by the sender)
            self._problem = portable(error)
            return
        self._connected = run.connected
        self._tasks = {task.key: task for task in run.tasks}
        self._worker = Worker(run, options.workers)
        self._threads = ThreadPoolExecutor(options.workers, "dqa-worker")

    def decide(self, keys: Sequence[DecisionKey], used: Usage) -> Batch:
        """Make and judge decisions in parallel.

        Parameters
        ----------
        keys
            The decisions.
        used
            The tokens and calls of the whole run so far.
        """
        if self._problem is not None:
            return Batch([], self._problem)
        budget = self._connected.settings.calls.budget
        if budget is not None:
            budget.learn(used)
        batch: list[DecisionRecord] = []
        problem: Exception | None = None
        for future in [self._threads.submit(self._worker.decide, self._tasks[key]) for key in keys]:
            try:
                batch.append(future.result())
            except Exception as error:  # noqa: BLE001  (raised again by the sender)
                problem = portable(error)
        return Batch(batch, problem)

    def close(self) -> None:
        """Close all databases. Do not call this method while a decision is being made."""
        if self._problem is None:
            self._worker.close()


def serve(requests: Connection, packed: bytes, calls: CallOptions, options: RunOptions) -> None:
    """Make the decisions that the parent process requests, and end when the parent ends."""
    end_with_parent()
    worker = RemoteWorker()
    worker.prepare(packed, calls, options)
    requests.send(None)  # reports that the worker is ready
    with suppress(EOFError, ConnectionError):  # the parent was killed
        while (request := requests.recv()) is not None:
            requests.send_bytes(pickle.dumps(worker.decide(*request)))
    worker.close()


def _read_only(mapping: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(mapping)


# Questions contain read-only mappings, which pickle does not support.
copyreg.pickle(MappingProxyType, lambda mapping: (_read_only, (dict(mapping),)))


def unpack(packed: bytes) -> Any:  # noqa: ANN401
    """Unpack a packed run. Raise `UsageError` if this machine lacks a needed package."""
    try:
        return pickle.loads(packed)  # noqa: S301  (the sender's code runs here anyway)
    except (ImportError, AttributeError, TypeError) as error:
        raise UsageError(
            f"A worker could not load the run ({error}): install the same versions of all "
            "packages on every node, and define your own classes in a module on PYTHONPATH, not "
            "in the script."
        ) from error


@contextmanager
def open_executor(
    run: PreparedRun, objects: PassedObjects, calls: CallOptions, options: RunOptions
) -> Iterator[Executor]:
    """Open the executor of a run.

    Raises
    ------
    MissingKeyError
        The package of the cluster is not installed.
    UsageError
        The executor does not support an option, or a decider cannot be sent to a worker.
    InfrastructureError
        The cluster cannot be reached.
    """
    if options.engine == "ray":
        try:
            from dqa.evaluation import ray_cluster
        except ImportError as error:
            raise MissingKeyError(
                f"engine='ray' (--engine ray) needs the package {error.name}: "
                f"{install_command('ray')}."
            ) from error
        with ray_cluster.connected(options.ray_address):
            yield ray_cluster.ray_executor(run, objects, calls, options)
    elif options.processes > 1:
        most = min(options.processes, options.workers, calls.max_concurrency or options.workers)
        threads = divide(options.workers, most)
        packed = pack_run(run, objects, pickle.dumps, {})
        shares = share_options(calls, options, threads)
        lanes = [ProcessLane(packed, *share) for share in shares]
        yield Executor(lanes, max(threads))
    else:
        worker = Worker(run, options.workers)
        yield thread_executor(worker, options.workers)


def check_engine(options: RunOptions, calls: CallOptions) -> None:
    """Raise `UsageError` for options that do not work with several processes."""
    is_ray = options.engine == "ray"
    if calls.record is not None and (is_ray or options.processes > 1):
        several = "engine='ray' (--engine ray)" if is_ray else "processes (--processes)"
        raise UsageError(
            f"record (--record) works only with one process, and {several} calls models from "
            "several processes: use the local engine with one process. Several processes can "
            "replay the recording."
        )
    if is_ray and options.audit is not None:
        raise UsageError(
            "audit (--audit) appends to one file, which the machines of engine='ray' (--engine "
            "ray) cannot always reach: use the local engine, or leave out audit."
        )
