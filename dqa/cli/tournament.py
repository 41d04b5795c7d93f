"""``dqa tournament``: the tables of games that papers printed, played again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from dqa.cli import options, play
from dqa.cli.evaluate import INTERRUPTED, complain, leave
from dqa.cli.fields import DECIDING, with_options
from dqa.cli.help import MODELS, QUESTIONS
from dqa.cli.options import names_in, option
from dqa.cli.output import echo, echo_json, echo_report, echo_tables
from dqa.cli.progress import Progress
from dqa.core.errors import UsageError
from dqa.evaluation.options import CallOptions, RunOptions

if TYPE_CHECKING:
    from dqa.api.tournaments import Tournament


@with_options(deciding=DECIDING, calling=CallOptions, running=RunOptions)
def tournament(  # noqa: PLR0913  (one parameter per option)
    *,
    world: play.World = None,
    players: Annotated[str | None, option("--players NAMES", MODELS)] = None,
    opponents: Annotated[str | None, option("--opponents NAMES", MODELS)] = None,
    games: play.Games = 100,
    mirror: Annotated[bool | None, option("--mirror/--no-mirror", QUESTIONS)] = None,
    epochs: play.Epochs = 1,
    reference: play.Reference = None,
    deciding: dict[str, Any],
    calling: CallOptions,
    running: RunOptions,
    out: options.Out = None,
    retry_failed: options.RetryFailed = False,
    history: play.HistoryAt = None,
    as_json: options.AsJson = False,
) -> None:
    """Let players play every opponent, and print a paper's tables and our figures.

    In a world of one player each plays alone. By default every world of a paper's tables is played.

    The same command resumes its own run. Each of several worlds is a run: a folder within --out, or
    a run of a store.

    Parameters
    ----------
    players
        Players, separated by commas; by default the players of the paper's tables that are
        installed.
    opponents
        Opponents, separated by commas; by default those of these tables. None in a world of one
        player.
    mirror
        Play every deal a second time with the hidden things swapped; by default in worlds of two
        players.
    """
    from dqa.api.tournaments import (
        place_for,
        play_tournament,
        players_of,
        reference_of,
        tournament_worlds,
    )

    worlds = (world,) if world is not None else tournament_worlds()
    if not worlds:
        raise UsageError("No installed package has tables of games: name what is played (--world).")
    if len(worlds) > 1 and (players or opponents or history):
        raise UsageError(
            f"--players, --opponents and --history are of one world: give --world, one of "
            f"{', '.join(worlds)}."
        )
    made: list[Tournament] = []
    for one in worlds:
        place = place_for(out, one, several=len(worlds) > 1)
        how: dict[str, Any] = {
            "players": names_in("--players", players),
            "opponents": names_in("--opponents", opponents),
            "games": games,
            "epochs": epochs,
            "options": running,
            "calls": calling,
            **deciding,
        }
        if mirror is not None and (len(worlds) == 1 or players_of(one) > 1):
            how["mirror"] = mirror
        if reference is not None:
            how["reference"] = reference_of(one, reference, deciding["seed"])
        with Progress(verbose=False) as progress:
            try:
                made.append(
                    play_tournament(
                        one,
                        **how,
                        out=place,
                        retry_failed=retry_failed,
                        history=history,
                        watcher=progress,
                    )
                )
            except KeyboardInterrupt:
                leave(progress, None if place is None else str(place), games=True)
                raise typer.Exit(INTERRUPTED) from None
        if not as_json:
            _print(made[-1])
    if as_json:
        echo_json([_as_json(one) for one in made])
    for found in made:
        complain(found.run)


def _as_json(found: Tournament) -> dict[str, Any]:
    return {
        "evaluation": found.run.figures().to_json(),
        "papers": [view.to_json() for view in found.views],
        "left_out": list(found.left_out),
    }


def _print(found: Tournament) -> None:
    from dqa.report.tournament_tables import notes, tables

    for view in found.views:
        echo_tables(tables(view), notes(view))
    for line in found.left_out:
        echo(f"left out: {line}")
    if found.views:
        for line in found.run.lines():
            echo(line)
        if found.run.place is not None:
            echo(f"Results and traces are in {found.run.place}.")
    else:
        echo_report(found.run)
