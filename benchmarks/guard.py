"""What a verdict costs: the median over the harmless statements, with and without the cache.

Run with ``python -m benchmarks.guard``. Refusing bad input (10 MB, 10,000 brackets, tens of
thousands of signs) is timed as well.
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

from dqa.guard import DIALECTS, check
from dqa.guard.check import forget

CASES = Path(__file__).parents[1] / "tests" / "guard" / "guard_cases"
ROUNDS = 7
BAD = {
    "10 MB": "SELECT " + "x" * 10_000_000,
    "10,000 brackets": "SELECT " + "(" * 9_900 + "1" + ")" * 9_900,
    "no end of a text": "SELECT '" + "x''" * 6_000,
    "many operators": "SELECT " + "a->>'x'->" * 2_200 + "1",
    "long word": "SELECT " + "$1" * 9_900,
    "spaces": "EXPLAIN" + " " * 19_900,
}


def main() -> None:
    """Print microseconds by dialect, then milliseconds for bad input."""
    print(f"{'dialect':9} {'n':>4} {'cold median':>12} {'cold p90':>9} {'cached':>8}   (us)")
    for dialect in DIALECTS:
        file = CASES / f"{dialect}.jsonl"
        if not file.exists():
            continue
        cases = [json.loads(line) for line in file.read_text("utf-8").split("\n") if line]
        statements = [case["statement"] for case in cases if case["allowed"]]
        cold = [min(_timed(statement, dialect, cold=True)) for statement in statements]
        warm = [min(_timed(statement, dialect, cold=False)) for statement in statements]
        print(
            f"{dialect:9} {len(statements):4} {median(cold):12.1f} "
            f"{quantiles(cold, n=10)[-1]:9.1f} {median(warm):8.2f}"
        )
    for name, statement in BAD.items():
        worst = max(min(_timed(statement, dialect, cold=True)) for dialect in DIALECTS)
        print(f"{name:18} refused within {worst / 1_000:.1f} ms")


def _timed(statement: str, dialect: str, *, cold: bool) -> list[float]:
    """Return microseconds of each round."""
    times = []
    for _ in range(ROUNDS):
        if cold:
            forget()
        started = perf_counter()
        check(statement, dialect)
        times.append((perf_counter() - started) * 1e6)
    return times


if __name__ == "__main__":
    main()
