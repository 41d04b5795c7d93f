"""How long the Cypher guard takes for one statement, without its cache of verdicts.

Run it with ``python benchmarks/guard_cypher.py``: for each dialect it prints the median and the
largest time over the harmless statements of the tests, each the best of 20 runs, in microseconds.
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from timeit import repeat

from dqa.databases.guard.cypher import check

CASES = Path(__file__).parents[1] / "tests" / "databases" / "guard_cases"


def main() -> None:
    """Print one line a dialect."""
    for dialect in ("neo4j", "ladybug"):
        lines = (CASES / f"{dialect}.jsonl").read_text("ascii").splitlines()
        statements = [case["statement"] for case in map(json.loads, lines) if case["allowed"]]
        micros = [
            1e6 * min(repeat(lambda s=statement, d=dialect: check(s, d), number=1, repeat=20))
            for statement in statements
        ]
        print(
            f"{dialect}: {len(micros)} statements, {median(micros):.0f} us, max {max(micros):.0f}"
        )


if __name__ == "__main__":
    main()
