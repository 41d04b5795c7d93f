"""Run the statements of a database in worker processes.

A statement runs in a process of its own, and the caller waits for that with a deadline. Past the
deadline the process is killed, and what it left on a server is ended there. So a call returns
within its limit and one second, whatever an engine, a driver or a server does.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from threading import Condition, Event, Lock, Thread
from time import monotonic
from typing import Any
from weakref import WeakSet, finalize

from dqa.core.database import Limits, Rows
from dqa.core.errors import DatabaseUnavailableError, DqaError, StatementTimeoutError
from dqa.core.examination import Examination
from dqa.core.interpreters import describe_exit
from dqa.core.schema import DatabaseSchema
from dqa.core.session import Probe, Session, Source
from dqa.databases.failures import out_of_memory, timed_out, unanswered
from dqa.databases.leaving import is_there
from dqa.databases.opened_files import OpenedFiles
from dqa.databases.opening import Opening
from dqa.databases.worker import (
    STARTING,
    ClosedError,
    NotAskedError,
    TooLongError,
    Worker,
    WorkerBugError,
)

MOST_WORKERS = 32
"""Workers of one session: statements that may run at once."""
GRACE = 0.3
"""Seconds beyond its limit after which a statement's worker is killed."""
_ENDING = 0.5
"""Seconds more in which a server has to answer anything."""
_PATIENCE = 0.2
"""Seconds to wait for a worker, at most, before another one is started."""
_PROBING = 4.0
"""Seconds before the end of a limit at which its server is probed, half the limit at most."""
_AT_ONCE = 0.1
"""Seconds of its limit that a statement may lose without being given less."""
_OPENING = 30.0
"""Seconds within which a worker that no caller waits for has to be ready."""
_REOPENING = 0.6
"""Seconds beyond a statement's limit in which an embedded database may be opened again."""
_DESCRIBING = 600.0
"""Seconds that reading a schema may take."""
_TIMES, _SPARE = 16, 1 << 20
"""How much larger than its text a result may be that is sent, and how much besides."""


class WorkerPool:
    """The workers of one session; another starts where none is free for as long as that takes.

    Parameters
    ----------
    opening
        What each worker opens; the first one does so at once.

    Raises
    ------
    DqaError
        As `Worker` does.
    """

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._owner = os.getpid()
        self._changed = Condition()
        first = Worker(opening, monotonic() + STARTING)
        self.facts = first.facts
        self.opening_seconds = first.seconds
        self._idle = [first]
        self._busy = 0
        self._is_paused = self._is_closed = self._is_server = False

    @contextmanager
    def lease(self, until: float) -> Iterator[tuple[Worker, float]]:
        """Lend a worker, and say how long it took to start it (0 for one that was idle).

        Raises
        ------
        DatabaseUnavailableError
            No worker is free in time.
        """
        worker = self._take_idle(until)
        seconds = 0.0
        try:
            if worker is None:
                # Opening an embedded database again may take longer than its statement.
                extra = 0.0 if self._is_server else max(_REOPENING, 3 * self.opening_seconds)
                worker = Worker(self._opening, until + extra)
                seconds = worker.seconds
            yield worker, seconds
        except (DqaError, WorkerBugError):  # it has answered
            raise
        except BaseException:  # it still owes an answer that no one waits for
            if worker is not None and not worker.is_over:
                worker.kill()
            raise
        finally:
            self._give_back(worker)

    def open_spare(self, answered: Event, mark: str | None = None) -> None:
        """Start a worker in the background, which shows whether the server answers.

        Parameters
        ----------
        answered
            Set when the server has answered.
        mark
            What a killed worker announced: what it left on the server is ended first.
        """
        with self._changed:
            self._busy += 1

        def start() -> None:
            worker: Worker | None = None
            try:
                # Where this fails, the next statement meets the problem and reports it.
                with suppress(DqaError, TimeoutError, ClosedError, NotAskedError):
                    until = monotonic() + max(_OPENING, 2 * self.opening_seconds)
                    worker = Worker(self._opening, until)
                    if mark is None or worker.ask(until, "end", mark, _OPENING):
                        answered.set()
            finally:
                self._give_back(worker)

        Thread(target=start, name="dqa-worker", daemon=True).start()

    def probe_server(self, answered: Event, seconds: float) -> None:
        """See in the background whether the server answers, by a greeting where it has one.

        Parameters
        ----------
        answered
            Set when it does.
        seconds
            How long to greet it.
        """
        if self.facts.probe is None:
            self.open_spare(answered)
            return
        probe = Probe(*self.facts.probe)

        def greet() -> None:
            if is_there(probe, seconds):
                answered.set()

        Thread(target=greet, name="dqa-probe", daemon=True).start()

    def close(self) -> None:
        """End all workers; those that run a statement end after it."""
        if self._owner != os.getpid():  # they are the parent's
            return
        with self._changed:
            self._is_closed = True
            self._close_idle()
            self._changed.notify_all()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Keep the database closed while the context lasts; wait for running statements first."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_paused)
            self._is_paused = True
        try:
            with self._changed:
                self._changed.wait_for(lambda: self._busy == 0)
                self._close_idle()
            yield
        finally:
            with self._changed:
                self._is_paused = False
                self._changed.notify_all()

    @cached_property
    def file(self) -> Path | None:
        """The file that the database is read from, resolved; None where there is none."""
        return None if self.facts.file is None else Path(self.facts.file).resolve()

    def _take_idle(self, until: float) -> Worker | None:
        """Return an idle worker, or None where the caller is to start one."""
        if self._owner != os.getpid():
            self._forget_parent()
        patience = monotonic() + min(self.opening_seconds, _PATIENCE)
        with self._changed:
            while True:
                if self._is_closed:
                    raise DatabaseUnavailableError(f"Database '{self.facts.name}' is closed.")
                while self._idle and not self._is_paused:
                    worker = self._idle.pop()
                    if worker.is_ready():
                        self._busy += 1
                        return worker
                    worker.kill()
                now = monotonic()
                may_start = self._busy < MOST_WORKERS and not self._is_paused
                if may_start and (self._busy == 0 or now >= patience):
                    self._busy += 1
                    return None
                if now >= until:
                    raise self._busy_error()
                self._changed.wait((min(until, patience) if may_start else until) - now)

    def _forget_parent(self) -> None:
        """Leave a forked parent its workers, and start others."""
        self._owner = os.getpid()
        self._changed = Condition()
        self._idle, self._busy = [], 0

    def _give_back(self, worker: Worker | None) -> None:
        with self._changed:
            self._busy -= 1
            self._is_server |= worker is not None and worker.mark is not None
            if worker is not None and not worker.is_over:
                self._idle.append(worker)
                if self._is_closed:
                    self._close_idle()
            self._changed.notify_all()

    def _close_idle(self) -> None:
        while self._idle:
            worker = self._idle.pop()
            if self.file is None:
                worker.close()
            else:
                worker.kill(_ENDING)  # a writer of its file may come next

    def _busy_error(self) -> DatabaseUnavailableError:
        why = "no worker was free in time"
        if self._is_paused:
            why = "its file is being written"
        elif self._busy >= MOST_WORKERS:
            why = (
                f"all {MOST_WORKERS} workers ran other statements. Ask from fewer threads at once, "
                "or give statements more seconds"
            )
        return DatabaseUnavailableError(f"Database '{self.facts.name}' is busy: {why}.")


class IsolatedSession(Session):
    """A session whose statements run in worker processes, each in one that runs no other.

    Parameters
    ----------
    opening
        What each worker opens.

    Raises
    ------
    DqaError
        As `Opening.open` does.
    InfrastructureError
        No worker can be started.
    """

    def __init__(self, opening: Opening) -> None:
        super().__init__()
        self._pool = WorkerPool(opening)
        finalize(self, self._pool.close)
        facts = self._pool.facts
        self.kind, self.dialect, self.language, self.name = facts[:4]
        self.namespace, self.schemas, self.search_path = facts[4:7]
        self.file = None if facts.file is None else Path(facts.file)
        self.sources = tuple(Source(*source) for source in facts.sources)
        self._files = OpenedFiles(self.file, self.sources)
        if self.file is not None:
            with _listing:
                _POOLS.add(self._pool)

    def run(self, statement: str, limits: Limits) -> Rows:
        """Run a statement in a worker, and kill that where it does not come back.

        Raises
        ------
        DatabaseUnavailableError
            Besides what a session raises: no worker was free in time, another process ended the
            worker, or the server does not answer.
        """
        self._files.require_same()
        until = monotonic() + limits.seconds
        for _ in range(2):
            with suppress(NotAskedError), self._pool.lease(until) as (worker, opening):
                left = until + opening * (worker.mark is None) - monotonic()
                own = limits
                if left < limits.seconds - _AT_ONCE:
                    own = limits.left(max(left, _AT_ONCE))
                try:
                    return self._run_on(worker, statement, own, min(left, own.seconds))
                except StatementTimeoutError:
                    if own.seconds < limits.seconds / 2:
                        raise self._waited_error(limits, own) from None
                    raise
        raise self._pool_lost_error()

    def read_schema(self) -> DatabaseSchema:
        """Read the whole schema in a worker."""
        found, self.namespace = self._request(tuple, "schema")
        described: DatabaseSchema = found
        return described

    def row_order(self, table: str) -> bytes | None:
        """Return the order of a table's rows, as a worker reads it."""
        order: bytes | None = self._request((bytes, type(None)), "order", table)
        return order

    def examine(self) -> Examination:
        """Examine a server in a worker."""
        examined: Examination = self._request(Examination, "examine")
        return examined

    def close(self) -> None:
        """End all workers."""
        self._pool.close()

    def _run_on(self, worker: Worker, statement: str, limits: Limits, seconds: float) -> Rows:
        until = monotonic() + seconds
        numbers = (limits.rows, limits.bytes, limits.seconds, limits.cell, limits.scans)
        most = _TIMES * limits.bytes + _SPARE
        answered = Event()
        latest = until + GRACE + _ENDING
        try:
            worker.request(until + GRACE, "run", statement, *numbers, limits.told)
            try:
                rows = worker.wait(until - min(_PROBING, limits.seconds / 2), most)
            except TimeoutError:
                if worker.mark is not None:
                    self._pool.probe_server(answered, latest - monotonic())
                rows = worker.wait(until + GRACE, most)
        except TimeoutError:
            worker.kill()
            problem: DqaError | None = None
        except TooLongError:
            worker.kill()
            problem = out_of_memory()
        except ClosedError:
            problem = worker.ended_error()
        else:
            if isinstance(rows, Rows):
                return rows
            worker.kill()
            problem = self._bad_reply_error()
        if worker.mark is not None:
            self._pool.open_spare(answered, worker.mark)
        if problem is not None:
            raise problem
        # A server that is only busy has answered something since it was probed.
        if worker.mark is None or answered.wait(latest - monotonic()):
            raise timed_out(limits, self.kind)
        raise unanswered(self.name, limits)

    def _request(self, expected: type | tuple[type, ...], wanted: str, *arguments: object) -> Any:  # noqa: ANN401
        """Return the answer to a request of our own."""
        self._files.require_same()
        until = monotonic() + _DESCRIBING
        for _ in range(2):
            with suppress(NotAskedError), self._pool.lease(until) as (worker, _):
                try:
                    answer = worker.ask(until, wanted, *arguments)
                except (TimeoutError, ClosedError, TooLongError) as error:
                    code = worker.exit_code()
                    has_ended = isinstance(error, ClosedError)
                    problem = describe_exit(code) if has_ended else "it took too long"
                    raise DatabaseUnavailableError(
                        f"Database '{self.name}' cannot be described. Its worker process did not "
                        f"answer: {problem}."
                    ) from None
                if isinstance(answer, expected):
                    return answer
        raise self._pool_lost_error()

    def _pool_lost_error(self) -> DatabaseUnavailableError:
        return DatabaseUnavailableError(
            f"Two worker processes of database '{self.name}' ended before they could answer: "
            "another process ends them, or memory is short."
        )

    def _bad_reply_error(self) -> DatabaseUnavailableError:
        return DatabaseUnavailableError(
            f"A worker process of database '{self.name}' sent what is not a result; it was ended."
        )

    def _waited_error(self, limits: Limits, own: Limits) -> DatabaseUnavailableError:
        return DatabaseUnavailableError(
            f"Database '{self.name}' is busy: of its {limits.told:g} seconds the statement waited "
            f"{limits.seconds - own.seconds:.1f} for a worker. Ask from fewer threads at once, or "
            "give statements more seconds."
        )


_POOLS: WeakSet[WorkerPool] = WeakSet()
_listing = Lock()


@contextmanager
def pause_file(path: Path) -> Iterator[None]:
    """Keep this process's workers from a file that is to be written while the context lasts."""
    where = path.resolve()
    with _listing:
        pools = sorted((pool for pool in _POOLS if pool.file == where), key=id)
    with ExitStack() as stack:
        for pool in pools:  # in one order, so that two writers do not wait for each other
            stack.enter_context(pool.paused())
        yield
