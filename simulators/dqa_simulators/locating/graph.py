"""Topological order and reachability in flow graphs, computed with arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from dqa.core.errors import SituationError
from dqa_simulators.checks import IntArray

_NO_EDGE = np.iinfo(np.intp).max


class Grouped(NamedTuple):
    """Items grouped by an integer: group g consists of ``items[starts[g]:starts[g + 1]]``."""

    items: IntArray
    starts: IntArray

    @classmethod
    def by(cls, keys: IntArray, groups: int) -> Grouped:
        """Group positions 0..len(keys)-1 by their key. Positions of a group stay in order."""
        starts = np.zeros(groups + 1, np.intp)
        np.cumsum(np.bincount(keys, minlength=groups), out=starts[1:])
        return cls(np.argsort(keys, kind="stable"), starts)

    def of(self, groups: IntArray) -> tuple[IntArray, IntArray]:
        """Return the concatenated items of several groups, and the number of items of each."""
        places, counts = spans(self.starts, groups)
        return self.items[places], counts


def spans(starts: IntArray, groups: IntArray) -> tuple[IntArray, IntArray]:
    """Return the concatenated ranges ``starts[g]..starts[g + 1] - 1`` of some groups.

    The second array contains the length of each group's range.
    """
    first = starts[groups]
    counts = starts[groups + 1] - first
    places = np.repeat(first - (np.cumsum(counts) - counts), counts)
    places += np.arange(len(places))
    return places, counts


class FlowGraph:
    """A directed acyclic graph.

    Edges are numbered in the order of their sources. Edges with the same source are numbered in
    table order.

    Parameters
    ----------
    names
        The names of the n nodes, for messages.
    sources, targets
        The ends of each edge as positions in `names`, in table order; shape (m,).
    situation
        Name of the situation, for messages.

    Attributes
    ----------
    rows : array of shape (m,)
        Row of each edge in the table.
    starts : array of shape (n + 1,)
        The edges that leave node i are ``starts[i]..starts[i + 1] - 1``.
    out_degree : array of shape (n,)
        The number of edges that leave each node.
    sources, targets : arrays of shape (m,)
        Ends of each edge.
    rank : array of shape (n,)
        Position of each node in a topological order: every edge goes to a higher rank.

    Raises
    ------
    SituationError
        The edges form a cycle. The message lists the nodes of the cycle.
    """

    def __init__(
        self, names: Sequence[str], sources: IntArray, targets: IntArray, situation: str
    ) -> None:
        self.n = len(names)
        self._names = names
        self.rows, self.starts = Grouped.by(sources, self.n)
        self.out_degree = np.diff(self.starts)
        self.sources = np.repeat(np.arange(self.n), self.out_degree)
        self.targets = targets[self.rows]
        self.rank = self._topological_rank(situation)

    def _topological_rank(self, situation: str) -> IntArray:
        """Rank nodes by strong component. SciPy finds the components in topological order.

        SciPy does not document whether it numbers components upwards or downwards. This method
        tries both directions and verifies the result. The time is linear in n + m.
        """
        pattern = self.matrix(np.ones(len(self.sources), np.int8))
        _, component = csgraph.connected_components(pattern, True, "strong")
        ranks = component.astype(np.intp)
        for rank in (self.n - 1 - ranks, ranks):
            if bool((rank[self.sources] < rank[self.targets]).all()):
                return rank
        raise SituationError(
            f"Situation '{situation}': the flows form a cycle: {self._circle()}. Value must not "
            "flow in a cycle; remove one of these rows of table 'flow'."
        )

    def _circle(self) -> str:
        """Describe one cycle of the graph."""
        before: dict[int, list[int]] = {}
        for source, target in zip(self.sources.tolist(), self.targets.tolist(), strict=True):
            before.setdefault(target, []).append(source)
        try:
            TopologicalSorter(before).prepare()
        except CycleError as error:
            shown = [self._names[node] for node in error.args[1]]
            return " -> ".join(shown if len(shown) < 12 else [*shown[:10], "..."])
        raise AssertionError("SciPy numbers strong components in topological order")

    def out_edges(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """Return the edges that leave the given nodes, and the number of edges of each node."""
        return spans(self.starts, nodes)

    @cached_property
    def edge_of_row(self) -> IntArray:
        """The edge number of each table row, shape (m,)."""
        edges = np.empty(len(self.rows), np.intp)
        edges[self.rows] = np.arange(len(edges))
        return edges

    @cached_property
    def in_edges(self) -> Grouped:
        """Edges grouped by target, in table order."""
        by_row = Grouped.by(self.targets[self.edge_of_row], self.n)
        return Grouped(self.edge_of_row[by_row.items], by_row.starts)

    def matrix(self, values: NDArray[Any]) -> sparse.csr_array:
        """Return one value per edge (shape (m,)) as a matrix from sources to targets."""
        return sparse.csr_array((values, self.targets, self.starts), (self.n, self.n))

    @cached_property
    def _reversed(self) -> sparse.csr_array:
        return self.matrix(np.ones(len(self.sources))).T.tocsr()

    def _ancestors(self, home: int) -> IntArray:
        found = csgraph.breadth_first_order(self._reversed, home, return_predecessors=False)
        return np.asarray(found, np.intp)

    def steered_edges(self, nodes: IntArray, homes: IntArray, *, by_name: bool) -> IntArray:
        """Return the edge that each merchant supports, from ``nodes[i]`` to ``homes[i]``.

        A direct edge to the home is preferred. Otherwise it is the first edge from whose end the
        home can be reached: first by the name of the end (code points) if `by_name`, else first
        in table order. It is -1 if the home cannot be reached.
        """
        chosen = np.full(len(nodes), -1, np.intp)
        distinct, home_of = np.unique(homes, return_inverse=True)
        leaves = self.out_degree[nodes] > 0
        for number, home in enumerate(distinct.tolist()):
            pairs = np.flatnonzero((home_of == number) & leaves)
            if not pairs.size:
                continue
            edges, counts = self.out_edges(nodes[pairs])
            ends = self.targets[edges]
            reaches = np.zeros(self.n, np.bool_)
            reaches[self._ancestors(home)] = True
            # Direct edges sort first. Edges that do not lead home sort last.
            preference = self._alphabetical[ends] if by_name else edges.copy()
            preference[~reaches[ends]] = _NO_EDGE
            preference[ends == home] = -1
            pair = np.repeat(np.arange(len(pairs)), counts)
            first = np.lexsort((preference, pair))[np.cumsum(counts) - counts]
            chosen[pairs] = np.where(preference[first] < _NO_EDGE, edges[first], -1)
        return chosen

    @cached_property
    def _alphabetical(self) -> IntArray:
        """The position of each node in the list sorted by name, shape (n,)."""
        place = np.empty(self.n, np.intp)
        place[sorted(range(self.n), key=self._names.__getitem__)] = np.arange(self.n)
        return place
