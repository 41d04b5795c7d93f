"""Processes of this machine that decide: the same crew and workers as on a cluster, without one."""

from __future__ import annotations

import os
import pickle
import selectors
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

from dqa.core.errors import InfrastructureError
from dqa.core.interpreters import describe_exit
from dqa.core.jobs import IN_ORDER
from dqa.databases.isolation.fork_server import ForkServer
from dqa.databases.isolation.processes import STARTING, Worker, describe_start
from dqa.databases.isolation.spawning import spawn_worker
from dqa.databases.isolation.wire import LOOK, ClosedError
from dqa.databases.isolation.workers import find_folder
from dqa.evaluation.engines import serving
from dqa.evaluation.engines.crew import Crew, WorkerDiedError
from dqa.evaluation.engines.remote import own_versions, pack
from dqa.evaluation.engines.sending import pack_given, pack_recipes, shares

if TYPE_CHECKING:
    from types import TracebackType

    from dqa.core.decision import Usage
    from dqa.evaluation.build import BuiltRun
    from dqa.evaluation.engines.base import Decide, GivenObjects
    from dqa.evaluation.keys import DecisionKey
    from dqa.evaluation.options import CallOptions, RunOptions

_NOT_DECIDING = ("dqa.cli", "dqa.testing")
"""What workers need not have imported."""


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
        try:
            for crew in self._crews:
                crew.close()
        finally:
            self._processes.close(at_once=error is not None)

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
        self._processes.prepared = " ".join(_modules_of(built))
        budget = built.connected.settings.calls.budget
        return lambda tasks, on_made: crew.decide(tasks, built.setup, budget, on_made)


def _modules_of(built: BuiltRun) -> Iterator[str]:
    """Yield what this process has imported to build a run, and workers will need, too."""
    packages = {type(made).__module__.split(".")[0] for made in built.setup.deciders.values()}
    packages = ({"dqa"} | packages) - {"__main__"}
    for name in sorted(sys.modules):
        if name.split(".")[0] in packages and not name.startswith(_NOT_DECIDING):
            yield name


@dataclass(eq=False)
class _Hired:
    """A worker process, and what it was asked and has not answered."""

    process: Worker
    promises: dict[int, _Promise] = field(default_factory=dict)
    ended: str | None = None

    def end(self, problem: str = "") -> None:
        """Take note that it is gone, or no use any more."""
        if self.ended is None:
            code = self.process.kill()
            self.ended = problem or f"{describe_exit(code)}."


@dataclass(eq=False)
class _Promise:
    """An answer that is to come."""

    hired: _Hired
    is_kept: bool = False
    answer: Any = None


class _Processes:
    """What a crew asks of this machine; see `dqa.evaluation.engines.crew.Cluster`."""

    def __init__(self) -> None:
        self.prepared = ""
        self._server: ForkServer | None = None
        self._numbers = count()

    def hire(self, recipe: bytes, shared: tuple[Any, ...]) -> tuple[_Hired, _Promise]:
        """Start a worker; return it, and what tells when it is ready."""
        try:
            hired = _Hired(self._start())
        except (OSError, ClosedError) as error:
            raise InfrastructureError(
                f"A process for decisions {describe_start(error)}. You can decide with fewer "
                "(processes, --processes)."
            ) from error
        self._send(hired, (find_folder(), dict(os.environ)))
        return hired, self._ask(hired, "prepare", own_versions(), recipe, *shared)

    def begin(self, worker: _Hired, keys: Sequence[DecisionKey], spent: Usage) -> _Promise:
        """Let a worker decide; return what tells when it has."""
        return self._ask(worker, "decide", keys, spent)

    def wait(self, references: Sequence[_Promise], seconds: float) -> list[_Promise]:
        """Return which of these are there, after some seconds at the latest."""
        if not (there := _kept(references)):
            with selectors.DefaultSelector() as asked:
                for hired in {id(promise.hired): promise.hired for promise in references}.values():
                    asked.register(hired.process.wire, selectors.EVENT_READ, hired)
                for key, _ in asked.select(seconds):
                    _listen(key.data)
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
                there = self.wait(closing, LOOK)
                closing = [promise for promise in closing if promise not in there]
        finally:
            for hired in left:
                if hired.ended is None:
                    hired.ended = "it was dismissed."
                    hired.process.drop()

    def close(self, *, at_once: bool) -> None:
        """End what workers are forked from, and whoever is left of them."""
        if self._server is not None:
            self._server.close(*((0.0,) if at_once else ()))

    def _start(self) -> Worker:
        until = monotonic() + STARTING
        if sys.platform != "linux":
            return spawn_worker(until, serving.__name__, trusts=True)
        if self._server is not None:
            with suppress(OSError, ClosedError):  # somebody ended it, and its children with it
                return self._server.fork(self.prepared, until)
            self._server.close(0.0)
        self._server = ForkServer(serving.__name__, trusts=True)
        return self._server.fork(self.prepared, until)

    def _ask(self, hired: _Hired, wanted: str, *given: object) -> _Promise:
        promise, number = _Promise(hired), next(self._numbers)
        hired.promises[number] = promise
        self._send(hired, (number, wanted, *given))
        return promise

    @staticmethod
    def _send(hired: _Hired, message: object) -> None:
        if hired.ended is None:
            try:
                hired.process.wire.send(message, monotonic() + STARTING)
            except TimeoutError:
                hired.end(f"it read nothing for {STARTING:g} seconds.")
            except ClosedError:
                hired.end()


def _kept(promises: Iterable[_Promise]) -> list[_Promise]:
    """Return which are kept, or will never be."""
    return [promise for promise in promises if promise.is_kept or promise.hired.ended is not None]


def _listen(hired: _Hired) -> None:
    """Take what a worker says, all that is there."""
    wire = hired.process.wire
    try:
        while True:
            number, answer = wire.receive(monotonic() + LOOK)
            promise = hired.promises.pop(number)
            promise.answer = pickle.loads(answer)  # noqa: S301  (of a process of ours)
            promise.is_kept = True
            if not wire.has_begun:
                return
    except TimeoutError:
        return  # the rest of it comes later
    except ClosedError:
        hired.end()
