"""State-action pairs and minibatches (Algorithm 2)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dqa_dellma.settings import DellmaSettings
from dqa_dellma.utilities.pairs import Pairs, cut_minibatches, draw_pairs
from tests.dellma.talking import BELIEFS


def drawn(actions: int, seed: int = 1, **own: Any) -> Pairs:
    """Draw pairs of some actions."""
    bearing = np.ones((actions, len(BELIEFS)), dtype=np.bool_)
    return draw_pairs(BELIEFS, bearing, DellmaSettings(**own), np.random.default_rng(seed))


def test_every_action_meets_the_same_states() -> None:
    """The seed gives the order."""
    pairs = drawn(3, samples=8)
    met = sorted(zip(pairs.state_of.tolist(), pairs.action_of.tolist(), strict=True))
    assert met == [(state, action) for state in range(8) for action in range(3)]
    assert pairs.state_of.tolist() != sorted(pairs.state_of.tolist())
    assert pairs.action_of.tolist() == drawn(3, samples=8).action_of.tolist()
    assert pairs.action_of.tolist() != drawn(3, 2, samples=8).action_of.tolist()


def test_naive_pairs_have_states_of_their_own() -> None:
    """The total is as set, with equally many states per action."""
    pairs = drawn(4, shared=False, samples=50)
    assert sorted(pairs.state_of.tolist()) == list(range(50))
    assert sorted(np.bincount(pairs.action_of).tolist()) == [12, 12, 13, 13]
    assert pairs.action_of.tolist() != sorted(pairs.action_of.tolist())
    for action in range(4):
        own = pairs.states[pairs.state_of[pairs.action_of == action]]
        assert (np.abs(own.sum(axis=0) - len(own) * np.array([2 / 7, 1 / 7])) < 1.0).all()


@pytest.mark.parametrize(
    ("count", "size", "overlap", "starts"),
    [
        (256, 32, 0.25, range(0, 241, 24)),
        (64, 32, 0.25, (0, 24, 48)),
        (9, 4, 0.0, (0, 4, 7)),
        (2, 32, 0.25, (0,)),
        (0, 32, 0.25, ()),
    ],
)
def test_minibatches_overlap_and_reach_the_end(
    count: int, size: int, overlap: float, starts: tuple[int, ...]
) -> None:
    """The release's numbers for 4 actions (11 of 256 items), and no single item at the end."""
    batches = cut_minibatches(count, size, overlap)
    assert [batch.start for batch in batches] == list(starts)
    assert sorted({item for batch in batches for item in batch}) == list(range(count))
    assert all(len(batch) <= size for batch in batches)
    assert all(len(batch) > 1 for batch in batches if count > 1)
