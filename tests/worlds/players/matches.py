"""Programs against each other, in pairs of games with swapped hands."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from dqa import plugins
from dqa.worlds.base import Policy, PolicyDecider
from dqa.worlds.world import Move, World


def world_of(name: str) -> World:
    """Make a world by its own settings, without a history."""
    pytest.importorskip("pyspiel")
    factory = plugins.world(name)
    return factory.make(factory.settings(), None)


def play(
    world: World, players: tuple[Policy, Policy], seed: int, *, mirrored: bool = False
) -> tuple[float, list[Move]]:
    """Return the payoff of the first player, and every move of the game."""
    deciders = {
        name: PolicyDecider(name, policy, number)
        for number, (name, policy) in enumerate(zip(world.players, players, strict=True))
    }
    episode = world.start(seed, mirrored=mirrored)
    moves: list[Move] = []
    while (move := episode.next_move()) is not None:
        moves.append(move)
        names = (str(seed), str(mirrored), str(len(moves)))
        made = deciders[move.player].decide_at(move.question, move.position, names, move.reveal)
        assert made.choice is not None
        episode.choose(made.choice)
    return episode.returns()[world.players[0]], moves


def pairs(world: World, one: Policy, other: Policy, count: int) -> NDArray[np.float64]:
    """Return the mean payoff of the first player for each pair of games with swapped hands."""
    found: Iterator[float] = (
        sum(play(world, (one, other), seed, mirrored=mirrored)[0] for mirrored in (False, True)) / 2
        for seed in range(count)
    )
    return np.fromiter(found, dtype=np.float64)


def interval(units: NDArray[np.float64]) -> tuple[float, float]:
    """Return the bounds of the mean's 95 % interval."""
    half = 1.96 * float(units.std(ddof=1)) / len(units) ** 0.5
    return float(units.mean()) - half, float(units.mean()) + half
