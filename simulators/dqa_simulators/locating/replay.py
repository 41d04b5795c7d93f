"""Flows of a Locating world in the documented order of summation, node by node.

Screening (`State`) is fast but rounds in an order of its own. Where an answer depends on the last
bits, and where the full state is needed, this module repeats the algorithm as it reads: powers
are summed in the order of `node_country`, and what arrives at a node in the order of `flow`. The
result does not depend on which topological order the nodes are taken in.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from dqa_simulators.checks import FloatArray
from dqa_simulators.locating.world import ARRIVAL, State


class Flows(NamedTuple):
    """Outgoing and ingoing of each node, shape (n,), and what each flow carries, shape (m,)."""

    outgoing: FloatArray
    ingoing: FloatArray
    flow: FloatArray


def exact_flows(state: State) -> Flows:
    """Return the flows of a state in the documented order of summation."""
    graph = state.world.graph
    starts, arrivals = graph.starts.tolist(), graph.in_edges
    arriving, firsts = arrivals.items.tolist(), arrivals.starts.tolist()
    local, ratio = state.world.local.tolist(), state.ratio.tolist()
    supports, ingoing = state.supports.tolist(), state.start_ingoing.tolist()
    outgoing, flow = [0.0] * state.world.n, [0.0] * len(supports)
    for node in np.argsort(graph.rank).tolist():
        for edge in arriving[firsts[node] : firsts[node + 1]]:
            ingoing[node] += ARRIVAL * flow[edge]
        outgoing[node] = (local[node] + ingoing[node]) * ratio[node]
        edges = range(starts[node], starts[node + 1])
        steered = _sum(supports[edge] for edge in edges)
        for edge in edges:
            flow[edge] = (
                outgoing[node] * supports[edge] / steered
                if steered > 0.0
                else outgoing[node] / len(edges)
            )
    return Flows(np.array(outgoing), np.array(ingoing), np.array(flow)[graph.edge_of_row])


def _sum(values: Iterable[float]) -> float:
    """Add one after another: `sum` compensates rounding from Python 3.12 on."""
    total = 0.0
    for value in values:
        total += value
    return total
