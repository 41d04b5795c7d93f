"""What it costs that statements run in worker processes.

Run ``python -m benchmarks.isolation`` (``--rounds``, ``--questions``). A small query and a result
of 10,000 rows on a SQLite file, and an evaluation of generated questions on two embedded databases
by four deciders, each isolated and in this process, taking turns in one run. Beside the small query
stands what the system takes for its way there and back alone: the same rows asked of another
process over a socket, by nothing but Python's own modules. Exit code 1 where a small query costs
more than 150 us more, or one of the others more than 1.3 times as much.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import get_args

import dqa
from dqa.core.database import Isolation

MOST_MORE = 150e-6
MOST_TIMES = 1.3
_SMALL = "SELECT name, price FROM shop WHERE id = 77"
_LARGE = "SELECT * FROM shop"
_WHOLE = dqa.Limits(rows=10_000, bytes=10_000_000)
_DECIDERS = ("singlerag", "iterrag", "planrag", "planrag-no-replan")
_ISOLATIONS: tuple[Isolation, ...] = get_args(Isolation)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print and judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--questions", type=int, default=100)
    given = parser.parse_args(arguments)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "shop.db"
        _write(file)
        small = _compared(lambda how: _queries(file, how, _SMALL, 2_000), given.rounds)
        bare = _compared(lambda how: _asked(file, how, _SMALL, 2_000), given.rounds)
        large = _compared(lambda how: _queries(file, how, _LARGE, 20), given.rounds)
    questions = dqa.generate(count=given.questions // 2, seed=1)
    runs = _compared(lambda how: _evaluated(questions, how), min(given.rounds, 3))
    more = small["process"] - small["none"]
    print(
        f"a small query   {small['none'] * 1e6:8.1f} us in this process, {more * 1e6:+.1f} us; "
        f"bare {bare['none'] * 1e6:.1f} us, {(bare['process'] - bare['none']) * 1e6:+.1f} us"
    )
    ratios = {}
    for name, found in (("10,000 rows", large), (f"{len(questions.questions)} questions", runs)):
        ratios[name] = found["process"] / found["none"]
        print(f"{name:15} {found['none'] * 1e3:8.1f} ms in this process, {ratios[name]:.2f} times")
    return int(more > MOST_MORE or max(ratios.values()) > MOST_TIMES)


def _write(file: Path) -> None:
    with closing(sqlite3.connect(file)) as made:
        made.execute("CREATE TABLE shop (id INTEGER PRIMARY KEY, name TEXT, price REAL, n INT)")
        rows = ((n, f"shop number {n}", n / 7, n % 13) for n in range(10_000))
        made.executemany("INSERT INTO shop VALUES (?, ?, ?, ?)", rows)
        made.commit()


def _compared(measure: Callable[[Isolation], float], rounds: int) -> dict[Isolation, float]:
    """Return the median of what each way takes; they take turns."""
    taken: dict[Isolation, list[float]] = {how: [] for how in _ISOLATIONS}
    for _ in range(rounds):
        for how, found in taken.items():
            found.append(measure(how))
    return {how: median(found) for how, found in taken.items()}


def _queries(file: Path, isolation: Isolation, statement: str, count: int) -> float:
    """Return the median of so many queries' seconds."""
    taken = []
    with closing(dqa.open_database(file, isolation=isolation, limits=_WHOLE)) as database:
        database.query(statement)
        for _ in range(count):
            started = perf_counter()
            database.query(statement)
            taken.append(perf_counter() - started)
    return median(taken)


def _asked(file: Path, isolation: Isolation, statement: str, count: int) -> float:
    """Return the median of so many queries' seconds, with neither guard nor limits."""
    taken = []
    mine, other = Pipe()
    answering = get_context("fork").Process(target=_answer, args=(file, other), daemon=True)
    answering.start()
    with closing(sqlite3.connect(file)) as database:
        for _ in range(count):
            started = perf_counter()
            if isolation == "none":
                database.execute(statement).fetchall()
            else:
                mine.send(statement)
                mine.recv()
            taken.append(perf_counter() - started)
    mine.send(None)
    answering.join()
    return median(taken)


def _answer(file: Path, asked: Connection) -> None:
    with closing(sqlite3.connect(file)) as database:
        while (statement := asked.recv()) is not None:
            asked.send(database.execute(statement).fetchall())


def _evaluated(questions: dqa.QuestionSet, isolation: Isolation) -> float:
    """Return the seconds of an evaluation on two databases by four deciders."""
    started = perf_counter()
    dqa.evaluate(
        questions,
        deciders=_DECIDERS,
        databases=("sqlite", "ladybug"),
        model="scripted:analyst",
        options=dqa.RunOptions(isolation=isolation),
    )
    return perf_counter() - started


if __name__ == "__main__":
    sys.exit(main())
