"""How many random hold'em games a second our world plays, without and with a history.

    python -m benchmarks.games [--games 1000] [--repeats 3]

Both players choose at random among the position's legal actions. The referee alone is OpenSpiel
playing as many games from Python; with a history every event is committed to SQLite on its own.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import numpy as np

from dqa import plugins
from dqa.core.world import World
from dqa.worlds.history import History
from dqa_simulators.games.openspiel import load_game
from dqa_simulators.holdem.world import REFEREE


def play_world(world: World, games: int, first: int) -> None:
    """Play games through a world, by the positions that are handed over."""
    random = np.random.default_rng(first)
    for seed in range(first, first + games):
        episode = world.start(seed)
        while (move := episode.next_move()) is not None:
            actions = move.position.actions
            episode.choose(actions[int(random.random() * len(actions))])
        episode.returns()
        episode.close()


def play_referee(games: int, first: int) -> None:
    """Play as many in OpenSpiel alone."""
    random = np.random.default_rng(first)
    game = load_game(REFEREE)
    for _ in range(games):
        state = game.new_initial_state()
        while not state.is_terminal():
            legal = state.legal_actions()
            state.apply_action(legal[int(random.random() * len(legal))])


def measure(play: Callable[[int, int], None], games: int, repeats: int) -> str:
    """Return the medians of games a second, and of games a second of the processor's time."""
    play(games // 10 + 1, 10**6)
    rates, own = [], []
    for repeat in range(repeats):
        began, used = perf_counter(), process_time()
        play(games, repeat * games)
        own.append(games / (process_time() - used))
        rates.append(games / (perf_counter() - began))
    return f"{median(rates):>10,.0f}{median(own):>18,.0f}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    factory = plugins.world("holdem")
    uniform = factory.settings.model_validate({"strong": "uniform"})
    with tempfile.TemporaryDirectory() as folder:
        history = History(str(Path(folder) / "games.sqlite"))
        worlds = {
            "our world": factory.make(factory.settings(), None),
            "our world, cards as they come": factory.make(uniform, None),
            "our world, every event in SQLite": factory.make(factory.settings(), history),
        }
        print(f"{'games a second':<36}{'by the clock':>10}{'of processor time':>18}")
        print(f"{'OpenSpiel alone':<36}{measure(play_referee, given.games, given.repeats)}")
        for name, world in worlds.items():
            rates = measure(partial(play_world, world), given.games, given.repeats)
            print(f"{name:<36}{rates}")
        history.close()


if __name__ == "__main__":
    main()
