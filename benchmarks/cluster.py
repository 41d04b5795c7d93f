"""What a second Ray node gives to annotation.

Run ``python -m benchmarks.cluster`` (``--worlds``, ``--nodes``, ``--rounds``). Worlds of the same
size are annotated on a cluster of one node and on one of two, each node with one processor, both
on this machine; they take turns, and the medians are compared. What comes out has to be the same.
Exit code 1 where two nodes are less than 1.7 times as fast as one and the machine has processors
for them and for this process that nobody else uses.
"""

from __future__ import annotations

import argparse
import logging
import os
import statistics
import sys
from time import perf_counter
from typing import Any

import ray
from ray.cluster_utils import Cluster

import dqa
from benchmarks.annotation import large_world
from dqa.core.question_set import QuestionSet
from dqa.evaluation.options import RunOptions

LEAST = 1.7
"""How many times as fast two nodes have to be."""


def large_set(worlds: int, nodes: int, asked: int) -> QuestionSet:
    """Return questions about several large worlds, each about another country of its own."""
    situations: dict[str, dqa.Situation] = {}
    questions: list[dqa.Question] = []
    for number in range(worlds):
        world, question = large_world(nodes, number)
        named = dqa.Situation(world.schema, f"large {number}", world.tables)
        situations[named.name] = named
        countries = named["country"]
        for country, home in [*zip(countries["country_name"], countries["home_node"], strict=True)][
            :asked
        ]:
            key, target = str(len(questions) + 1), {"country": str(country), "home": str(home)}
            questions.append(dqa.Question(question.scenario, key, "", "", named.name, target))
    return QuestionSet("large", tuple(questions), situations)


def seconds(questions: QuestionSet, nodes: int) -> tuple[float, list[dqa.Annotation]]:
    """Return how long annotation takes on a cluster of some nodes, once its workers have begun."""
    cluster: Any = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
    )
    for _ in range(nodes - 1):
        cluster.add_node(num_cpus=1)
    ray.init(cluster.address, log_to_driver=False, logging_level=logging.ERROR)
    try:
        options = RunOptions(engine="ray")
        few = dqa.generate(count=8 * nodes, per_database=1)
        dqa.annotate(few, options=options)  # each worker imports what it needs
        begun = perf_counter()
        made = dqa.annotate(questions, options=options)
        return perf_counter() - begun, made
    finally:
        ray.shutdown()
        cluster.shutdown()


def main() -> int:
    """Measure and print both, and their ratio."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--worlds", type=int, default=40)
    parser.add_argument("--nodes", type=int, default=20_000, help="trade nodes of each world")
    parser.add_argument("--asked", type=int, default=20, help="questions about each")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    questions = large_set(options.worlds, options.nodes, options.asked)
    begun = perf_counter()
    expected = dqa.annotate(questions)
    here = perf_counter() - begun
    taken: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(options.rounds):
        for nodes, rounds in taken.items():
            time, made = seconds(questions, nodes)
            assert made == expected
            rounds.append(time)
    medians = {nodes: statistics.median(rounds) for nodes, rounds in taken.items()}
    ratio = medians[1] / medians[2]
    free = (os.cpu_count() or 1) - os.getloadavg()[0] + 2
    print(
        f"{options.worlds} worlds of {options.nodes:,} nodes, {options.asked} questions each; "
        f"in this process {here:.2f} s"
    )
    for nodes, rounds in taken.items():
        each = ", ".join(f"{one:.2f}" for one in rounds)
        print(f"{nodes} Ray node(s): {medians[nodes]:6.2f} s  ({each})")
    print(f"ratio {ratio:.2f}, at least {LEAST} where 3 processors are free (here {free:.1f})")
    return int(ratio < LEAST and free >= 3)


if __name__ == "__main__":
    sys.exit(main())
