"""Flow graphs: topological order, levels and reachability, without a Python loop over edges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from dqa.core.errors import SituationError
from dqa_simulators.checks import IntArray

_MAX_LEVELS = 20_000
"""Deeper graphs are searched home by home: a level costs some 30 us however few nodes it has."""

_MANY = 100_000
"""From this many keys on, a counting sort is worth its constant cost."""

_NO_EDGE = np.iinfo(np.intp).max


class Grouped(NamedTuple):
    """Items grouped by a small integer: group g holds ``items[starts[g]:starts[g + 1]]``."""

    items: IntArray
    starts: IntArray

    @classmethod
    def by(cls, keys: IntArray, groups: int) -> Grouped:
        """Group positions 0..len(keys)-1 by key, keeping their order within a group."""
        if len(keys) > _MANY:
            # One column a position: turning columns into rows is a counting sort in linear time.
            ends = np.arange(len(keys) + 1)
            columns = sparse.csc_array(
                (np.ones(len(keys), np.int8), keys, ends), (groups, len(keys))
            )
            by_row = columns.tocsr()
            return cls(by_row.indices.astype(np.intp), by_row.indptr.astype(np.intp))
        starts = np.zeros(groups + 1, np.intp)
        np.cumsum(np.bincount(keys, minlength=groups), out=starts[1:])
        return cls(np.argsort(keys, kind="stable"), starts)

    def of(self, groups: IntArray) -> tuple[IntArray, IntArray]:
        """Return the items of several groups, one after another, and each group's item count."""
        places, counts = spans(self.starts, groups)
        return self.items[places], counts


def spans(starts: IntArray, groups: IntArray) -> tuple[IntArray, IntArray]:
    """Return the places ``starts[g]..starts[g + 1] - 1`` of each group g, and how many each has."""
    first = starts[groups]
    counts = starts[groups + 1] - first
    places = np.repeat(first - (np.cumsum(counts) - counts), counts)
    places += np.arange(len(places))
    return places, counts


class FlowGraph:
    """A directed acyclic graph.

    Edges are numbered by source, and those of one source in the order of their table.

    Parameters
    ----------
    names
        The n nodes' names, for messages.
    sources, targets
        Shape (m,): the edges' ends as positions in `names`, in the order of their table.
    situation
        What the graph belongs to, for messages.

    Attributes
    ----------
    rows : array of shape (m,)
        Row of each edge in the table.
    starts : array of shape (n + 1,)
        The edges that leave node i are ``starts[i]..starts[i + 1] - 1``.
    out_degree : array of shape (n,)
        How many those are.
    sources, targets : arrays of shape (m,)
        Ends of each edge.
    rank : array of shape (n,)
        Position of each node in a topological order: every edge goes to a higher rank.

    Raises
    ------
    SituationError
        The edges close a circle; the message names the nodes on it.
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
        self.rank = self._topological_rank(names, situation)

    def _topological_rank(self, names: Sequence[str], situation: str) -> IntArray:
        """Rank nodes by strong component, which the algorithm finds in topological order.

        The order in which SciPy numbers components is not documented, so both directions are
        tried and the result is verified: linear in n + m and independent of the graph's depth.
        """
        pattern = self.matrix(np.ones(len(self.sources), np.int8))
        count, component = csgraph.connected_components(pattern, True, "strong")
        loops = np.flatnonzero(self.sources == self.targets)
        if count < self.n or loops.size:
            raise SituationError(
                f"Situation '{situation}': its flows close a circle, "
                f"{_circle(names, pattern, component, self.sources[loops])}; value must not flow "
                "in a circle, so remove one of these rows of table 'flow'."
            )
        ranks = component.astype(np.intp)
        for rank in (self.n - 1 - ranks, ranks):
            if bool((rank[self.sources] < rank[self.targets]).all()):
                return rank
        levels = self._levels(limit=self.n)  # not reached with any SciPy that was tried
        order = np.concatenate(levels) if levels else np.zeros(0, np.intp)
        rank = np.empty(self.n, np.intp)
        rank[order] = np.arange(self.n)
        return rank

    def out_edges(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """Return the edges that leave some nodes, node by node, and how many leave each."""
        return spans(self.starts, nodes)

    @cached_property
    def edge_of_row(self) -> IntArray:
        """The edge that each row of the table is, shape (m,)."""
        edges = np.empty(len(self.rows), np.intp)
        edges[self.rows] = np.arange(len(edges))
        return edges

    @cached_property
    def in_edges(self) -> Grouped:
        """Edges grouped by target, in the order of the table."""
        by_row = Grouped.by(self.targets[self.edge_of_row], self.n)
        return Grouped(self.edge_of_row[by_row.items], by_row.starts)

    def matrix(self, values: NDArray[Any]) -> sparse.csr_array:
        """Return a value an edge (shape (m,)) as a matrix from sources to targets."""
        return sparse.csr_array((values, self.targets, self.starts), (self.n, self.n))

    @cached_property
    def _levels_or_none(self) -> list[IntArray] | None:
        return self._levels(_MAX_LEVELS)

    def _levels(self, limit: int) -> list[IntArray] | None:
        """Split nodes into levels without edges inside one; None where there are over `limit`."""
        waiting = np.bincount(self.targets, minlength=self.n)
        level = np.flatnonzero(waiting == 0)
        levels: list[IntArray] = []
        while level.size:
            if len(levels) == limit:
                return None
            levels.append(level)
            edges, _ = self.out_edges(level)
            reached = self.targets[edges]
            np.subtract.at(waiting, reached, 1)
            level = np.unique(reached[waiting[reached] == 0])
        return levels

    def _reaching(self, homes: IntArray) -> Iterator[tuple[IntArray, NDArray[np.uint64]]]:
        """Yield, 64 homes at a time, ``(homes, bits)``: bit i of a node: it reaches home i.

        A node reaches itself. Shallow graphs take one backward pass by level for 64 homes, so
        O((n + m) * ceil(homes / 64)); graphs of more than 20,000 levels a search for each home.
        """
        for start in range(0, len(homes), 64):
            block = homes[start : start + 64]
            bits = np.zeros(self.n, np.uint64)
            marks = np.uint64(1) << np.arange(len(block), dtype=np.uint64)
            levels = self._levels_or_none
            if levels is None:
                for home, mark in zip(block.tolist(), marks, strict=True):
                    bits[self._ancestors(home)] |= mark
            else:
                bits[block] = marks
                self._spread_back(levels, bits)
            yield block, bits

    def _spread_back(self, levels: list[IntArray], bits: NDArray[np.uint64]) -> None:
        for level in reversed(levels):
            nodes = level[self.out_degree[level] > 0]
            if nodes.size:
                edges, counts = self.out_edges(nodes)
                starts = np.cumsum(counts) - counts
                bits[nodes] |= np.bitwise_or.reduceat(bits[self.targets[edges]], starts)

    @cached_property
    def _reversed(self) -> sparse.csr_array:
        return self.matrix(np.ones(len(self.sources))).T.tocsr()

    def _ancestors(self, home: int) -> IntArray:
        found = csgraph.breadth_first_order(self._reversed, home, return_predecessors=False)
        return np.asarray(found, np.intp)

    def steered_edges(self, nodes: IntArray, homes: IntArray, *, by_name: bool) -> IntArray:
        """Return the edge each merchant supports: from ``nodes[i]`` towards ``homes[i]``.

        The edge that leads straight home, or else the first from whose end home can be reached:
        by the end's name (its code points), or in table order. -1 where there is none; shape (k,).
        """
        chosen = np.full(len(nodes), -1, np.intp)
        distinct, home_of = np.unique(homes, return_inverse=True)
        block_of = home_of // 64
        for number, (block, bits) in enumerate(self._reaching(distinct)):
            pairs = np.flatnonzero((block_of == number) & (self.out_degree[nodes] > 0))
            if not pairs.size:
                continue
            edges, counts = self.out_edges(nodes[pairs])
            ends = self.targets[edges]
            bit = np.repeat((home_of[pairs] - 64 * number).astype(np.uint64), counts)
            leads = (bits[ends] >> bit) & np.uint64(1) == 1
            straight = ends == np.repeat(block[home_of[pairs] - 64 * number], counts)
            # A straight edge sorts before every other, and one that leads elsewhere after all.
            preference = np.full(len(edges), _NO_EDGE, np.intp)
            preference[leads] = self._alphabetical(ends[leads]) if by_name else edges[leads]
            preference[straight] = -1
            pair = np.repeat(np.arange(len(pairs)), counts)
            first = np.lexsort((preference, pair))[np.cumsum(counts) - counts]
            chosen[pairs] = np.where(preference[first] < _NO_EDGE, edges[first], -1)
        return chosen

    def _alphabetical(self, nodes: IntArray) -> IntArray:
        """Return each node's place among these nodes by name; shape (k,)."""
        distinct, which = np.unique(nodes, return_inverse=True)
        names = [self._names[node] for node in distinct.tolist()]
        place = np.empty(len(names), np.intp)
        place[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
        return place[which]


def _circle(
    names: Sequence[str],
    pattern: sparse.csr_array,
    component: NDArray[np.int32],
    loops: IntArray,
) -> str:
    """Return one circle of the graph as text; `loops` are nodes with an edge to themselves."""
    if loops.size:
        return f"{names[loops[0]]} -> {names[loops[0]]}"
    members = np.flatnonzero(component == np.argmax(np.bincount(component)))
    inside = pattern[members][:, members].tocsr()
    # Walking on from any node of a strong component comes back to a node seen before.
    walk: dict[int, None] = {}
    node = 0
    while node not in walk:
        walk[node] = None
        node = int(inside.indices[inside.indptr[node]])
    circle = list(walk)[list(walk).index(node) :]
    shown = [names[members[i]] for i in circle[:10]]
    return " -> ".join([*shown, "..." if len(circle) > 10 else shown[0]])
