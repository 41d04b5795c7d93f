"""Run ``python -m tests.hostile --engine sqlite duckdb``: hostile statements, and what they did.

Servers are found by ``DQA_TEST_MYSQL_URL``, ``DQA_TEST_POSTGRES_URL`` and ``DQA_TEST_NEO4J_URL``,
as the integration tests find them. Exit code 1 where a promise was broken.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter

from tests.hostile.corpus import EMBEDDED, ENGINES, HostileStatement, read_statements
from tests.hostile.measuring import Measurement
from tests.hostile.supervising import measurer

VARIABLES = {
    "mariadb": "DQA_TEST_MYSQL_URL",
    "postgres": "DQA_TEST_POSTGRES_URL",
    "neo4j": "DQA_TEST_NEO4J_URL",
}


def url_of(engine: str) -> str | None:
    """Return where a server is; None for embedded engines."""
    if engine in EMBEDDED:
        return None
    url = os.environ.get(VARIABLES[engine])
    if not url:
        raise SystemExit(f"set {VARIABLES[engine]} to the URL of a {engine} server")
    return url


def main() -> int:
    """Run the statements of some engines and print a line for each."""
    parser = argparse.ArgumentParser(description="Run hostile statements.")
    parser.add_argument("--engine", nargs="+", default=list(EMBEDDED), choices=ENGINES)
    parser.add_argument("--seconds", type=float, default=2.0, help="limit (default: 2)")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    for engine in options.engine:
        with measurer(engine, options.seconds, url_of(engine)) as process:
            for given in read_statements(engine):
                found = process.measure(given.text)
                problems = found.problems(options.seconds)
                counts[f"{engine} run"] += 1
                counts[f"{engine} broken"] += bool(problems)
                sys.stdout.write(_line(given, found, problems))
                sys.stdout.flush()
    for name, count in sorted(counts.items()):
        sys.stdout.write(f"{name}: {count}\n")
    return 1 if any(count for name, count in counts.items() if name.endswith("broken")) else 0


def _line(given: HostileStatement, found: Measurement, problems: list[str]) -> str:
    pace = "    -" if found.pace is None else f"{found.pace:5.0%}"
    after = "     -" if found.next_seconds is None else f"{found.next_seconds:6.3f}"
    head = (
        f"{given.name:24} {found.seconds:6.2f} s {found.growth:6.0f} MB {pace} next {after} "
        f"{found.outcome}: {found.told[:90]}\n"
    )
    shown = " ".join(given.text.split())[:150]
    return head + "".join(f"    BROKEN {problem} <- {shown}\n" for problem in problems)


if __name__ == "__main__":
    sys.exit(main())
