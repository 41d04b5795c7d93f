"""Run ``python -m tests.guard.fuzz --count 1000000 --seed 1``.

Exit code 1 where a statement made the guard fail, took it long, or was let through and changed a
database.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from contextlib import chdir
from dataclasses import dataclass, field
from time import perf_counter, process_time

from dqa.guard import DIALECTS, Policy
from dqa.guard.check import check as judge
from tests.guard.fuzz.mutate import Mutator
from tests.guard.fuzz.worlds import WORLDS, World

_BATCH = 200
"""Statements between two looks at a database's content."""
_LONG = 0.5
"""Seconds of the processor that no verdict takes."""
_SCOPED = Policy(tables=frozenset({"t", "u"}), denied_columns=frozenset({"t.secret", "ssn"}))


@dataclass
class Report:
    """What became of the statements of one process."""

    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


def fuzz(dialect: str, seed: int, count: int) -> Report:
    """Check `count` statements of `dialect`, and run what is let through where that is possible."""
    report = Report()
    mutator = Mutator(dialect, seed)
    make = WORLDS.get(dialect)
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        world = make() if make is not None else None
        before = world.content() if world is not None else ""
        batch: list[str] = []
        for number in range(count):
            statement = mutator.statement()
            if _allowed(statement, dialect, report):
                report.counts["allowed"] += 1
                batch += [statement] * (world is not None)
            else:
                report.counts["refused"] += 1
            if world is not None and (len(batch) == _BATCH or number == count - 1):
                _run(world, batch, report)
                if world.content() != before and make is not None:
                    report.problems += _culprits(make, batch, before)
                    world = make()
                batch.clear()
    return report


def _allowed(statement: str, dialect: str, report: Report) -> bool:
    if "\0" in statement or "\ud800" in statement:
        return False
    started = process_time()
    try:
        verdict = judge(statement, dialect)
        took = process_time() - started
        if judge(statement, dialect, _SCOPED).allowed and not verdict.allowed:
            report.problems.append(f"{dialect}: a policy allows more: {statement!r}")
    except Exception as error:  # noqa: BLE001  (to be reported with its statement)
        report.problems.append(f"{dialect}: {type(error).__name__}: {error}: {statement!r}")
        return False
    if took > _LONG:
        report.problems.append(f"{dialect}: slow: {statement!r}")
    return verdict.allowed


def _run(world: World, batch: list[str], report: Report) -> None:
    for statement in batch:
        did = world.run(statement)
        report.counts["run"] += 1
        if did is not None:
            report.problems.append(f"{did}: {statement!r}")


def _culprits(make: object, batch: list[str], before: str) -> list[str]:
    """Find who changed the content, each in a database of its own."""
    found = []
    for statement in batch:
        world = make()  # type: ignore[operator]
        world.run(statement)
        if world.content() != before:
            found.append(f"changed the content: {statement!r}")
    return found or [f"changed the content together: {batch!r}"]


def main() -> int:
    """Fuzz all dialects in all processors and print what came of it."""
    parser = argparse.ArgumentParser(description="Fuzz the guard.")
    parser.add_argument("--count", type=int, default=100_000, help="statements over all dialects")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dialects", nargs="+", default=[d for d in DIALECTS if d != "ansi"])
    options = parser.parse_args()
    share = -(-options.count // len(options.dialects))
    piece = 10_000
    jobs = [
        (dialect, options.seed * 1_000_003 + start, min(piece, share - start))
        for start in range(0, share, piece)
        for dialect in options.dialects
    ]
    started, totals, problems = perf_counter(), Counter[str](), 0
    with ProcessPoolExecutor() as pool:
        for (dialect, seed, count), report in zip(
            jobs, pool.map(fuzz, *zip(*jobs, strict=True)), strict=True
        ):
            totals[dialect] += count
            totals += Counter({f"{dialect} {k}": v for k, v in report.counts.items()})
            problems += len(report.problems)
            for problem in report.problems[:20]:
                sys.stdout.write(f"PROBLEM {dialect} seed {seed}: {problem}\n")
    for dialect in options.dialects:
        allowed, ran = totals[f"{dialect} allowed"], totals[f"{dialect} run"]
        line = f"{dialect:9} {totals[dialect]:9} statements, {allowed:8} allowed, {ran:8} run\n"
        sys.stdout.write(line)
    sys.stdout.write(f"{problems} problems, {perf_counter() - started:.0f} s\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
