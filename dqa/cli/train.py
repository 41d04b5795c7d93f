"""``dqa train``: players of worlds that learn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dqa.cli import options
from dqa.cli.completion import by_name
from dqa.cli.help import LIMITS, MODELS, OUTPUT
from dqa.cli.output import echo, echo_json
from dqa.core.errors import UsageError


def train(  # noqa: PLR0913  (one parameter an option)
    *,
    world: Annotated[
        str,
        typer.Option(
            "--world",
            metavar="NAME",
            help="World that is played.",
            autocompletion=by_name("world"),
            rich_help_panel=MODELS,
        ),
    ],
    player: Annotated[
        str | None,
        typer.Option(
            "--player",
            metavar="NAMES",
            help="Players, separated by commas; by default all that learn.",
            rich_help_panel=MODELS,
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            "--seed",
            metavar="N",
            min=0,
            help="Seed of the training: the same one gives the same player.",
            rich_help_panel=MODELS,
        ),
    ] = 0,
    budget: Annotated[
        str,
        typer.Option(
            "--budget",
            metavar="small|full|N",
            help="How long it learns: 'small', by which games are played, 'full', or a number of "
            "iterations.",
            rich_help_panel=LIMITS,
        ),
    ] = "small",
    workers: Annotated[
        int,
        typer.Option(
            "--workers",
            metavar="N",
            min=1,
            help="How many players are trained at once.",
            rich_help_panel=LIMITS,
        ),
    ] = 1,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="New file to write the player to (.npz); it is kept in the user's cache anyway.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Train players of a world, and keep them for games to come."""
    from dqa.api.training import (
        TrainedPlayer,
        learning_players,
        train_player,
        train_players,
    )
    from dqa.cli.training import TrainingProgress

    names = learning_players(world) if player is None else options.names_in("--player", player)
    if out is not None and len(names) != 1:
        raise UsageError("--out takes one player: name it by --player.")

    made = []

    def tell(one: TrainedPlayer) -> None:
        made.append(one)
        if not as_json:
            what = "is kept" if one.was_kept else "was trained"
            echo(f"{one.player} {what}: {one.iterations} iterations, seed {one.seed}, {one.file}")

    if workers > 1 and len(names) > 1:
        for one in train_players(world, names, seed=seed, budget=budget, workers=workers):
            tell(one)
    else:
        with TrainingProgress() as watcher:
            for name in names:
                tell(train_player(world, name, seed=seed, budget=budget, out=out, watcher=watcher))
    if as_json:
        echo_json([one.to_json() for one in made])
