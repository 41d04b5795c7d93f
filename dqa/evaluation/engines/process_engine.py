"""Processes of this machine that decide: the same crew and workers as on a cluster, without one."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

from dqa.core.interpreters import describe_exit, start_process
from dqa.core.jobs import IN_ORDER
from dqa.evaluation.engines.crew import Crew, WorkerDiedError
from dqa.evaluation.engines.remote import own_versions, pack
from dqa.evaluation.engines.sending import pack_given, pack_recipes, shares
from dqa.evaluation.engines.serving import serve

if TYPE_CHECKING:
    from types import TracebackType

    from dqa.core.decision import Usage
    from dqa.evaluation.build import BuiltRun
    from dqa.evaluation.engines.base import Decide, GivenObjects
    from dqa.evaluation.keys import DecisionKey
    from dqa.evaluation.options import CallOptions, RunOptions

_LOOK = 0.2
"""Seconds after which a wait looks whether its time is over."""
_GONE = 0.5
"""Seconds in which the system reports how a process ended that closed its connection."""
_ENDING = 3.0
"""Seconds within which a process ends by itself whose connection was closed."""


class ProcessEngine:
    """Processes of this machine; a context manager, with which they end.

    They begin with the first decisions, and stay for further ones.
    """

    slots = IN_ORDER.slots
    map = IN_ORDER.map

    def __init__(self) -> None:
        self._processes = _Processes()
        self._crews: list[Crew] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for crew in self._crews:
            crew.close()

    def deciding(
        self, built: BuiltRun, given: GivenObjects, calls: CallOptions, options: RunOptions
    ) -> Decide:
        """Return what makes a run's decisions by processes that share its threads.

        Raises
        ------
        UsageError
            What a Python caller passed cannot be sent to them.
        """
        packed = pack_given(given, pack)
        threads = options.workers
        most = min(options.processes, threads, calls.max_concurrency or threads)
        threads_of = shares(threads, most)
        recipes = pack_recipes(built, calls, options, threads_of, {}, pack)
        crew = Crew(self._processes, recipes, (pack(built.setup.questions), packed), threads_of)
        self._crews.append(crew)
        budget = built.connected.settings.calls.budget
        return lambda tasks, on_made: crew.decide(tasks, built.setup, budget, on_made)


@dataclass(eq=False)
class _Hired:
    """A worker process, and the requests that it has not answered."""

    process: BaseProcess
    connection: Connection
    promises: dict[int, _Promise] = field(default_factory=dict)
    ended: str | None = None

    def end(self, seconds: float = 0.0) -> None:
        """Close the connection; kill the process where it does not end by itself in time."""
        self.connection.close()
        self.process.join(max(seconds, _GONE))
        if self.process.is_alive():
            self.process.kill()
        if self.ended is None:
            self.ended = f"{describe_exit(self.process.exitcode)}."


@dataclass(eq=False)
class _Promise:
    """An answer that is to come."""

    hired: _Hired
    is_kept: bool = False
    answer: Any = None


class _Processes:
    """What a crew asks of this machine; see `dqa.evaluation.engines.crew.Cluster`."""

    def __init__(self) -> None:
        self._numbers = count()

    def hire(self, recipe: bytes, shared: tuple[Any, ...]) -> tuple[_Hired, _Promise]:
        """Start a worker; return it, and what tells when it is ready."""
        hired = _Hired(*start_process(serve, environment=os.environ, daemon=False, quiet=False))
        return hired, self._ask(hired, "prepare", own_versions(), recipe, *shared)

    def begin(self, worker: _Hired, keys: Sequence[DecisionKey], spent: Usage) -> _Promise:
        """Let a worker decide; return what tells when it has."""
        return self._ask(worker, "decide", keys, spent)

    def wait(self, references: Sequence[_Promise], seconds: float) -> list[_Promise]:
        """Return which of these are there, after some seconds at the latest."""
        if not (there := _kept(references)):
            asked = {promise.hired.connection: promise.hired for promise in references}
            for connection in wait([*asked], seconds):
                _listen(asked[connection])  # type: ignore[index]
            there = _kept(references)
        return there

    def fetch(self, reference: _Promise) -> Any:  # noqa: ANN401
        """Return what is there; `WorkerDiedError` where nothing will be."""
        if not reference.is_kept:
            raise WorkerDiedError(reference.hired.ended)
        return reference.answer

    def dismiss(self, workers: Iterable[_Hired], seconds: float) -> None:
        """End workers; those that make nothing close what they have open first."""
        left = [hired for hired in workers if hired.ended is None]
        until = monotonic() + seconds
        try:
            closing = [self._ask(hired, "close") for hired in left] if seconds else []
            while closing and monotonic() < until:
                there = self.wait(closing, _LOOK)
                closing = [promise for promise in closing if promise not in there]
        finally:
            for hired in left:
                hired.ended = hired.ended or "it was dismissed."
                hired.end(_ENDING if seconds else 0.0)

    def _ask(self, hired: _Hired, wanted: str, *given: object) -> _Promise:
        promise, number = _Promise(hired), next(self._numbers)
        hired.promises[number] = promise
        self._send(hired, (number, wanted, *given))
        return promise

    @staticmethod
    def _send(hired: _Hired, message: object) -> None:
        if hired.ended is None:
            try:
                hired.connection.send(message)
            except OSError:
                hired.end()


def _kept(promises: Iterable[_Promise]) -> list[_Promise]:
    """Return which are kept, or will never be."""
    return [promise for promise in promises if promise.is_kept or promise.hired.ended is not None]


def _listen(hired: _Hired) -> None:
    """Take every answer that a worker has sent."""
    try:
        while hired.connection.poll():
            number, answer = hired.connection.recv()
            promise = hired.promises.pop(number)
            promise.answer = pickle.loads(answer)  # noqa: S301  (of a process of ours)
            promise.is_kept = True
    except (EOFError, OSError):
        hired.end()
