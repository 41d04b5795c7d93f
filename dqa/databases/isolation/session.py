"""A session whose statements run in worker processes."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any, NoReturn
from weakref import finalize

from dqa.core.database import Limits, Rows
from dqa.core.errors import DatabaseUnavailableError, DqaError, StatementTimeoutError
from dqa.core.examination import Examination
from dqa.core.schema import DatabaseSchema
from dqa.core.session import Session
from dqa.databases.failures import crashed, out_of_memory, timed_out, unanswered
from dqa.databases.isolation.pool import WorkerPool
from dqa.databases.isolation.wire import (
    ClosedError,
    TooLongError,
    unpack_examination,
    unpack_rows,
)
from dqa.databases.isolation.workers import GoneError, OpenWorker
from dqa.databases.opening import Opening

GRACE = 0.3
"""Seconds beyond its limit after which a statement's worker is killed: what stops a statement by
itself has done so by then."""
_ENDING = 0.6
"""Seconds more in which a server has to say that it has ended what the worker ran there."""
_TRYING = 2.0
"""Seconds before the end of a statement's limit from which its server is tried, half the limit at
most: by the end, one that is only busy has answered."""
_AT_ONCE = 0.1
"""Seconds that may pass before what is left of a limit is told to a worker."""
_DESCRIBING = 600.0
"""Seconds that reading a schema may take."""
_TIMES, _SPARE = 16, 1 << 20
"""How much larger than its text a result may be that travels, and how much besides."""
_FAULTS = {
    "SIGSEGV": "a segmentation fault",
    "SIGABRT": "it aborted itself",
    "SIGBUS": "a bus error",
    "SIGFPE": "an arithmetic fault",
    "SIGILL": "an illegal instruction",
}
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
        self._identity = None if self.file is None else _identify(self.file)

    def run(self, statement: str, limits: Limits) -> Rows:
        """Run a statement in a worker, and end that where it does not come back.

        Raises
        ------
        DatabaseUnavailableError
            Besides what a session raises: no worker was free in time, or it was free so late that
            the statement is not to blame for what it did not finish.
        """
        self._require_same_file()
        until = monotonic() + limits.seconds
        for _ in range(2):
            extra = self._pool.opening_time
            with self._pool.lease(until + extra) as worker:
                latest = until if worker.mark else until + extra
                left = latest - monotonic()
                own = limits
                if left < limits.seconds - _AT_ONCE:
                    own = replace(limits, seconds=max(left, _AT_ONCE))
                try:
                    return self._run_on(worker, statement, own, min(left, own.seconds))
                except StatementTimeoutError:
                    if own.seconds < limits.seconds / 2:
                        raise _tell_waiting(self.name, limits, own) from None
                    raise timed_out(limits, self.kind) from None
                except GoneError:
                    continue
        raise _tell_gone(self.name)

    def read_schema(self) -> DatabaseSchema:
        """Read the whole schema in a worker."""
        schema, self.namespace = self._request("schema")
        return schema  # type: ignore[no-any-return]

    def row_order(self, table: str) -> bytes | None:
        """Return the order of a table's rows, as a worker reads it."""
        return self._request("order", table)  # type: ignore[no-any-return]

    def examine(self) -> Examination:
        """Examine a server in a worker."""
        return unpack_examination(self._request("examine"))

    def close(self) -> None:
        """End all workers."""
        self._pool.close()

    def _run_on(self, worker: OpenWorker, statement: str, limits: Limits, seconds: float) -> Rows:
        until = monotonic() + seconds
        given = limits.rows, limits.bytes, limits.seconds, limits.cell
        most = _TIMES * limits.bytes + _SPARE
        trial: Event | None = None
        try:
            worker.request(until + GRACE, "run", statement, *given)
            try:
                packed = worker.wait(until - min(_TRYING, limits.seconds / 2), most)
            except TimeoutError:
                if worker.mark is not None:
                    trial = self._pool.try_server()
                packed = worker.wait(until + GRACE, most)
            return unpack_rows(packed)
        except (TimeoutError, ClosedError, TooLongError) as error:
            self._tell_end(worker, error, limits, trial)
        except (DqaError, GoneError):
            if worker.is_over:
                self._pool.replace(worker.mark)
            raise
        except BaseException:
            worker.drop()  # nobody waits for it any more
            raise

    def _tell_end(
        self, worker: OpenWorker, error: Exception, limits: Limits, trial: Event | None
    ) -> NoReturn:
        """End a worker that did not answer, and raise what that means."""
        code: int | None = 0
        if isinstance(error, ClosedError):
            code = worker.kill()
        else:
            worker.drop()
        ended = self._pool.replace(worker.mark)
        if code is None:
            raise GoneError from None
        name = _name_signal(-code) if code < 0 else ""
        if isinstance(error, TooLongError):
            raise out_of_memory() from None
        if isinstance(error, TimeoutError) or name in _OVER_TIME:
            has_answered = worker.mark is None or ended.wait(_ENDING)
            # A server that is only busy has let somebody in since it was tried.
            if not (has_answered or (trial is not None and trial.is_set())):
                raise unanswered(self.name, limits) from None
            raise timed_out(limits, self.kind) from None
        if name == "SIGKILL":  # the system's, where memory runs out
            raise out_of_memory() from None
        raise crashed(_FAULTS.get(name, name or f"it ended with code {code}")) from None

    def _request(self, wanted: str, *given: object) -> Any:  # noqa: ANN401
        """Return the answer to a request of our own."""
        self._require_same_file()
        until = monotonic() + _DESCRIBING
        for _ in range(2):
            with self._pool.lease(until) as worker:
                try:
                    return worker.ask(until, wanted, *given)
                except GoneError:
                    continue
                except (TimeoutError, ClosedError, TooLongError) as error:
                    code = worker.kill()
                    problem = "does not answer"
                    if isinstance(error, ClosedError):
                        if code is None:  # it ended with what it was forked from
                            continue
                        problem = f"has crashed (code {code})"
                    raise DatabaseUnavailableError(
                        f"Database '{self.name}' {problem}; it cannot be described."
                    ) from None
                except DqaError:
                    raise
                except BaseException:
                    worker.kill()
                    raise
        raise _tell_gone(self.name)

    def _require_same_file(self) -> None:
        if self.file is None or _identify(self.file) == self._identity:
            return
        raise DatabaseUnavailableError(
            f"'{self.file}' was replaced or removed since it was opened; open it again."
        )


def _tell_waiting(name: str, limits: Limits, own: Limits) -> DatabaseUnavailableError:
    waited = limits.seconds - own.seconds
    return DatabaseUnavailableError(
        f"Database '{name}' is busy: of its {limits.seconds:g} seconds the statement waited "
        f"{waited:.1f} for a worker. Ask from fewer threads at once, or give statements more "
        "seconds."
    )


def _tell_gone(name: str) -> DatabaseUnavailableError:
    return DatabaseUnavailableError(
        f"Two worker processes of database '{name}' ended, one after the other, before they could "
        "answer: somebody ends them, or memory is short."
    )


def _name_signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # those for real time have no names
        return f"signal {number}"


def _identify(path: Path) -> tuple[int, int] | None:
    """Return what tells one file from another of the same name; None where there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116  (three times as fast, before every statement)
    except OSError:
        return None
    return found.st_dev, found.st_ino
