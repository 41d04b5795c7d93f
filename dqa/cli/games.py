"""``dqa play``, ``dqa tournament`` and ``dqa train``: games of worlds, and players that learn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dqa.cli import options
from dqa.cli.completion import by_name
from dqa.cli.fields import PLAYING, with_options
from dqa.cli.help import LIMITS, MODELS, OUTPUT, QUESTIONS
from dqa.cli.options import names_in, option
from dqa.cli.output import echo, echo_json, echo_table
from dqa.cli.running import (
    changed_options,
    complain,
    finish,
    given_by,
    print_run,
    progress_of,
    recorded,
)
from dqa.core.errors import UsageError
from dqa.evaluation.options import CallOptions, RunOptions

if TYPE_CHECKING:
    from dqa.api.tournaments import Tournament
    from dqa.api.training import TrainedPlayer

HistoryAt = Annotated[
    str | None,
    option(
        "--history FILE|URL",
        OUTPUT,
        "The database of all events, which players read; by default next to the run. One per run: "
        "games are numbered from 1 in it.",
    ),
]


@with_options(playing=PLAYING, calling=CallOptions, running=RunOptions)
def play(  # noqa: PLR0913  (one parameter per option)
    *,
    context: typer.Context,
    player: Annotated[str | None, option("--player NAMES", MODELS)] = None,
    opponent: Annotated[str | None, option("--opponent NAMES", MODELS)] = None,
    playing: dict[str, Any],
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
    """
    from dqa.api.playing import play as play_all

    if resume is not None:
        record = recorded(resume)
        how = changed_options(record.options, record.calls, given_by(context))
    else:
        players, opponents = names_in("--player", player), names_in("--opponent", opponent)
        how = {"players": players, "opponents": opponents, "options": running, "calls": calling}
        how |= playing
    stored = out if resume is None else resume
    with progress_of(stored, games=True) as progress:
        run = play_all(
            **how,
            out=stored,
            resume=resume is not None,
            retry_failed=retry_failed,
            history=history,
            watcher=progress,
        )
    finish(run, as_json=as_json, games=True)


@with_options(playing=PLAYING, calling=CallOptions, running=RunOptions)
def tournament(  # noqa: PLR0913  (one parameter per option)
    *,
    players: Annotated[str | None, option("--players NAMES", MODELS)] = None,
    opponents: Annotated[str | None, option("--opponents NAMES", MODELS)] = None,
    mirror: Annotated[bool | None, option("--mirror/--no-mirror", QUESTIONS)] = None,
    playing: dict[str, Any],
    calling: CallOptions,
    running: RunOptions,
    out: options.Out = None,
    retry_failed: options.RetryFailed = False,
    history: HistoryAt = None,
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
    from dqa.api import tournaments

    world, reference = playing.pop("world"), playing.pop("reference")
    del playing["mirror"]
    worlds = (world,) if world is not None else tournaments.tournament_worlds()
    if not worlds:
        raise UsageError("No installed package has tables of games: name what is played (--world).")
    if len(worlds) > 1 and (players or opponents or history):
        raise UsageError(
            f"--players, --opponents and --history are of one world: give --world, one of "
            f"{', '.join(worlds)}."
        )
    who = (names_in("--players", players), names_in("--opponents", opponents))
    made: list[Tournament] = []
    for one in worlds:
        place = tournaments.place_for(out, one, several=len(worlds) > 1)
        if mirror is not None and (len(worlds) == 1 or tournaments.players_of(one) > 1):
            playing["mirror"] = mirror
        if reference is not None:
            playing["reference"] = None if reference == "none" else reference
        with progress_of(None if place is None else str(place), games=True) as progress:
            found = tournaments.play_tournament(
                one,
                *who,
                **playing,
                options=running,
                calls=calling,
                out=place,
                retry_failed=retry_failed,
                history=history,
                watcher=progress,
            )
        made.append(found)
        if not as_json:
            _print_tournament(found)
    if as_json:
        echo_json(
            [
                {"evaluation": one.run.figures(), "papers": one.views, "left_out": one.left_out}
                for one in made
            ]
        )
    for found in made:
        complain(found.run)


def _print_tournament(found: Tournament) -> None:
    from dqa.report.paper_tables import paper_notes, paper_tables

    for view in found.views:
        for table in paper_tables(view):
            echo_table(table)
        echo(*paper_notes(view))
    for line in found.left_out:
        echo(f"left out: {line}")
    print_run(found.run, tables=not found.views)


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
    from dqa.api.training import learning_players, train_player, train_players
    from dqa.cli.progress import Progress

    names = names_in("--player", player) or learning_players(world)
    if out is not None and len(names) != 1:
        raise UsageError("--out takes one player: name it by --player.")

    def each() -> Iterator[TrainedPlayer]:
        if workers > 1 and len(names) > 1:
            yield from train_players(world, names, seed=seed, budget=budget, workers=workers)
            return
        with Progress() as watcher:
            for name in names:
                yield train_player(world, name, seed=seed, budget=budget, out=out, watcher=watcher)

    trained = []
    for one in each():
        trained.append(one)
        if not as_json:
            what = "is kept" if one.was_kept else "was trained"
            echo(f"{one.player} {what}: {one.iterations} iterations, seed {one.seed}, {one.file}")
    if as_json:
        echo_json(trained)
