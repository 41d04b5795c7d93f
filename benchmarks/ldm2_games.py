"""Scores of LDM2 and of Standard in a one-player world, with intervals of paired differences.

Run ``python -m benchmarks.ldm2_games`` (``--world household --player expert --build 60
--refine 18 --games 60 --depth 25 --model scripted:analyst``). The games of a program
create a memory, and further games refine it. Four players play the same held-out games: LDM2 with
the initial memory, LDM2 with the refined memory, and Standard with fixed and with retrieved
examples of the initial memory. A scripted model tests that all parts work together. It says nothing
about language models.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import dqa
from benchmarks.needs import require
from dqa.api.runs import Run
from dqa.report.table import estimate_text
from dqa_ldm2 import ModelUse, RefiningSettings, build_memory, refine_memory

PLAYERS = ("ldm2", "ldm2-refined", "standard", "standard-retrieved")
BUILD, REFINE, HELD_OUT = 0, 500, 7
"""The seeds of the first game that builds the memory, of the first game that refines it, and of
the first held-out game."""


def play(folder: Path, world: str, games: int, model: str) -> Run:
    """Play the held-out games with all players."""
    settings = {f"{player}.memory": str(folder / "initial.db") for player in PLAYERS}
    settings["ldm2-refined.memory"] = str(folder / "refined.db")
    return dqa.play(world, PLAYERS, games=games, seed=HELD_OUT, model=model, settings=settings)


def figures(run: Run) -> Iterator[str]:
    """Yield the score of each player, and the paired difference of each pair of players."""
    found, text = run.games, partial(estimate_text, between=" ")
    if found is None:
        return
    for one in found.players:
        if one.payoff is not None:
            yield f"{one.player:18} {text(one.payoff, digits='.3f')}"
    for pair in found.differences:
        p_value = "unknown" if pair.holm is None else f"{pair.holm:.3f}"
        more = text(pair.difference, digits="+.3f")
        yield f"{pair.first} minus {pair.second}: {more}, p {p_value}"


def main() -> int:
    """Build and refine a memory, play the held-out games, and print the scores."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--world", default="household")
    parser.add_argument("--player", default="expert")
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
            f"refined in {given.refine} games: {report.improved} found a better path, "
            f"{report.added} tuples were added, {report.calls['exploring']} replies for exploring"
        )
        run = play(folder, given.world, given.games, given.model)
    for line in figures(run):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
