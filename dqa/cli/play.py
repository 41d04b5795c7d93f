"""``dqa play``: a player plays games of a world, against an opponent or alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from dqa.cli import options
from dqa.cli.bundles import with_options
from dqa.cli.completion import by_name
from dqa.cli.evaluate import complain, leave
from dqa.cli.help import MODELS, OUTPUT, QUESTIONS
from dqa.cli.output import echo, echo_json, echo_report
from dqa.cli.progress import Progress
from dqa.cli.resuming import given_by
from dqa.cli.shared_bundles import DecidingOptions
from dqa.evaluation.options import CallOptions, RunOptions

if TYPE_CHECKING:
    from dqa.api.runs import Run

INTERRUPTED = 130
"""As of any program that Ctrl-C ended."""

World = Annotated[
    str | None,
    typer.Option(
        "--world",
        metavar="NAME",
        help="What is played; 'dqa list --worlds' has the worlds.",
        autocompletion=by_name("world"),
        rich_help_panel=QUESTIONS,
    ),
]
Games = Annotated[
    int,
    typer.Option(
        "--games",
        metavar="N",
        min=1,
        help="How many deals; all pairs play the same ones.",
        rich_help_panel=QUESTIONS,
    ),
]
Reference = Annotated[
    str | None,
    typer.Option(
        "--reference",
        metavar="NAME",
        help="A program that plays the world, with which the player's decisions are compared: "
        "the share that chooses as it does is the rational degree.",
        rich_help_panel=MODELS,
    ),
]
Epochs = Annotated[
    int,
    typer.Option(
        "--epochs",
        metavar="N",
        min=1,
        help="How often each game is played, with the seeds that follow --seed for what players "
        "draw; the deals stay.",
        rich_help_panel=QUESTIONS,
    ),
]
Out = Annotated[
    str | None,
    typer.Option(
        "--out",
        metavar="DIR|STORE",
        help="Folder for results, traces and settings; or a store, runs.db or a database's URL, "
        "with #NAME for the run. The same command goes on with it.",
        rich_help_panel=OUTPUT,
    ),
]
Resume = Annotated[
    str | None,
    typer.Option(
        "--resume",
        metavar="RUN",
        help="Go on with this run, as it began; needs no other option.",
        rich_help_panel=OUTPUT,
    ),
]
HistoryAt = Annotated[
    str | None,
    typer.Option(
        "--history",
        metavar="FILE|URL",
        help="The database of all events, which players read; by default beside the run. One a "
        "run: games are numbered from 1 in it.",
        rich_help_panel=OUTPUT,
    ),
]
Retry = Annotated[
    bool,
    typer.Option(
        "--retry-failed",
        help="Play again what a failing server or a bug ended, of a run in a store; --resume does.",
        rich_help_panel=OUTPUT,
    ),
]


@with_options(asking=DecidingOptions, calling=CallOptions, running=RunOptions)
def play(  # noqa: PLR0913  (one parameter an option)
    *,
    context: typer.Context,
    world: World = None,
    player: Annotated[
        str | None,
        typer.Option(
            "--player",
            metavar="NAMES",
            help="Who plays: a program of the world or a decider, NAME@MODEL for one with a model "
            "of its own; several separated by commas.",
            rich_help_panel=MODELS,
        ),
    ] = None,
    opponent: Annotated[
        str | None,
        typer.Option(
            "--opponent",
            metavar="NAMES",
            help="Against whom; of several, every player plays each. None in a world of one "
            "player.",
            rich_help_panel=MODELS,
        ),
    ] = None,
    games: Games = 100,
    mirror: Annotated[
        bool,
        typer.Option(
            "--mirror",
            help="Play every deal a second time with the hidden things swapped; both are one unit.",
            rich_help_panel=QUESTIONS,
        ),
    ] = False,
    epochs: Epochs = 1,
    reference: Reference = None,
    asking: DecidingOptions,
    calling: CallOptions,
    running: RunOptions,
    out: Out = None,
    resume: Resume = None,
    retry_failed: Retry = False,
    history: HistoryAt = None,
    as_json: options.AsJson = False,
) -> None:
    """Let a player play games, and print what it got, with intervals.

    A world of two players takes an opponent, a world of one takes none ('dqa list --worlds').

    Settings of the world are given as --set WORLD.NAME=VALUE, those of a decider as ever. Exit code
    1 where a game did not come to its end; the last lines say how the run goes on.
    """
    from dqa.api.playing import play as play_all

    how: dict[str, Any]
    if resume is not None:
        how = options_of_resumed(resume, given_by(context))
    else:
        how = {
            "world": world,
            "players": () if player is None else options.names_in("--player", player),
            "opponents": () if opponent is None else options.names_in("--opponent", opponent),
            "games": games,
            "mirror": mirror,
            "epochs": epochs,
            "reference": reference,
            "options": running,
            "calls": calling,
            **asking.fields(None),
        }
    kept = out if resume is None else resume
    with Progress(verbose=False) as progress:
        try:
            run = play_all(
                **how,
                out=kept,
                resume=resume is not None,
                retry_failed=retry_failed,
                history=history,
                watcher=progress,
            )
        except KeyboardInterrupt:
            leave(progress, kept, games=True)
            raise typer.Exit(INTERRUPTED) from None
    if as_json:
        echo_json(run.figures().to_json())
    else:
        echo_report(run)
    _tell(run, as_json=as_json)


def options_of_resumed(run: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return how a run that goes on goes about its work: as it did, but for what is given now."""
    from dqa.evaluation.stores.places import place_of
    from dqa.evaluation.stores.reading import open_reader

    record = open_reader(place_of(run)).resumable()[0]
    changed: dict[str, Any] = {}
    for name, recorded in (("options", record.options), ("calls", record.calls)):
        fields = {field: given[field] for field in type(recorded).model_fields if field in given}
        changed[name] = recorded.changed(**fields)
    return changed


def _tell(run: Run, *, as_json: bool) -> None:
    """Say what failed and how the run goes on, or else what can be looked at."""
    from dqa.report.hints import command

    if run.made == 0 and run.place is not None:
        echo(f"{run.place} was played already: nothing is played again.", err=True)
    complain(run)
    if run.place is None or as_json:
        return
    first = run.results[0]
    shown = ("--decider", first.decider)
    echo("What next?", err=True)
    echo("  One game, move by move:", err=True)
    echo(f"    {command('trace', str(run.place), first.question, *shown)}", err=True)
    echo("  All runs beside this one:", err=True)
    echo(f"    {command('runs', run.place.around)}", err=True)
