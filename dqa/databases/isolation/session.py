"""A session whose statements run in worker processes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Event
from time import monotonic
from typing import NoReturn, TypeVar
from weakref import finalize

from dqa.core.database import Limits, Rows
from dqa.core.errors import DatabaseUnavailableError, DqaError, StatementTimeoutError
from dqa.core.examination import Advice, Examination
from dqa.core.interpreters import describe_exit, name_signal
from dqa.core.schema import DatabaseSchema
from dqa.core.session import Session
from dqa.core.turns import waiting
from dqa.databases.failures import crashed, out_of_memory, timed_out, unanswered
from dqa.databases.isolation.bounds import count_memory_kills
from dqa.databases.isolation.opened_files import OpenedFiles
from dqa.databases.isolation.pool import WorkerPool
from dqa.databases.isolation.shapes import require, unpack
from dqa.databases.isolation.wire import (
    ClosedError,
    TooLongError,
    unpack_rows,
)
from dqa.databases.isolation.workers import FAULTS, GoneError, OpenWorker
from dqa.databases.opening import Opening

_Answer = TypeVar("_Answer")
GRACE = 0.3
"""Seconds beyond its limit after which a statement's worker is killed: what stops a statement by
itself has done so by then."""
_ENDING = 0.5
"""Seconds more in which a server has to say anything, where it has not since it was tried."""
_TRYING = 4.0
"""Seconds before the end of a statement's limit from which its server is tried, half the limit at
most: by the end, one that is only busy has answered."""
_SUSPECTS = 1_000
"""Statements remembered at which a server fell silent."""
_ASKING = 0.4
"""Share of a limit within which a server has to answer before such a statement runs again."""
_AT_ONCE = 0.1
"""Seconds that may pass before what is left of a limit is told to a worker."""
_DESCRIBING = 600.0
"""Seconds that reading a schema may take."""
_TIMES, _SPARE = 16, 1 << 20
"""How much larger than its text a result may be that travels, and how much besides."""
_OVER_TIME = frozenset({"SIGALRM", "SIGXCPU"})


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
        self.namespace = facts.namespace
        self.schemas, self.search_path = facts.schemas, facts.search_path
        self.file = None if facts.file is None else Path(facts.file)
        self.sources = facts.sources
        self._suspects: dict[str, None] = {}
        self._files = OpenedFiles(self.file, self.sources)

    @waiting()
    def run(self, statement: str, limits: Limits) -> Rows:
        """Run a statement in a worker, and end that where it does not come back.

        Where its server falls silent as well, nobody can tell in time whether the statement did
        that. It is remembered: when it comes again the server is asked first, and what happens then
        is its own fault.

        Raises
        ------
        DatabaseUnavailableError
            Besides what a session raises: no worker was free in time, or it was free so late that
            the statement is not to blame for what it did not finish.
        """
        self._files.require_same()
        until = monotonic() + limits.seconds
        if statement in self._suspects:
            self._require_answer(limits)
        for _ in range(2):
            extra = self._pool.opening_time
            with self._pool.lease(until + extra) as worker:
                latest = until if worker.mark else until + extra
                left = latest - monotonic()
                own = limits
                if left < limits.seconds - _AT_ONCE:
                    own = limits.left(max(left, _AT_ONCE))
                try:
                    rows = self._run_on(worker, statement, own, min(left, own.seconds))
                except StatementTimeoutError:
                    if own.seconds < limits.seconds / 2:
                        raise _tell_waiting(self.name, limits, own) from None
                    raise
                except GoneError:
                    continue
            self._suspects.pop(statement, None)
            return rows
        raise _tell_gone(self.name)

    def read_schema(self) -> DatabaseSchema:
        """Read the whole schema in a worker."""
        schema, self.namespace = self._request(_unpack_schema, "schema")
        return schema

    def row_order(self, table: str) -> bytes | None:
        """Return the order of a table's rows, as a worker reads it."""
        return self._request(_unpack_order, "order", table)

    def examine(self) -> Examination:
        """Examine a server in a worker."""
        return self._request(_unpack_examination, "examine")

    def close(self) -> None:
        """End all workers."""
        self._pool.close()

    def _run_on(self, worker: OpenWorker, statement: str, limits: Limits, seconds: float) -> Rows:
        until = monotonic() + seconds
        given = (
            *(limits.rows, limits.bytes, limits.seconds, limits.cell, limits.scans),
            limits.told,
        )
        most = _TIMES * limits.bytes + _SPARE
        answered = Event()
        latest = until + GRACE + _ENDING
        try:
            worker.request(until + GRACE, "run", statement, *given)
            try:
                packed = worker.wait(until - min(_TRYING, limits.seconds / 2), most)
            except TimeoutError:
                if worker.mark is not None:
                    self._pool.try_server(answered, latest - monotonic())
                packed = worker.wait(until + GRACE, most)
            return unpack_rows(packed)
        except (TimeoutError, ClosedError, TooLongError) as error:
            self._end(worker, error, answered)
            # A server that is only busy has said something since it was tried.
            has_answered = worker.mark is None or answered.wait(latest - monotonic())
            self._tell_late(statement, limits, has_answered=has_answered)
        except (DqaError, GoneError):
            if worker.is_over:
                self._pool.replace(worker.mark)
            raise

    def _require_answer(self, limits: Limits) -> None:
        """Raise `DatabaseUnavailableError` where the server does not answer."""
        answered = Event()
        self._pool.try_server(answered, _ASKING * limits.seconds)
        if not answered.wait(_ASKING * limits.seconds):
            raise unanswered(self.name, limits)

    def _end(self, worker: OpenWorker, error: Exception, answered: Event) -> None:
        """End a worker that did not answer; raise what that means where it was not late."""
        code: int | None = 0
        if isinstance(error, ClosedError):
            code = worker.kill()
        else:
            worker.drop()
        self._pool.replace(worker.mark, answered)
        if code is None:
            raise GoneError from None
        name = name_signal(code)
        if isinstance(error, TooLongError):
            raise out_of_memory() from None
        if isinstance(error, TimeoutError) or name in _OVER_TIME:
            return
        if not name or name in FAULTS:
            raise crashed(describe_exit(code)) from None
        if name == "SIGKILL" and count_memory_kills() > worker.memory_kills:
            raise out_of_memory() from None
        raise DatabaseUnavailableError(
            f"The worker process of database '{self.name}' did not finish the statement: "
            f"{describe_exit(code)}. Another process sent that signal. Run the statement again."
        ) from None

    def _tell_late(self, statement: str, limits: Limits, *, has_answered: bool) -> NoReturn:
        """Raise what it means that a statement did not come back."""
        if has_answered or statement in self._suspects:
            raise timed_out(limits, self.kind) from None
        if len(self._suspects) >= _SUSPECTS:
            self._suspects.clear()
        self._suspects[statement] = None
        raise unanswered(self.name, limits) from None

    @waiting()
    def _request(
        self, unpacked: Callable[[object], _Answer], wanted: str, *given: object
    ) -> _Answer:
        """Return the answer to a request of our own."""
        self._files.require_same()
        until = monotonic() + _DESCRIBING
        for _ in range(2):
            with self._pool.lease(until) as worker:
                try:
                    return unpacked(worker.ask(until, wanted, *given))
                except GoneError:
                    continue
                except (TimeoutError, ClosedError, TooLongError) as error:
                    code = worker.kill()
                    has_ended = isinstance(error, ClosedError)
                    if has_ended and code is None:  # with what it was forked from
                        continue
                    problem = describe_exit(code) if has_ended else "it took too long"
                    raise DatabaseUnavailableError(
                        f"Database '{self.name}' cannot be described. Its worker process did not "
                        f"answer: {problem}."
                    ) from None
        raise _tell_gone(self.name)


def _unpack_schema(told: object) -> tuple[DatabaseSchema, str | None]:
    schema: tuple[DatabaseSchema, str | None] = require(told, tuple[DatabaseSchema, str | None])
    return schema


def _unpack_order(told: object) -> bytes | None:
    order: bytes | None = require(told, bytes | None)
    return order


def _unpack_examination(told: object) -> Examination:
    match told:
        case (version, role, may_write, tuple(advice)):
            given = tuple(unpack(one, Advice) for one in advice)
            seen: Examination = unpack((version, role, may_write, given), Examination)
            return seen
    raise ClosedError


def _tell_waiting(name: str, limits: Limits, own: Limits) -> DatabaseUnavailableError:
    waited = limits.seconds - own.seconds
    return DatabaseUnavailableError(
        f"Database '{name}' is busy: of its {limits.told:g} seconds the statement waited "
        f"{waited:.1f} for a worker. Ask from fewer threads at once, or give statements more "
        "seconds."
    )


def _tell_gone(name: str) -> DatabaseUnavailableError:
    return DatabaseUnavailableError(
        f"Two worker processes of database '{name}' ended, one after the other, before they could "
        "answer."
    )
