"""A worker process that has a database open, as whoever asks it sees it."""

from __future__ import annotations

import os
from math import inf
from time import monotonic
from typing import Any, NamedTuple

from dqa.core.database import Kind
from dqa.core.errors import DatabaseUnavailableError
from dqa.core.interpreters import describe_exit, name_signal
from dqa.core.session import Probe, Source
from dqa.databases.isolation.bounds import count_memory_kills
from dqa.databases.isolation.processes import Worker, start_worker
from dqa.databases.isolation.shapes import unpack
from dqa.databases.isolation.wire import MOST, ClosedError, UnreadError, unpack_error
from dqa.databases.opening import Opening

FAULTS = frozenset({"SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL"})
"""The signals by which a process ends that has a fault of its own."""


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
    greeted: tuple[str, int, bytes] | None
    read: tuple[tuple[str, tuple[int, int, int, int]], ...]

    @property
    def probe(self) -> Probe | None:
        """How to see that its server is there."""
        return None if self.greeted is None else Probe(*self.greeted)

    @property
    def sources(self) -> tuple[Source, ...]:
        """The data files that it has as tables."""
        return tuple(Source(*source) for source in self.read)


class WorkerBugError(Exception):
    """An exception in a worker that nobody expects; its traceback is a note of this one."""


class GoneError(Exception):
    """A worker had ended before it was asked, or was ended with what it was forked from."""


class OpenWorker:
    """A worker that has opened the database.

    Parameters
    ----------
    opening
        What it opens.
    until
        When to give up, as `time.monotonic` tells it.

    Attributes
    ----------
    mark
        What tells its server session from others; None where it has none.
    is_over
        Whether it has ended, or is about to.
    is_asked
        Whether it owes an answer, so that nobody else may ask it.
    memory_kills
        What `count_memory_kills` returned before it started.

    Raises
    ------
    DqaError
        As `Opening.open` does, or there can be no worker.
    """

    def __init__(self, opening: Opening, until: float = inf) -> None:
        self.mark: str | None = None
        self.is_over = False
        self.is_asked = False
        self.memory_kills = count_memory_kills()
        started = monotonic()
        process: Worker | None = None
        try:
            process = self._process = start_worker(opening.namespaces, until)
            process.wire.send((find_folder(), dict(os.environ), opening), until)
            self.facts = _read_facts(self._receive(until))
        except TimeoutError:
            if process is not None:
                self.drop()
            waited = monotonic() - started
            what = "its worker process did not start" if process is None else "it does not answer"
            raise DatabaseUnavailableError(
                f"The database could not be opened within {waited:.1f} seconds: {what}. The "
                "machine may be busy."
            ) from None
        except ClosedError:
            raise _tell_ended(self.kill()) from None
        except BaseException:
            if process is not None:
                self.kill()
            raise
        self.seconds = monotonic() - started

    def ask(self, until: float, wanted: str, *given: object, most: int = MOST) -> Any:  # noqa: ANN401
        """Return the answer to a request; see `request` and `wait`."""
        self.request(until, wanted, *given)
        return self.wait(until, most)

    def request(self, until: float, wanted: str, *given: object) -> None:
        """Begin a request.

        Raises
        ------
        GoneError
            The worker was not there any more.
        TimeoutError
            It is there, and does not listen: it has to be killed.
        """
        self.is_asked = True
        try:
            self._process.wire.send((wanted, max(until - monotonic(), 0.001), *given), until)
        except ClosedError:
            self.kill()
            raise GoneError from None

    def wait(self, until: float, most: int = MOST) -> Any:  # noqa: ANN401
        """Return the answer to what was requested.

        Raises
        ------
        DqaError
            As the session does.
        GoneError
            The worker had ended before it knew what it was asked.
        TimeoutError
            It did not answer in time; it can be waited for again, or has to be killed.
        ClosedError, TooLongError
            It ended meanwhile, or says too much: it has to be killed.
        WorkerBugError
            The session has a bug.
        """
        try:
            return self._receive(until, most)
        except UnreadError:
            self.kill()
            raise GoneError from None

    def is_idle(self) -> bool:
        """Whether it is there, and waits to be asked."""
        return not self.is_over and self._process.wire.is_silent()

    def kill(self) -> int | None:
        """End it, and return how it ended; None where nobody knows, and it is not to blame."""
        if self.is_over:  # its number may be another process' by now
            return 0
        self.is_over = True
        return self._process.kill()

    def drop(self) -> None:
        """End it, and wait for nothing; where Ctrl-C ends this, it can be called again."""
        if not self.is_over:
            self._process.drop()
            self.is_over = True

    def leave(self) -> None:
        """Let it end by itself."""
        if not self.is_over:
            self.is_over = True
            self._process.leave()

    def _receive(self, until: float, most: int = MOST) -> Any:  # noqa: ANN401
        while True:
            match self._process.wire.receive(until, most):
                case ("announced", str(mark), False):
                    self.mark = mark
                case (("done" | "failed" | "crashed") as says, told, bool(is_last)):
                    break
                case _:
                    raise ClosedError  # a worker that says this is none any more
        self.is_asked = False
        if is_last:
            self.leave()
        if says == "failed":
            raise unpack_error(told)
        if says == "crashed":
            self.leave()
            lines = str(told).strip().splitlines() or ["unknown"]
            error = WorkerBugError(lines[-1])
            error.add_note(str(told))
            raise error
        return told


def _tell_ended(code: int | None) -> DatabaseUnavailableError:
    is_fault = name_signal(code or 0) in FAULTS
    advice = "The file may be damaged" if is_fault else "Open the database again"
    return DatabaseUnavailableError(
        f"A worker process did not open the database: {describe_exit(code)}. {advice}."
    )


def find_folder() -> str | None:
    """Return the current folder; None where it has been removed."""
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError:
        return None


def _read_facts(told: object) -> Facts:
    facts: Facts = unpack(told, Facts)
    return facts
