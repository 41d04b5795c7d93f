"""How fast households are generated, begun and acted in, and what an open one holds in memory.

    python -m benchmarks.household [--games 24] [--threads 1] [--open 16]

Generated: drawn and solved by the planner. Begun first: translated by TextWorld; again: the same
game, forked from a process in which it has begun. Steps: of the expert and of random commands, with
their questions and positions, without a history. Memory: the proportional set size of the processes
of open episodes, as Linux tells it.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from time import perf_counter

from dqa import plugins
from dqa.core.world import Episode, World
from dqa.worlds.base import PolicyDecider
from dqa_simulators.household.engine import Engine
from dqa_simulators.household.games import find_generated, generate_game, task_of_seed
from dqa_simulators.household.generator import draw_game
from dqa_simulators.household.tables import load_tables


def measure(done: Callable[[int], int], seeds: Iterable[int], threads: int) -> tuple[int, float]:
    """Return how much was done in all, and how much a second."""
    began = perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        count = sum(pool.map(done, seeds))
    return count, count / (perf_counter() - began)


def draw(seed: int) -> int:
    """Draw a game, and solve nothing."""
    draw_game(load_tables(), task_of_seed(seed), seed)
    return 1


def generate(seed: int) -> int:
    """Draw a game, and solve it."""
    generate_game(task_of_seed(seed), seed)
    return 1


def begin(world: World, seed: int) -> int:
    """Begin a game."""
    world.start(seed).close()
    return 1


def act(world: World, player: str, seed: int) -> int:
    """Play a game to its end; return how many commands that took."""
    policy = plugins.world("household").policies[player].make(0)
    decider = PolicyDecider(player, policy, 0)
    episode = world.start(seed)
    steps = 0
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


def megabytes() -> float:
    """Return what the processes of TextWorld hold that belong to this one's group."""
    return sum(_megabytes(entry) for entry in Path("/proc").glob("[0-9]*"))


def _megabytes(process: Path) -> float:
    try:
        group = int((process / "stat").read_text().rpartition(")")[2].split()[2])
        if group != os.getpgrp() or b"household.serving" not in (process / "cmdline").read_bytes():
            return 0.0
        lines = (process / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0  # it has ended meanwhile
    (size,) = (line.split()[1] for line in lines if line.startswith("Pss:"))
    return int(size) / 1024


def report(name: str, found: tuple[int, float]) -> None:
    """Print one figure."""
    print(f"{name:<44}{found[0]:>8}{found[1]:>12,.2f}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--games", type=int, default=24)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--open", type=int, default=16)
    given = parser.parse_args()
    factory = plugins.world("household")
    world = factory.make(factory.settings(), None)
    seeds, threads = range(given.games), given.threads
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DQA_CACHE"] = folder
        began = perf_counter()
        Engine().close()
        print(f"TextWorld is loaded once, in {perf_counter() - began:.1f} s")
        print(f"{'by ' + str(threads) + ' threads':<44}{'done':>8}{'a second':>12}")
        report("games drawn, without a plan", measure(draw, seeds, 1))
        report("games generated, with the planner's way", measure(generate, seeds, threads))
        for seed in seeds:
            find_generated(task_of_seed(seed), seed)
        last = given.games - 1
        report("games from the cache", measure(_find, seeds, threads))
        report("games begun first", measure(partial(begin, world), seeds, threads))
        report("games begun again", measure(lambda _: begin(world, last), seeds, threads))
        for player in ("expert", "explorer", "random"):
            found = measure(partial(act, world, player), seeds, threads)
            report(f"commands of '{player}', beginning included", found)
        found = measure(lambda _: act(world, "random", last), range(4), 1)
        report("commands of 'random' in one game again", found)
        _tell_memory(world, given.open)


def _find(seed: int) -> int:
    find_generated(task_of_seed(seed), seed)
    return 1


_UNUSED = 10_000
"""From here on no game has begun yet, whose process others would share."""


def _tell_memory(world: World, count: int) -> None:
    before = megabytes()
    episodes: list[Episode] = [world.start(_UNUSED + seed) for seed in range(count)]
    print(f"{count} open episodes: {(megabytes() - before) / count:.1f} MB each")
    for episode in episodes:
        episode.close()


if __name__ == "__main__":
    main()
