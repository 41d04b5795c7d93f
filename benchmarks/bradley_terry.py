"""The speed of our Bradley-Terry solver against choix, at the same optimum.

Run ``python -m benchmarks.bradley_terry`` (``--rounds N``). The data are what DeLLMa-Pairs makes of
7 actions and 64 states: 448 items in 19 minibatches of 32 that share 25 %. Ours starts from the
rankings, and choix from the pairs, which are made before. ``OPENBLAS_NUM_THREADS=1`` keeps a busy
machine from slowing choix's dense algebra more than our sparse one.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.dellma_draws import Shape
from benchmarks.measuring import in_turn
from benchmarks.needs import require
from dqa_dellma.settings import Elicitation
from dqa_dellma.utilities.bradley_terry import Floats, fit_scores

NEEDS = ("choix",)
SHAPE = Shape(actions=7, samples=64)
ALPHA = 2e-3


def main() -> None:
    """Print milliseconds, ratios, and the largest difference of scores."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    require(*NEEDS)
    import choix

    rng = np.random.default_rng(0)
    pairs, ranked = SHAPE.rank(SHAPE.world(rng), rng)
    rankings, count = [list(one.items) for one in ranked], len(pairs)
    compared = [(a, b) for one in rankings for i, a in enumerate(one) for b in one[i + 1 :]]
    firsts = [(one[0], tuple(one[1:])) for one in rankings]
    print(f"{count} items, {len(rankings)} rankings, {len(compared):,} pairs, alpha {ALPHA}")
    compared_fits: tuple[tuple[Elicitation, Callable[[], Floats]], ...] = (
        ("pairs", partial(choix.ilsr_pairwise, count, compared, ALPHA)),
        ("top1", partial(choix.ilsr_top1, count, firsts, ALPHA)),
    )
    for name, theirs in compared_fits:
        own = partial(fit_scores, rankings, count, name, ALPHA)
        apart = np.abs(own() - theirs()).max()
        assert apart < 1e-6, "not the same optimum"
        spent = in_turn({"ours": own, "choix": theirs}, rounds)
        mine, other = (1e3 * side.wall for side in spent.values())
        print(
            f"{name:6} ours {mine:8.2f} ms, choix {other:8.2f} ms, {other / mine:5.1f} times; "
            f"largest difference {apart:.1e}"
        )


if __name__ == "__main__":
    main()
