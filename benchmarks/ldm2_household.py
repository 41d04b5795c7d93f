"""How many household games a refined memory of LDM2 wins, against the initial one.

Run ``python -m benchmarks.ldm2_household`` (``--build 60 --refine 18 --games 60 --depth 25``). A
scripted model imitates what the household's ``explorer`` did; its memory is refined in further
games, and both memories play the same held-out ones. The script shows that the cycle works, not
what a language model is worth. Exit code 1 where the refined memory wins fewer games.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

import dqa
from benchmarks.needs import require
from dqa.api.runs import Run
from dqa.evaluation.statistics.clusters import wilson
from dqa_ldm2.building import build_memory, refine_memory
from dqa_ldm2.settings import RefiningSettings

NEEDS = ("household",)
INITIAL, REFINED = "ldm2", "ldm2-refined"
WORLD = "household"
BUILD, REFINE, HELD_OUT = 0, 500, 7
"""Seeds: of the first game of the memory, of refining, and of the run of held-out games."""


def play(folder: Path, games: int) -> Run:
    """Play the held-out games with both memories."""
    settings = {
        f"{INITIAL}.memory": str(folder / "initial.db"),
        f"{REFINED}.memory": str(folder / "refined.db"),
    }
    return dqa.play(WORLD, [INITIAL, REFINED], games=games, seed=HELD_OUT, settings=settings)


def won(run: Run, decider: str) -> int:
    """Return how many games a decider won."""
    own = (one.game for one in run.results if one.decider == decider)
    return sum(game is not None and bool(game.facts.get("success")) for game in own)


def main() -> int:
    """Measure and print; see this module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=int, default=60)
    parser.add_argument("--refine", type=int, default=18)
    parser.add_argument("--games", type=int, default=60)
    parser.add_argument("--depth", type=int, default=25)
    given = parser.parse_args()
    require(*NEEDS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        initial, refined = folder / "initial.db", folder / "refined.db"
        built = build_memory(
            WORLD, str(initial), games=given.build, seed=BUILD, batch=given.build, player="explorer"
        )
        print("\n".join(built.formed.lines()))
        shutil.copy(initial, refined)
        report = refine_memory(
            WORLD,
            str(refined),
            games=given.refine,
            seed=REFINE,
            refining=RefiningSettings(depth=given.depth),
        )
        print(
            f"refined in {given.refine} games: {report.improved} brought more, {report.added} "
            f"tuples added, {report.calls.exploring} replies on exploring"
        )
        run = play(folder, given.games)
    for decider in (INITIAL, REFINED):
        right = won(run, decider)
        low, high = wilson(right, given.games) or (0.0, 1.0)
        share = f"{right / given.games:.1%} [{low:.1%}, {high:.1%}]"
        print(f"{decider:13} won {right} of {given.games}: {share}")
    return int(won(run, REFINED) < won(run, INITIAL))


if __name__ == "__main__":
    sys.exit(main())
