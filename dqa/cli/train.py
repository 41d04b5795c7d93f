"""``dqa train``: players of worlds that learn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from dqa.cli import options
from dqa.cli.completion import by_name
from dqa.cli.help import LIMITS, MODELS, OUTPUT
from dqa.cli.options import names_in, option
from dqa.cli.output import echo, echo_json
from dqa.core.errors import UsageError


def train(  # noqa: PLR0913  (one parameter per option)
    *,
    world: Annotated[str, option("--world NAME", MODELS, complete=by_name("world"))],
    player: Annotated[str | None, option("--player NAMES", MODELS)] = None,
    seed: Annotated[int, option("--seed N", MODELS, least=0)] = 0,
    budget: Annotated[str, option("--budget small|full|N", LIMITS)] = "small",
    workers: Annotated[int, option("--workers N", LIMITS, least=1)] = 1,
    out: Annotated[Path | None, option("--out FILE", OUTPUT)] = None,
    as_json: options.AsJson = False,
) -> None:
    """Train players of a world, and store them for later games.

    Parameters
    ----------
    world
        World that is played.
    player
        Players, separated by commas; by default all that learn.
    seed
        Seed of the training: it determines the player.
    budget
        How long it learns: 'small', as for games, 'full', or a number of iterations.
    workers
        How many players are trained at once.
    out
        New file for the player (.npz); it is stored in the user's cache anyway.
    """
    from dqa.api.training import TrainedPlayer, learning_players, train_player, train_players
    from dqa.cli.training import TrainingProgress

    names = names_in("--player", player) or learning_players(world)
    if out is not None and len(names) != 1:
        raise UsageError("--out takes one player: name it by --player.")
    trained = []

    def show(one: TrainedPlayer) -> None:
        trained.append(one)
        if not as_json:
            what = "is kept" if one.was_kept else "was trained"
            echo(f"{one.player} {what}: {one.iterations} iterations, seed {one.seed}, {one.file}")

    if workers > 1 and len(names) > 1:
        for one in train_players(world, names, seed=seed, budget=budget, workers=workers):
            show(one)
    else:
        with TrainingProgress() as watcher:
            for name in names:
                show(train_player(world, name, seed=seed, budget=budget, out=out, watcher=watcher))
    if as_json:
        echo_json([one.to_json() for one in trained])
