"""Run ``python -m tests.hostile.fuzz --count 200000``: calls of everything, on every engine.

Servers are found as `tests.hostile.__main__` finds them; those without a URL are left out, which is
said. What was found before (``statements/ENGINE/found.*``) runs first; ``--keep`` writes what is
found now there. Exit code 1 where anything was found.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from time import perf_counter

from dqa import guard
from tests.hostile.__main__ import VARIABLES
from tests.hostile.corpus import EMBEDDED, ENGINES, STATEMENTS, read_statements
from tests.hostile.fuzz.calls import CallMaker
from tests.hostile.fuzz.functions import read_functions, read_operators
from tests.hostile.supervising import measurer

__all__ = ["Finding", "Stretch", "fuzz"]

FOUND = "found"
"""The kind of the statements that the fuzzer found, which it runs first."""
_PIECE = 5_000
_MOST_ALIKE = 3
"""Findings of one problem that are kept."""
_MOST_FOUND = 200
"""Findings after which a stretch ends."""


@dataclass(frozen=True)
class Finding:
    """A statement and the promise that it breaks."""

    engine: str
    statement: str
    problem: str


@dataclass
class Stretch:
    """The results of some statements of one seed."""

    allowed: int = 0
    ended: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)


def fuzz(
    engine: str, seed: int, count: int, *, seconds: float = 1.0, url: str | None = None
) -> Stretch:
    """Make `count` statements of a seed and run those that the guard allows."""
    maker = CallMaker(engine, read_functions(engine, url), read_operators(engine, url), seed)
    statements = [found.text for found in read_statements(engine, [FOUND])][:count]
    statements += [maker.statement() for _ in range(count - len(statements))]
    stretch = Stretch()
    with measurer(engine, seconds, url, is_quick=True) as process:
        for statement in statements:
            if not is_allowed(statement, engine):
                continue
            stretch.allowed += 1
            found = process.measure(statement)
            stretch.ended[found.outcome] += 1
            stretch.findings += [Finding(engine, statement, p) for p in found.problems(seconds)]
            if len(stretch.findings) >= _MOST_FOUND:
                break
    return stretch


def is_allowed(statement: str, engine: str) -> bool:
    """Whether a statement is text that the guard allows."""
    try:
        statement.encode()
    except UnicodeEncodeError:
        return False
    return guard.check(statement, engine).allowed


def keep(findings: list[Finding]) -> int:
    """Write findings into the engines' files, a few of one problem; return how many are new."""
    kept = 0
    for finding in findings:
        graph = finding.engine in {"neo4j", "ladybug"}
        ending, mark = ("cypher", "//") if graph else ("sql", "--")
        file = STATEMENTS / finding.engine / f"{FOUND}.{ending}"
        before = file.read_text("utf-8") if file.exists() else ""
        said = f"{mark} {' '.join(finding.problem.split())[:150]}\n"
        statement = f"{finding.statement.rstrip('; ')};\n"
        if statement not in before and before.count(said) < _MOST_ALIKE:
            file.write_text(before + said + statement, "utf-8")
            kept += 1
    return kept


def main() -> int:
    """Fuzz engines with several processes and print the results."""
    parser = argparse.ArgumentParser(description="Fuzz the engines behind the guard.")
    parser.add_argument("--count", type=int, default=20_000, help="calls over all engines")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=ENGINES)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--keep", action="store_true", help="write what is found to its files")
    options = parser.parse_args()
    urls = {name: os.environ.get(variable) for name, variable in VARIABLES.items()}
    engines = [name for name in options.engines if name in EMBEDDED or urls[name]]
    for name in sorted(set(options.engines) - set(engines)):
        sys.stdout.write(f"{name:9} left out: {VARIABLES[name]} names no server\n")
    if not engines:
        return 2
    began, findings = perf_counter(), list[Finding]()
    ended: dict[str, Counter[str]] = {name: Counter() for name in engines}
    share = -(-options.count // len(engines))
    with ProcessPoolExecutor(options.processes) as pool:
        jobs = [
            (
                engine,
                pool.submit(
                    fuzz,
                    engine,
                    options.seed * 1_000_003 + start,
                    min(_PIECE, share - start),
                    url=urls.get(engine),
                ),
            )
            for start in range(0, share, _PIECE)
            for engine in engines
        ]
        for engine, job in jobs:
            stretch = job.result()
            ended[engine] += stretch.ended
            findings += stretch.findings
            for finding in stretch.findings:
                shown = " ".join(finding.statement.split())[:300]
                sys.stdout.write(f"FOUND {engine}: {finding.problem} <- {shown}\n")
            sys.stdout.flush()
    for name in engines:
        endings = ", ".join(f"{ending} {n}" for ending, n in sorted(ended[name].items()))
        sys.stdout.write(f"{name:9} {ended[name].total():8} calls ran: {endings}\n")
    sys.stdout.write(f"{len(findings)} findings, {perf_counter() - began:.0f} s\n")
    if options.keep:
        sys.stdout.write(f"{keep(findings)} kept\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
