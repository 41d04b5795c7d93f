"""How long generating takes: the default sets, files included, and cost against size.

Run ``python -m benchmarks.generation`` (``--rounds N``, ``--largest NODES``). A world of n nodes
has 10 n routes, n / 10 countries and n rows of node_country; its time is split into building the
world and what the simulator takes to fill it and to label a question. Memory is the most that the
process, one for each size, ever held.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from dqa.core.question_set import QuestionSet
from dqa.loaders.generator import (
    Difficulty,
    generate,
    generate_like_release,
    read_generated,
    write_generated,
)
from dqa_simulators.locating.generator import LocatingSize, build_locating

SIZES = (1_000, 10_000, 100_000, 1_000_000)


def main() -> None:
    """Measure and print one line a figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="times each set is generated")
    parser.add_argument("--largest", type=int, default=100_000, help="nodes of the largest world")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        measure_world(arguments.one)
        return
    # First, as a new process starts with its parent's peak of memory.
    for nodes in SIZES:
        if nodes <= arguments.largest:
            command = [sys.executable, "-m", "benchmarks.generation", "--one", str(nodes)]
            subprocess.run(command, check=True)  # noqa: S603  (this very module)
    sets: dict[str, Callable[[], QuestionSet]] = {
        "50 questions of each scenario": lambda: generate(count=50),
        "like the release, 301 questions": generate_like_release,
    }
    for name, make in sets.items():
        measure_set(name, make, arguments.rounds)


def measure_set(name: str, make: Callable[[], QuestionSet], rounds: int) -> None:
    """Print how long a set takes to generate, write, and read with its hashes checked."""
    times: dict[str, list[float]] = {"generate": [], "write": [], "read": []}
    for _ in range(rounds):
        with TemporaryDirectory() as parent:
            folder = Path(parent) / "set"
            start = perf_counter()
            question_set = make()
            times["generate"].append(perf_counter() - start)
            start = perf_counter()
            write_generated(question_set, folder, seed=0)
            times["write"].append(perf_counter() - start)
            start = perf_counter()
            read_generated(folder)
            times["read"].append(perf_counter() - start)
    parts = ", ".join(f"{step} {statistics.median(taken):.2f} s" for step, taken in times.items())
    print(f"{name}: {parts}")


def measure_world(nodes: int) -> None:
    """Print how long one world and one question about it take, and the memory they need."""
    size = LocatingSize(nodes, 10 * nodes, nodes // 10, nodes)
    start = perf_counter()
    build_locating(np.random.default_rng(0), "world", size, Difficulty())
    built = perf_counter() - start
    start = perf_counter()
    generate(("locating",), count=1, sizes=[size])
    whole = perf_counter() - start
    # The kernel counts in KiB on Linux, in bytes on macOS.
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30
    print(
        f"{nodes} nodes, {10 * nodes} routes: world {built:.2f} s, with simulation and label "
        f"{whole:.2f} s, peak {peak:.2f} GiB"
    )


if __name__ == "__main__":
    main()
