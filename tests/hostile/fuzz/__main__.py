"""Run ``python -m tests.hostile.fuzz --count 200000``: calls of everything, on every engine.

Servers are found as `tests.hostile.__main__` finds them; those without a URL are left out, which is
said. What was found before (``statements/ENGINE/found.*``) runs first; ``--keep`` writes what is
found now there. Exit code 1 where anything was found.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from time import perf_counter

from tests.hostile.__main__ import VARIABLES
from tests.hostile.corpus import EMBEDDED, ENGINES, STATEMENTS
from tests.hostile.fuzz.running import FOUND
from tests.hostile.supervising import ROOT, pump, resident_of

__all__ = ["Finding", "Stretch", "fuzz"]

_PATIENCE = 20.0
"""Seconds after its limit when a statement is given up."""
_STARTING = 120.0
_LARGEST = 6_000
"""Megabytes at which a process is ended, before the machine is."""
_MOST_ALIKE = 3
"""Findings of one problem that are kept."""
_MOST_FOUND = 200
"""Findings after which a stretch ends: the engine has to be mended first."""


@dataclass(frozen=True)
class Finding:
    """A statement and what is wrong with what became of it."""

    engine: str
    statement: str
    problem: str


@dataclass
class Stretch:
    """What became of some statements of one seed."""

    allowed: int = 0
    ended: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)


def fuzz(
    engine: str, seed: int, count: int, *, seconds: float = 1.0, url: str | None = None
) -> Stretch:
    """Make `count` statements of a seed and run those that the guard allows.

    They run in a process of their own; where one ends it, or keeps it, that is a finding, and the
    others run in the next.
    """
    stretch, start = Stretch(), 0
    while start < count and len(stretch.findings) < _MOST_FOUND:
        with tempfile.TemporaryDirectory() as folder:
            state = Path(folder) / "state"
            state.touch()
            arguments = [engine, seed, start, count, seconds, state]
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.hostile.fuzz.running", *map(str, arguments)],
                stdout=subprocess.PIPE,
                text=True,
                cwd=ROOT,
                env=dict(os.environ, **({"DQA_HOSTILE_URL": url} if url else {})),
                start_new_session=True,
            )
            try:
                lost = _watch(process, state, seconds, engine, stretch)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            if lost is None:
                break
            held = state.read_bytes()
            if not held:
                raise RuntimeError(f"{engine}: no statement could be run: {lost}")
            number, allowed, ended, statement = json.loads(held[8 : 8 + int(held[:8])])
            stretch.allowed += allowed
            stretch.ended.update(ended)
            stretch.findings.append(Finding(engine, statement, lost))
            start = number + 1
    return stretch


def _watch(
    process: subprocess.Popen[str], state: Path, seconds: float, engine: str, stretch: Stretch
) -> str | None:
    """Take down what a process finds; return how it was lost, None where it came to its end."""
    lines: SimpleQueue[str] = SimpleQueue()
    Thread(target=pump, args=(process, lines), daemon=True).start()
    seen, since = b"", perf_counter()
    while True:
        with suppress(Empty):
            line = lines.get(timeout=0.1)
            if not line:
                return f"the process ended with {process.wait()}"
            told = json.loads(line)
            if isinstance(told, dict):
                stretch.allowed += told["allowed"]
                stretch.ended.update(told["ended"])
                return None
            stretch.findings.append(Finding(engine, told[1], told[2]))
            continue
        now = state.read_bytes()
        if now != seen:
            seen, since = now, perf_counter()
        if perf_counter() - since > (seconds + _PATIENCE if seen else _STARTING):
            return f"not back after {seconds + _PATIENCE:g} s"
        if resident_of(process.pid) > _LARGEST:
            return f"the process had more than {_LARGEST} MB"


def keep(findings: list[Finding]) -> int:
    """Write what was found into the engines' files; return how many were not there.

    Of one problem a few are enough: who mends it finds the others mended, too.
    """
    kept = 0
    for finding in findings:
        graph = finding.engine in {"neo4j", "ladybug"}
        ending, mark = ("cypher", "//") if graph else ("sql", "--")
        file = STATEMENTS / finding.engine / f"{FOUND}.{ending}"
        before = file.read_text("utf-8") if file.exists() else ""
        said = f"{mark} {' '.join(finding.problem.split())[:150]}\n"
        statement = f"{finding.statement.rstrip('; ')};\n"
        if statement not in before and before.count(said) < _MOST_ALIKE:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(before + said + statement, "utf-8")
            kept += 1
    return kept


def _jobs(count: int, seed: int, engines: list[str], piece: int) -> Iterator[tuple[str, int, int]]:
    share = -(-count // len(engines))
    for start in range(0, share, piece):
        for engine in engines:
            yield engine, seed * 1_000_003 + start, min(piece, share - start)


def main() -> int:
    """Fuzz engines with several processes and print what came of it."""
    parser = argparse.ArgumentParser(description="Fuzz the engines behind the guard.")
    parser.add_argument("--count", type=int, default=20_000, help="calls over all engines")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1.0, help="limit of each (default: 1)")
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=ENGINES)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--keep", action="store_true", help="write what is found to its files")
    options = parser.parse_args()
    urls = {name: os.environ.get(variable) for name, variable in VARIABLES.items()}
    engines = [name for name in options.engines if name in EMBEDDED or urls[name]]
    for name in options.engines:
        if name not in engines:
            sys.stdout.write(f"{name:9} left out: {VARIABLES[name]} names no server\n")
    if not engines:
        return 2
    began, totals, findings = perf_counter(), Counter[str](), list[Finding]()
    ended: dict[str, Counter[str]] = {name: Counter() for name in engines}

    def run(job: tuple[str, int, int]) -> tuple[str, int, Stretch]:
        engine, seed, count = job
        return (
            engine,
            count,
            fuzz(engine, seed, count, seconds=options.seconds, url=urls.get(engine)),
        )

    jobs = _jobs(options.count, options.seed, engines, 5_000)
    with ThreadPoolExecutor(options.processes) as pool:
        for engine, count, stretch in pool.map(run, jobs):
            totals[engine] += count
            totals[f"{engine} allowed"] += stretch.allowed
            ended[engine] += stretch.ended
            findings += stretch.findings
            for finding in stretch.findings:
                shown = " ".join(finding.statement.split())[:300]
                sys.stdout.write(f"FOUND {engine}: {finding.problem} <- {shown}\n")
            sys.stdout.flush()
    for name in engines:
        endings = ", ".join(f"{ending} {n}" for ending, n in sorted(ended[name].items()))
        allowed = totals[f"{name} allowed"]
        sys.stdout.write(f"{name:9} {totals[name]:8} calls, {allowed:8} allowed: {endings}\n")
    sys.stdout.write(f"{len(findings)} findings, {perf_counter() - began:.0f} s\n")
    if options.keep:
        sys.stdout.write(f"{keep(findings)} kept\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
