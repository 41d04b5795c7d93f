"""The cost of running statements in worker processes instead of in the main process.

Run ``python -m benchmarks.isolation`` (``--rounds``, ``--questions``). Both sides run
a small query and a query with 10,000 rows on a SQLite file, and evaluate four deciders on two
embedded databases. The exit code is 1 if isolation adds more than 150 us to a small query, or makes
another part more than 1.3 times as slow.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import dqa
from benchmarks.measuring import in_turn
from dqa.core.database import Isolation

MOST_MORE = 150e-6
MOST_TIMES = 1.3
SMALL, LARGE = "SELECT name, price FROM shop WHERE id = 77", "SELECT * FROM shop"
WHOLE = dqa.Limits(rows=10_000, bytes=10_000_000)
DECIDERS = ("singlerag", "iterrag", "planrag", "planrag-no-replan")
ISOLATIONS: tuple[Isolation, ...] = get_args(Isolation)


def compare(
    name: str, sides: Mapping[str, Callable[[], object]], rounds: int, times: int = 1
) -> tuple[float, float]:
    """Print the times without and with isolation. Return their difference and their ratio."""
    spent = {how: taken.wall / times for how, taken in in_turn(sides, rounds).items()}
    here, there = spent["none"], spent["process"]
    print(
        f"{name:18} {here * 1e6:12,.1f} us in this process, {(there - here) * 1e6:+12,.1f} us, "
        f"{there / here:.2f} times"
    )
    return there - here, there / here


def _repeat(work: Callable[[], object], times: int) -> None:
    for _ in range(times):
        work()


def main() -> int:
    """Measure, print the results, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--questions", type=int, default=100)
    given = parser.parse_args()
    with TemporaryDirectory() as folder, ExitStack() as stack:
        file = Path(folder) / "shop.db"
        plain = stack.enter_context(closing(sqlite3.connect(file)))
        plain.execute("CREATE TABLE shop (id INTEGER PRIMARY KEY, name TEXT, price REAL, n INT)")
        rows = ((n, f"shop number {n}", n / 7, n % 13) for n in range(10_000))
        plain.executemany("INSERT INTO shop VALUES (?, ?, ?, ?)", rows)
        plain.commit()
        opened = {
            how: stack.enter_context(closing(dqa.open_database(file, isolation=how, limits=WHOLE)))
            for how in ISOLATIONS
        }

        def asked(statement: str, times: int) -> dict[str, Callable[[], object]]:
            return {
                how: partial(_repeat, partial(database.query, statement), times)
                for how, database in opened.items()
            }

        more, _ = compare("small query", asked(SMALL, 500), given.rounds, 500)
        _, rows_ratio = compare("10,000 rows", asked(LARGE, 10), given.rounds, 10)
    questions = dqa.generate(count=max(given.questions // 2, 1), seed=1)
    evaluated: dict[str, Callable[[], object]] = {
        how: partial(
            dqa.evaluate,
            questions,
            DECIDERS,
            databases=("sqlite", "ladybug"),
            model="scripted:analyst",
            options=dqa.RunOptions(isolation=how),
        )
        for how in ISOLATIONS
    }
    _, run_ratio = compare("an evaluation", evaluated, min(given.rounds, 3))
    return int(more > MOST_MORE or max(rows_ratio, run_ratio) > MOST_TIMES)


if __name__ == "__main__":
    sys.exit(main())
