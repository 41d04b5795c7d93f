"""``dqa eval``, ``play``, ``tournament`` and ``train``: runs of questions and games."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from annotated_types import Ge

from dqa.cli import options
from dqa.cli.fields import EVALUATING, PLAYING, given_by, spec_fields
from dqa.cli.options import names_in, with_options
from dqa.cli.output import echo, show
from dqa.cli.progress import Progress
from dqa.cli.questions import AnyQuestionOptions
from dqa.core.errors import BudgetSpentError, UsageError
from dqa.core.text import counted
from dqa.evaluation.options import CallOptions, RunOptions
from dqa.evaluation.play_spec import PlaySpec
from dqa.evaluation.record import RunRecord
from dqa.evaluation.spec import RunSpec

if TYPE_CHECKING:
    from dqa.api.runs import Run
    from dqa.loaders.sources import QuestionSource
    from dqa.report.table import Table
    from dqa.report.tables import Evaluation

INTERRUPTED = 130
"""The exit code of a program that Ctrl-C ended."""
_SOURCES = tuple(one.name for one in fields(AnyQuestionOptions))
_READING = ("scenarios", "limit", "seed", "strict")
_FIELDS = {name: name for name in (*_READING, "scenario")}
_FIELDS |= {"own": "file", "database": "databases"}
"""The field of a source of questions that each option sets."""
_REMOVED = {
    "budget_tokens": "budget_cost",
    "budget_cost": "budget_tokens",
    "record": "replay",
    "replay": "record",
    "engine": "ray_address",
}
"""Options that exclude each other. A new value of the first option removes the recorded value of
the second option."""


@with_options(EVALUATING, CallOptions, AnyQuestionOptions, RunOptions)
def evaluate(  # noqa: PLR0913  (one parameter per option)
    *,
    ctx: typer.Context,
    scenarios: str | None = None,
    limit: options.CountOrNone = None,
    spec: Path | None = None,
    strict: bool = False,
    storing: options.ResumingOptions,
    verbose: options.Verbose = False,
    as_json: options.AsJson = False,
) -> None:
    """Ask deciders questions about databases, and print how often each decider was right.

    The exit code is 1 if a decision could not be judged. The last lines then show the command that
    resumes the run.

    Parameters
    ----------
    scenarios : NAMES
        Scenarios (names or folders), separated by commas. By default, all scenarios of the release
        or folder; with --generate, all scenarios that have a simulator.
    limit
        Maximum number of questions from each scenario.
    spec
        YAML or JSON file with the settings of the run. 'dqa data formats spec' prints its fields.
        Options on the command line override this file.
    strict
        Stop at the first defect in the data instead of fixing it.
    """
    from dqa.api.running import evaluate as evaluate_all

    del scenarios, limit, strict  # `given_by` reads them from the context
    set_options = given_by(ctx)
    if spec is not None and storing.resume is not None:
        resumed = storing.resume
        raise UsageError(f"The run {resumed} (--resume) already has a spec: leave out --spec.")
    record = _record_of(storing)
    base = record.spec if spec is None else RunSpec.read(spec)
    how = _arguments(set_options, record, base)
    if not isinstance(base, PlaySpec):  # `evaluate` refuses games
        questions = _questions(base, set_options)
        how["what"] = questions if base is None else base.changed(questions=questions)
    stored = storing.arguments()
    with _progress_of(stored["out"], verbose=verbose) as progress:
        run = evaluate_all(**how, **stored, watcher=progress)
    _finish(run, as_json=as_json)


def _questions(base: RunSpec | None, set_options: Mapping[str, Any]) -> QuestionSource:
    """Return the source of the questions.

    Options on the command line change or replace the source in the spec.
    """
    from dqa.loaders.sources import OwnQuestions

    named = {name: set_options[name] for name in _SOURCES if name in set_options}
    changes = {_FIELDS[name]: set_options[name] for name in _FIELDS.keys() & set_options.keys()}
    if "scenarios" in changes:
        changes["scenarios"] = names_in("--scenarios", changes["scenarios"])
    if base is not None:
        stored, own = base.questions, named.keys() & _FIELDS.keys()
        is_same = isinstance(stored, OwnQuestions) or not own
        if is_same and named.keys() <= own:
            known = type(stored).model_fields.keys()
            return stored.changed(**{name: changes[name] for name in known & changes.keys()})
        before = {"scenarios": stored.scenarios, "limit": stored.limit, "seed": base.seed}
        changes = before | changes
    given = {name: changes[name] for name in _READING if name in changes}
    return AnyQuestionOptions(**named).source(**given)


@with_options(PLAYING, CallOptions, RunOptions)
def play(
    *,
    ctx: typer.Context,
    player: str | None = None,
    opponent: str | None = None,
    storing: options.ResumingOptions,
    as_json: options.AsJson = False,
) -> None:
    """Play games, and print each player's results with confidence intervals.

    A world is a game, such as poker or a negotiation; 'dqa list --worlds' shows all worlds. A world
    for two players needs --opponent; a world for one player does not accept it.

    --set WORLD.NAME=VALUE changes a setting of the world. The exit code is 1 if a game was not
    finished. The last lines then show the command that resumes the run.

    Parameters
    ----------
    player : NAMES
        Players, separated by commas. A player is a program of the world or a decider. NAME@MODEL
        gives a decider its own chat model.
    opponent : NAMES
        Opponents, separated by commas. Every player plays against every opponent.
    """
    from dqa.api.games import play as play_all

    record, stored = _record_of(storing), storing.arguments()
    with _progress_of(stored["out"], games=True) as progress:
        run = play_all(
            players=names_in("--player", player),
            opponents=names_in("--opponent", opponent),
            **_arguments(given_by(ctx), record, record.spec),
            **stored,
            watcher=progress,
        )
    _finish(run, as_json=as_json, games=True)


@with_options(PLAYING, CallOptions, RunOptions)
def tournament(  # noqa: PLR0913  (one parameter per option)
    *,
    ctx: typer.Context,
    player: str | None = None,
    opponent: str | None = None,
    mirror: bool | None = None,
    storing: options.StoringOptions,
    as_json: options.AsJson = False,
) -> None:
    """Play every player against every opponent, and compare the results with a paper's tables.

    In a world for one player, each player plays alone. With --out, the same command resumes an
    interrupted tournament.

    Parameters
    ----------
    player : NAMES
        Players, separated by commas. By default, all installed players of the paper's tables.
    opponent : NAMES
        Opponents, separated by commas. By default, the opponents of the paper's tables. A world
        for one player does not accept this option.
    mirror
        Play every deal twice, the second time with the hidden information of the two players
        swapped. This is the default in worlds for two players.
    """
    del mirror  # `given_by` reads it from the context
    from dqa.api.games import play_tournament
    from dqa.report.compare_tables import difference_table
    from dqa.report.paper_tables import paper_notes, paper_tables

    how = _arguments(given_by(ctx), RunRecord(spec=None), None)
    if "world" not in how:
        raise UsageError("Name a world (--world); 'dqa list --worlds' describes them.")
    if how.get("reference") == "none":
        how["reference"] = None
    with _progress_of(storing.out, games=True) as progress:
        found = play_tournament(
            players=names_in("--player", player),
            opponents=names_in("--opponent", opponent),
            **how,
            **asdict(storing),
            watcher=progress,
        )
    figures = found.run.figures()
    shown: list[str | Table] = []
    for view in found.views:
        shown += [*paper_tables(view), *paper_notes(view)]
    if found.views and found.run.games and found.run.games.differences:
        shown.append(difference_table(found.run.games))
    shown += [f"left out: {line}" for line in found.left_out]
    shown += described(figures, tables=not found.views)
    result = {"evaluation": figures, "papers": found.views, "left_out": found.left_out}
    show([result], shown, as_json=as_json)
    _complain(found.run)


def train(  # noqa: PLR0913  (one parameter per option)
    *,
    world: str,
    player: str | None = None,
    seed: Annotated[int, Ge(0)] = 0,
    budget: str = "small",
    out: Path | None = None,
    as_json: options.AsJson = False,
) -> None:
    """Train players of a world, and store them for later games.

    Parameters
    ----------
    world : NAME
        World to train for. 'dqa list --worlds' shows all worlds.
    player : NAMES
        Players, separated by commas. By default, all players of the world that can be trained.
    seed
        Random seed of the training. The same seed gives the same player.
    budget : small|full|N
        Length of the training: 'small', 'full', or a number of iterations. A game that must first
        train a player uses 'small'.
    out
        New file (.npz) for one player. The player is also stored in the user's cache.
    """
    from dqa.api.games import learning_players, train_player

    names = names_in("--player", player) or learning_players(world)
    if out is not None and len(names) != 1:
        raise UsageError(f"--out stores one player, not {len(names)}: select one with --player.")
    with Progress() as watcher:
        trained = [
            train_player(world, name, seed=seed, budget=budget, out=out, watcher=watcher)
            for name in names
        ]
    lines = (
        f"{one.player} was {'already ' if one.was_cached else ''}trained: {one.iterations} "
        f"iterations, seed {seed}, {one.file}"
        for one in trained
    )
    show(trained, lines, as_json=as_json)


def _record_of(storing: options.ResumingOptions) -> RunRecord:
    """Return the record of the run to resume, or a record with default options for a new run."""
    from dqa.evaluation.location import locate_run
    from dqa.evaluation.stored_runs import RunReader

    if storing.resume is None:
        return RunRecord(spec=None)
    location = locate_run(storing.resume)
    if storing.out is not None:
        raise UsageError(f"The results are stored in {location} (--resume): leave out --out.")
    record = RunReader(location).record
    record.require_resumable(str(location))
    return record


def _arguments(
    set_options: Mapping[str, Any], record: RunRecord, base: RunSpec | PlaySpec | None
) -> dict[str, Any]:
    """Return the arguments of a run: the recorded options, replaced by options of the command."""
    found = spec_fields(set_options, base)
    removed = {_REMOVED[name]: None for name in _REMOVED.keys() & set_options.keys()}
    changes = {**removed, **set_options}
    for name, recorded in (("options", record.options), ("calls", record.calls)):
        known = type(recorded).model_fields.keys() & changes.keys()
        found[name] = recorded.changed(**{field: changes[field] for field in known})
    return found


@contextmanager
def _progress_of(
    out: str | None, *, verbose: bool = False, games: bool = False
) -> Iterator[Progress]:
    """Show the progress of a run.

    After Ctrl-C, print how to resume the run, and exit with code 130.

    Parameters
    ----------
    out
        Location of the run; None if it is not stored.
    verbose
        Whether to show all defects of the data.
    games
        Whether the run plays games.
    """
    progress = Progress(verbose=verbose)
    try:
        with progress:
            yield progress
    except KeyboardInterrupt:
        what, verb = ("game", "played") if games else ("decision", "made")
        line = f"Interrupted: {progress.done} of {counted(progress.total, what)} were {verb}"
        echo(f"{line} and {_how_to_resume(out, games=games)}", err=True)
        sys.stdout.flush()
        os._exit(INTERRUPTED)  # a worker may wait for a reply, or be inside a driver's native code


def _how_to_resume(out: str | None, *, games: bool) -> str:
    """Return a text: where an interrupted run is stored, and which command resumes it."""
    if not out:
        return "are lost; --out DIR stores them."
    from dqa.evaluation.location import locate_run
    from dqa.report.hints import resume_command

    location = locate_run(out)
    how = f"'{resume_command(location, games=games)}'" if location.name else "The same command"
    return f"are stored. {how} resumes the run."


def _finish(run: Run, *, as_json: bool, games: bool = False) -> None:
    """Print the results of a run, its failures, and the next steps."""
    from dqa.report.hints import next_steps

    if run.made == 0 and run.location is not None:
        done = "all games were already played" if games else "all decisions were already made"
        echo(f"{run.location}: {done}. The stored results are shown.", err=True)
    figures = run.figures()
    show(figures, described(figures), as_json=as_json)
    _complain(run)
    if run.location is not None and not as_json:
        echo(*next_steps(run.location, run.results, games=games), err=True)


def described(run: Evaluation, *, tables: bool = True) -> Iterator[str | Table]:
    """Yield what to print of a run: its tables, the lines below them, and its location."""
    yield from run.tables() if tables else ()
    yield from run.lines()
    if run.out is not None:
        yield f"Results and traces are in {run.out}."


def _complain(run: Run) -> None:
    """Print failures, and how to resume the run, on stderr. If anything failed, exit with code 1.

    Raises
    ------
    BudgetSpentError
        The run ended because its budget was spent.
    """
    if lines := run.failures():
        echo(*lines, err=True)
    further = run.how_to_resume()
    if run.stopped_by is not None:
        raise BudgetSpentError(f"{run.stopped_by} {further}")
    if further is not None:
        echo(f"not judged: {further}", err=True)
        raise typer.Exit(1)
