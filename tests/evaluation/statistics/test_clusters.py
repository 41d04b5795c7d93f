"""Intervals by the situations that questions share: what always holds, and how often they cover."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dqa.evaluation.results import Outcome
from dqa.evaluation.statistics.clusters import (
    Estimate,
    clustered_share,
    clusters_of,
    mean_of_ratios,
    situations_of,
    wilson,
)
from tests.evaluation.statistics.results import result

CLUSTERED = st.lists(st.tuples(st.booleans(), st.integers(0, 6)), min_size=1, max_size=60)


@given(CLUSTERED)
def test_clusters_never_make_a_share_surer(answers: list[tuple[bool, int]]) -> None:
    """The interval holds the share, stays within 0 and 1, and is no narrower than Wilson's."""
    right, clusters = [float(one) for one, _ in answers], [cluster for _, cluster in answers]
    found, alone = clustered_share(right, clusters), wilson(int(sum(right)), len(right))
    assert found is not None
    assert alone is not None
    assert found.clusters == len(set(clusters))
    if found.clusters == 1:
        assert (found.low, found.high) == (None, None)
        return
    assert found.low is not None
    assert found.high is not None
    assert 0.0 <= found.low <= found.value <= found.high <= 1.0
    assert found.low <= alone[0] + 1e-9
    assert found.high >= alone[1] - 1e-9


def test_where_all_are_right_situations_count_for_one_answer_each() -> None:
    """20 questions about 4 situations: as 4 right answers; nothing tells how far these differ."""
    found = clustered_share([1.0] * 20, [place % 4 for place in range(20)])
    assert found is not None
    assert (found.low, found.high) == pytest.approx(wilson(4, 4))


def test_what_never_varies_has_no_interval() -> None:
    """Nothing tells how far others may be from it: an interval of no width would be certainty."""
    constant = Estimate.of([0.0] * 6, list("aabbcc"), least=0.0)
    paid = mean_of_ratios([[(5.0, 1.0, cluster) for cluster in "abc"]], 0.0)
    for found, value in ((constant, 0.0), (paid, 5.0)):
        assert found is not None
        assert (found.value, found.standard_error) == (value, 0.0)
        assert (found.low, found.high) == (None, None)


def test_clusters_are_situations_and_questions_where_these_are_not_known() -> None:
    """A line that an earlier version wrote does not say what its question is about."""
    first, second = result(1, True, situation="w"), result(2, False, situation="w")
    assert len(set(clusters_of([first, second]))) == 1
    assert situations_of([first, second]) == 1
    older = [first, second.changed(situation=None)]
    assert clusters_of(older) == ("locating/1", "locating/2")
    assert situations_of(older) is None
    assert situations_of([]) is None
    assert Outcome.CORRECT.judged


@pytest.mark.deep
@pytest.mark.parametrize(
    ("sizes", "wilsons"),
    [((116, 44, 40), 0.6), ((61, 20, 15, *(2,) * 52), 0.8), ((20,) * 15, 0.8)],
    ids=["three situations", "one holds most", "fifteen alike"],
)
def test_clustered_intervals_cover_where_wilsons_do_not(
    sizes: Sequence[int], wilsons: float
) -> None:
    """Near 95 % of 600 simulated runs; an error of the share itself is 1 %.

    Situations differ in how hard they are: of the variance, 15 % lies between them.
    """
    random = np.random.default_rng(16)
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    truth, between, repeats = 0.7, 0.15, 600
    scale = (1 - between) / between
    clustered = alone = 0
    for _ in range(repeats):
        easy = random.beta(truth * scale, (1 - truth) * scale, len(sizes))
        right = (random.random(len(clusters)) < easy[clusters]).astype(float).tolist()
        found, other = (
            clustered_share(right, clusters.tolist()),
            wilson(int(sum(right)), len(right)),
        )
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        assert other is not None
        clustered += found.low <= truth <= found.high
        alone += other[0] <= truth <= other[1]
    assert 0.93 <= clustered / repeats <= 0.995
    assert alone / repeats < wilsons
