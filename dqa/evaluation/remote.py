"""What runs in a worker process, here or on a cluster. It imports no package of a cluster.

A worker receives bytes, which it opens when it knows that its versions are the sender's. Errors
come back as data: the class of an error and its message.
"""

from __future__ import annotations

import io
import os
import pickle
import platform
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from dqa.core.decision import Usage
from dqa.core.distribution import find_versions
from dqa.core.errors import DqaError, UsageError
from dqa.core.secrets import redact
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.plan import plan
from dqa.evaluation.targets import label_of
from dqa.evaluation.worker import Made, Worker
from dqa.loaders.locations import variable_of

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from dqa.core.decider import Decider
    from dqa.core.question_set import QuestionSet
    from dqa.deciders.base import DeciderFactory
    from dqa.evaluation.build import BuiltRun
    from dqa.evaluation.options import CallOptions, RunOptions
    from dqa.evaluation.spec import RunSpec

Versions: TypeAlias = Mapping[str, str]
Dumps: TypeAlias = Callable[[Any], bytes]
"""Packs data and objects."""


@dataclass(frozen=True, slots=True)
class GivenObjects:
    """Deciders and chat models that a Python caller passed; see `RunSpec.build`."""

    deciders: Mapping[str, Decider | DeciderFactory] = field(default_factory=dict)
    chats: Mapping[str, BaseChatModel] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a worker builds its run from. It may contain secrets, so it is never written.

    Attributes
    ----------
    spec
        What is evaluated.
    calls, options
        The options of this worker: its share of the limits and of the threads.
    environment
        The variables with keys and with URLs that have passwords.
    """

    spec: RunSpec = field(repr=False)
    calls: CallOptions
    options: RunOptions
    environment: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Parcel:
    """What the sender packs for each worker.

    Attributes
    ----------
    versions
        The versions that a worker must have.
    questions, given
        The questions, and what a Python caller passed.
    recipes
        One per worker.
    """

    versions: Versions
    questions: bytes
    given: bytes
    recipes: tuple[bytes, ...]

    @classmethod
    def of(  # noqa: PLR0913, PLR0917  (all that a worker builds its run from)
        cls,
        built: BuiltRun,
        given: GivenObjects,
        calls: CallOptions,
        options: RunOptions,
        threads: Sequence[int],
        dumps: Dumps,
        environment: Mapping[str, str],
    ) -> Parcel:
        """Pack a run for workers with so many threads each; together they keep its limits.

        Raises
        ------
        UsageError
            A decider or a chat model cannot be sent to another process.
        """
        shares = zip(share_calls(calls, len(threads)), threads, strict=True)
        recipes = (
            Recipe(built.spec, share, options.changed(workers=each), environment)
            for share, each in shares
        )
        return cls(
            own_versions(),
            dumps(built.setup.questions),
            _pack_given(given, dumps),
            tuple(map(dumps, recipes)),
        )


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
    yield from (variable_of(label_of(database)) for database in built.spec.databases)
    for name, place in built.setup.places.items():
        yield from (variable_of(name), variable_of(place.backend.name))
    for chats in built.connected.chats:
        for chat in chats.values():
            for key in getattr(chat, "lc_secrets", {}).values():
                yield key
                for other in ("API_BASE", "BASE_URL", "ORG_ID"):
                    yield key.replace("API_KEY", other)


def share_calls(calls: CallOptions, workers: int) -> list[CallOptions]:
    """Return how each worker calls models, so that together they keep the limits of the run."""

    def share(limit: float | None) -> float | None:
        return None if limit is None else limit / workers

    most: Sequence[int | None] = [None] * workers
    if calls.max_concurrency is not None:
        most = divide(calls.max_concurrency, workers)
    return [
        calls.changed(
            max_concurrency=own,
            requests_per_minute=share(calls.requests_per_minute),
            tokens_per_minute=share(calls.tokens_per_minute),
        )
        for own in most
    ]


def _pack_given(given: GivenObjects, dumps: Dumps) -> bytes:
    for kind, objects in (("decider", given.deciders), ("chat model", given.chats)):
        for name, one in objects.items():
            try:
                dumps(one)
            except (TypeError, ValueError, AttributeError, pickle.PicklingError) as error:
                raise UsageError(
                    f"The {kind} '{name}' cannot be sent to another process ({error}): give it as "
                    "a name that a package registers, keep what cannot be pickled out of it, or "
                    "decide in this process (engine='local', processes=1)."
                ) from error
    return dumps(given)


@dataclass(frozen=True, slots=True)
class Problem:
    """An error in a worker.

    Attributes
    ----------
    kind
        The class to raise here.
    message
        The message of the error.
    host
        The machine of the worker.
    """

    kind: type[Exception]
    message: str
    host: str

    @classmethod
    def of(cls, error: BaseException) -> Problem:
        """Return an error as data; a class with its own constructor becomes the one above it."""
        is_ours = isinstance(error, DqaError)
        message = str(error) if is_ours else f"{type(error).__name__}: {error}"
        ours = (found for found in type(error).__mro__ if issubclass(found, DqaError))
        kind = next((found for found in ours if "__init__" not in vars(found)), RuntimeError)
        return cls(kind, redact(message), socket.gethostname())

    def error(self, doing: str = "") -> Exception:
        """Return the error to raise."""
        return self.kind(f"On {self.host}, {doing}: {self.message}" if doing else self.message)


class Batch(NamedTuple):
    """What a worker returns: the decisions that it made, and a problem of the others."""

    made: list[Made]
    problem: Problem | None = None


def work_out(expected: Versions, packed: bytes) -> Any:  # noqa: ANN401  (the result of the work)
    """Do one piece of work, packed with its function; return its result or a `Problem`."""
    try:
        _require_versions(expected)
        work, job = unpack(packed)
        return work(job)
    except Exception as error:  # noqa: BLE001  (raised again by the sender)
        return Problem.of(error)


def _require_versions(expected: Versions) -> None:
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


class RemoteWorker:
    """Builds a run from its recipe, and makes batches of its decisions in threads."""

    def __init__(self) -> None:
        self._problem: Problem | None = None
        self._stopped = threading.Event()

    def prepare(self, expected: Versions, recipe: bytes, questions: bytes, given: bytes) -> None:
        """Build the run; `decide` reports a failure."""
        try:
            _require_versions(expected)
            self._build(unpack(recipe), unpack(questions), unpack(given))
        except Exception as error:  # noqa: BLE001  (raised again by the sender)
            self._problem = Problem.of(error)

    def _build(self, recipe: Recipe, questions: QuestionSet, given: GivenObjects) -> None:
        os.environ.update(recipe.environment)
        options = recipe.options
        self._run = recipe.spec.build(
            calls=recipe.calls,
            options=options,
            questions=questions,
            deciders=given.deciders,
            chats=given.chats,
        )
        setup = self._run.setup
        self._tasks = {task.key: task for task in plan(setup)}
        self._budget = self._run.connected.settings.calls.budget
        self._worker = Worker(setup, self._run.judge, options.patience, options.workers)
        self._threads = ThreadPoolExecutor(options.workers, "dqa-worker")

    def decide(self, keys: Sequence[DecisionKey], used: Usage) -> Batch:
        """Make and judge some decisions of one group.

        Parameters
        ----------
        keys
            The decisions.
        used
            What the whole run has used by now.
        """
        if self._problem is not None:
            return Batch([], self._problem)
        if self._budget is not None:
            self._budget.learn(used)
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
            self._worker.stop()
            self._worker.close()
            self._run.close()


def pack(value: object) -> bytes:
    """Pack data, and objects of modules that workers have as well."""
    packed = io.BytesIO()
    _Packer(packed, pickle.HIGHEST_PROTOCOL).dump(value)
    return packed.getvalue()


class _Packer(pickle.Pickler):
    """Packs the read-only mappings of questions as well."""

    def reducer_override(self, value: object) -> Any:  # noqa: ANN401
        if isinstance(value, MappingProxyType):
            return _read_only, (dict(value),)
        return NotImplemented


def _read_only(mapping: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(mapping)


def unpack(packed: bytes) -> Any:  # noqa: ANN401
    """Unpack what the sender packed; `UsageError` for what this machine cannot import."""
    try:
        return pickle.loads(packed)  # noqa: S301  (from the sender, whose code runs here anyway)
    except (ImportError, AttributeError) as error:
        raise UsageError(
            f"A worker cannot import what it received ({error}): put it into a module that every "
            "node finds, in an installed package or on PYTHONPATH, and not into the script."
        ) from error
