"""``dqa tournament``: the tables of games that papers printed, played again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from dqa.cli import options, play
from dqa.cli.bundles import with_options
from dqa.cli.evaluate import complain, leave
from dqa.cli.help import MODELS, QUESTIONS
from dqa.cli.output import echo, echo_json, echo_report, echo_table
from dqa.cli.progress import Progress
from dqa.cli.shared_bundles import DecidingOptions
from dqa.core.errors import UsageError
from dqa.evaluation.options import CallOptions, RunOptions

if TYPE_CHECKING:
    from dqa.api.tournaments import Tournament


@with_options(asking=DecidingOptions, calling=CallOptions, running=RunOptions)
def tournament(  # noqa: PLR0913  (one parameter an option)
    *,
    world: Annotated[
        str | None,
        typer.Option(
            "--world",
            metavar="NAME",
            help="What is played; by default every world of which a paper printed a table.",
            rich_help_panel=QUESTIONS,
        ),
    ] = None,
    players: Annotated[
        str | None,
        typer.Option(
            "--players",
            metavar="NAMES",
            help="Who plays, separated by commas; by default the players of the paper's tables "
            "that are installed.",
            rich_help_panel=MODELS,
        ),
    ] = None,
    opponents: Annotated[
        str | None,
        typer.Option(
            "--opponents",
            metavar="NAMES",
            help="Against whom; by default the opponents of these tables. None in a world of one "
            "player.",
            rich_help_panel=MODELS,
        ),
    ] = None,
    games: play.Games = 100,
    mirror: Annotated[
        bool | None,
        typer.Option(
            "--mirror/--no-mirror",
            help="Play every deal a second time with the hidden things swapped; by default so in "
            "worlds of two players.",
            rich_help_panel=QUESTIONS,
        ),
    ] = None,
    epochs: play.Epochs = 1,
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference",
            metavar="NAME",
            help="With whose decisions those of players are compared; by default with those of the "
            "paper's reference, 'none' for nobody's.",
            rich_help_panel=MODELS,
        ),
    ] = None,
    asking: DecidingOptions,
    calling: CallOptions,
    running: RunOptions,
    out: play.Out = None,
    retry_failed: play.Retry = False,
    history: play.HistoryAt = None,
    as_json: options.AsJson = False,
) -> None:
    """Let players play every opponent, and print a paper's tables with the figures beside.

    In a world of one player each plays alone.

    The same command goes on with its own run. Several worlds are a run each: folders within --out,
    or runs of a store.
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
            "players": () if players is None else options.names_in("--players", players),
            "opponents": () if opponents is None else options.names_in("--opponents", opponents),
            "games": games,
            "epochs": epochs,
            "options": running,
            "calls": calling,
            **asking.fields(None),
        }
        if mirror is not None and (len(worlds) == 1 or players_of(one) > 1):
            how["mirror"] = mirror
        if reference is not None:
            how["reference"] = reference_of(one, reference, asking.seed)
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
                raise typer.Exit(play.INTERRUPTED) from None
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
        for title, table in tables(view):
            echo(title)
            echo_table(table)
        for line in notes(view):
            echo(line)
    for line in found.left_out:
        echo(f"left out: {line}")
    if found.views:
        for line in found.run.lines():
            echo(line)
        if found.run.place is not None:
            echo(f"Results and traces are in {found.run.place}.")
    else:
        echo_report(found.run)
