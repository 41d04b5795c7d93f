"""Flows of a Locating world in the documented order of summation, node by node.

Screening (`State`) is fast but rounds in an order of its own. Where an answer hangs on the last
bits, and where the full state is asked for, this module repeats the algorithm as it reads: powers
are summed in the order of `node_country`, and what arrives at a node in the order of `flow`. The
result does not depend on which topological order the nodes are taken in.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from dqa_simulators.checks import FloatArray
from dqa_simulators.locating.graph import Grouped
from dqa_simulators.locating.world import ARRIVAL, State


class Flows(NamedTuple):
    """Outgoing and ingoing of each node, shape (n,), and what each flow carries, shape (m,)."""

    outgoing: FloatArray
    ingoing: FloatArray
    flow: FloatArray


class Placement(NamedTuple):
    """A merchant placed: the row of `node_country` it changes, the flow it supports (or -1)."""

    row: int
    edge: int


class Replay:
    """Exact flows of a state, and of the same state with one more merchant."""

    def __init__(self, state: State) -> None:
        self._state = state

    @cached_property
    def _targets(self) -> list[int]:
        items: list[int] = self._state.world.graph.targets.tolist()
        return items

    @cached_property
    def _rank(self) -> list[int]:
        items: list[int] = self._state.world.graph.rank.tolist()
        return items

    @cached_property
    def _supports(self) -> list[float]:
        values: list[float] = self._state.supports.tolist()
        return values

    @cached_property
    def _local(self) -> list[float]:
        values: list[float] = self._state.world.local.tolist()
        return values

    @cached_property
    def _start(self) -> list[float]:
        values: list[float] = self._state.start_ingoing.tolist()
        return values

    def run(self) -> Flows:
        """Return the flows where nothing is decided."""
        outgoing, ingoing, flow = self._flows
        in_table_order = np.array(flow)[self._state.world.graph.edge_of_row]
        return Flows(np.array(outgoing), np.array(ingoing), in_table_order)

    @cached_property
    def _flows(self) -> tuple[list[float], list[float], list[float]]:
        state, n = self._state, self._state.world.n
        ratio: list[float] = state.ratio.tolist()
        outgoing, ingoing, flow = [0.0] * n, [0.0] * n, [0.0] * len(self._targets)
        for node in np.argsort(state.world.graph.rank).tolist():
            ingoing[node] = self._arriving(node, flow)
            outgoing[node] = (self._local[node] + ingoing[node]) * ratio[node]
            edges = self._out_edges(node)
            steered = _sum(self._supports[edge] for edge in edges)
            for edge in edges:
                flow[edge] = self._carried(outgoing[node], self._supports[edge], steered, edges)
        return outgoing, ingoing, flow

    def _out_edges(self, node: int) -> range:
        starts = self._state.world.graph.starts
        return range(int(starts[node]), int(starts[node + 1]))

    def _arriving(self, node: int, flow: list[float] | _Overlay) -> float:
        ingoing = self._start[node]
        for edge in _of(self._state.world.graph.in_edges, node):
            ingoing += ARRIVAL * flow[edge]
        return ingoing

    @staticmethod
    def _carried(outgoing: float, support: float, steered: float, edges: range) -> float:
        return outgoing * support / steered if steered > 0.0 else outgoing / len(edges)

    def ingoing_at(self, home: int, placement: Placement | None) -> float:
        """Return what arrives at `home` with a merchant placed, or with none."""
        _, ingoing, flow = self._flows
        if placement is None:
            return ingoing[home]
        changed = _Overlay(flow)
        start = int(self._state.world.row_node[placement.row])
        waiting, seen = [(self._rank[start], start)], {start}
        at_home = ingoing[home]
        # Only what lies between the merchant and home is computed again, in topological order.
        while waiting:
            rank, node = heappop(waiting)
            if node == home:
                at_home = self._arriving(home, changed)
            if rank >= self._rank[home]:
                break
            arriving = self._arriving(node, changed)
            for edge, carried in self._leaving(
                node, arriving, placement if node == start else None
            ):
                if carried != flow[edge]:
                    changed.over[edge] = carried
                    target = self._targets[edge]
                    if target not in seen:
                        seen.add(target)
                        heappush(waiting, (self._rank[target], target))
        return at_home

    def _leaving(
        self, node: int, ingoing: float, placement: Placement | None
    ) -> list[tuple[int, float]]:
        """Return the amounts of the flows that leave a node, by the amount that arrives."""
        state = self._state
        edges = self._out_edges(node)
        supports = [self._supports[edge] for edge in edges]
        ratio = float(state.ratio[node])
        if placement is not None:
            ratio = self._ratio_with(node, placement.row)
            if placement.edge >= 0:
                position = edges.index(placement.edge)
                supports[position] = self._support_with(placement)
        outgoing = (self._local[node] + ingoing) * ratio
        steered = _sum(supports)
        return [
            (edge, self._carried(outgoing, support, steered, edges))
            for edge, support in zip(edges, supports, strict=True)
        ]

    def _ratio_with(self, node: int, placed: int) -> float:
        """Return away / total power at a node once a merchant changed one of its rows."""
        world = self._state.world
        total, away = float(self._state.start_power[node]), 0.0
        for row in _of(world.rows_of_node, node):
            power = self._power_of(row, placed)
            total += power
            if not world.at_home[row]:
                away += power
        return away / total

    def _support_with(self, placement: Placement) -> float:
        """Return the power behind the placed merchant's flow, summed in row order."""
        rows, edges = self._state.steering
        beside = rows[edges == placement.edge].tolist()
        return _sum(self._power_of(row, placement.row) for row in sorted([*beside, placement.row]))

    def _power_of(self, row: int, placed: int) -> float:
        if row == placed:
            return float(self._state.power_with_merchant(np.array([row]))[0])
        return float(self._state.power[row])


class _Overlay:
    """A list some of whose items are changed, without copying it."""

    def __init__(self, under: list[float]) -> None:
        self.under = under
        self.over: dict[int, float] = {}

    def __getitem__(self, position: int) -> float:
        found = self.over.get(position)
        return self.under[position] if found is None else found


def _of(grouped: Grouped, group: int) -> list[int]:
    items: list[int] = grouped.items[grouped.starts[group] : grouped.starts[group + 1]].tolist()
    return items


def _sum(values: Iterable[float]) -> float:
    """Add one after another: `sum` compensates rounding from Python 3.12 on."""
    total = 0.0
    for value in values:
        total += value
    return total
