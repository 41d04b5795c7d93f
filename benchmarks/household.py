"""How fast households are generated, begun and played, and the memory of an open one.

Run ``python -m benchmarks.household`` (``--games 24``, ``--threads 1``, ``--open 16``); on Linux.
Generated: drawn and solved by the planner. Begun first: translated by TextWorld; again: the same
game, with its stored translation. Commands are those of three players, without a history. Memory
is the proportional set size of the process of TextWorld.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import perf_counter

from benchmarks.measuring import megabytes_of
from benchmarks.needs import require
from dqa import plugins
from dqa.worlds.base import PolicyDecider
from dqa.worlds.world import World

NEEDS = ("household",)
UNUSED = 10_000
"""From this seed on no game has begun yet."""


def begin(world: World, seed: int) -> int:
    """Begin a game."""
    world.start(seed).close()
    return 1


def play(world: World, player: str, seed: int) -> int:
    """Play a game to its end; return the number of commands."""
    policy = plugins.world("household").policies[player].make(0)
    decider, episode, steps = PolicyDecider(player, policy, 0), world.start(seed), 0
    try:
        while (move := episode.next_move()) is not None:
            names = (str(seed), str(steps))
            decided = decider.decide_at(move.question, move.position, names, move.reveal)
            assert decided.choice is not None
            episode.choose(decided.choice)
            steps += 1
    finally:
        episode.close()
    return steps


def report(name: str, work: Callable[[int], int], seeds: Iterable[int], threads: int) -> float:
    """Print the rate per second, and return it."""
    began = perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        count = sum(pool.map(work, seeds))
    rate = count / (perf_counter() - began)
    print(f"{name:44}{count:8}{rate:12,.2f} a second")
    return rate


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=24)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--open", type=int, default=16)
    given = parser.parse_args()
    require(*NEEDS)
    from dqa_simulators.household.engine import engine
    from dqa_simulators.household.games import find_generated, task_of_seed

    def find(seed: int) -> int:
        find_generated(task_of_seed(seed), seed)
        return 1

    factory = plugins.world("household")
    world = factory.make(factory.settings(), None)
    seeds, threads, last = range(given.games), given.threads, given.games - 1
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DQA_CACHE"] = folder
        made = report("games generated, with the planner's way", find, seeds, threads)
        cached = report("games from the cache", find, seeds, threads)
        first = report("games begun first", partial(begin, world), seeds, threads)
        again = report("games begun again", lambda _: begin(world, last), seeds, threads)
        print(
            f"the cache is {cached / made:.1f} times as fast, beginning again {again / first:.1f}"
        )
        for player in ("expert", "explorer", "random"):
            report(f"commands of '{player}'", partial(play, world, player), seeds, threads)
        process = engine().process.pid or 0
        before = megabytes_of(process)
        episodes = [world.start(UNUSED + seed) for seed in range(given.open)]
        each = (megabytes_of(process) - before) / given.open
        print(f"{given.open} open episodes: {each:.1f} MB each")
        for episode in episodes:
            episode.close()


if __name__ == "__main__":
    main()
