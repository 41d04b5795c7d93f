"""Distances in a scenario's graph, in links."""

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
    """Count the links from `start` to all n points, over links from sources to targets.

    Returns
    -------
    NDArray[np.float64]
        Shape (n,); infinite if unreachable.
    """
    rows, columns = np.concatenate(sources), np.concatenate(targets)
    links = csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    return np.asarray(dijkstra(links, unweighted=True, indices=[start])[0])


def place_of(name: str, names: NDArray[Any], kind: str) -> int:
    """Return the position of a name; `UnknownNameError` if there is no such `kind`."""
    found = np.flatnonzero(names == name)
    if not len(found):
        raise UnknownNameError(kind, name, names.tolist())
    return int(found[0])
