"""Compute the flows of a Locating world with one new merchant, for many placements at once.

Nodes are visited in topological order. Powers are summed in the order of `node_country`, and
arrivals at a node in the order of `flow`. So the result for each placement is equal to the result
of Algorithm 1, to the last bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dqa.core.errors import SituationError
from dqa_simulators.checks import FloatArray, IntArray, sums
from dqa_simulators.locating.world import ARRIVAL, State

NOWHERE = -1
"""The value of `Placements.rows` without a merchant, and of `Placements.edges` without a flow."""


class Placements(NamedTuple):
    """Placements of a merchant, as arrays of shape (k,).

    Attributes
    ----------
    rows
        The row of `node_country` that each merchant changes, or `NOWHERE`.
    edges
        The flow that each merchant supports, or `NOWHERE`.
    """

    rows: IntArray
    edges: IntArray


class Flows(NamedTuple):
    """Outgoing and ingoing value of n nodes, shape (n, k), and value of m flows, shape (m, k)."""

    outgoing: FloatArray
    ingoing: FloatArray
    flow: FloatArray


@np.errstate(over="ignore", invalid="ignore")  # _require_finite checks the result
def flows_with(state: State, placed: Placements) -> Flows:
    """Return the flows after each placement.

    Raises
    ------
    SituationError
        A value is too large for a floating-point number.
    """
    world, graph, k = state.world, state.world.graph, len(placed.rows)
    outgoing, ingoing = np.zeros((world.n, k)), np.zeros((world.n, k))
    flow = np.zeros((len(graph.targets), k))
    columns = np.flatnonzero(placed.rows != NOWHERE)
    power = state.power_with_merchant(placed.rows[columns])
    changed = _ratios(state, placed.rows[columns], power)
    at_node: dict[int, list[int]] = {}
    for number, row in enumerate(placed.rows[columns].tolist()):
        at_node.setdefault(int(world.row_node[row]), []).append(number)
    for node in graph.order:
        arriving = np.full(k, state.start_ingoing[node])
        for edge in graph.entering.one(node).tolist():
            arriving += ARRIVAL * flow[edge]
        edges = graph.leaving.one(node)
        ratio = np.full(k, state.ratio[node])
        supports = np.repeat(state.supports[edges, None], k, axis=1)
        for number in at_node.get(node, ()):
            column = columns[number]
            ratio[column] = changed[number]
            edge = int(placed.edges[column])
            if edge != NOWHERE:
                row = int(placed.rows[column])
                supports[edges == edge, column] = _support(state, row, edge, power[number])
        ingoing[node], outgoing[node] = arriving, (world.local[node] + arriving) * ratio
        if len(edges):
            flow[edges] = _shared(outgoing[node], supports)
    _require_finite(state, ingoing)
    return Flows(outgoing, ingoing, flow)


def _shared(outgoing: FloatArray, supports: FloatArray) -> FloatArray:
    """Divide a node's outgoing value among its flows, in proportion to their supporting power.

    If no flow has supporting power, all flows get equal shares.
    """
    steered = supports.cumsum(axis=0)[-1]  # adds in row order
    flow: FloatArray = np.broadcast_to(outgoing / len(supports), supports.shape).copy()
    np.divide(outgoing * supports, steered, out=flow, where=steered > 0.0)
    return flow


def _ratios(state: State, placed: IntArray, power: FloatArray) -> FloatArray:
    """Return the share of foreign power at the node of each placed merchant.

    Foreign power is the power of countries that are not at home at the node.
    """
    world, k = state.world, len(placed)
    nodes = world.row_node[placed]
    rows, counts = world.rows_of_node.of(nodes)
    which = np.repeat(np.arange(k), counts)
    powers = np.where(rows == placed[which], power[which], state.power[rows])
    first = np.arange(k), state.start_power[nodes]  # the initial total is the first summand
    total = sums(np.concatenate((first[0], which)), np.concatenate((first[1], powers)), k)
    away = sums(which, np.where(world.at_home[rows], 0.0, powers), k)
    return np.divide(away, total, out=np.zeros(k), where=total > 0.0)


def _support(state: State, placed: int, edge: int, power: float) -> float:
    """Return the power of all merchants that support a flow, including the placed merchant.

    The power is summed in row order.
    """
    rows, edges = state.steering
    total = 0.0  # from Python 3.12 on, `sum` compensates rounding errors
    for row in sorted([*rows[edges == edge].tolist(), placed]):
        total += power if row == placed else float(state.power[row])
    return total


def _require_finite(state: State, ingoing: FloatArray) -> None:
    finite = np.isfinite(ingoing).all(axis=1)
    if not finite.all():
        node = state.world.names[int(np.argmin(finite))]
        raise SituationError(
            f"Situation '{state.world.situation.name}': the value at node '{node}' is too large "
            "for a floating-point number; check the numbers in table 'trade_node'."
        )
