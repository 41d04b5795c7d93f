"""Decisions in a worker process, here or on a cluster. It imports no package of a cluster.

A worker receives packed data, which it opens when it knows that its versions are the sender's.
Errors come back as data: the class of an error and its message.
"""

from __future__ import annotations

import copyreg
import os
import pickle
import platform
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from dqa.core.decision import Usage
from dqa.core.distribution import find_versions
from dqa.core.errors import DqaError, UsageError
from dqa.core.secrets import redact
from dqa.evaluation.build import BuiltRun, build
from dqa.evaluation.connecting import GivenObjects
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.options import CallOptions, RunOptions
from dqa.evaluation.plan import plan
from dqa.evaluation.targets import parse_database
from dqa.evaluation.worker import Made, Worker
from dqa.loaders.locations import variable_of

Versions: TypeAlias = Mapping[str, str]
Dumps: TypeAlias = Callable[[Any], bytes]
"""Packs data and objects."""


class Problem(NamedTuple):
    """An error in a worker: the class to raise here, and the message."""

    kind: type[Exception]
    message: str

    @classmethod
    def of(cls, error: BaseException) -> Problem:
        """Return an error as data; a class with its own constructor becomes the one above it."""
        is_ours = isinstance(error, DqaError)
        message = str(error) if is_ours else f"{type(error).__name__}: {error}"
        ours = (found for found in type(error).__mro__ if issubclass(found, DqaError))
        kind = next((found for found in ours if "__init__" not in vars(found)), RuntimeError)
        return cls(kind, redact(message))

    def error(self) -> Exception:
        """Return the error to raise."""
        return self.kind(self.message)


class Batch(NamedTuple):
    """The decisions that a worker made, and the problem of the others."""

    made: list[Made]
    problem: Problem | None = None


def pack_run(
    built: BuiltRun, given: GivenObjects, dumps: Dumps, environment: Mapping[str, str]
) -> bytes:
    """Pack a run for workers elsewhere, with the environment variables that they need.

    Raises
    ------
    UsageError
        A decider or a chat model cannot be sent to another process.
    """
    for kind, objects in (("decider", given.deciders), ("chat model", given.chats)):
        for name, one in objects.items():
            try:
                dumps(one)
            except (TypeError, ValueError, AttributeError, pickle.PicklingError) as error:
                raise UsageError(
                    f"The {kind} '{name}' cannot be sent to another process ({error}): name one "
                    "that a package registers, or decide in this process (engine='local', "
                    "processes=1)."
                ) from error
    return dumps((built.spec, built.setup.questions, given, environment))


def own_versions() -> Versions:
    """Return the versions that sender and worker must share."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"python": python, **find_versions("langchain-core", "pydantic")}


def divide(count: int, parts: int) -> list[int]:
    """Divide a number into parts that differ by one at most."""
    each, more = divmod(count, parts)
    return [each + (number < more) for number in range(parts)]


def needed_variables(built: BuiltRun) -> dict[str, str]:
    """Return the environment variables that a worker needs: URLs of databases and model keys."""
    return {name: os.environ[name] for name in sorted(set(_variables(built))) if name in os.environ}


def _variables(built: BuiltRun) -> Iterator[str]:
    yield from (variable_of(parse_database(database)[0]) for database in built.spec.databases)
    for name, place in built.setup.places.items():
        yield from (variable_of(name), variable_of(place.backend.name))
    for chats in built.connected.chats:
        for chat in chats.values():
            for key in getattr(chat, "lc_secrets", {}).values():
                yield key
                for other in ("API_BASE", "BASE_URL", "ORG_ID"):
                    yield key.replace("API_KEY", other)


def share_options(
    calls: CallOptions, options: RunOptions, threads: Sequence[int]
) -> list[tuple[CallOptions, RunOptions]]:
    """Return the options of workers with so many threads, which together keep a run's limits."""
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


def work_out(expected: Versions, packed: bytes) -> Any:  # noqa: ANN401  (the result of the work)
    """Do one piece of work, packed with its function; return its result or a `Problem`."""
    try:
        work, job = unpack(expected, packed)
        return work(job)
    except Exception as error:  # noqa: BLE001  (raised again by the sender)
        return Problem.of(error)


class RemoteWorker:
    """Builds a run from a parcel, and makes batches of its decisions in threads."""

    def __init__(self) -> None:
        self._problem: Problem | None = None

    def prepare(
        self, expected: Versions, packed: bytes, calls: CallOptions, options: RunOptions
    ) -> None:
        """Build the run; `decide` reports a failure."""
        try:
            spec, questions, given, environment = unpack(expected, packed)
            os.environ.update(environment)
            run = build(spec, calls=calls, options=options, questions=questions, given=given)
        except Exception as error:  # noqa: BLE001  (raised again by the sender)
            self._problem = Problem.of(error)
            return
        self._run = run
        self._tasks = {task.key: task for task in plan(run.setup)}
        self._worker = Worker(run.setup, run.judge, options.patience, options.workers)
        self._threads = ThreadPoolExecutor(options.workers, "dqa-worker")

    def decide(self, keys: Sequence[DecisionKey], used: Usage) -> Batch:
        """Make and judge some decisions of one group.

        Parameters
        ----------
        keys
            The decisions.
        used
            The usage of the whole run so far.
        """
        if self._problem is not None:
            return Batch([], self._problem)
        budget = self._run.connected.settings.calls.budget
        if budget is not None:
            budget.learn(used)
        batch: list[Made] = []
        problem: Problem | None = None
        for future in [self._threads.submit(self._worker.decide, self._tasks[key]) for key in keys]:
            try:
                batch.append(future.result())
            except Exception as error:  # noqa: BLE001  (raised again by the sender)
                problem = Problem.of(error)
        return Batch(batch, problem)

    def close(self) -> None:
        """Close all databases; no decision is being made."""
        if self._problem is None:
            self._worker.close()


def serve(
    requests: Connection, versions: Versions, packed: bytes, calls: CallOptions, options: RunOptions
) -> None:
    """Make the decisions that a parent process asks for; end with it."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    worker = RemoteWorker()
    worker.prepare(versions, packed, calls, options)
    requests.send(None)  # it is ready
    while (request := requests.recv()) is not None:
        requests.send_bytes(pickle.dumps(worker.decide(*request)))
    worker.close()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def _read_only(mapping: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(mapping)


# Questions contain read-only mappings, which pickle does not know.
copyreg.pickle(MappingProxyType, lambda mapping: (_read_only, (dict(mapping),)))


def unpack(expected: Versions, packed: bytes) -> Any:  # noqa: ANN401
    """Unpack data of a sender with these versions.

    Raises
    ------
    UsageError
        The versions differ, or this machine cannot import something.
    """
    own = own_versions()
    differing = [
        f"{name} {own.get(name, 'none')}, not {wanted}"
        for name, wanted in expected.items()
        if own.get(name) != wanted
    ]
    if differing:
        raise UsageError(
            f"The workers of the cluster have {', '.join(differing)}: install the same versions "
            "on every node."
        )
    try:
        return pickle.loads(packed)  # noqa: S301  (from the sender, whose code runs here anyway)
    except (ImportError, AttributeError) as error:
        raise UsageError(
            f"A worker cannot import what it received ({error}): put it into a module that every "
            "node finds, in an installed package or on PYTHONPATH, and not into the script."
        ) from error
