"""The workers of one session: each has the database open, and runs one statement at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path
from threading import Condition, Event, Thread
from time import monotonic
from typing import Any, NamedTuple
from weakref import WeakSet

from dqa.core.database import Kind
from dqa.core.errors import DatabaseUnavailableError, DqaError
from dqa.databases.isolation.processes import Worker, start_worker
from dqa.databases.isolation.wire import MOST, ClosedError, unpack_error
from dqa.databases.opening import Opening

MOST_WORKERS = 32
"""Workers of one session: statements that may run at once."""
_OPENING = 30.0
"""Seconds within which a worker that takes another's place has to be there."""


class Facts(NamedTuple):
    """What a session says of itself; see `dqa.core.session.Session`."""

    kind: Kind
    dialect: str
    language: str
    name: str
    namespace: str | None
    schemas: tuple[str, ...] | None
    search_path: tuple[str, ...]
    file: str | None


class WorkerBugError(Exception):
    """An exception in a worker that nobody expects; its traceback is a note of this one."""


class GoneError(Exception):
    """A worker had ended before it was asked."""


class OpenWorker:
    """A worker that has opened the database.

    Parameters
    ----------
    opening
        What it opens.
    until
        When to give up, as `time.monotonic` tells it.

    Raises
    ------
    DqaError
        As `Opening.open` does, or there can be no worker.
    """

    def __init__(self, opening: Opening, until: float = inf) -> None:
        self.mark: str | None = None
        self.is_over = False
        started = monotonic()
        self._process: Worker = start_worker(opening.namespaces)
        try:
            self._process.wire.send((_folder(), dict(os.environ), opening))
            self.facts = Facts(*self._received(None if until == inf else until))
        except TimeoutError:
            self.kill()
            waited = monotonic() - started
            raise DatabaseUnavailableError(
                f"The database could not be opened within {waited:.1f} seconds: it does not answer."
            ) from None
        except ClosedError:
            raise DatabaseUnavailableError(
                f"The worker process ended while it opened the database (code {self.kill()}): the "
                "file may be damaged, or memory is short."
            ) from None
        except BaseException:
            self.kill()
            raise
        self.seconds = monotonic() - started

    def ask(self, until: float, wanted: str, *given: object, most: int = MOST) -> Any:  # noqa: ANN401
        """Return the answer to a request.

        Raises
        ------
        DqaError
            As the session does.
        GoneError
            The worker was not there any more, so that nothing has been asked.
        TimeoutError, ClosedError, TooLongError
            It did not answer in time, ended meanwhile, or says too much: it has to be killed.
        WorkerBugError
            The session has a bug.
        """
        try:
            self._process.wire.send((wanted, max(until - monotonic(), 0.001), *given))
        except ClosedError:
            self.kill()
            raise GoneError from None
        return self._received(until, most)

    def kill(self) -> int:
        """End it, and return how it ended."""
        if self.is_over:  # its number may be another process' by now
            return 0
        self.is_over = True
        return self._process.kill()

    def drop(self) -> None:
        """End it, and wait for nothing."""
        if not self.is_over:
            self.is_over = True
            self._process.drop()

    def leave(self) -> None:
        """Let it end by itself."""
        if not self.is_over:
            self.is_over = True
            self._process.leave()

    def _received(self, until: float | None, most: int = MOST) -> Any:  # noqa: ANN401
        while True:
            says, told, is_last = self._process.wire.receive(until, most)
            if says != "announced":
                break
            self.mark = told
        if is_last:
            self.leave()
        if says == "failed":
            raise unpack_error(told)
        if says == "crashed":
            self.leave()
            lines = told.strip().splitlines()
            error = WorkerBugError(lines[-1])
            error.add_note(told)
            raise error
        return told


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
        if self.facts.file is not None:
            _POOLS.add(self)

    @contextmanager
    def lease(self, until: float) -> Iterator[OpenWorker]:
        """Lend a worker to one thread; `DatabaseUnavailableError` where there is none in time.

        That an embedded database has to be opened anew is no fault of who asks, and no outage: it
        has time of its own. A server is there by `until` or it is away.
        """
        worker = self._taken(until if self._is_server else until + self._patience)
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
                    self._return(worker)

        with self._changed:
            # A closed database needs no worker, but what runs on its server has to end.
            if self._is_paused or (self._is_closed and mark is None):
                return is_done
            self._count += 1
        try:
            Thread(target=open_another, name="dqa-worker", daemon=True).start()
        except RuntimeError:  # no thread is to be had: the next statement opens its own worker
            with self._changed:
                self._return(None)
        return is_done

    @property
    def _patience(self) -> float:
        """Seconds that opening an embedded database may take."""
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
    def paused(self) -> Iterator[None]:
        """Keep the database closed while the context lasts; waits for running statements."""
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

    def _taken(self, until: float) -> OpenWorker:
        if os.getpid() != self._owner:
            self._forget_parent()
        patience = monotonic() + self.opening_seconds
        with self._changed:
            while True:
                if self._is_closed:
                    raise DatabaseUnavailableError(f"Database '{self.facts.name}' is closed.")
                if self._idle and not self._is_paused:
                    return self._idle.pop()
                now = monotonic()
                may_start = self._count < MOST_WORKERS and not self._is_paused
                if may_start and (self._count == 0 or now >= patience):
                    self._count += 1
                    break
                if now >= until:
                    raise DatabaseUnavailableError(
                        f"Database '{self.facts.name}' is busy: no worker was free in time."
                    )
                self._changed.wait(min(until, patience if may_start else until) - now)
        try:
            return OpenWorker(self._opening, until)
        except BaseException:
            with self._changed:
                self._return(None)
            raise

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


def _folder() -> str | None:
    """Return the current folder; None where it has been removed."""
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError:
        return None


_POOLS: WeakSet[WorkerPool] = WeakSet()


@contextmanager
def pause_file(path: Path) -> Iterator[None]:
    """Keep this process's workers from a file that is to be written while the context lasts."""
    where = path.resolve()
    pools = [pool for pool in list(_POOLS) if Path(pool.facts.file or "").resolve() == where]
    if not pools:
        yield
        return
    with pools[0].paused():
        _POOLS.discard(pools[0])
        try:
            with pause_file(path):
                yield
        finally:
            _POOLS.add(pools[0])
