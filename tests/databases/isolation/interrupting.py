"""Raises what Ctrl-C raises at every place of a call where the interpreter looks for signals.

Run with a database file and the name of a call; it prints how many places there were, and a line
for each where the interrupt did not come out of the call, or left something behind.
"""

from __future__ import annotations

import dis
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count, pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import dqa
from dqa import Limits
from dqa.core.errors import DqaError
from dqa.databases.isolation.pool import WorkerPool, pause_file
from dqa.guard import GuardedDatabase
from tests.databases.isolation.workers import DEAF, is_running, pool_of, wait_until_gone

_LOOKING = frozenset({"CALL", "CALL_KW", "CALL_FUNCTION_EX", "RESUME"})
"""Instructions that end, as far as Python's own code goes, with a look for signals."""
_SETTLING = 10.0


@cache
def _places(code: CodeType) -> frozenset[int]:
    """Return where in a function the interpreter has just looked for signals."""
    instructions = list(dis.get_instructions(code))
    after = pairwise(instructions)
    found = {later.offset for before, later in after if before.opname in _LOOKING}
    return frozenset(found | {one.argval for one in instructions if one.opname == "JUMP_BACKWARD"})


class Interrupter:
    """Interrupts the calling thread at one place of those below a folder; counts the places."""

    def __init__(self, folder: str, number: int) -> None:
        self._folder = folder
        self._number = number
        self.passed = 0
        self.where = ""

    def __call__(self, frame: FrameType, event: str, _: Any) -> Any:
        """Trace a function that is called."""
        if self._folder not in frame.f_code.co_filename:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._interrupt

    def _interrupt(self, frame: FrameType, event: str, _: Any) -> Any:
        if event == "opcode" and frame.f_lasti in _places(frame.f_code):
            self.passed += 1
            if self.passed == self._number:
                sys.settrace(None)
                self.where = f"{frame.f_code.co_qualname}:{frame.f_lineno}"
                raise KeyboardInterrupt
        return self._interrupt


def _interrupt(call: Callable[[], object], folder: str, number: int) -> tuple[Interrupter, str]:
    """Return what traced a call, and what came of it."""
    interrupter = Interrupter(folder, number)
    sys.settrace(interrupter)
    try:
        call()
    except KeyboardInterrupt:
        return interrupter, ""
    except DqaError as error:
        return interrupter, type(error).__name__
    finally:
        sys.settrace(None)
    return interrupter, "it returned"


def _what_is_left(pool: WorkerPool, workers: set[int]) -> str:
    """Wait until a pool has settled; return what has not."""
    until = time.monotonic() + _SETTLING
    while True:
        numbers = {worker._process._number for worker in pool._idle}  # type: ignore[attr-defined]
        is_free = pool._count == len(numbers) and not pool._is_paused
        running = [number for number in workers - numbers if is_running(number)]
        if is_free and not running:
            return ""
        if time.monotonic() > until:
            return f"{pool._count} workers of which {len(numbers)} idle, {len(running)} running on"
        time.sleep(0.002)


def _children() -> set[int]:
    """Return the numbers of the fork server's children."""
    me = os.getpid()
    parents = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(entry.parent.name)] = int(
                entry.read_text("ascii", "replace").rsplit(")", 1)[1].split()[1]
            )
        except (FileNotFoundError, ProcessLookupError):
            continue
    return {number for number, parent in parents.items() if parents.get(parent) == me}


def _calls(database: GuardedDatabase, file: Path, name: str) -> tuple[Callable[[], object], str]:
    """Return a call, and the folder of the code in which it is interrupted."""
    serial = count()
    pool = pool_of(database)

    def query() -> object:  # another one each time, for verdicts are kept
        return database.query(f"SELECT name, {next(serial)} FROM shop WHERE price > 1")

    def begin() -> object:
        for worker in pool._idle:
            number: int = worker._process._number  # type: ignore[attr-defined]
            os.kill(number, signal.SIGKILL)
            wait_until_gone(number)
        return database.query("SELECT 1")

    def leave() -> object:
        return database.query(DEAF, Limits(seconds=0.2))

    def pause() -> None:
        with pause_file(file):
            pass

    calls = {"query": query, "begin": begin, "leave": leave, "pause": pause}
    return calls[name], "" if name == "pause" else "/dqa/"


def _sweep(file: Path, name: str, step: int) -> Iterator[str]:
    """Yield what is wrong, and at last how many places there were."""
    lost: list[str] = []
    sys.unraisablehook = lambda what: lost.append(str(what.object))
    database = dqa.open_database(file)
    assert isinstance(database, GuardedDatabase)
    call, folder = _calls(database, file, name)
    for _ in range(3):  # what is imported late is there
        _interrupt(call, folder, 0)
    total = 0
    for number in count(1, step):
        seen, became = _interrupt(call, folder, number)
        if not seen.where:
            break
        total += 1
        left = _what_is_left(pool_of(database), _children())
        rows = database.query("SELECT count(*) FROM shop").rows
        if became or left or lost or rows != ((3,),):
            yield f"{seen.where}: {became}; {left}; {lost}; {rows}"
        lost.clear()
    yield str(total)


if __name__ == "__main__":
    for line in _sweep(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
