"""Run the statements of a database in worker processes.

Each statement runs in a worker process, and the caller waits until a deadline. After the deadline,
the process is killed, and its statement on the server is ended. Every call therefore returns at
most one second after its limit, even if an engine or a driver hangs. If the server accepts no
connection, or the machine is too busy to start a process, a call returns at most 2.5 seconds after
its limit.
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
from dqa.core.errors import DatabaseUnavailableError, DqaError, StatementTimeoutError
from dqa.core.interpreters import require_process
from dqa.core.schema import DatabaseSchema, TableRow, tables_of
from dqa.core.session import Examination, Session, Source
from dqa.databases.opening import Opening, identity_of, require_same_files
from dqa.databases.worker import STARTING, Worker, WorkerBugError

MOST_WORKERS = 32
"""The maximum number of workers of a session, which run statements concurrently."""
_GRACE, _GRACE_OF_SERVER = 0.4, 0.2
"""After the time limit, an engine may still end its statement within this number of seconds.

The time for a server is shorter, because `_ENDING` follows.
"""
_ENDING = 2.0
"""The maximum number of seconds until a new worker, after a kill, has connected to the server.

On an idle machine, this takes 0.1 seconds. On a busy one, it must not look like an outage.
"""
_MOST_STARTING = 4
"""The maximum number of workers that start at the same time.

More workers would delay each other.
"""
_FREE = 0.3
"""A statement may wait this number of seconds for a worker. A longer wait shortens its time
limit."""
_REOPENING = 2.0
"""The minimum time limit in seconds for starting a worker that opens the database again.

On an idle machine, this takes 0.1 seconds. On a busy one, it must not look like an outage.
"""
_REMAINING = 0.6
"""After the start of a worker, its statement has at least this number of seconds."""
_NO_WORKER = (
    "is busy or does not answer: no worker process was free in time. Use fewer threads, or raise "
    "the time limit of statements."
)
_DESCRIBING = 600.0
"""The maximum number of seconds for reading a schema."""
_TIMES, _SPARE = 16, 1 << 20
"""The maximum size of a reply in bytes: a multiple of `Limits.bytes`, plus a constant."""


class IsolatedSession(Session):
    """A session whose statements run in worker processes, one statement at a time in each.

    If no worker is idle, another worker starts.

    Parameters
    ----------
    opening
        The database that each worker opens. The first worker starts immediately.

    Raises
    ------
    DqaError
        An error of `Opening.open`.
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
        self._identity = identity_of(self)
        self._seconds = first.seconds
        self._owner = os.getpid()
        self._slots = Semaphore(MOST_WORKERS)
        self._starts = Semaphore(_MOST_STARTING)
        self._idle = [first]
        self._is_closed = False
        finalize(self, _end_workers, self._idle, self._owner, kills=self.file is not None)

    def run(self, statement: str, limits: Limits) -> Rows:
        """Run a statement in a worker; kill the worker if it exceeds the time limit.

        Raises
        ------
        DatabaseUnavailableError
            The database is not available, no worker was free in time, another process ended the
            worker, or the server does not answer.
        """
        require_same_files(self, self._identity)
        until = monotonic() + limits.seconds + _FREE
        with self._lease(until) as (worker, until):
            left = max(until - monotonic(), 0.01)
            try:
                own = replace(limits, seconds=min(left, limits.seconds))
                return self._run_on(worker, statement, own)
            except StatementTimeoutError:
                if left >= limits.seconds / 2:
                    raise
                raise self._unavailable(_NO_WORKER) from None

    def read_schema(self) -> DatabaseSchema:
        """Read the whole schema in a worker."""
        rows, rest = self._request("schema")
        schema: DatabaseSchema = _validator(DatabaseSchema)(rest)
        return replace(schema, tables=tables_of(_validator(list[TableRow])(rows)))

    def row_order(self, table: str) -> bytes | None:
        """Return the stored order of a table's rows."""
        order = self._request("order", table)
        return None if order is None else bytes.fromhex(order)

    def examine(self) -> Examination:
        """Examine a server in a worker."""
        found: Examination = _validator(Examination)(self._request("examine"))
        return found

    def close(self) -> None:
        """End all workers. A worker that runs a statement ends after the statement."""
        self._is_closed = True
        self._end_idle()

    def _run_on(self, worker: Worker, statement: str, limits: Limits) -> Rows:
        until, most = monotonic() + limits.seconds, _TIMES * limits.bytes + _SPARE
        first: list[tuple[Any, ...]] = []
        grace = _GRACE_OF_SERVER if self._opening.is_server else _GRACE
        worker.send("run", statement, *astuple(limits))
        try:
            return decode_rows(worker.wait(until + grace, most, first), first)
        except TimeoutError:
            worker.kill()
            if self._end_statement(worker.mark):
                raise timed_out(limits, self.kind) from None
            raise self._unavailable(  # a server that is only busy accepts a new connection
                f"does not answer: the statement did not end within {limits.seconds:g} seconds, "
                "and an attempt to stop it failed."
            ) from None
        except DqaError:
            if worker.is_over:
                self._end_statement(worker.mark)
            raise
        except (TypeError, ValueError):
            worker.kill()
            raise self._unavailable(
                "failed: a worker process sent an invalid result. Run the statement again."
            ) from None

    def _request(self, request: str, *arguments: object) -> Any:  # noqa: ANN401
        """Return the reply to a request that is not a statement."""
        require_same_files(self, self._identity)
        until = monotonic() + _DESCRIBING
        with self._lease(until) as (worker, _):
            try:
                worker.send(request, *arguments)
                return worker.wait(until)
            except TimeoutError:
                worker.kill()  # otherwise its late reply would answer the next request
                raise self._unavailable(
                    f"did not return its schema within {_DESCRIBING:g} seconds. Open fewer "
                    "schemas, or check the load of the server."
                ) from None

    @contextmanager
    def _lease(self, until: float) -> Iterator[tuple[Worker, float]]:
        """Yield a worker and the statement's deadline, which a new worker may extend."""
        require_process(self._owner)
        if not self._slots.acquire(timeout=max(until - monotonic(), 0.0)):
            raise self._unavailable(_NO_WORKER)
        try:
            if self._is_closed:
                raise self._unavailable("is closed.")
            worker = Worker.take(self._idle)
            if worker is None:
                worker, until = self._start(until)
            try:
                yield worker, until
            except (DqaError, WorkerBugError):  # the worker has replied or ended
                raise
            except BaseException:  # the worker could still send a reply
                worker.kill()
                raise
            finally:
                self._add(worker)
        finally:
            self._slots.release()

    def _start(self, until: float) -> tuple[Worker, float]:
        """Return an idle or a new worker, and the deadline of the statement."""
        if not self._starts.acquire(timeout=max(until - monotonic(), 0.0)):
            raise self._unavailable(_NO_WORKER)
        try:
            if worker := Worker.take(self._idle):
                return worker, until
            opening = 0.0 if self._opening.is_server else 3 * self._seconds
            worker = Worker(self._opening, max(until, monotonic() + max(_REOPENING, opening)))
            return worker, max(until, monotonic() + _REMAINING)
        finally:
            self._starts.release()

    def _add(self, worker: Worker) -> None:
        if not worker.is_over:
            self._idle.append(worker)
        if self._is_closed:
            self._end_idle()

    def _end_idle(self) -> None:
        _end_workers(self._idle, self._owner, kills=self.file is not None)

    def _end_statement(self, mark: str | None) -> bool:
        """Let a new worker end the statement that a killed worker has left on the server.

        Return whether the server accepts the connection of the new worker within `_ENDING` seconds.
        Without a server, return True.
        """
        if mark is None:
            return True
        answered = Event()

        def end() -> None:
            with suppress(DqaError, WorkerBugError, TimeoutError):
                worker = Worker(self._opening, monotonic() + STARTING)
                answered.set()
                worker.send("end", mark)
                worker.wait(monotonic() + STARTING)
                self._add(worker)

        Thread(target=end, name="dqa-worker", daemon=True).start()
        return answered.wait(_ENDING)

    def _unavailable(self, problem: str) -> DatabaseUnavailableError:
        return DatabaseUnavailableError(f"Database '{self.name}' {problem}")


def _end_workers(idle: list[Worker], owner: int, *, kills: bool) -> None:
    """End idle workers. With `kills`, kill them, so that they release their file immediately.

    After a fork, do nothing, because the workers belong to the parent process.
    """
    while owner == os.getpid() and (worker := Worker.take(idle)):
        worker.kill() if kills else worker.close()


@cache
def _validator(kind: Any) -> Callable[[object], Any]:  # noqa: ANN401  (any type)
    """Return a function that validates a reply and converts it to a class."""
    from pydantic import TypeAdapter  # most statements do not need it

    return TypeAdapter(kind).validate_python
