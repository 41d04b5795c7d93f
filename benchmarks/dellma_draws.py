"""What the way of drawing states costs: regret in worlds of known utilities.

Run with ``python -m benchmarks.dellma_draws [WORLDS]``; the table of docs/dellma.md is its output.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from benchmarks.dellma_worlds import Shape, World
from dqa_dellma.settings import Draws
from dqa_dellma.utilities.beliefs import sample_states
from dqa_dellma.utilities.layout import Ints

WORLDS = 1_000
SAMPLES = (8, 16, 32, 64)
KINDS = {
    "rankings without error": Shape(actions=4, factors=8, noise=0.0),
    "rankings with noise": Shape(actions=4, factors=8, noise=1.0),
}
"""Four actions, eight factors of three values."""


@dataclass(frozen=True, slots=True)
class Loss:
    """What one way of drawing loses.

    Attributes
    ----------
    miss
        How far the share of the states with a value is from what is believed of it: the mean over
        worlds of the largest difference of all values.
    regret, error
        The mean share of the best expected utility that the chosen action lacks, and its standard
        error.
    right
        How often the best action is chosen.
    """

    miss: float
    regret: float
    error: float
    right: float


def measure(shape: Shape, worlds: int, seed: int = 0) -> Loss:
    """Decide in worlds of a kind, the same whichever way states are drawn.

    Parameters
    ----------
    shape
        The kind, with its samples and draws.
    worlds
        How many.
    seed
        Of worlds and draws.
    """
    misses, regrets = [], []
    for number in range(worlds):
        world = shape.world(np.random.default_rng([seed, number]))
        rng = np.random.default_rng([seed, number, 1])
        misses.append(_miss(world, sample_states(world.beliefs, shape.samples, rng, shape.draws)))
        best = shape.choose(world, np.random.default_rng([seed, number, 2]))
        regrets.append(1.0 - float(world.expected[best] / world.expected.max()))
    lost = np.array(regrets)
    return Loss(
        miss=float(np.mean(misses)),
        regret=float(lost.mean()),
        error=float(lost.std(ddof=1) / np.sqrt(worlds)),
        right=float((lost == 0.0).mean()),
    )


def _miss(world: World, states: Ints) -> float:
    """Return how far the share of states with a value is from what is believed of it, at most."""
    return max(
        abs(float((drawn == number).mean()) - likely.probability)
        for drawn, values in zip(states.T, world.beliefs.values(), strict=True)
        for number, likely in enumerate(values.values())
    )


def main() -> None:
    """Print a line for every kind of world, number of samples and way of drawing."""
    worlds = int(sys.argv[1]) if len(sys.argv) > 1 else WORLDS
    print("| worlds | samples | draws | largest miss | regret % | right % |")
    print("|---|---|---|---|---|---|")
    for line in lines(worlds):
        print(line)


def lines(worlds: int) -> Iterator[str]:
    """Yield the table's lines."""
    for name, kind in KINDS.items():
        for samples in SAMPLES:
            for draws in get_args(Draws):
                found = measure(replace(kind, samples=samples, draws=draws), worlds)
                regret = f"{100 * found.regret:.2f} ± {100 * found.error:.2f}"
                figures = f"{found.miss:.3f} | {regret} | {100 * found.right:.1f}"
                yield f"| {name} | {samples} | {draws} | {figures} |"


if __name__ == "__main__":
    main()
