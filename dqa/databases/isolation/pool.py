"""The workers of one session: each has the database open, and runs one statement at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path
from threading import Condition, Event, Lock, Thread
from time import monotonic
from weakref import WeakSet

from dqa.core.errors import DatabaseUnavailableError, DqaError
from dqa.databases.isolation.wire import ClosedError
from dqa.databases.isolation.workers import GoneError, OpenWorker, WorkerBugError
from dqa.databases.opening import Opening

MOST_WORKERS = 32
"""Workers of one session: statements that may run at once."""
_OPENING = 30.0
"""Seconds within which a worker has to be there that nobody waits for."""
_ANEW = 0.6
"""Seconds beyond a statement's limit in which an embedded database may be opened anew."""


class WorkerPool:
    """The workers of one session.

    Another one is started where none is free for as long as starting one has taken.

    Parameters
    ----------
    opening
        What each worker opens; the first one does so at once.

    Raises
    ------
    DqaError
        As `OpenWorker` does.
    """

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._owner = os.getpid()
        self._changed = Condition()
        first = OpenWorker(opening)
        self.facts = first.facts
        self.opening_seconds = first.seconds
        self._idle = [first]
        self._count = 1
        self._is_server = False
        self._is_paused = False
        self._is_closed = False
        self.number = next(_NUMBERS)
        if self.facts.file is not None:
            with _LISTING:
                _POOLS.add(self)

    @contextmanager
    def lease(self, until: float) -> Iterator[OpenWorker]:
        """Lend a worker to one thread; `DatabaseUnavailableError` where there is none in time."""
        worker = self._acquire(until)
        try:
            yield worker
        finally:
            self._is_server = worker.mark is not None
            with self._changed:
                self._return(worker)

    def replace(self, mark: str | None) -> Event:
        """Open another worker in the background, which first ends what a killed one has left.

        Returns
        -------
        Event
            Set when that is done.
        """
        with self._changed:
            # A closed database needs no worker, but what runs on its server has to end.
            is_wanted = not self._is_paused and (not self._is_closed or mark is not None)
            self._count += is_wanted
        return self._open_another(mark) if is_wanted else Event()

    def try_server(self) -> Event:
        """Open another worker in the background, to see whether the server lets somebody in.

        Returns
        -------
        Event
            Set when it has.
        """
        with self._changed:
            may_start = self._count < MOST_WORKERS and not (self._is_paused or self._is_closed)
            self._count += may_start
        return self._open_another(None, is_spare=True) if may_start else Event()

    def _open_another(self, mark: str | None, *, is_spare: bool = False) -> Event:
        """Open a worker that is counted already; a spare one is kept where none is idle."""
        is_done = Event()

        def open_another() -> None:
            worker = None
            try:
                # Where that fails, the next statement meets what is wrong, and tells.
                with suppress(DqaError, TimeoutError, ClosedError, GoneError, WorkerBugError):
                    until = monotonic() + self._patience
                    worker = OpenWorker(self._opening, until)
                    if mark is None or worker.ask(until, "end", mark, _OPENING):
                        is_done.set()
            finally:
                with self._changed:
                    if worker is not None and is_spare and self._idle:
                        worker.drop()
                    self._return(worker)

        try:
            Thread(target=open_another, name="dqa-worker", daemon=True).start()
        except RuntimeError:  # no thread is to be had: the next statement opens its own worker
            with self._changed:
                self._return(None)
        return is_done

    @property
    def opening_time(self) -> float:
        """Seconds that opening the database anew may add to what a statement takes.

        An embedded one that took long the first time is no outage, and may take longer another
        time. A server is there in time or it is away.
        """
        return 0.0 if self._is_server else max(_ANEW, 3 * self.opening_seconds)

    @property
    def _patience(self) -> float:
        """Seconds that opening may take where nobody waits for it."""
        return max(_OPENING, 2 * self.opening_seconds)

    def close(self) -> None:
        """End all workers; those that run a statement, when that has ended."""
        if os.getpid() != self._owner:
            self._forget_parent()
        with self._changed:
            self._is_closed = True
            self._end_idle()
            self._changed.notify_all()

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Keep the database closed while the context lasts; waits for running statements."""
        if os.getpid() != self._owner:
            self._forget_parent()
        with self._changed:
            self._changed.wait_for(lambda: not self._is_paused)
            self._is_paused = True
        try:
            with self._changed:
                self._changed.wait_for(lambda: self._count == len(self._idle))
                while self._idle:
                    self._count -= 1
                    self._idle.pop().kill()
            yield
        finally:
            with self._changed:
                self._is_paused = False
                self._changed.notify_all()

    def _acquire(self, until: float) -> OpenWorker:
        if os.getpid() != self._owner:
            self._forget_parent()
        patience = monotonic() + self.opening_seconds
        with self._changed:
            while True:
                if self._is_closed:
                    raise DatabaseUnavailableError(f"Database '{self.facts.name}' is closed.")
                while self._idle and not self._is_paused:
                    worker = self._idle.pop()
                    if worker.is_idle():
                        return worker
                    worker.drop()  # somebody has ended it
                    self._count -= 1
                now = monotonic()
                may_start = self._count < MOST_WORKERS and not self._is_paused
                if may_start and (self._count == 0 or now >= patience):
                    self._count += 1
                    break
                if now >= until:
                    raise self._tell_busy()
                self._changed.wait(min(until, patience if may_start else until) - now)
        try:
            return OpenWorker(self._opening, until)
        except BaseException:
            with self._changed:
                self._return(None)
            raise

    def _tell_busy(self) -> DatabaseUnavailableError:
        why = "no worker was free in time"
        if self._is_paused:
            why = "its file is being written"
        elif self._count >= MOST_WORKERS:
            why = (
                f"all {MOST_WORKERS} workers ran other statements all the time that this one had. "
                "Ask from fewer threads at once, or give statements more seconds"
            )
        return DatabaseUnavailableError(f"Database '{self.facts.name}' is busy: {why}.")

    def _return(self, worker: OpenWorker | None) -> None:
        """Take a worker back; one that is over, or None, only makes room for another."""
        if worker is None or worker.is_over:
            self._count -= 1
        else:
            self._idle.append(worker)
            if self._is_closed:
                self._end_idle()
        self._changed.notify_all()

    def _end_idle(self) -> None:
        while self._idle:
            self._idle.pop().leave()
            self._count -= 1

    def _forget_parent(self) -> None:
        """Leave a forked parent its workers, and have others."""
        self._owner = os.getpid()
        self._changed = Condition()
        self._idle, self._count, self._is_paused = [], 0, False


_POOLS: WeakSet[WorkerPool] = WeakSet()
_LISTING = Lock()
_NUMBERS = count()


@contextmanager
def pause_file(path: Path) -> Iterator[None]:
    """Keep this process's workers from a file that is to be written while the context lasts."""
    where = path.resolve()
    with _LISTING:
        pools = [pool for pool in _POOLS if Path(pool.facts.file or "").resolve() == where]
    with ExitStack() as paused:
        for pool in sorted(pools, key=lambda pool: pool.number):  # two writers wait in one order
            paused.enter_context(pool.pause())
        yield
