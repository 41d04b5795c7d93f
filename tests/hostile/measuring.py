"""The cost of a statement for its process: time, memory, and the next statement.

A `Measurer` runs statements in its own process and reports how that process ends.
"""

from __future__ import annotations

import os
import resource
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import perf_counter

import dqa
from dqa.core.database import Database, Limits
from dqa.core.errors import QueryError
from dqa.core.interpreters import describe_exit, start_process
from tests.hostile.corpus import read_statements

BACKENDS = {"mariadb": "mysql"}
"""Engines whose backend has another name."""
_HARMLESS = {"relational": "SELECT 1 AS one", "graph": "RETURN 1 AS one"}
_NEXT = Limits(seconds=20.0)
"""The limit of the statement after a hostile one."""
_STARTING = 120.0
"""Seconds within which a process must open its database."""
_PATIENCE = 40.0
"""Seconds after its limit at which a statement is abandoned."""
_LARGEST = 6 << 30
"""The maximum number of bytes of a process, to protect the machine."""
_BUSY = 4.0
"""Seconds after its limit within which a statement returns on a busy machine."""


@dataclass(frozen=True)
class Measurement:
    """The result of a statement.

    Attributes
    ----------
    seconds
        Until `query` returned.
    outcome
        ``rows``, the class of the error, or how the process ended.
    message
        The error's message.
    growth
        The peak memory in megabytes above that of the process with an open database.
    next_seconds
        The time of the next statement; None if it was not answered.
    next_message
        Why it was not answered.
    """

    seconds: float
    outcome: str
    message: str = ""
    growth: float = 0.0
    next_seconds: float | None = None
    next_message: str = ""

    def problems(self, limit: float, *, grace: float = 1.0) -> list[str]:
        """Return the promises that the statement breaks.

        Parameters
        ----------
        limit
            The statement's limit, in seconds.
        grace
            Seconds after the limit within which it must return.
        """
        found = []
        if self.seconds > limit + grace:
            found.append(f"back after {self.seconds:.1f} s, {limit:g} s were its limit")
        if self.growth >= 300:
            found.append(f"the process grew by {self.growth:.0f} MB")
        if self.outcome not in {"rows", *_FAULTS}:
            found.append(f"{self.outcome}: {self.message}")
        if self.next_seconds is None:
            found.append(f"the next statement was not answered: {self.next_message}")
        return found


def _names(kind: type[Exception]) -> set[str]:
    return {kind.__name__}.union(*map(_names, kind.__subclasses__()))


_FAULTS = _names(QueryError)
"""Errors of the statement: neither an outage nor a bug."""


def memory(name: str, process: int | str = "self") -> float:
    """Return a field of a process's status in megabytes, or 0 if it is unknown."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith(name):
                return int(line.split()[1]) / 1024
    return 0.0


def measure(database: Database, statement: str, start: float) -> Measurement:
    """Run a statement, and a harmless one after it; growth counts from `start` megabytes."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # the peak is measured from here
    seconds, outcome, message = _outcome(database, statement, None)
    growth = max(0.0, memory("VmHWM:") - start)
    after, ended, why = _outcome(database, _HARMLESS[database.kind], _NEXT)
    answered = after if ended == "rows" else None
    return Measurement(seconds, outcome, message, growth, answered, why and f"{ended}: {why}")


def _outcome(database: Database, statement: str, limits: Limits | None) -> tuple[float, str, str]:
    began = perf_counter()
    try:
        database.query(statement, *([limits] if limits else []))
    except Exception as error:  # noqa: BLE001  (its class is the outcome)
        message = " ".join(str(error).split())[:300]
        return perf_counter() - began, type(error).__name__, message
    return perf_counter() - began, "rows", ""


def serve(connection: Connection, engine: str, seconds: float, url: str | None) -> None:
    """Measure the statements that a connection sends, on a small world."""
    resource.setrlimit(resource.RLIMIT_DATA, (_LARGEST, _LARGEST))
    questions = dqa.generate(["building"], count=1, seed=1)
    world = questions.situation_of(questions.questions[0])
    backend, limits = BACKENDS.get(engine, engine), Limits(seconds=seconds)
    with dqa.temporary_database(world, backend, url, limits=limits) as database:
        database.query(_HARMLESS[database.kind], _NEXT)
        start = memory("VmRSS:")
        connection.send("ready")
        with suppress(EOFError):
            while True:
                connection.send(measure(database, connection.recv(), start))


class Measurer:
    """A process that measures statements, and the next one if it ends.

    Parameters
    ----------
    engine
        The engine that it opens.
    seconds
        The limit of each statement.
    url
        The server; None for an embedded engine.
    """

    def __init__(self, engine: str, seconds: float, url: str | None = None) -> None:
        self.engine, self.seconds, self._url = engine, seconds, url
        self._started: tuple[BaseProcess, Connection] | None = None

    def measure(self, statement: str) -> Measurement:
        """Measure a statement; if the process ends, that is the outcome."""
        if self._started is None:
            arguments = (self.engine, self.seconds, self._url)
            self._started = start_process(
                serve, *arguments, environment=os.environ, preload=None, daemon=False
            )
            if (found := self._reply(_STARTING)) != "ready":
                raise RuntimeError(f"no database could be opened: {found}")
        began = perf_counter()
        found = self._reply(self.seconds + _PATIENCE, statement)
        if isinstance(found, Measurement):
            return found
        self.close()
        return Measurement(perf_counter() - began, str(found), next_message="the process ended")

    def close(self) -> None:
        """End the process."""
        if self._started is not None:
            process, connection = self._started
            self._started = None
            connection.close()
            process.join(5.0)
            process.kill()

    def _reply(self, seconds: float, statement: str | None = None) -> object:
        """Send a statement and return the reply of the process, or how the process ended."""
        assert self._started is not None
        process, connection = self._started
        try:
            if statement is not None:
                connection.send(statement)
            if connection.poll(seconds):
                return connection.recv()
        except (EOFError, OSError):
            process.join(5.0)
            return describe_exit(process.exitcode)
        process.kill()
        return f"not back after {seconds:.0f} s"


def broken_promises(process: Measurer, *, first: int | None) -> list[str]:
    """Run the first statements of each file (None: all) and return the promises they break."""
    return [
        f"{one.name}: {problem}"
        for one in read_statements(process.engine, first=first)
        for problem in process.measure(one.text).problems(process.seconds, grace=_BUSY)
    ]
