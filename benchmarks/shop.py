"""How long a shop's catalogue takes to build and to search, and how its programs fare.

    python -m benchmarks.shop [--products 100000] [--searches 500] [--goals 100]

A catalogue is generated, written to SQLite and indexed in an empty folder, then opened again as by
the next process. Searches are those that follow from instructions by rule. Building is told on the
clock and by the processor's time, since other work on the machine takes from the first alone; a
search also in ratio to what bm25s takes by itself for the same words. Exit code 1 where building
and opening take over 60 s of the processor, which they use one of, or a median search over 20 ms.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import numpy as np

from dqa.worlds.base import InformedPolicy, Policy
from dqa.worlds.training import CACHE_VARIABLE
from dqa_simulators.shop.players import POLICIES
from dqa_simulators.shop.searches import propose_searches, without_bound
from dqa_simulators.shop.sources import Source
from dqa_simulators.shop.storage import catalogue as catalogues
from dqa_simulators.shop.storage.catalogue import Catalogue, open_catalogue
from dqa_simulators.shop.world import Shop, ShopSettings

MOST_SECONDS = 60.0
"""What building 100,000 products and opening them may take, of a processor."""
MOST_MILLISECONDS = 20.0
"""What a search may take, as the median."""


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds that something takes, on the clock and of the processor."""
    wall, cpu = perf_counter(), process_time()
    work()
    return perf_counter() - wall, process_time() - cpu


def measure_searches(catalogue: Catalogue, count: int) -> tuple[list[float], list[float]]:
    """Return the milliseconds of searches: of ours, and of bm25s' scores alone."""
    index = catalogue._index  # noqa: SLF001  (what is measured is within)
    ours, scores = [], []
    for number in range(count):
        instruction = catalogue.goal(number % catalogue.goals).instruction
        proposed = (without_bound(instruction), *propose_searches(instruction))
        text = proposed[number % len(proposed)]
        ours.append(1000.0 * timed(lambda text=text: catalogue.search(text))[0])  # type: ignore[misc]
        ids = index.numbers_of(text)
        scores.append(1000.0 * timed(lambda ids=ids: index.scores_of(ids))[0])  # type: ignore[misc]
    return ours, scores


def play(shop: Shop, player: Policy, goals: int) -> tuple[float, int, float]:
    """Return the mean reward of a program, how often it is 1, and how many actions it takes."""
    rewards, steps = [], []
    for seed in range(goals):
        episode, random = shop.start(seed), np.random.default_rng(seed)
        while (move := episode.next_move()) is not None:
            if isinstance(player, InformedPolicy) and move.reveal is not None:
                episode.choose(player.choose_informed(move.position, move.reveal(), random))
            else:
                episode.choose(player.choose(move.position, random))
        rewards.append(episode.returns()["agent"])
        steps.append(float(episode.facts()["steps"] or 0))
        episode.close()
    return float(np.mean(rewards)), rewards.count(1.0), float(np.mean(steps))


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--products", type=int, default=100_000)
    parser.add_argument("--searches", type=int, default=500)
    parser.add_argument("--goals", type=int, default=100)
    given = parser.parse_args()
    settings = ShopSettings(products=given.products)
    source = Source(given.products)
    with tempfile.TemporaryDirectory() as folder:
        os.environ[CACHE_VARIABLE] = folder
        generated = timed(lambda: sum(1 for _ in source.items()))
        built = timed(lambda: open_catalogue(source))
        size = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
        catalogues.forget_opened()
        opened = timed(lambda: open_catalogue(source))
        catalogue = open_catalogue(source)
        print(f"{catalogue.products:,} products, {catalogue.goals:,} goals, {size / 1e6:,.0f} MB")
        print(f"{'':<34}{'clock':>10}{'processor':>12}")
        for name, (wall, cpu) in (
            ("generating alone", generated),
            ("generating, writing and indexing", built),
            ("opening what is kept", opened),
        ):
            print(f"{name:<34}{wall:>8.2f} s{cpu:>10.2f} s")
        ours, scores = measure_searches(catalogue, given.searches)
        middle = median(ours)
        print(
            f"a search: median {middle:.2f} ms, 99th percentile {np.percentile(ours, 99):.2f} ms, "
            f"{middle / median(scores):.2f} times bm25s' scores alone"
        )
        shop = Shop(settings, None)
        for name, factory in POLICIES.items():
            mean, right, steps = play(shop, factory.make(0), given.goals)
            print(
                f"{name:<8} mean reward {mean:.3f}, reward 1 in {right} of {given.goals}, "
                f"{steps:.1f} actions"
            )
    return int(built[1] + opened[1] > MOST_SECONDS or middle > MOST_MILLISECONDS)


if __name__ == "__main__":
    sys.exit(main())
