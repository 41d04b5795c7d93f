"""How LDM2 plays games of a one-player world, against Standard, with paired intervals.

Run ``python -m benchmarks.ldm2_games`` (``--world household --player explorer --build 60
--refine 18 --games 60 --depth 25 --model scripted:analyst``). A program's games make a memory,
which is refined in further games. The initial and the refined memory, and Standard with fixed and
with retrieved examples of the initial one, play the same held-out games. A scripted model shows
that everything works together, not the quality of a language model.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from itertools import combinations
from pathlib import Path

import dqa
from benchmarks.needs import require
from dqa.api.runs import Run
from dqa.evaluation.statistics.clusters import Estimate
from dqa.evaluation.statistics.pairs import paired_difference
from dqa_ldm2 import ModelUse, RefiningSettings, build_memory, refine_memory

NEEDS = ("household", "shop")
PLAYERS = ("ldm2", "ldm2-refined", "standard", "standard-retrieved")
BUILD, REFINE, HELD_OUT = 0, 500, 7
"""Seeds: of the first game of the memory, of refining, and of the run of held-out games."""


def play(folder: Path, world: str, games: int, model: str) -> Run:
    """Play the held-out games with all players."""
    settings = {f"{player}.memory": str(folder / "initial.db") for player in PLAYERS}
    settings["ldm2-refined.memory"] = str(folder / "refined.db")
    return dqa.play(world, PLAYERS, games=games, seed=HELD_OUT, model=model, settings=settings)


def scores(run: Run, player: str) -> dict[str, float]:
    """Return the score of each game that a player finished."""
    own = (one for one in run.results if one.decider == player)
    return {one.question: one.value for one in own if one.value is not None}


def main() -> int:
    """Measure and print; see this module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--world", default="household")
    parser.add_argument("--player", default="explorer")
    parser.add_argument("--build", type=int, default=60)
    parser.add_argument("--refine", type=int, default=18)
    parser.add_argument("--games", type=int, default=60)
    parser.add_argument("--depth", type=int, default=25)
    parser.add_argument("--model", default="scripted:analyst")
    given = parser.parse_args()
    require(given.world)
    use = ModelUse(given.model)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        initial, refined = folder / "initial.db", folder / "refined.db"
        counts = {"games": given.build, "seed": BUILD, "batch": given.build}
        built = build_memory(given.world, str(initial), player=given.player, use=use, **counts)
        print("\n".join(built.lines()))
        shutil.copy(initial, refined)
        own = RefiningSettings(depth=given.depth)
        report = refine_memory(
            given.world, str(refined), games=given.refine, seed=REFINE, refining=own, use=use
        )
        print(
            f"refined in {given.refine} games: {report.improved} brought more, {report.added} "
            f"tuples added, {report.calls['exploring']} replies on exploring"
        )
        run = play(folder, given.world, given.games, given.model)
    found = {player: scores(run, player) for player in PLAYERS}
    for player, own_scores in found.items():
        mean = Estimate.of([*own_scores.values()], [*own_scores], 0.0, 1.0)
        if mean is not None:
            print(f"{player:18} {mean.value:.3f} [{mean.low:.3f}, {mean.high:.3f}]")
    for first, second in combinations(PLAYERS, 2):
        games = sorted(found[first].keys() & found[second].keys())
        pairs = [found[first][game] - found[second][game] for game in games]
        paired = paired_difference(pairs, games, (-1.0, 1.0))
        if paired is not None:
            print(f"{first} minus {second}: {paired.value:+.3f} [{paired.low}, {paired.high}]")
    return 0


if __name__ == "__main__":
    sys.exit(main())
