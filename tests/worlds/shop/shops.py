"""Shops and customers for tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dqa import plugins
from dqa.worlds.base import Policy
from dqa.worlds.history import History
from dqa.worlds.world import Episode, Move
from dqa_simulators.shop.world import Shop, ShopSettings

PRODUCTS = 400


def make_shop(
    history: History | None = None, *, products: int | None = PRODUCTS, **settings: object
) -> Shop:
    """A small shop."""
    factory = plugins.world("shop")
    given = ShopSettings.model_validate({"products": products, **settings})
    world = factory.make(given, history)
    assert isinstance(world, Shop)
    return world


def policy(name: str) -> Policy:
    """A program of the world, by name."""
    return plugins.world("shop").policies[name].make(0)


@dataclass(frozen=True)
class Visit:
    """A visit that was played."""

    moves: tuple[Move, ...]
    actions: tuple[str, ...]
    reward: float
    facts: Mapping[str, object]


def visit(episode: Episode, player: Policy, seed: int = 0) -> Visit:
    """Play a visit to its end."""
    random = np.random.default_rng(seed)
    moves: list[Move] = []
    actions: list[str] = []
    while (move := episode.next_move()) is not None:
        action = player.choose(move.position, random)
        moves.append(move)
        actions.append(str(action))
        episode.choose(action)
    reward = episode.returns()["agent"]
    facts = dict(episode.facts())
    episode.close()
    return Visit(tuple(moves), tuple(actions), reward, facts)
