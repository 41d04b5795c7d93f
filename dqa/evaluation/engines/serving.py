"""What a worker process of this machine does: it decides what its parent says, until that goes."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection
from threading import Lock
from typing import TYPE_CHECKING, Any, NoReturn

from dqa.evaluation.engines.remote import Problem, Worker, pack

if TYPE_CHECKING:
    from dqa.evaluation.engines.remote import Versions

_THREADS = 10_000
"""More than are asked at once: there are as many as that takes."""


def serve(connection: Connection) -> NoReturn:
    """Answer requests in threads until the parent closes the connection, then end the process."""
    code = 1
    try:
        with suppress(EOFError, ConnectionError):
            _answer(connection)
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


def _answer(connection: Connection) -> NoReturn:
    worker, sending = _WorkerHere(), Lock()
    does: dict[str, Callable[..., Any]] = {
        "prepare": worker.prepare,
        "decide": worker.decide,
        "close": worker.close,
    }

    def answer(number: int, wanted: str, arguments: list[Any]) -> None:
        try:
            made = does[wanted](*arguments)
        except BaseException as error:  # noqa: BLE001  (raised again by the parent)
            made = Problem.of(error)
        try:
            packed = pack(made)
        except Exception as error:  # noqa: BLE001  (it cannot be packed)
            packed = pack(Problem.of(error))
        with sending:
            try:
                connection.send((number, packed))
            except OSError:
                os._exit(0)

    pool = ThreadPoolExecutor(_THREADS, "dqa-worker")
    while True:
        number, wanted, *arguments = connection.recv()
        pool.submit(answer, number, wanted, arguments)
