"""Our Bradley-Terry solver beside choix's I-LSR, at the same optimum.

Run ``python -m benchmarks.bradley_terry`` (``--rounds N``). The data are what DeLLMa-Pairs makes of
7 actions and 64 states: 448 items in minibatches of 32 that share 25 %, 19 rankings, 9,048 pairs.
Ours starts from the rankings and choix from the pairs, which are made beforehand. Both take turns
in one run, and medians are compared; ``OPENBLAS_NUM_THREADS=1`` keeps a busy machine from slowing
choix's dense algebra more than our banded one. The last lines are the posterior's, which has no
counterpart.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from statistics import median
from time import perf_counter

import choix
import numpy as np
from numpy.typing import NDArray

from dqa_dellma.events import RankingEvent
from dqa_dellma.settings import DellmaSettings
from dqa_dellma.utilities.bradley_terry import fit_pairs, fit_top1
from dqa_dellma.utilities.maximisation import maximise
from dqa_dellma.utilities.pairs import Pairs, cut_minibatches
from dqa_dellma.utilities.posterior import fit_posterior

ACTIONS, STATES, BATCH, OVERLAP = 7, 64, 32, 0.25
ALPHA = 2e-3
_Scores = NDArray[np.float64]


def main() -> None:
    """Print milliseconds, ratios, and the largest difference of scores."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    pairs, rankings = _problem()
    count = len(pairs)
    compared = [(a, b) for one in rankings for i, a in enumerate(one) for b in one[i + 1 :]]
    firsts = [(ranking[0], tuple(ranking[1:])) for ranking in rankings]
    print(f"{count} items, {len(rankings)} rankings, {len(compared):,} pairs, alpha {ALPHA}")
    print(f"{'':9}{'ours':>10}{'choix':>10}{'ratio':>8}{'largest difference':>20}   (ms)")
    sides: list[tuple[str, Callable[[], _Scores], Callable[[], _Scores]]] = [
        (
            "pairs",
            lambda: fit_pairs(rankings, count, ALPHA),
            lambda: choix.ilsr_pairwise(count, compared, ALPHA),
        ),
        (
            "top1",
            lambda: fit_top1(rankings, count, ALPHA),
            lambda: choix.ilsr_top1(count, firsts, ALPHA),
        ),
    ]
    for name, ours, theirs in sides:
        own, other = _medians([ours, theirs], rounds)
        apart = np.abs(ours() - theirs()).max()
        print(f"{name:9}{own:10.2f}{other:10.2f}{other / own:8.1f}{apart:20.1e}")
        assert apart < 1e-6, "not the same optimum"
    whole = [RankingEvent(shown=tuple(ranking), items=tuple(ranking)) for ranking in rankings]
    fitted, all_of_it = _medians(
        [
            lambda: fit_posterior(rankings, pairs, ACTIONS),
            lambda: maximise(pairs, whole, ACTIONS, DellmaSettings()),
        ],
        rounds,
    )
    print(f"posterior{fitted:10.2f}")
    print(f"all of it{all_of_it:10.2f}")


def _problem() -> tuple[Pairs, list[list[int]]]:
    """Return items of additive utilities and their rankings with Gumbel noise of size 1."""
    rng = np.random.default_rng(0)
    states = rng.integers(0, 3, (STATES, 4))
    order = rng.permutation(STATES * ACTIONS)
    pairs = Pairs(states, order // ACTIONS, order % ACTIONS)
    effects = rng.normal(0.0, 0.5, (4, 3, ACTIONS))
    utilities = np.zeros(len(pairs))
    for factor in range(4):
        utilities += effects[factor, states[pairs.state_of, factor], pairs.action_of]
    rankings = []
    for batch in cut_minibatches(len(pairs), BATCH, OVERLAP):
        seen = utilities[batch.start : batch.stop] + rng.gumbel(size=len(batch))
        rankings.append((np.argsort(-seen) + batch.start).tolist())
    return pairs, rankings


def _medians(sides: list[Callable[[], object]], rounds: int) -> list[float]:
    """Return the median milliseconds of each side, which take turns."""
    times: list[list[float]] = [[] for _ in sides]
    for _ in range(rounds):
        for side, taken in zip(sides, times, strict=True):
            started = perf_counter()
            side()
            taken.append((perf_counter() - started) * 1e3)
    return [median(taken) for taken in times]


if __name__ == "__main__":
    main()
