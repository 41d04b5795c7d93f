"""What a verdict of the guard costs, with and without its cache, by dialect.

Run ``python -m benchmarks.guard`` (``--rounds N``). The statements are the harmless ones of the
tests. How long it takes to refuse bad input (10 MB, 10,000 brackets, many signs) is printed, too.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import median, quantiles

from benchmarks.measuring import taken
from dqa.guard import DIALECTS, check
from dqa.guard.check import forget

NEEDS = ()
CASES = Path(__file__).parents[1] / "tests" / "guard" / "guard_cases"
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    rounds: int = parser.parse_args().rounds
    print(f"{'dialect':9} {'n':>4} {'new':>9} {'new p90':>9} {'cached':>8}  ratio   (us)")
    for dialect in DIALECTS:
        file = CASES / f"{dialect}.jsonl"
        if file.exists():
            cases = [json.loads(line) for line in file.read_text("utf-8").split("\n") if line]
            allowed = [case["statement"] for case in cases if case["allowed"]]
            new = [_microseconds(one, dialect, rounds, is_new=True) for one in allowed]
            cached = median(_microseconds(one, dialect, rounds, is_new=False) for one in allowed)
            print(
                f"{dialect:9} {len(allowed):4} {median(new):9.1f} {quantiles(new, n=10)[-1]:9.1f} "
                f"{cached:8.2f} {median(new) / cached:6.0f}"
            )
    for name, statement in BAD.items():
        worst = max(_microseconds(statement, one, rounds, is_new=True) for one in DIALECTS)
        print(f"{name:18} refused within {worst / 1_000:.1f} ms")


def _microseconds(statement: str, dialect: str, rounds: int, *, is_new: bool) -> float:
    """Return the least of several rounds."""
    found = []
    check(statement, dialect)
    for _ in range(rounds):
        if is_new:
            forget()
        found.append(taken(lambda: check(statement, dialect)).wall * 1e6)
    return min(found)


if __name__ == "__main__":
    main()
