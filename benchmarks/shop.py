"""How long a shop's catalogue takes to build and to search, against bm25s alone.

Run ``python -m benchmarks.shop`` (``--products 100000``, ``--searches 500``, ``--goals 100``). A
catalogue is generated, written to SQLite and indexed in an empty folder, and then opened again.
Searches follow from instructions by rule. The rewards of the shop's programs are printed, too. Exit
code 1 where building and opening take over 60 s of the processor, or a median search over 20 ms.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from statistics import median

import numpy as np

from benchmarks.measuring import taken
from benchmarks.needs import require
from dqa.worlds.base import InformedPolicy, Policy
from dqa.worlds.training import CACHE_VARIABLE
from dqa.worlds.world import World

NEEDS = ("shop",)
MOST_SECONDS = 60.0
MOST_MILLISECONDS = 20.0


def play(shop: World, player: Policy, goals: int) -> tuple[float, int]:
    """Return the mean reward of a program, and how often it is 1."""
    rewards = []
    for seed in range(goals):
        episode, random = shop.start(seed), np.random.default_rng(seed)
        while (move := episode.next_move()) is not None:
            if isinstance(player, InformedPolicy) and move.reveal is not None:
                episode.choose(player.choose_informed(move.position, move.reveal(), random))
            else:
                episode.choose(player.choose(move.position, random))
        rewards.append(episode.returns()["agent"])
        episode.close()
    return float(np.mean(rewards)), rewards.count(1.0)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--products", type=int, default=100_000)
    parser.add_argument("--searches", type=int, default=500)
    parser.add_argument("--goals", type=int, default=100)
    given = parser.parse_args()
    require(*NEEDS)
    from dqa_simulators.shop import catalogue as catalogues
    from dqa_simulators.shop.players import POLICIES
    from dqa_simulators.shop.words import propose_searches, without_bound
    from dqa_simulators.shop.world import Shop, ShopSettings

    source = catalogues.Source(given.products)
    with tempfile.TemporaryDirectory() as folder:
        os.environ[CACHE_VARIABLE] = folder
        generated = taken(lambda: sum(1 for _ in source.items()))
        built = taken(lambda: catalogues.open_catalogue(source))
        catalogues.forget_opened()
        opened = taken(lambda: catalogues.open_catalogue(source))
        catalogue = catalogues.open_catalogue(source)
        index = catalogue.index
        ours, alone = [], []
        for number in range(given.searches):
            instruction = catalogue.goal(number % catalogue.goals).instruction
            proposed = (without_bound(instruction), *propose_searches(instruction))
            text = proposed[number % len(proposed)]
            terms = index.terms(text)
            ours.append(1e3 * taken(lambda: catalogue.search(text)).wall)  # noqa: B023
            alone.append(1e3 * taken(lambda: index.scores(terms)).wall)  # noqa: B023
        print(f"{catalogue.products:,} products, {catalogue.goals:,} goals")
        for name, spent in (
            ("generating alone", generated),
            ("generating, writing and indexing", built),
            ("opening the stored one", opened),
        ):
            ratio = spent.cpu / generated.cpu
            print(f"{name:34}{spent.cpu:8.2f} s of the processor, {ratio:6.2f} times")
        middle = median(ours)
        print(f"a search: median {middle:.2f} ms, {middle / median(alone):.2f} times bm25s alone")
        shop = Shop(ShopSettings(products=given.products), None)
        for name, factory in POLICIES.items():
            mean, right = play(shop, factory.make(0), given.goals)
            print(f"{name:8} mean reward {mean:.3f}, reward 1 in {right} of {given.goals}")
    return int(built.cpu + opened.cpu > MOST_SECONDS or middle > MOST_MILLISECONDS)


if __name__ == "__main__":
    sys.exit(main())
