"""What a worker process of this machine does: it decides what its parent says, until that goes."""

from __future__ import annotations

import gc
import os
import signal
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any, NoReturn

from dqa.databases.isolation.wire import ClosedError, Wire
from dqa.evaluation.engines.remote import Problem, Worker, pack

if TYPE_CHECKING:
    from dqa.core.decision import Usage
    from dqa.evaluation.engines.remote import Versions
    from dqa.evaluation.keys import DecisionKey
    from dqa.evaluation.making import Made

_THREADS = 10_000
"""More than are asked at once: there are as many as that takes."""


def prepare(modules: str) -> None:
    """Import modules, each of which may be missing here."""
    for name in modules.split():
        with suppress(ImportError):
            import_module(name)


def serve(end: socket.socket) -> NoReturn:
    """Answer requests in threads, and end this process when nobody is there to ask."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, who then ends this
    code = 1
    try:
        wire = Wire(end, trusts=True)
        with suppress(ClosedError):
            _answer(wire)
        code = 0
    finally:
        os._exit(code)  # whatever its threads still wait for


class _WorkerHere(Worker):
    """A worker in a process of its own, of the same environment as whoever keeps what it makes."""

    def prepare(
        self, expected: Versions, recipe: bytes, questions: bytes, given: bytes
    ) -> Problem | None:
        """Build the run; what is there then stays, and the collector need not look at it."""
        problem = super().prepare(expected, recipe, questions, given)
        gc.freeze()
        return problem

    def decide(self, keys: Sequence[DecisionKey], spent: Usage) -> list[Made] | Problem:
        """Make and judge some decisions, and write their lines."""
        found = super().decide(keys, spent)
        for made in () if isinstance(found, Problem) else found:
            made.write_lines()
        return found


def _answer(wire: Wire) -> NoReturn:
    folder, environment = wire.receive()
    # The parent's of now, and not those of when the process was made that this was forked from.
    os.environ.clear()
    os.environ.update(environment)
    if folder is not None:
        os.chdir(folder)
    worker, sending = _WorkerHere(), Lock()
    does: dict[str, Callable[..., Any]] = {
        "prepare": worker.prepare,
        "decide": worker.decide,
        "close": worker.close,
    }

    def answer(number: int, wanted: str, given: list[Any]) -> None:
        try:
            made = does[wanted](*given)
        except BaseException as error:  # noqa: BLE001  (raised again by the parent)
            made = Problem.of(error)
        with sending:
            try:
                wire.send((number, pack(made)))
            except ClosedError:
                os._exit(0)
            except Exception as error:  # noqa: BLE001  (it cannot be packed)
                wire.send((number, pack(Problem.of(error))))

    pool = ThreadPoolExecutor(_THREADS, "dqa-worker")
    while True:
        number, wanted, *given = wire.receive()
        pool.submit(answer, number, wanted, given)
