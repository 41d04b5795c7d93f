"""Draw random values that are equal on all machines, and build situations from columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dqa import plugins
from dqa.core.situation import Situation, Table

_ROUNDS = 12  # the maximum number of attempts to draw keys, before all possible keys are listed


def apportion(weights: NDArray[np.int64], total: int, caps: NDArray[np.int64]) -> NDArray[np.int64]:
    """Divide a whole number into shares in proportion to weights. No share exceeds its cap.

    All numbers are whole, so no rounding can differ between machines. An element of weight 0 gets a
    share only if all other elements have reached their caps. ``caps.sum() >= total`` is required.

    Parameters
    ----------
    weights, caps
        Shape (n,), not negative.
    total
        The sum of the result.

    Returns
    -------
    NDArray[np.int64]
        Shape (n,): the shares.
    """
    counts = np.zeros_like(caps)
    while (left := total - int(counts.sum())) > 0:
        room = caps - counts
        open_weights = np.where(room > 0, weights, 0)
        if not open_weights.any():
            open_weights = (room > 0).astype(np.int64)
        shares, remainders = np.divmod(open_weights * left, open_weights.sum())
        if not shares.any():  # one unit each for the elements with the largest remainders
            first = np.argsort(-remainders, kind="stable")[:left]
            shares[first[remainders[first] > 0]] = 1
        counts += np.minimum(shares, room)
    return counts


def distinct_keys(
    draw: Callable[[int], NDArray[np.int64]],
    count: int,
    taken: NDArray[np.int64],
    everything: Callable[[], NDArray[np.int64]],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Draw `count` different keys that are not in `taken`.

    Parameters
    ----------
    draw
        A function that draws n proposed keys, shape (n,). Keys may repeat.
    count
        The number of keys to draw. At least this number of keys must not be in `taken`.
    taken
        Keys to exclude.
    everything
        A function that lists all possible keys. It is called only if most proposed keys are taken.

    Returns
    -------
    NDArray[np.int64]
        Shape (count,), in the order in which they were drawn.
    """
    parts: list[NDArray[np.int64]] = []
    known = np.sort(taken)
    for _ in range(_ROUNDS):
        if count <= 0:
            break
        proposals = draw(count + count // 4 + 16)
        values, first = np.unique(proposals, return_index=True)
        fresh = proposals[np.sort(first[~contains(known, values)])][:count]
        parts.append(fresh)
        count -= len(fresh)
        if count > 0:
            known = np.sort(np.concatenate([known, fresh]))
    if count > 0:
        rest = np.setdiff1d(everything(), known, assume_unique=True)
        parts.append(rng.choice(rest, count, replace=False))
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


def contains(known: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return, for each of the `values`, whether it is in the sorted keys `known`; shape (n,)."""
    if not len(known):
        return np.zeros(len(values), dtype=np.bool_)
    positions = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.asarray(known[positions] == values)


def pick(rng: np.random.Generator, weights: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Draw `count` indices of `weights`, with probabilities proportional to the weights."""
    steps = np.cumsum(weights)
    found = np.searchsorted(steps, rng.random(count) * steps[-1], side="right")
    return np.asarray(np.minimum(found, len(weights) - 1))


def heavy_tailed(
    rng: np.random.Generator, count: int, median: float, sigma: float
) -> NDArray[np.float64]:
    """Draw log-normal values, shape (count,), rounded to 3 decimals.

    Rounding is necessary, because `exp` gives slightly different results on different machines.
    """
    return np.round(median * np.exp(sigma * rng.standard_normal(count)), 3)


def ragged(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """List the members of groups whose sizes are `counts`; return arrays of shape (counts.sum(),).

    The first array contains the group of each member. The second array contains the position of
    each member in its group.

    ``ragged([2, 1])`` is ``([0, 0, 1], [0, 1, 0])``.
    """
    owners = np.repeat(np.arange(len(counts)), counts)
    positions = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
    return owners, positions


def situation_of(scenario: str, name: str, columns: Mapping[str, Mapping[str, Any]]) -> Situation:
    """Return a situation of a scenario. `columns` contains the columns of each table."""
    schema = plugins.scenario(scenario).schema
    tables = {table: Table(schema.table(table), values) for table, values in columns.items()}
    return Situation(schema, name, tables)
