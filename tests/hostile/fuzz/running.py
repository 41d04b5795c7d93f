"""The process that runs fuzzed statements, and what it looks at.

``python -m tests.hostile.fuzz.running ENGINE SEED START COUNT SECONDS STATE`` runs a stretch of one
seed's statements and writes a problem a line. Before a statement runs it is written to the file
STATE, with its number: who supervises reads there what ended this process, or holds it.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path
from time import perf_counter

from dqa import guard
from dqa.core.database import Database, Limits
from dqa.core.errors import InfrastructureError, QueryError
from tests.hostile.corpus import read_statements
from tests.hostile.fuzz.calls import CallMaker
from tests.hostile.fuzz.functions import read_functions, read_operators
from tests.hostile.measuring import opened

__all__ = ["FOUND", "Runner"]

FOUND = "found"
"""The kind of the statements that the fuzzer found, which it runs first."""
_GRACE = 1.0
"""Seconds after its limit when a statement has to be back."""
_MOST_GROWTH = 300
"""Megabytes by which this process may grow."""
_LENGTH = 1 << 20
"""Bytes of the file that holds the statement under way."""


class Runner:
    """Runs statements and tells what breaks a promise.

    Parameters
    ----------
    database
        Where they run.
    engine
        Whose statements they are.
    state
        The file that tells which statement is under way.
    """

    def __init__(self, database: Database, engine: str, state: Path) -> None:
        self._database = database
        self._engine = engine
        self._state = os.open(state, os.O_RDWR | os.O_CREAT, 0o600)
        self._harmless = "SELECT 1" if database.kind == "relational" else "RETURN 1"
        database.query(self._harmless, Limits(seconds=60))
        self._held = _most_held()
        self.allowed = 0
        self.ended: dict[str, int] = {}

    def run(self, number: int, statement: str) -> str | None:
        """Run a statement that the guard allows; return what is wrong with what became of it."""
        if not self._is_allowed(statement):
            return None
        self.allowed += 1
        record = json.dumps([number, self.allowed, self.ended, statement]).encode()[:_LENGTH]
        os.pwrite(self._state, b"%08d%b" % (len(record), record), 0)
        began = perf_counter()
        problem = self._run(statement)
        seconds = perf_counter() - began
        limit = self._database.limits.seconds  # type: ignore[attr-defined]
        if problem is None and seconds > limit + _GRACE:
            problem = f"late: {seconds:.1f} s"
        held = _most_held()
        if held - self._held > _MOST_GROWTH:
            grown, self._held = held - self._held, held
            problem = problem or f"grew by {grown:.0f} MB"
        return problem

    def _is_allowed(self, statement: str) -> bool:
        try:
            statement.encode()
        except UnicodeEncodeError:
            return False
        return guard.check(statement, self._engine).allowed

    def _run(self, statement: str) -> str | None:
        try:
            self._database.query(statement)
            ending = "rows"
        except QueryError as error:
            ending = type(error).__name__
        except InfrastructureError as error:
            return f"taken for an outage: {_told(error)}"
        except Exception as error:  # noqa: BLE001  (that is what is looked for)
            return f"untranslated: {_told(error)}"
        self.ended[ending] = self.ended.get(ending, 0) + 1
        return None


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def _most_held() -> float:
    """Return the most megabytes that this process ever held."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def main() -> None:
    """Run a stretch of statements; the kept ones first, where it is a seed's first stretch."""
    engine, seed, start, count = sys.argv[1], *map(int, sys.argv[2:5])
    seconds, state = float(sys.argv[5]), Path(sys.argv[6])
    url = os.environ.get("DQA_HOSTILE_URL")
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    maker = CallMaker(engine, read_functions(engine, url), read_operators(engine, url), seed)
    kept = [found.text for found in read_statements(engine, [FOUND])]
    with opened(engine, Limits(seconds=seconds), url) as database:
        runner = Runner(database, engine, state)
        for number in range(count):
            statement = kept[number] if number < len(kept) else maker.statement()
            if number < start:
                continue
            problem = runner.run(number, statement)
            if problem is not None:
                print(json.dumps([number, statement, problem]), file=replies, flush=True)
        print(json.dumps({"allowed": runner.allowed, "ended": runner.ended}), file=replies)
        replies.flush()


if __name__ == "__main__":
    main()
