"""What a statement costs the process that asks it: time, memory, and the pace of other threads.

``python -m tests.hostile.measuring ENGINE SECONDS QUICK`` is the process that is measured: it opens
a database, reads a statement a line (as JSON) and writes a `Measurement` a line. Who must survive
what it does is `tests.hostile.supervising`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Event, Thread, get_native_id
from time import perf_counter

import dqa
from dqa.core.database import Database, Limits
from dqa.core.errors import QueryError

__all__ = ["Measurement", "Pace", "measure", "opened"]

BACKENDS = {"mariadb": "mysql"}
"""Engines whose backend has another name."""
_HARMLESS = {"relational": "SELECT 1 AS one", "graph": "RETURN 1 AS one"}
_SHORTEST = 0.5
"""Seconds below which nothing can be said of a thread's pace."""
_WAITING = 20.0
"""Seconds that the statement after a hostile one may take."""


@dataclass(frozen=True)
class Measurement:
    """What became of a statement.

    Attributes
    ----------
    seconds
        Until `query` was back.
    outcome
        ``rows``, the class of the error, or what ended the process.
    told
        What the error says.
    growth
        Most megabytes that this process held above those that it held when its database was open.
    pace
        Share of the time in which another thread could run; None where that was too short to tell.
    next_seconds
        How long the next statement took; None where it was not answered.
    next_told
        Why not.
    """

    seconds: float
    outcome: str
    told: str = ""
    growth: float = 0.0
    pace: float | None = None
    next_seconds: float | None = None
    next_told: str = ""

    def problems(self, limit: float, *, grace: float = 1.0) -> list[str]:
        """Return which of the promises it breaks.

        Parameters
        ----------
        limit
            Seconds that the statement had.
        grace
            Seconds within which it has to be back after them.
        """
        found = []
        if self.seconds > limit + grace:
            found.append(f"back after {self.seconds:.1f} s, {limit:g} s were its limit")
        if self.growth >= 300:
            found.append(f"the process grew by {self.growth:.0f} MB")
        if self.outcome not in {"rows", *_FAULTS}:
            found.append(f"{self.outcome}: {self.told}")
        if self.pace is not None and self.pace < 0.9:
            found.append(f"another thread had {self.pace:.0%} of its pace")
        if self.next_seconds is None:
            found.append(f"the next statement was not answered: {self.next_told}")
        return found


def _names(kind: type[Exception]) -> set[str]:
    return {kind.__name__}.union(*map(_names, kind.__subclasses__()))


_FAULTS = _names(QueryError)
"""Errors that are the statement's: no outage and no bug."""


class Pace:
    """A thread that always has something to do, and how much of the time it could do it.

    On Linux the kernel tells how long it ran and how long it waited for a processor, whoever else
    is busy. What is missing is the time in which it waited for Python's lock.
    """

    def __init__(self) -> None:
        self._over = Event()
        self._ready = Event()
        self._number = 0
        self._thread = Thread(target=self._spin, name="pace", daemon=True)
        self._thread.start()
        self._ready.wait()

    def _spin(self) -> None:
        self._number = get_native_id()
        self._ready.set()
        while not self._over.is_set():
            pass

    def close(self) -> None:
        """End the thread."""
        self._over.set()
        self._thread.join()

    def runnable(self) -> float | None:
        """Return the seconds in which it ran or waited for a processor; None if nobody tells."""
        with suppress(OSError):
            path = Path(f"/proc/self/task/{self._number}/schedstat")
            running, waiting, _ = path.read_text().split()
            return (int(running) + int(waiting)) / 1e9
        return None


@contextmanager
def opened(engine: str, limits: Limits, url: str | None = None) -> Iterator[Database]:
    """Give a database of an engine that holds a small world, in memory or on a server."""
    questions = dqa.generate(["building"], count=1, seed=1)
    world = questions.situation_of(questions.questions[0])
    backend = BACKENDS.get(engine, engine)
    with dqa.temporary_database(world, backend, url, limits=limits) as database:
        yield database


def resident() -> float:
    """Return the megabytes that this process holds; 0 where nobody tells."""
    return _status("VmRSS:")


def reset_peak() -> None:
    """Let the kernel measure the most megabytes from now on."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak() -> float:
    """Return the most megabytes that this process held since then."""
    return _status("VmHWM:")


def _status(name: str) -> float:
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(name):
                return int(line.split()[1]) / 1024
    return 0.0


def measure(
    database: Database, statement: str, start: float, *, is_quick: bool = False
) -> Measurement:
    """Run a statement, and a harmless one after it.

    Parameters
    ----------
    start
        Megabytes from which growth counts.
    is_quick
        Measure no other thread's pace, and run the harmless statement only after an error.
    """
    reset_peak()
    pace = None if is_quick else Pace()
    ran, began = pace.runnable() if pace else None, perf_counter()
    outcome, told = _outcome(database, statement)
    seconds, ran_until = perf_counter() - began, pace.runnable() if pace else None
    if pace is not None:
        pace.close()
    growth = max(0.0, peak() - start)
    share = None
    if seconds >= _SHORTEST and ran is not None and ran_until is not None:
        share = (ran_until - ran) / seconds
    if is_quick and outcome == "rows":
        return Measurement(seconds, outcome, told, growth, share, 0.0)
    began = perf_counter()
    after, why = _outcome(database, _HARMLESS[database.kind], Limits(seconds=_WAITING))
    answered = perf_counter() - began if after == "rows" else None
    return Measurement(seconds, outcome, told, growth, share, answered, why and f"{after}: {why}")


def _outcome(database: Database, statement: str, limits: Limits | None = None) -> tuple[str, str]:
    try:
        if limits is None:
            database.query(statement)
        else:
            database.query(statement, limits)
    except Exception as error:  # noqa: BLE001  (which class it has is what is asked)
        return type(error).__name__, " ".join(str(error).split())[:300]
    return "rows", ""


def main() -> None:
    """Measure statements until there are no more."""
    engine, seconds, is_quick = sys.argv[1], float(sys.argv[2]), sys.argv[3] == "True"
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what an engine prints is no measurement
    with opened(engine, Limits(seconds=seconds), os.environ.get("DQA_HOSTILE_URL")) as database:
        database.query(_HARMLESS[database.kind], Limits(seconds=_WAITING))
        start = resident()
        print("ready", file=replies, flush=True)
        for line in sys.stdin:
            found = measure(database, json.loads(line), start, is_quick=is_quick)
            print(json.dumps(asdict(found)), file=replies, flush=True)


if __name__ == "__main__":
    main()
