"""Runs hostile statements in a process of their own, and survives what becomes of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from time import perf_counter

from tests.hostile.corpus import read_statements
from tests.hostile.measuring import Measurement

__all__ = ["Measurer", "broken_promises", "measurer"]

ROOT = Path(__file__).parents[2]
_STARTING = 120.0
"""Seconds within which a process has to have opened its database."""
_PATIENCE = 40.0
"""Seconds after its limit when a statement is given up."""
_LARGEST = 6_000
"""Megabytes at which a process is ended, before the machine is."""
_BUSY = 4.0
"""Seconds after its limit within which a statement is back on a machine that does much else."""
_LOOKS = 0.05


class Measurer:
    """A process that measures statements; the next one where it was lost.

    Parameters
    ----------
    engine
        What it opens.
    seconds
        The limit of each statement.
    url
        The server; None for an embedded engine.
    is_quick
        Whether no pace is measured.
    """

    def __init__(
        self, engine: str, seconds: float, url: str | None = None, *, is_quick: bool = False
    ) -> None:
        module = "tests.hostile.measuring"
        self._command = [sys.executable, "-m", module, engine, str(seconds), str(is_quick)]
        self._environment = dict(os.environ, **({"DQA_HOSTILE_URL": url} if url else {}))
        self.seconds = seconds
        self._process: subprocess.Popen[str] | None = None
        self._lines: SimpleQueue[str] = SimpleQueue()

    def measure(self, statement: str) -> Measurement:
        """Measure a statement; where the process does not survive it, that is what is told."""
        process = self._process if self._process is not None else self._start()
        assert process.stdin is not None
        began = perf_counter()
        process.stdin.write(json.dumps(statement) + "\n")
        process.stdin.flush()
        line, why = self._line(process, self.seconds + _PATIENCE)
        if line is not None:
            return Measurement(**json.loads(line))
        seconds = perf_counter() - began
        self.close()
        return Measurement(seconds, why, next_told="the process is gone")

    def close(self) -> None:
        """End the process, and what it has started."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        with suppress(OSError):
            process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(5.0)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def _start(self) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=self._environment,
            start_new_session=True,
        )
        self._process, self._lines = process, SimpleQueue()
        Thread(target=_pump, args=(process, self._lines), daemon=True).start()
        line, why = self._line(process, _STARTING)
        if line != "ready\n":
            self.close()
            raise RuntimeError(f"no database could be opened: {why or line}")
        return process

    def _line(self, process: subprocess.Popen[str], seconds: float) -> tuple[str | None, str]:
        """Return the next line, or None and why there is none."""
        until = perf_counter() + seconds
        while perf_counter() < until:
            with suppress(Empty):
                line = self._lines.get(timeout=_LOOKS)
                if line:
                    return line, ""
                return None, f"the process ended with {_ending(process.wait())}"
            if _resident_of(process.pid) > _LARGEST:
                os.killpg(process.pid, signal.SIGKILL)
                return None, f"the process had more than {_LARGEST} MB"
        os.killpg(process.pid, signal.SIGKILL)
        return None, f"not back after {seconds:.0f} s"


@contextmanager
def measurer(
    engine: str, seconds: float, url: str | None = None, *, is_quick: bool = False
) -> Iterator[Measurer]:
    """Give a `Measurer`, and end it."""
    made = Measurer(engine, seconds, url, is_quick=is_quick)
    try:
        yield made
    finally:
        made.close()


def _pump(process: subprocess.Popen[str], lines: SimpleQueue[str]) -> None:
    """Put the lines of a process into a queue, and an empty one behind the last."""
    assert process.stdout is not None
    with process.stdout:
        for line in process.stdout:
            lines.put(line)
    lines.put("")


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    return signal.Signals(-code).name


def _resident_of(number: int) -> float:
    """Return the megabytes that a process holds; 0 where it is gone or nobody tells."""
    with suppress(OSError, IndexError, ValueError):
        pages = int(Path(f"/proc/{number}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
    return 0.0


def broken_promises(process: Measurer, engine: str, *, first: int | None) -> list[str]:
    """Run the first statements of each file (None: all) and return the promises they break.

    A machine that does much else may be late by more than a second without the fault of anybody.
    """
    return [
        f"{given.name}: {problem}"
        for given in read_statements(engine, first=first)
        for problem in process.measure(given.text).problems(process.seconds, grace=_BUSY)
    ]
