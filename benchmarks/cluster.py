"""The speed of annotation on two Ray nodes, against one.

Run ``python -m benchmarks.cluster`` (``--worlds``, ``--nodes``, ``--asked``, ``--rounds``). Worlds
of one size are annotated on a cluster of one node and on one of two, each with one processor, both
on this machine; they take turns, and medians are compared. The results have to be the same. Exit
code 1 where two nodes are less than 1.7 times as fast and 3 processors are free.
"""

from __future__ import annotations

import argparse
import logging
import os
import statistics
import sys
from typing import Any

import dqa
from benchmarks.annotation import worlds_of
from benchmarks.measuring import taken
from benchmarks.needs import require
from dqa.core.question_set import QuestionSet
from dqa.evaluation.options import RunOptions

NEEDS = ("ray",)
LEAST = 1.7
"""How many times as fast two nodes have to be."""


def annotate_on(nodes: int, questions: QuestionSet) -> tuple[float, list[dqa.Annotation]]:
    """Return the time of annotation on a cluster of some nodes, and its result."""
    import ray
    from ray.cluster_utils import Cluster

    cluster: Any = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
    )
    for _ in range(nodes - 1):
        cluster.add_node(num_cpus=1)
    ray.init(cluster.address, log_to_driver=False, logging_level=logging.ERROR)
    try:
        options = RunOptions(engine="ray")
        few = dqa.generate(count=8 * nodes, per_database=1)
        dqa.annotate(few, options=options)  # each worker imports its modules
        made: list[dqa.Annotation] = []
        spent = taken(lambda: made.extend(dqa.annotate(questions, options=options)))
        return spent.wall, made
    finally:
        ray.shutdown()
        cluster.shutdown()


def main() -> int:
    """Measure and print both, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=40)
    parser.add_argument("--nodes", type=int, default=2_000, help="trade nodes of each world")
    parser.add_argument("--asked", type=int, default=20, help="questions about each")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    require(*NEEDS)
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    questions = worlds_of(given.nodes, given.worlds * given.asked, per_database=given.asked)
    expected = dqa.annotate(questions)
    found: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(given.rounds):
        for nodes, seconds in found.items():
            spent, made = annotate_on(nodes, questions)
            assert made == expected
            seconds.append(spent)
    one, two = map(statistics.median, found.values())
    free = (os.cpu_count() or 1) - os.getloadavg()[0] + 2
    print(f"{len(questions.situations)} worlds of {given.nodes:,} nodes: {one:.2f} s on one node")
    print(f"two nodes are {one / two:.2f} times as fast; at least {LEAST} with 3 free processors")
    return int(one / two < LEAST and free >= 3)


if __name__ == "__main__":
    sys.exit(main())
