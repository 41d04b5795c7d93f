"""Measure the time and the memory of programs."""

from __future__ import annotations

import re
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import NamedTuple

_SHARE = re.compile(r"^Pss: +(\d+) kB", re.MULTILINE)


class Taken(NamedTuple):
    """Elapsed seconds, and processor seconds of this process."""

    wall: float
    cpu: float


def taken(work: Callable[[], object]) -> Taken:
    """Return the time of one call."""
    wall, cpu = perf_counter(), process_time()
    work()
    return Taken(perf_counter() - wall, process_time() - cpu)


def in_turn(sides: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, Taken]:
    """Return the median times of several functions, by name.

    Each function runs once without measurement. Then they run in turn, so other work on the machine
    slows all functions equally and does not change the ratios of their times.
    """
    found: dict[str, list[Taken]] = {name: [] for name in sides}
    for number in range(rounds + 1):
        for name, side in sides.items():
            spent = taken(side)
            if number:
                found[name].append(spent)
    return {
        name: Taken(*map(statistics.median, zip(*spent, strict=True)))
        for name, spent in found.items()
    }


def child_seconds(command: Sequence[str]) -> float:
    """Run a program, and return its processor time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, input=b"SELECT 1\n")  # noqa: S603
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run_command(*words: str) -> float:
    """Run a `dqa` command in a new process, and return its processor time in seconds."""
    return child_seconds([sys.executable, "-m", "dqa", *words])


def megabytes_of(process: int) -> float:
    """Return the proportional set size of a process on Linux; 0 if it has ended."""
    try:
        shares = _SHARE.search(Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii"))
    except OSError:
        return 0.0
    return int(shares[1]) / 1e3 if shares else 0.0
