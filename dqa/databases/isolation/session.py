"""A session whose statements run in worker processes."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from time import monotonic
from typing import Any, NoReturn
from weakref import finalize

from dqa.core.database import Limits, Rows
from dqa.core.errors import DatabaseUnavailableError, DqaError
from dqa.core.examination import Examination
from dqa.core.schema import DatabaseSchema
from dqa.core.session import Session
from dqa.databases.failures import crashed, out_of_memory, timed_out, unanswered
from dqa.databases.isolation.pool import GoneError, OpenWorker, WorkerPool
from dqa.databases.isolation.wire import (
    ClosedError,
    TooLongError,
    unpack_examination,
    unpack_rows,
)
from dqa.databases.opening import Opening

GRACE = 0.3
"""Seconds beyond its limit after which a statement's worker is killed: what stops a statement by
itself has done so by then."""
_ENDING = 0.6
"""Seconds more in which a server has to say that it has ended what the worker ran there."""
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
        self._identity = None if self.file is None else _identity(self.file)

    def run(self, statement: str, limits: Limits) -> Rows:
        """Run a statement in a worker, and end that where it does not come back."""
        self._require_same_file()
        started = monotonic()
        until = started + limits.seconds
        while True:
            with self._pool.lease(until) as worker:
                if worker.mark is None:  # its opening, where it had to be, is not counted
                    until = monotonic() + limits.seconds
                try:
                    return self._run_on(worker, statement, limits, until + GRACE)
                except GoneError:
                    continue

    def read_schema(self) -> DatabaseSchema:
        """Read the whole schema in a worker."""
        schema, self.namespace = self._asked("schema")
        return schema  # type: ignore[no-any-return]

    def row_order(self, table: str) -> bytes | None:
        """Return the order of a table's rows, as a worker reads it."""
        return self._asked("order", table)  # type: ignore[no-any-return]

    def examine(self) -> Examination:
        """Examine a server in a worker."""
        return unpack_examination(self._asked("examine"))

    def close(self) -> None:
        """End all workers."""
        self._pool.close()

    def _run_on(self, worker: OpenWorker, statement: str, limits: Limits, until: float) -> Rows:
        given = limits.rows, limits.bytes, limits.seconds, limits.cell
        most = _TIMES * limits.bytes + _SPARE
        try:
            packed = worker.ask(until, "run", statement, *given, most=most)
        except (TimeoutError, ClosedError, TooLongError) as error:
            self._tell_end(worker, error, limits)
        except (DqaError, GoneError):
            if worker.is_over:
                self._pool.replace(worker.mark)
            raise
        except BaseException:
            worker.drop()  # nobody waits for it any more
            raise
        return unpack_rows(packed)

    def _tell_end(self, worker: OpenWorker, error: Exception, limits: Limits) -> NoReturn:
        """End a worker that did not answer, and raise what that means."""
        code = 0
        if isinstance(error, ClosedError):
            code = worker.kill()
        else:
            worker.drop()
        ended = self._pool.replace(worker.mark)
        name = _signal_named(-code) if code < 0 else ""
        if isinstance(error, TooLongError):
            raise out_of_memory() from None
        if isinstance(error, TimeoutError) or name in _OVER_TIME:
            if worker.mark is not None and not ended.wait(_ENDING):
                raise unanswered(self.name, limits) from None
            raise timed_out(limits, self.kind) from None
        if name == "SIGKILL":  # the system's, where memory runs out
            raise out_of_memory() from None
        raise crashed(_FAULTS.get(name, name or f"it ended with code {code}")) from None

    def _asked(self, wanted: str, *given: object) -> Any:  # noqa: ANN401
        """Return the answer to a request of our own."""
        self._require_same_file()
        until = monotonic() + _DESCRIBING
        while True:
            with self._pool.lease(until) as worker:
                try:
                    return worker.ask(until, wanted, *given)
                except GoneError:
                    continue
                except (TimeoutError, ClosedError) as error:
                    code = worker.kill()
                    problem = (
                        "does not answer" if isinstance(error, TimeoutError) else "has crashed"
                    )
                    raise DatabaseUnavailableError(
                        f"Database '{self.name}' {problem} (code {code}); it cannot be described."
                    ) from None
                except DqaError:
                    raise
                except BaseException:
                    worker.kill()
                    raise

    def _require_same_file(self) -> None:
        if self.file is None or _identity(self.file) == self._identity:
            return
        raise DatabaseUnavailableError(
            f"'{self.file}' was replaced or removed since it was opened; open it again."
        )


def _signal_named(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # those for real time have no names
        return f"signal {number}"


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells one file from another of the same name; None where there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116  (three times as fast, before every statement)
    except OSError:
        return None
    return found.st_dev, found.st_ino
