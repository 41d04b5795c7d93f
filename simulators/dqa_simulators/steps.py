"""How far each candidate of a question lies from what the question is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from dqa.core.errors import UnknownNameError
from dqa.core.question import Question
from dqa.core.situation import Situation

__all__ = ["steps_to_target"]


def steps_to_target(situation: Situation, question: Question) -> NDArray[np.float64]:
    """Count the steps from every candidate to the question's target.

    Locating: routes down to the home. Building: a building that makes the goods is 1 step away,
    one that makes something such a building needs is 2 steps away, and so on.

    Parameters
    ----------
    situation
        The world of the question.
    question
        A Locating or Building question.

    Returns
    -------
    NDArray[np.float64]
        Shape (n,), one for each of the n candidates in table order; infinite where no way leads
        to the target.

    Raises
    ------
    UnknownNameError
        Steps are defined for neither the scenario nor the target.
    """
    if question.scenario == "locating":
        return _down_to_home(situation, question.target["home"])
    if question.scenario == "building":
        return _up_the_chain(situation, question.target["goods"])
    raise UnknownNameError(
        "scenario with steps to a target", question.scenario, ("building", "locating")
    )


def _positions(keys: NDArray[Any], values: NDArray[Any]) -> NDArray[np.int64]:
    index = {key: i for i, key in enumerate(keys.tolist())}
    return np.fromiter((index[v] for v in values.tolist()), dtype=np.int64, count=len(values))


def _distances(
    sources: Sequence[NDArray[np.int64]], targets: Sequence[NDArray[np.int64]], n: int, start: int
) -> NDArray[np.float64]:
    """Count the links from `start` to all n points, over links from sources to targets."""
    rows, columns = np.concatenate(sources), np.concatenate(targets)
    links = csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    return np.asarray(dijkstra(links, unweighted=True, indices=[start])[0])


def _down_to_home(situation: Situation, home: str) -> NDArray[np.float64]:
    nodes = situation["trade_node"]["trade_node"]
    source, dest = (_positions(nodes, situation["flow"][end]) for end in ("source", "dest"))
    at = _index_of(home, nodes, "trade node")
    return np.delete(_distances([dest], [source], len(nodes), at), at)


def _up_the_chain(situation: Situation, goods_name: str) -> NDArray[np.float64]:
    codes, ids = situation["goods"]["code"], situation["building"]["id"]
    made, maker, needed, user = (
        _positions(keys, situation[table][column])
        for table in ("supply", "demand")
        for keys, column in ((codes, "goods_id"), (ids, "building_id"))
    )
    at = _index_of(goods_name, situation["goods"]["goods_name"], "goods")
    first = len(codes)  # buildings are numbered after the goods
    links = _distances([made, first + user], [first + maker, needed], first + len(ids), at)
    return (links[first:] + 1.0) / 2.0  # two links, over a building to what it needs, are a step


def _index_of(name: str, names: NDArray[Any], kind: str) -> int:
    found = np.flatnonzero(names == name)
    if not len(found):
        raise UnknownNameError(kind, name, names.tolist())
    return int(found[0])
