"""``dqa play``: a player plays games of a world, against an opponent or alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from dqa.cli import options
from dqa.cli.completion import by_name
from dqa.cli.evaluate import INTERRUPTED, finish, leave
from dqa.cli.fields import DECIDING, with_options
from dqa.cli.help import MODELS, OUTPUT, QUESTIONS
from dqa.cli.options import names_in, option
from dqa.cli.output import echo
from dqa.cli.progress import Progress
from dqa.cli.resuming import given_by
from dqa.evaluation.options import CallOptions, RunOptions

if TYPE_CHECKING:
    from dqa.api.runs import Run

World = Annotated[
    str | None,
    option(
        "--world NAME",
        QUESTIONS,
        "World of the games, as 'dqa list --worlds' shows it.",
        complete=by_name("world"),
    ),
]
Games = Annotated[
    int, option("--games N", QUESTIONS, "How many deals; all pairs play the same ones.", least=1)
]
Reference = Annotated[
    str | None,
    option(
        "--reference NAME",
        MODELS,
        "A program of the world: the share of the player's decisions that equal its own is the "
        "rational degree. A tournament takes the paper's by default, and none for 'none'.",
    ),
]
Epochs = Annotated[
    int,
    option(
        "--epochs N",
        QUESTIONS,
        "How often each game is played, with the seeds that follow --seed for the players; the "
        "deals stay.",
        least=1,
    ),
]
HistoryAt = Annotated[
    str | None,
    option(
        "--history FILE|URL",
        OUTPUT,
        "The database of all events, which players read; by default next to the run. One per run: "
        "games are numbered from 1 in it.",
    ),
]


@with_options(deciding=DECIDING, calling=CallOptions, running=RunOptions)
def play(  # noqa: PLR0913  (one parameter per option)
    *,
    context: typer.Context,
    world: World = None,
    player: Annotated[str | None, option("--player NAMES", MODELS)] = None,
    opponent: Annotated[str | None, option("--opponent NAMES", MODELS)] = None,
    games: Games = 100,
    mirror: Annotated[bool, option("--mirror", QUESTIONS)] = False,
    epochs: Epochs = 1,
    reference: Reference = None,
    deciding: dict[str, Any],
    calling: CallOptions,
    running: RunOptions,
    out: options.Out = None,
    resume: options.Resume = None,
    retry_failed: options.RetryFailed = False,
    history: HistoryAt = None,
    as_json: options.AsJson = False,
) -> None:
    """Let a player play games, and print its results with intervals.

    A world of two players takes an opponent, a world of one takes none ('dqa list --worlds').

    Settings of the world are given as --set WORLD.NAME=VALUE, those of a decider as usual. Exit
    code 1 if a game was not finished; the last lines say how to resume the run.

    Parameters
    ----------
    player
        Players, separated by commas: programs of the world or deciders, NAME@MODEL for one with its
        own model.
    opponent
        Opponents, separated by commas; every player plays each. None in a world of one player.
    mirror
        Play every deal a second time with the hidden things swapped; both are one unit.
    """
    from dqa.api.playing import play as play_all

    if resume is not None:
        how = options_of_resumed(resume, given_by(context))
    else:
        how = {
            "world": world,
            "players": names_in("--player", player),
            "opponents": names_in("--opponent", opponent),
            "games": games,
            "mirror": mirror,
            "epochs": epochs,
            "reference": reference,
            "options": running,
            "calls": calling,
            **deciding,
        }
    stored = out if resume is None else resume
    with Progress(verbose=False) as progress:
        try:
            run = play_all(
                **how,
                out=stored,
                resume=resume is not None,
                retry_failed=retry_failed,
                history=history,
                watcher=progress,
            )
        except KeyboardInterrupt:
            leave(progress, stored, games=True)
            raise typer.Exit(INTERRUPTED) from None
    finish(run, as_json=as_json, games=True)
    if run.place is not None and not as_json:
        _print_next_steps(run)


def options_of_resumed(run: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return how a run that goes on goes about its work: as it did, but for what is given now."""
    from dqa.evaluation.location import locate_run
    from dqa.evaluation.stored_runs import RunReader

    record = RunReader(locate_run(run)).record
    changed: dict[str, Any] = {}
    for name, recorded in (("options", record.options), ("calls", record.calls)):
        fields = {field: given[field] for field in type(recorded).model_fields if field in given}
        changed[name] = recorded.changed(**fields)
    return changed


def _print_next_steps(run: Run) -> None:
    from dqa.report.hints import command

    if run.place is None:
        return
    first = run.results[0]
    echo("What next?", err=True)
    echo("  One game, move by move:", err=True)
    shown = command("trace", str(run.place), first.question, "--decider", first.decider)
    echo(f"    {shown}", err=True)
    echo("  All runs beside this one:", err=True)
    echo(f"    {command('runs', run.place.around)}", err=True)
