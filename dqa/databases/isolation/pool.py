"""The workers of one session: each has the database open, and runs one statement at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from threading import Condition, Event, Lock, Thread
from time import monotonic
from weakref import WeakSet, ref

from dqa.core.errors import DatabaseUnavailableError, DqaError
from dqa.databases.isolation.wire import LOOK, ClosedError
from dqa.databases.isolation.workers import GoneError, OpenWorker, WorkerBugError
from dqa.databases.leaving import is_there
from dqa.databases.opening import Opening

MOST_WORKERS = 32
"""Workers of one session: statements that may run at once."""
_OPENING = 30.0
"""Seconds within which a worker has to be there that nobody waits for."""
_ANEW = 0.6
"""Seconds beyond a statement's limit in which an embedded database may be opened anew."""


class _Place:
    """A place for a worker that is not idle, or for whoever keeps the pool closed.

    Ctrl-C may end whoever holds one between any two steps, also between those that would tell the
    pool. So a pool only looks whether a place is still held by anybody.
    """

    __slots__ = ("__weakref__", "worker")

    def __init__(self) -> None:
        self.worker: OpenWorker | None = None


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
        self._taken: list[ref[_Place]] = []
        self._pausing: ref[_Place] | None = None
        self._is_server = False
        self._is_closed = False
        self.number = next(_NUMBERS)
        if self.facts.file is not None:
            with _LISTING:
                _POOLS.add(self)

    @contextmanager
    def lease(self, until: float) -> Iterator[OpenWorker]:
        """Lend a worker to one thread; `DatabaseUnavailableError` where there is none in time."""
        place = self._acquire(until)
        try:
            worker = place.worker = place.worker or self._open_worker(until)
            yield worker
            self._is_server = worker.mark is not None
        finally:
            self._return(place)

    def replace(self, mark: str | None, answered: Event | None = None) -> None:
        """Open another worker in the background, which first ends what a killed one has left.

        Parameters
        ----------
        mark
            What that has announced.
        answered
            Set when that is done.
        """
        with self._changed:
            # A closed database needs no worker, but what runs on its server has to end.
            is_wanted = not self._is_paused and (not self._is_closed or mark is not None)
            place = self._take() if is_wanted else None
        if place is not None:
            self._open_another(place, mark, answered or Event())

    def try_server(self, answered: Event, seconds: float) -> None:
        """See in the background whether the server is there, or else lets somebody in.

        Parameters
        ----------
        answered
            Set when it is.
        seconds
            How long it is greeted, where it has a greeting.
        """
        probe = self.facts.probe
        if probe is not None:

            def greet() -> None:
                if is_there(probe, seconds):
                    answered.set()

            with suppress(RuntimeError):  # no thread is to be had
                Thread(target=greet, name="dqa-probe", daemon=True).start()
            return
        with self._changed:
            may_start = self._count < MOST_WORKERS and not (self._is_paused or self._is_closed)
            place = self._take() if may_start else None
        if place is not None:
            self._open_another(place, None, answered, is_spare=True)

    def _open_another(
        self, place: _Place, mark: str | None, done: Event, *, is_spare: bool = False
    ) -> None:
        """Open a worker for a place; a spare one is kept where none is idle."""

        def open_another() -> None:
            try:
                # Where that fails, the next statement meets what is wrong, and tells.
                with suppress(DqaError, TimeoutError, ClosedError, GoneError, WorkerBugError):
                    until = monotonic() + self._patience
                    worker = place.worker = OpenWorker(self._opening, until)
                    if mark is None or worker.ask(until, "end", mark, _OPENING):
                        done.set()
            finally:
                if place.worker is not None and is_spare and self._idle:
                    place.worker.drop()
                self._return(place)

        try:
            Thread(target=open_another, name="dqa-worker", daemon=True).start()
        except RuntimeError:  # no thread is to be had: the next statement opens its own worker
            self._return(place)

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

    def pause(self) -> object:
        """Close the database for as long as what is returned is held; wait for its statements."""
        if os.getpid() != self._owner:
            self._forget_parent()
        mine = _Place()
        try:
            with self._changed:
                while self._is_paused:
                    self._changed.wait(LOOK)
                self._pausing = ref(mine)
                while self._count > len(self._idle):
                    self._changed.wait(LOOK)
                while self._idle:
                    self._idle.pop().kill()
        except BaseException:
            del mine  # whoever keeps the traceback does not keep the database closed
            raise
        return mine

    def notice(self) -> None:
        """Let those that wait see at once that the database is no more closed."""
        with self._changed:
            self._changed.notify_all()

    @property
    def _is_paused(self) -> bool:
        return self._pausing is not None and self._pausing() is not None

    @property
    def _count(self) -> int:
        """How many workers there are, and are being opened."""
        self._taken = [place for place in self._taken if place() is not None]
        return len(self._idle) + len(self._taken)

    def _acquire(self, until: float) -> _Place:
        """Return the place of an idle worker, or one for a worker that is to be opened."""
        if os.getpid() != self._owner:
            self._forget_parent()
        patience = monotonic() + self.opening_seconds
        with self._changed:
            while True:
                if self._is_closed:
                    raise DatabaseUnavailableError(f"Database '{self.facts.name}' is closed.")
                while self._idle and not self._is_paused:
                    place = self._take()
                    # No call between these two: Ctrl-C comes before or after both.
                    place.worker = worker = self._idle[-1]
                    del self._idle[-1]
                    if worker.is_idle():
                        return place
                    worker.drop()  # somebody has ended it
                    self._give_up(place)
                now = monotonic()
                may_start = self._count < MOST_WORKERS and not self._is_paused
                if may_start and (self._count == 0 or now >= patience):
                    return self._take()
                if now >= until:
                    raise self._tell_busy()
                wait = min(until, patience if may_start else until) - now
                self._changed.wait(min(wait, LOOK))

    def _take(self) -> _Place:
        """Return a place for one worker more."""
        place = _Place()
        self._taken.append(ref(place))
        return place

    def _give_up(self, place: _Place) -> None:
        self._taken = [other for other in self._taken if other() is not place]

    def _open_worker(self, until: float) -> OpenWorker:
        """Open a worker; once more where there is time, for a busy server may lose a connection."""
        try:
            return OpenWorker(self._opening, until)
        except DatabaseUnavailableError:
            if not self._is_server or until - monotonic() < _ANEW:
                raise
            return OpenWorker(self._opening, until)

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

    def _return(self, place: _Place) -> None:
        """Take a worker back; one that is over, or none, only makes room for another."""
        worker = place.worker
        if worker is not None and worker.is_asked:  # nobody waits for its answer any more
            worker.drop()
        with self._changed:
            self._give_up(place)
            if worker is not None and not worker.is_over:
                self._idle.append(worker)
                if self._is_closed:
                    self._end_idle()
            self._changed.notify_all()

    def _end_idle(self) -> None:
        while self._idle:
            self._idle.pop().leave()

    def _forget_parent(self) -> None:
        """Leave a forked parent its workers, and have others."""
        self._owner = os.getpid()
        self._changed = Condition()
        self._idle, self._taken, self._pausing = [], [], None


_POOLS: WeakSet[WorkerPool] = WeakSet()
_LISTING = Lock()
_NUMBERS = count()


@contextmanager
def pause_file(path: Path) -> Iterator[None]:
    """Keep this process's workers from a file that is to be written while the context lasts."""
    where = path.resolve()
    with _LISTING:
        pools = [pool for pool in _POOLS if Path(pool.facts.file or "").resolve() == where]
    held: list[object] = []
    try:
        # Two writers wait in one order.
        held.extend(pool.pause() for pool in sorted(pools, key=lambda pool: pool.number))
        yield
    finally:
        held.clear()
        for pool in pools:
            pool.notice()
