"""How much memory a whole evaluation takes: questions, agents, databases, traces, scores and all.

::

    python -m benchmarks.run_memory --decisions 10000

Questions are generated, a scripted agent decides each in several epochs, with its statements in
worker processes and its whole trace kept: in a folder, and in a store. Each runs in a process of
its own, which is looked at several times a second, with all its children: what is resident, of
which what processes share (workers are forked) counts once in all (Linux's proportional set size).
Exit code 1 where the most is over the bound.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import dqa
from dqa.evaluation.options import RunOptions

MOST_MEGABYTES = 500
"""What an evaluation of 10,000 decisions may take."""
EPOCHS = 4
PLACES = ("folder", "store")
_PAUSE = 0.2
_PAGE = resource.getpagesize()
_SHARE = re.compile(r"^Pss: +(\d+) kB", re.MULTILINE)


class Seen(NamedTuple):
    """The most megabytes of a process with its children, and its own; how many processes."""

    all: float
    own: float
    processes: int


def evaluate(place: str, decisions: int, per_database: int, workers: int) -> None:
    """Let an agent make so many decisions, and say how large what is kept of them is."""
    questions = dqa.GeneratedQuestions(
        scenarios=("locating",), count=decisions // EPOCHS, per_database=per_database
    )
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "run") if place == "folder" else f"{folder}/runs.db#run"
        began = time.perf_counter()
        run = dqa.evaluate(
            *(questions, "planrag"),
            databases="sqlite",
            epochs=EPOCHS,
            options=RunOptions(workers=workers),
            out=out,
        )
        told = {
            "decisions": len(run.results),
            "seconds": round(time.perf_counter() - began, 1),
            "MB kept": round(sum(file.stat().st_size for file in _files(folder)) / 1e6, 1),
        }
        assert all(result.outcome.judged for result in run.results)
        print(json.dumps(told))


def _files(folder: str) -> list[Path]:
    return [path for path in Path(folder).rglob("*") if path.is_file()]


def resident(process: int) -> float:
    """Return the megabytes that a process has in memory; 0 for one that has ended."""
    try:
        pages = Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1]
    except (OSError, IndexError):
        return 0.0
    return int(pages) * _PAGE / 1e6


def shared_out(process: int) -> float:
    """Return the megabytes of a process with its part of what others have, too."""
    try:
        told = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0.0
    found = _SHARE.search(told)
    return 0.0 if found is None else int(found[1]) * 1024 / 1e6


def family(process: int) -> list[int]:
    """Return a process and all beneath it."""
    found = [process]
    for one in found:
        for told in Path(f"/proc/{one}/task").glob("*/children"):
            try:
                found += map(int, told.read_text(encoding="ascii").split())
            except OSError:  # it has ended
                continue
    return found


def watch(command: list[str]) -> tuple[str, Seen]:
    """Run a command; return what it printed, and the most memory that it took."""
    most = Seen(0.0, 0.0, 0)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as started:  # noqa: S603  (ours)
        while started.poll() is None:
            processes = family(started.pid)
            most = Seen(
                max(most.all, sum(map(shared_out, processes))),
                max(most.own, resident(started.pid)),
                max(most.processes, len(processes)),
            )
            time.sleep(_PAUSE)
        printed = started.stdout.read() if started.stdout is not None else ""
    if started.returncode:
        raise SystemExit(started.returncode)
    return printed.strip(), most


def main() -> int:
    """Measure each place, and print what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--decisions", type=int, default=10_000)
    parser.add_argument("--per-database", type=int, default=50, help="questions about one world")
    parser.add_argument("--workers", type=int, default=4, help="threads that decide")
    parser.add_argument("--place", choices=PLACES, help="evaluate here, and watch nothing")
    options = parser.parse_args()
    asked = (options.decisions, options.per_database, options.workers)
    if options.place is not None:
        evaluate(options.place, *asked)
        return 0
    is_over = False
    for place in PLACES:
        names = ("--decisions", "--per-database", "--workers")
        given = [f"{name}={value}" for name, value in zip(names, asked, strict=True)]
        command = [sys.executable, "-m", "benchmarks.run_memory", f"--place={place}", *given]
        printed, most = watch(command)
        print(
            f"{place}: {most.all:.0f} MB at most (bound {MOST_MEGABYTES}) in {most.processes} "
            f"processes, {most.own:.0f} MB in the one that evaluates; {printed}",
            flush=True,
        )
        is_over = is_over or most.all > MOST_MEGABYTES
    return int(is_over)


if __name__ == "__main__":
    sys.exit(main())
