"""Compute distances in a scenario's graph, as numbers of links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from dqa.core.errors import UnknownNameError


def distances(
    sources: Sequence[NDArray[np.int64]], targets: Sequence[NDArray[np.int64]], n: int, start: int
) -> NDArray[np.float64]:
    """Return the number of links on the shortest path from `start` to each of n points.

    Each link leads from an element of `sources` to the element of `targets` at the same index.

    Returns
    -------
    NDArray[np.float64]
        Shape (n,); infinite for unreachable points.
    """
    rows, columns = np.concatenate(sources), np.concatenate(targets)
    links = csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    return np.asarray(dijkstra(links, unweighted=True, indices=[start])[0])


def place_of(name: str, names: NDArray[Any], kind: str) -> int:
    """Return the position of `name` in `names`. Raise `UnknownNameError` if it is missing."""
    found = np.flatnonzero(names == name)
    if not len(found):
        raise UnknownNameError(kind, name, names.tolist())
    return int(found[0])
