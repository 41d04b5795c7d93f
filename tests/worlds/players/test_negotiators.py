"""Programs that negotiate: one sees the other's values and says so, the fair one does not."""

from __future__ import annotations

import numpy as np
import pytest

from dqa.core.errors import UsageError
from dqa.worlds.base import RandomPolicy
from dqa_simulators.negotiation.players import POLICIES, FairSearch, InformedSearch
from dqa_simulators.negotiation.position import AGREE, NegotiationPosition
from tests.worlds.players.matches import interval, pairs, play, world_of

pytest.importorskip("pyspiel")
OPEN = NegotiationPosition("opponent", (2, 1, 1), (4, 1, 1), 6)


def test_negotiators_are_legal_and_repeat_themselves() -> None:
    """The world refuses illegal moves."""
    world = world_of("negotiation")
    for name in POLICIES:
        policy = POLICIES[name].make(0)
        first, again = (play(world, (policy, RandomPolicy()), 1)[0] for _ in range(2))
        assert first == again, name


def test_the_informed_one_is_named_so_and_refuses_to_guess() -> None:
    """Without the true state it says where it can play."""
    assert "values of both players" in POLICIES["mcts-informed"].description
    with pytest.raises(UsageError, match="dqa games play"):
        InformedSearch().choose(OPEN, np.random.default_rng(0))


def test_searching_negotiators_agree_to_what_is_best_for_them() -> None:
    """In the last turn, an offer is better than no agreement."""
    last = NegotiationPosition(
        "opponent", (1, 1, 1), (5, 5, 5), 2, proposals=((0, 0, 1),), utterances=((0, 0, 1),)
    )
    assert FairSearch().choose(last, np.random.default_rng(0)) == AGREE


@pytest.mark.deep
def test_searching_negotiators_get_more_than_random() -> None:
    """By pairs of negotiations with swapped values."""
    world = world_of("negotiation")
    chance = pairs(world, RandomPolicy(), RandomPolicy(), 12)
    for policy in (FairSearch(), InformedSearch()):
        low, _ = interval(pairs(world, policy, RandomPolicy(), 12) - chance)
        assert low > 0
