"""Mirrored games: one deterministic player, who plays both sides, gets the same on each."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
import pytest

from dqa.worlds.world import Move
from dqa_simulators.games.betting import PLAYERS
from tests.worlds.playing import make_world, moves_of

pytest.importorskip("pyspiel")

GAMES = {"holdem": 150, "kuhn": 60, "leduc": 100, "negotiation": 60}


def by_what_it_sees(move: Move) -> str:
    """Choose by a hash of the position in words, without the names of the players."""
    shown = move.position.describe()
    for player in PLAYERS:
        shown = shown.replace(f"'{player}'", "the other")
    mixed = int.from_bytes(blake2b(shown.encode(), digest_size=8).digest())
    actions = move.position.actions
    place = mixed % (3 * len(actions))
    return str(actions[place % len(actions)] if place else move.position.fallback)


@pytest.mark.parametrize("name", GAMES)
def test_both_sides_of_a_deal_get_the_same(name: str) -> None:
    """Exactly, on each deal, from the first turn to the last: folds and blinds included."""
    signs = set()
    for seed in range(GAMES[name]):
        got: dict[str, list[float]] = {player: [] for player in PLAYERS}
        world = make_world(name)
        for mirrored in (False, True):
            episode = world.start(seed, mirrored=mirrored)
            for _ in moves_of(episode, by_what_it_sees):
                pass
            for player in PLAYERS:
                got[player].append(episode.returns()[player])
        assert got["player"] == got["opponent"][::-1]
        signs.add(np.sign(got["player"][0] - got["opponent"][0]))
    assert {-1.0, 1.0} <= signs
