"""The time that the guard needs to check a statement, by dialect.

Run ``python -m benchmarks.guard`` (``--rounds N``). It checks the allowed statements from the tests
of the guard. It also prints the time to refuse bad input, such as a text of 10 MB or 10,000
brackets.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import median, quantiles

from benchmarks.measuring import taken
from dqa.guard import DIALECTS, check

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
    print(f"{'dialect':9} {'n':>4} {'median':>9} {'p90':>9}   (us)")
    for dialect in DIALECTS:
        file = CASES / f"{dialect}.jsonl"
        if file.exists():
            cases = [json.loads(line) for line in file.read_text("utf-8").split("\n") if line]
            allowed = [case["statement"] for case in cases if case["allowed"]]
            found = [_microseconds(one, dialect, rounds) for one in allowed]
            p90 = quantiles(found, n=10)[-1]
            print(f"{dialect:9} {len(allowed):4} {median(found):9.1f} {p90:9.1f}")
    for name, statement in BAD.items():
        worst = max(_microseconds(statement, one, rounds) for one in DIALECTS)
        print(f"{name:18} refused within {worst / 1_000:.1f} ms")


def _microseconds(statement: str, dialect: str, rounds: int) -> float:
    """Return the shortest time of several rounds."""
    check(statement, dialect)
    return min(taken(lambda: check(statement, dialect)).wall * 1e6 for _ in range(rounds))


if __name__ == "__main__":
    main()
