"""How many random hold'em games a second our world plays, against OpenSpiel alone.

Run ``python -m benchmarks.games`` (``--games 1000``, ``--rounds 3``). Both players choose at random
among the legal actions. OpenSpiel alone is called from Python, too. With a history every event is
committed to SQLite by itself.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.measuring import in_turn
from benchmarks.needs import require
from dqa import plugins
from dqa.worlds.history import History
from dqa.worlds.world import World


def play_world(world: World, games: int) -> None:
    """Play games through a world, by the positions that it gives."""
    random = np.random.default_rng(0)
    for seed in range(games):
        episode = world.start(seed)
        while (move := episode.next_move()) is not None:
            actions = move.position.actions
            episode.choose(actions[int(random.random() * len(actions))])
        episode.returns()
        episode.close()


def play_alone(games: int) -> None:
    """Play as many in OpenSpiel alone."""
    from dqa_simulators.games.episode import load_game
    from dqa_simulators.holdem.position import HoldemPosition

    random, game = np.random.default_rng(0), load_game(HoldemPosition.referee)
    for _ in range(games):
        state = game.new_initial_state()
        while not state.is_terminal():
            legal = state.legal_actions()
            state.apply_action(legal[int(random.random() * len(legal))])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    require("games")
    factory = plugins.world("holdem")
    uniform = factory.settings.model_validate({"strong": "uniform"})
    with tempfile.TemporaryDirectory() as folder:
        history = History(str(Path(folder) / "games.sqlite"))
        worlds = {
            "our world": factory.make(factory.settings(), None),
            "our world, cards as they come": factory.make(uniform, None),
            "our world, every event in SQLite": factory.make(factory.settings(), history),
        }
        sides: dict[str, Callable[[], object]] = {
            "OpenSpiel alone": partial(play_alone, given.games)
        }
        sides |= {name: partial(play_world, world, given.games) for name, world in worlds.items()}
        found = in_turn(sides, given.rounds)
        history.close()
    alone = found["OpenSpiel alone"].cpu
    for name, spent in found.items():
        rate = given.games / spent.cpu
        print(f"{name:34}{rate:9,.0f} games a second, {spent.cpu / alone:6.1f} times as long")


if __name__ == "__main__":
    main()
