"""What runs in a worker. It imports no package of any cluster.

What a worker is sent are bytes, which it opens once it knows that its versions are the sender's.
What goes wrong comes back as data: an error's class, and its words.
"""

from __future__ import annotations

import io
import os
import pickle
import platform
import socket
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from dqa.core.decision import Ending, Usage
from dqa.core.distribution import find_versions
from dqa.core.errors import DqaError, UsageError
from dqa.core.secrets import redact
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.making import Made, Maker, judged
from dqa.evaluation.plan import Setup, Task, plan

if TYPE_CHECKING:
    from dqa.core.database import Database
    from dqa.core.question_set import QuestionSet
    from dqa.evaluation.engines.base import GivenObjects
    from dqa.evaluation.options import CallOptions, RunOptions
    from dqa.evaluation.spec import RunSpec

Versions = Mapping[str, str]


def own_versions() -> Versions:
    """Return what has to be the same for sender and worker to understand each other."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"python": python, **find_versions("langchain-core", "pydantic")}


@dataclass(frozen=True, slots=True)
class Problem:
    """An error on a worker: the class to raise here, its words, and where it was."""

    kind: type[Exception]
    words: str
    host: str

    @classmethod
    def of(cls, error: BaseException) -> Problem:
        """Return an error as data; of one that is made of more than words, the class above it."""
        words = str(error) if isinstance(error, DqaError) else f"{type(error).__name__}: {error}"
        ours = (found for found in type(error).__mro__ if issubclass(found, DqaError))
        kind = next((found for found in ours if "__init__" not in vars(found)), RuntimeError)
        return cls(kind, redact(words), socket.gethostname())

    def error(self, doing: str = "") -> Exception:
        """Return the error to raise, which names the worker where something was to be `doing`."""
        return self.kind(f"On {self.host}, {doing}: {self.words}" if doing else self.words)


def require_versions(expected: Versions) -> None:
    """Refuse to work for a sender of other versions, with `UsageError`."""
    own = own_versions()
    differing = [
        f"{name} {own.get(name, 'none')} and not {wanted}"
        for name, wanted in expected.items()
        if own.get(name) != wanted
    ]
    if differing:
        raise UsageError(
            f"The workers of the cluster have {', '.join(differing)}: install the same versions "
            "on every node."
        )


def work_out(expected: Versions, packed: bytes) -> Any:  # noqa: ANN401  (whatever the work makes)
    """Do one piece of work, packed with its function, and return what comes of it."""
    try:
        require_versions(expected)
        work, job = _unpacked(packed)
        return work(job)
    except Exception as error:  # noqa: BLE001  (raised again by the sender)
        return Problem.of(error)


def pack(value: object) -> bytes:
    """Pack data and objects of modules that workers have, too."""
    packed = io.BytesIO()
    _Packer(packed, pickle.HIGHEST_PROTOCOL).dump(value)
    return packed.getvalue()


class _Packer(pickle.Pickler):
    """Packs read-only mappings, too, which are in questions."""

    def reducer_override(self, value: object) -> Any:  # noqa: ANN401
        if isinstance(value, MappingProxyType):
            return _read_only, (dict(value),)
        return NotImplemented


def _read_only(mapping: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(mapping)


def _unpacked(packed: bytes) -> Any:  # noqa: ANN401
    """Unpack what the sender packed, which may name what this machine does not have."""
    try:
        return pickle.loads(packed)  # noqa: S301  (from the sender, whose code runs here anyway)
    except (ImportError, AttributeError) as error:
        raise UsageError(
            f"A worker cannot import what it was sent ({error}): put it into a module that every "
            "node finds, in an installed package or on PYTHONPATH, and not into the script that is "
            "run."
        ) from error


@dataclass(frozen=True)
class Recipe:
    """What a worker builds its run from. It may hold secrets: it is sent, and never written.

    Attributes
    ----------
    spec
        What is evaluated.
    calls, options
        How models are called by this worker, and how it goes about its work.
    environment
        The variables that hold what the spec leaves out: keys, and URLs with their passwords.
    """

    spec: RunSpec = field(repr=False)
    calls: CallOptions
    options: RunOptions
    environment: Mapping[str, str] = field(repr=False)


class Worker:
    """Decides what it is sent, in as many threads as call it."""

    def __init__(self) -> None:
        self._setup: Setup
        self._run: Any = None
        self._stopped = threading.Event()
        self._judging = threading.Lock()

    def prepare(
        self, expected: Versions, recipe: bytes, questions: bytes, given: bytes
    ) -> Problem | None:
        """Build the run of a `Recipe`; return what stands against it."""
        try:
            require_versions(expected)
            self._build(_unpacked(recipe), _unpacked(questions), _unpacked(given))
        except Exception as error:  # noqa: BLE001  (raised again by the sender)
            return Problem.of(error)
        return None

    def _build(self, recipe: Recipe, questions: QuestionSet, given: GivenObjects) -> None:
        os.environ.update(recipe.environment)
        self._run = recipe.spec.build(
            calls=recipe.calls,
            options=recipe.options,
            questions=questions,
            deciders=given.deciders,
            chats=given.chats,
        )
        self._setup = self._run.setup
        self._tasks = {task.key: task for task in plan(self._setup)}
        self._budget = self._run.connected.settings.calls.budget
        self._databases = RecentDatabases(self._setup.open, recipe.options.workers)
        self._maker = Maker(
            self._databases, self._setup.decider_of, recipe.options.patience, self._stopped
        )

    def decide(self, keys: Sequence[DecisionKey], spent: Usage) -> list[Made] | Problem:
        """Make and judge some decisions, in their order; a spent budget ends them early.

        Parameters
        ----------
        keys
            Which, of one group.
        spent
            What the whole run had spent when they were sent.
        """
        lines: list[Made] = []
        try:
            if self._budget is not None:
                self._budget.learn(spent)
            for key in keys:
                task = self._tasks[key]
                decision = self._maker.make(task)
                with self._judging:
                    made = judged(task, self._setup, self._run.judge, decision)
                lines.append(made)
                if decision.ending is Ending.BUDGET:
                    break
        except Exception as error:  # noqa: BLE001  (raised again by the sender)
            return Problem.of(error)
        return lines

    def close(self) -> None:
        """Close all databases; nothing may be under way."""
        self._stopped.set()
        if self._run is not None:
            self._databases.close()
            self._run.close()
        sys.stdout.flush()


class RecentDatabases:
    """The databases of a worker that does not know what it will be sent next.

    It keeps those that are in use, and of the others the latest.

    Parameters
    ----------
    open_for
        Opens a task's database.
    most
        Most databases that are kept open without being used.
    """

    def __init__(self, open_for: Callable[[Task], Database], most: int) -> None:
        self._open_for = open_for
        self._most = most
        self._lock = threading.Lock()
        self._locks: dict[tuple[str, str], threading.Lock] = {}
        self._users: dict[tuple[str, str], set[DecisionKey]] = {}
        self._open: dict[tuple[str, str], Database] = {}

    def of(self, task: Task) -> Database:
        """Return the task's database, opened where it is not yet."""
        with self._lock:
            lock = self._locks.setdefault(task.group, threading.Lock())
        with lock:
            with self._lock:
                found = self._open.pop(task.group, None)
            if found is None:
                found = self._open_for(task)
            with self._lock:
                self._open[task.group] = found  # the latest is the last
                self._users.setdefault(task.group, set()).add(task.key)
        return found

    def done(self, task: Task) -> None:
        """Take note that a task is made, and close what has been unused for longest."""
        with self._lock:
            self._users.get(task.group, set()).discard(task.key)
            unused = [group for group in self._open if not self._users.get(group)]
            closing = [self._open.pop(group) for group in unused[: -self._most]]
        for database in closing:
            database.close()

    def close(self) -> None:
        """Close whatever is open."""
        while self._open:
            self._open.popitem()[1].close()
