"""Exact draws: shares with a given sum, distinct keys, unique names."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dqa.loaders.generator.names import stems
from dqa.loaders.generator.sampling import apportion, distinct_keys, ragged


@given(
    entries=st.lists(st.tuples(st.integers(0, 500), st.integers(0, 9)), min_size=1, max_size=30),
    share=st.floats(0.0, 1.0),
)
def test_apportion_meets_the_total_and_the_caps(
    entries: list[tuple[int, int]], share: float
) -> None:
    """Whatever the weights, the sum is exact and no cap is passed."""
    weights, caps = (np.array(column, dtype=np.int64) for column in zip(*entries, strict=True))
    total = int(caps.sum() * share)
    counts = apportion(weights, total, caps)
    assert counts.sum() == total
    assert (counts >= 0).all()
    assert (counts <= caps).all()


def test_apportion_follows_the_weights() -> None:
    """Twice the weight gets twice the share; no weight gets nothing while there is room."""
    counts = apportion(np.array([1, 2, 0]), 9, np.array([99, 99, 99]))
    assert counts.tolist() == [3, 6, 0]


def test_distinct_keys_fall_back_to_a_full_list() -> None:
    """Where proposals only repeat, the rest is drawn from all keys there are."""
    rng = np.random.default_rng(0)
    keys = distinct_keys(
        lambda count: np.full(count, 3), 6, np.array([0]), lambda: np.arange(7), rng
    )
    assert keys[0] == 3
    assert sorted(keys.tolist()) == [1, 2, 3, 4, 5, 6]


def test_ragged_numbers_items_by_owner() -> None:
    """Owners repeat by their count, places start anew for each."""
    owners, places = ragged(np.array([2, 0, 3]))
    assert owners.tolist() == [0, 0, 2, 2, 2]
    assert places.tolist() == [0, 1, 0, 1, 2]


def test_names_do_not_repeat_at_any_scale() -> None:
    """Neither few nor many names hold one twice."""
    for count in (0, 1, 500, 14_000, 60_000):
        names = stems(np.random.default_rng(count), count).tolist()
        assert len(set(names)) == len(names) == count
