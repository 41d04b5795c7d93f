"""How long it takes to replay every recorded answer of the DeLLMa release.

Run with ``python -m benchmarks.dellma_replay [RELEASE]``; the limit is 10 s for the whole of it,
reading included.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path
from time import perf_counter

from benchmarks.reproductions.dellma import replay
from benchmarks.reproductions.dellma.recordings import find_runs

RELEASE = Path(__file__).parents[2] / "shared" / "data" / "dellma-release"
ROUNDS = 3
LIMIT = 10.0


def main() -> None:
    """Print the median of a few rounds, and by what factor it is within the limit."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else RELEASE
    answers = sum(
        1
        for run in find_runs(folder, [])
        for instance in run.instances([])
        for _ in instance.folder.glob("response/response_*.json")
    )
    times = []
    for _ in range(ROUNDS):
        started = perf_counter()
        replay(folder)
        times.append(perf_counter() - started)
    median = statistics.median(times)
    print(
        f"{answers} recorded answers in {median:.2f} s: {LIMIT / median:.1f} times within {LIMIT} s"
    )


if __name__ == "__main__":
    main()
