"""The memory of an evaluation with 10,000 decisions, stored in a folder and in a store.

Run ``python -m benchmarks.run_memory`` (``--decisions``, ``--workers``); on Linux. A scripted agent
decides generated questions in several epochs, with worker processes and complete traces. Each run
is a separate process. Its memory with all children is read several times per second; shared memory
is counted once (proportional set size). The exit code is 1 if a run needs more than 500 MB.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import dqa
from benchmarks.measuring import megabytes_of

MOST_MEGABYTES = 500
EPOCHS = 4
_PAUSE = 0.2


def evaluate(place: str, decisions: int, workers: int) -> None:
    """Make the decisions, and print the size of the stored run."""
    questions = dqa.GeneratedQuestions(
        scenarios=("locating",), count=max(decisions // EPOCHS, 1), per_database=50
    )
    with tempfile.TemporaryDirectory() as folder:
        run = dqa.evaluate(
            questions,
            "planrag",
            databases="sqlite",
            epochs=EPOCHS,
            options=dqa.RunOptions(workers=workers),
            out=Path(folder, "run") if place == "folder" else f"{folder}/runs.db#run",
        )
        assert all(result.outcome.judged for result in run.results)
        files = [path for path in Path(folder).rglob("*") if path.is_file()]
        stored = sum(file.stat().st_size for file in files) / 1e6
    print(f"{len(run.results):,} decisions, {stored:.1f} MB stored")


def family_of(process: int) -> list[int]:
    """Return a process and its descendants."""
    found = [process]
    for one in found:
        for children in Path(f"/proc/{one}/task").glob("*/children"):
            try:
                found += map(int, children.read_text(encoding="ascii").split())
            except OSError:  # it has ended
                continue
    return found


def watch(command: list[str]) -> tuple[str, float, int]:
    """Run a command. Return its output, and its maximum numbers of megabytes and of processes."""
    most, processes = 0.0, 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as started:  # noqa: S603
        while started.poll() is None:
            family = family_of(started.pid)
            most, processes = max(most, sum(map(megabytes_of, family))), max(processes, len(family))
            time.sleep(_PAUSE)
        printed = started.stdout.read() if started.stdout is not None else ""
    if started.returncode:
        raise SystemExit(started.returncode)
    return printed.strip(), most, processes


def main() -> int:
    """Measure a run in a folder and a run in a store, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decisions", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=4, help="threads that decide")
    parser.add_argument("--place", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.place is not None:
        evaluate(given.place, given.decisions, given.workers)
        return 0
    found = []
    for place in ("folder", "store"):
        numbers = ["--decisions", str(given.decisions), "--workers", str(given.workers)]
        command = [sys.executable, "-m", "benchmarks.run_memory", "--place", place, *numbers]
        printed, most, processes = watch(command)
        found.append(most)
        print(f"{place}: {most:.0f} MB at most in {processes} processes (bound {MOST_MEGABYTES})")
        print(f"{'':8}{printed}", flush=True)
    print(f"a store takes {found[1] / found[0]:.2f} times the memory of a folder")
    return int(max(found) > MOST_MEGABYTES)


if __name__ == "__main__":
    sys.exit(main())
