"""Topological order and reachability in flow graphs, computed with arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

import numpy as np
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
        """Group the positions of `keys` by the key at the position.

        Within a group, positions are in ascending order.
        """
        starts = np.zeros(groups + 1, np.intp)
        np.cumsum(np.bincount(keys, minlength=groups), out=starts[1:])
        return cls(np.argsort(keys, kind="stable"), starts)

    def one(self, group: int) -> IntArray:
        """Return the items of a group."""
        return self.items[self.starts[group] : self.starts[group + 1]]

    def of(self, groups: IntArray) -> tuple[IntArray, IntArray]:
        """Return the concatenated items of several groups, and the number of items per group."""
        first = self.starts[groups]
        counts = self.starts[groups + 1] - first
        positions = np.repeat(first - (np.cumsum(counts) - counts), counts)
        positions += np.arange(len(positions))
        return self.items[positions], counts


class FlowGraph:
    """A directed acyclic graph. The number of an edge is its row in the table.

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
    leaving, entering
        The edges grouped by source (`leaving`) and by target (`entering`), in table order.
    order : n numbers
        The nodes in a topological order: every edge leads to a later node.

    Raises
    ------
    SituationError
        The edges form a cycle. The message lists the nodes of the cycle.
    """

    def __init__(
        self, names: Sequence[str], sources: IntArray, targets: IntArray, situation: str
    ) -> None:
        n = len(names)
        self._names, self.sources, self.targets = names, sources, targets
        self.leaving, self.entering = Grouped.by(sources, n), Grouped.by(targets, n)
        ones = np.ones(len(sources), np.int8)
        self._backwards = sparse.csr_array((ones, (targets, sources)), (n, n))
        before: dict[int, list[int]] = {node: [] for node in range(n)}
        for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
            before[target].append(source)
        try:
            self.order = tuple(TopologicalSorter(before).static_order())
        except CycleError as error:
            shown = [names[node] for node in error.args[1]]
            circle = " -> ".join(shown if len(shown) < 12 else [*shown[:10], "..."])
            raise SituationError(
                f"Situation '{situation}': the flows form a cycle: {circle}. Value must not flow "
                "in a cycle; remove one row of table 'flow' that is part of the cycle."
            ) from error

    def steered_edges(self, nodes: IntArray, homes: IntArray, *, by_name: bool) -> IntArray:
        """Return the edge that each merchant supports: merchant i is at ``nodes[i]``.

        If possible, the edge leads directly to the home ``homes[i]``. Otherwise it is the first
        edge to a node from which the home can be reached. The first edge is the first in table
        order or, with `by_name`, the edge whose target has the first name (by code points). The
        result is -1 if the home cannot be reached.
        """
        chosen = np.full(len(nodes), -1, np.intp)
        distinct, home_of = np.unique(homes, return_inverse=True)
        leaves = np.diff(self.leaving.starts)[nodes] > 0
        for number, home in enumerate(distinct.tolist()):
            pairs = np.flatnonzero((home_of == number) & leaves)
            if not pairs.size:
                continue
            edges, counts = self.leaving.of(nodes[pairs])
            ends = self.targets[edges]
            reaches = np.zeros(len(self._names), np.bool_)
            ancestors = csgraph.breadth_first_order(
                self._backwards, home, return_predecessors=False
            )
            reaches[ancestors] = True
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
        return np.argsort(np.argsort(np.array(self._names, dtype=object)))
