"""The time to generate and annotate worlds, compared with a plain simulator.

Run ``python -m benchmarks.annotation`` (``--sizes 100 1000 10000``, ``--rounds N``). A world of n
nodes has 10 n routes, n / 10 countries and n rows of node_country. Each size runs in a separate
process, so the memory of each size is measured separately. The plain simulator
(`tests/simulators/reference.py`) uses loops. It runs only for up to 1,000 nodes.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys

import dqa
from benchmarks.measuring import in_turn, taken
from dqa.core.question_set import QuestionSet
from dqa_simulators.locating.generator import LocatingSize
from tests.simulators import reference

MOST_PLAIN = 1_000
"""The number of nodes of the largest world on which the plain simulator runs."""


def worlds_of(nodes: int, count: int = 1, seed: int = 0, per_database: int = 1) -> QuestionSet:
    """Return questions about generated Locating worlds of a size."""
    size = LocatingSize(nodes, 10 * nodes, max(nodes // 10, 10), nodes)
    return dqa.generate(("locating",), count, seed, sizes=[size], per_database=per_database)


def uncached(questions: QuestionSet) -> QuestionSet:
    """Return the questions with copies of their situations, which have no cached values."""
    copies = {id(one): one.replace() for one in questions.situations.values()}
    situations = {name: copies[id(one)] for name, one in questions.situations.items()}
    return QuestionSet(questions.name, questions.questions, situations, truths=questions.truths)


def annotate_plainly(questions: QuestionSet) -> None:
    """Simulate every candidate of every Locating question with loops."""
    for question in questions.questions:
        world = questions.situation_of(question)
        country, home = question.target["country"], question.target["home"]
        for name in question.candidates or ():
            reference.profit(world, country, home, name, "released")


def measure(nodes: int, rounds: int) -> None:
    """Print the times for worlds with this number of nodes."""
    made: list[QuestionSet] = []
    generated = taken(lambda: made.append(worlds_of(nodes)))
    sides = {"ours": lambda: dqa.annotate(uncached(made[0]))}
    if nodes <= MOST_PLAIN:
        sides["plain"] = lambda: annotate_plainly(made[0])  # type: ignore[assignment,return-value]
    spent = in_turn(sides, rounds)
    ours = spent["ours"].cpu
    # The kernel counts in KiB on Linux, in bytes on macOS.
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20
    ratio = f"{spent['plain'].cpu / ours:,.0f} times" if "plain" in spent else "not compared"
    print(
        f"{nodes:9,} nodes: generated in {generated.cpu:7.2f} s, annotated in {1e3 * ours:9.2f} ms "
        f"(plain: {ratio}), {peak:,.0f} MiB at most"
    )


def main() -> None:
    """Print a line for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=[100, 1_000, 10_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        measure(given.one, given.rounds)
        return
    for nodes in given.sizes:
        command = [sys.executable, "-m", "benchmarks.annotation", "--one", str(nodes)]
        subprocess.run([*command, "--rounds", str(given.rounds)], check=True)  # noqa: S603


if __name__ == "__main__":
    main()
