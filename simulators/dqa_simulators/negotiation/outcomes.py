"""Compare the result of a negotiation with all possible results."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from dqa_simulators.negotiation.position import Split, list_splits

_CLOSE: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Comparison:
    """The quality of a pair of scores, relative to all pairs that a pool allows.

    Attributes
    ----------
    is_pareto_optimal
        Whether no split is better for one player and no worse for the other.
    nash_distance
        The distance to the closest Nash bargaining solution, in shares of the pool's value. This
        solution maximises the product of both scores (Nash, 1950). Both scores are 0 without an
        agreement.
    """

    is_pareto_optimal: bool
    nash_distance: float


@lru_cache(maxsize=4096)
def compare(
    pool: Split, values: Split, other_values: Split, score: float, other_score: float
) -> Comparison:
    """Compare the scores of two players with all possible scores.

    Parameters
    ----------
    pool
        The pool.
    values, other_values
        The value of one unit of each item to each player.
    score, other_score
        The points of each player.
    """
    splits = np.array(list_splits(pool))
    first = splits @ np.array(values)
    second = (np.array(pool) - splits) @ np.array(other_values)
    no_worse = (first >= score) & (second >= other_score)
    better = (first > score) | (second > other_score)
    products = first * second
    is_best = products >= products.max() - _CLOSE
    totals = max(int(first.max()), 1), max(int(second.max()), 1)
    distances = np.hypot((first - score) / totals[0], (second - other_score) / totals[1])
    return Comparison(not bool((no_worse & better).any()), float(distances[is_best].min()))
