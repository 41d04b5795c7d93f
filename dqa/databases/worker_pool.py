"""Run the statements of a database in worker processes.

A statement runs in a process of its own, and the caller waits for that with a deadline. Past the
deadline the process is killed, and its statement is ended on the server. So a call returns
within its limit and one second, whatever an engine, a driver or a server does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import astuple, replace
from functools import cache
from pathlib import Path
from threading import Event, Semaphore, Thread
from time import monotonic
from typing import Any
from weakref import finalize

from dqa.core.database import Limits, Rows, decode_rows, timed_out
from dqa.core.errors import (
    DatabaseUnavailableError,
    DqaError,
    StatementTimeoutError,
)
from dqa.core.examination import Examination
from dqa.core.schema import DatabaseSchema
from dqa.core.session import Session, Source
from dqa.databases.opening import OpenedFiles, Opening
from dqa.databases.worker import STARTING, Worker, WorkerBugError

MOST_WORKERS = 32
"""Workers of one session: statements that may run at once."""
_OWN = 0.2
"""Seconds beyond its limit that the engine has to stop a statement by itself."""
_GRACE = 0.4
"""Seconds beyond its limit after which a statement's worker is killed."""
_ENDING = 0.5
"""Seconds more within which a server has to answer anything."""
_MOST_STARTING = 4
"""Workers of one session that start at once: more would delay each other."""
_FREE = 0.3
"""Seconds of waiting for a worker that do not count as a statement's own."""
_REOPENING = 0.6
"""Least seconds in which an embedded database may be opened again for a statement."""
_BUSY = "Ask from fewer threads at once, or give statements more seconds."
_NO_WORKER = f"is busy or does not answer: no worker process was free in time. {_BUSY}"
_DESCRIBING = 600.0
"""Seconds that reading a schema may take."""
_TIMES, _SPARE = 16, 1 << 20
"""How much larger than its text a result may be that is sent, and how much more."""


class IsolatedSession(Session):
    """A session whose statements run in worker processes, one at a time in each.

    Another worker starts when none is idle.

    Parameters
    ----------
    opening
        The database that each worker opens; the first one does so at once.

    Raises
    ------
    DqaError
        As `Opening.open` does.
    InfrastructureError
        No worker can be started.
    """

    def __init__(self, opening: Opening) -> None:
        super().__init__()
        self._opening = opening
        first = Worker(opening, monotonic() + STARTING)
        for name, value in first.facts.items():
            setattr(self, name, tuple(value) if isinstance(value, list) else value)
        self.file = None if self.file is None else Path(self.file)
        self.sources = tuple(Source(path, (*state,)) for path, state in self.sources)
        self._files = OpenedFiles(self.file, self.sources)
        self._seconds = first.seconds
        self._reset()
        self._idle.append(first)

    def _reset(self) -> None:
        """Begin without workers; a fork leaves its parent the workers."""
        self._owner = os.getpid()
        self._places = Semaphore(MOST_WORKERS)
        self._starts = Semaphore(_MOST_STARTING)
        self._idle: list[Worker] = []
        self._is_closed = False
        finalize(self, _end_workers, self._idle, self._owner, kills=self.file is not None)

    def run(self, statement: str, limits: Limits) -> Rows:
        """Run a statement in a worker, and kill that at the end of the limit.

        Raises
        ------
        DatabaseUnavailableError
            As any session; or no worker is free in time, another process ended the worker, or the
            server does not answer.
        """
        self._files.require_same()
        until = monotonic() + limits.seconds + _FREE
        with self._lease(until) as (worker, until):
            left, own = max(until - monotonic(), 0.01), limits
            if left < limits.seconds:
                own = replace(limits, seconds=left)
            try:
                return self._run_on(worker, statement, own)
            except StatementTimeoutError:
                if own.seconds >= limits.seconds / 2:
                    raise
                raise self._unavailable(
                    f"is busy: of its {limits.seconds:g} seconds the statement waited "
                    f"{limits.seconds - own.seconds:.1f} for a worker. {_BUSY}"
                ) from None

    def read_schema(self) -> DatabaseSchema:
        """Read the whole schema in a worker."""
        found, self.namespace = self._request("schema")
        schema: DatabaseSchema = _validator(DatabaseSchema)(found)
        return schema

    def row_order(self, table: str) -> bytes | None:
        """Return the order of a table's rows, as a worker reads it."""
        order = self._request("order", table)
        return None if order is None else bytes.fromhex(order)

    def examine(self) -> Examination:
        """Examine a server in a worker."""
        found: Examination = _validator(Examination)(self._request("examine"))
        return found

    def close(self) -> None:
        """End all workers; those that run a statement end after it."""
        if self._owner == os.getpid():  # else they are the parent's
            self._is_closed = True
            self._end_idle()

    def _run_on(self, worker: Worker, statement: str, limits: Limits) -> Rows:
        until, most = monotonic() + limits.seconds, _TIMES * limits.bytes + _SPARE
        ending: Event | None = None
        worker.send("run", statement, *astuple(limits))
        try:
            try:
                return decode_rows(worker.wait(until + _OWN, most))
            except TimeoutError:
                ending = self._end_statement(worker.mark)
                return decode_rows(worker.wait(until + _GRACE, most))
        except (TimeoutError, DqaError) as error:
            if isinstance(error, DqaError) and ending is None:
                if worker.is_over:
                    self._end_statement(worker.mark)
                raise
            worker.kill()
            if ending is None or ending.wait(_ENDING):
                raise timed_out(limits, self.kind) from None
            raise self._unavailable(  # a busy server would have let another worker in
                f"does not answer: the statement did not end within {limits.seconds:g} seconds, "
                "nor did an attempt to end it."
            ) from None
        except (TypeError, ValueError):
            worker.kill()
            raise self._unavailable("failed: a worker process sent an invalid result.") from None
        finally:
            if ending is not None:  # the new worker would end its next statement, too
                worker.kill()

    def _request(self, request: str, *arguments: object) -> Any:  # noqa: ANN401
        """Return the reply to a request other than a statement."""
        self._files.require_same()
        until = monotonic() + _DESCRIBING
        with self._lease(until) as (worker, _):
            try:
                worker.send(request, *arguments)
                return worker.wait(until)
            except TimeoutError:
                worker.kill()  # its reply would answer the next request
                raise self._unavailable(
                    f"cannot be described: it took longer than {_DESCRIBING:g} seconds."
                ) from None

    @contextmanager
    def _lease(self, until: float) -> Iterator[tuple[Worker, float]]:
        """Lend a worker until a time, which is later if an embedded database was opened again."""
        if self._owner != os.getpid():
            self._reset()
        if not self._places.acquire(timeout=max(until - monotonic(), 0.0)):
            raise self._unavailable(_NO_WORKER)
        try:
            if self._is_closed:
                raise self._unavailable("is closed.")
            worker = _pop(self._idle)
            if worker is None:
                worker, until = self._start(until)
            try:
                yield worker, until
            except (DqaError, WorkerBugError):  # it has answered, or is over
                raise
            except BaseException:  # it still owes an answer that no one waits for
                worker.kill()
                raise
            finally:
                self._add(worker)
        finally:
            self._places.release()

    def _start(self, until: float) -> tuple[Worker, float]:
        """Return a new worker, or one that is free first; several threads start few at once."""
        if not self._starts.acquire(timeout=max(until - monotonic(), 0.0)):
            raise self._unavailable(_NO_WORKER)
        try:
            if worker := _pop(self._idle):
                return worker, until
            if not self._opening.is_server:  # opening it may take longer than a statement
                until = max(until, monotonic() + max(_REOPENING, 3 * self._seconds))
            return Worker(self._opening, until), until
        finally:
            self._starts.release()

    def _add(self, worker: Worker) -> None:
        if not worker.is_over:
            self._idle.append(worker)
        if self._is_closed:
            self._end_idle()

    def _end_idle(self) -> None:
        _end_workers(self._idle, self._owner, kills=self.file is not None)

    def _end_statement(self, mark: str | None) -> Event | None:
        """Start a worker in the background that ends what another one runs on the server.

        Returns
        -------
        Event or None
            Set when the new worker has opened the database; None without a server.
        """
        if mark is None:
            return None
        answered = Event()

        def end() -> None:
            with suppress(DqaError, WorkerBugError, TimeoutError):
                worker = Worker(self._opening, monotonic() + STARTING)
                answered.set()
                worker.send("end", mark)
                worker.wait(monotonic() + STARTING)
                self._add(worker)

        Thread(target=end, name="dqa-worker", daemon=True).start()
        return answered

    def _unavailable(self, problem: str) -> DatabaseUnavailableError:
        return DatabaseUnavailableError(f"Database '{self.name}' {problem}")


def _pop(idle: list[Worker]) -> Worker | None:
    """Return a worker that waits for a request; end those that do not."""
    with suppress(IndexError):  # another thread may have taken the last one
        while True:
            worker = idle.pop()
            if worker.is_ready():
                return worker
            worker.kill()
    return None


def _end_workers(idle: list[Worker], owner: int, *, kills: bool) -> None:
    """End idle workers; kill those with a file, which another program may write next."""
    while owner == os.getpid() and (worker := _pop(idle)):
        worker.kill() if kills else worker.close()


@cache
def _validator(kind: type[DatabaseSchema | Examination]) -> Callable[[object], Any]:
    """Return what checks a worker's description and returns it as its class."""
    from pydantic import TypeAdapter  # most statements need none

    return TypeAdapter(kind).validate_python
