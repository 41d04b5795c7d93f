"""Runs of questions and games on the command line: progress, interrupts, resuming, results."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from dqa.cli.output import echo, echo_json, echo_table
from dqa.cli.progress import Progress
from dqa.core.errors import BudgetSpentError
from dqa.core.text import counted

if TYPE_CHECKING:
    from dqa.api.runs import Run
    from dqa.evaluation.options import CallOptions, RunOptions
    from dqa.evaluation.record import RunRecord

INTERRUPTED = 130
"""The exit code of a program that Ctrl-C ended."""
_TOGETHER = (("budget_tokens", "budget_cost"), ("record", "replay"))
"""Options that replace each other."""


def given_by(context: typer.Context) -> dict[str, Any]:
    """Return the options of the command line, without defaults, by parameter."""
    return {
        name: value
        for name, value in context.params.items()
        if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    }


def recorded(run: str) -> RunRecord:
    """Return the record of a run; `UsageError` if there is none."""
    from dqa.evaluation.location import locate_run
    from dqa.evaluation.stored_runs import RunReader

    return RunReader(locate_run(run)).record


def changed_options(
    options: RunOptions, calls: CallOptions, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return how a run works and calls models, with the options of the command line."""
    changed: dict[str, Any] = {}
    for name, record in (("options", options), ("calls", calls)):
        known = type(record).model_fields
        names = {field for field in known if field in given}
        if "engine" in given and "ray_address" in known:  # the address is that of another engine
            names.add("ray_address")
        for group in _TOGETHER:
            if names & set(group):
                names |= set(group)
        changed[name] = record.changed(**{field: given.get(field) for field in names})
    return changed


@contextmanager
def progress_of(
    out: str | None, *, verbose: bool = False, games: bool = False
) -> Iterator[Progress]:
    """Show the progress of a run; Ctrl-C prints how to resume it and ends the program.

    Parameters
    ----------
    out
        Where the run is stored.
    verbose
        Whether to print every defect of the data.
    games
        Whether it is a run of games.
    """
    with Progress(verbose=verbose) as progress:
        try:
            yield progress
        except KeyboardInterrupt:
            _leave(progress, out, games=games)


def _leave(progress: Progress, out: str | None, *, games: bool) -> NoReturn:
    """End the program even if a worker waits for a reply."""
    what, made = ("game", "played") if games else ("decision", "made")
    line = f"Interrupted: {progress.done} of {counted(progress.total, what)} were {made}"
    if out is None:
        echo(f"{line} and are lost; --out DIR would have kept them.", err=True)
    else:
        from dqa.evaluation.location import locate_run
        from dqa.report.hints import resume_command

        place = locate_run(out)
        how = f"'{resume_command(place, games=games)}'" if place.name else "The same command"
        echo(f"{line} and are kept. {how} goes on.", err=True)
    if any(thread.name.startswith("dqa-worker") for thread in threading.enumerate()):
        # A worker inside a driver's native code may crash an orderly shutdown of the interpreter.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(INTERRUPTED)
    raise typer.Exit(INTERRUPTED) from None


def finish(run: Run, *, as_json: bool, games: bool = False) -> None:
    """Print the results of a run, its failures, and the next steps."""
    if run.made == 0 and run.location is not None:
        done = "played already: nothing is played" if games else "made already: nothing is asked"
        echo(f"{run.location} was {done} again.", err=True)
    if as_json:
        echo_json(run.figures())
    else:
        print_run(run)
    complain(run)
    if not as_json:
        _print_next_steps(run)


def print_run(run: Run, *, tables: bool = True) -> None:
    """Print a run's tables, the lines below them, and where it is stored."""
    for table in run.tables() if tables else ():
        echo_table(table)
    for line in run.lines():
        echo(line)
    if run.location is not None:
        echo(f"Results and traces are in {run.location}.")


def complain(run: Run) -> None:
    """Print on stderr what failed and how to resume; exit code 1 if anything failed."""
    from dqa.report.tables import crash_lines, failures

    for line in failures(run.results):
        echo(f"failed: {line}", err=True)
    for line in crash_lines(run.crashed, run.location, repeated=run.is_repeated):
        echo(f"crashed: {line}", err=True)
    further = run.how_to_go_on()
    if run.stopped_by is not None:
        raise BudgetSpentError(f"{run.stopped_by} {further}")
    if further is not None:
        echo(f"not judged: {further}", err=True)
        raise typer.Exit(1)


def _print_next_steps(run: Run) -> None:
    """Print the next steps for a stored run without failures on stderr."""
    from dqa.cli.questions import options_of
    from dqa.evaluation.spec import RunSpec
    from dqa.report.hints import next_steps

    if run.location is not None:
        asked = options_of(run.spec.questions) if isinstance(run.spec, RunSpec) else None
        for line in next_steps(run.location, run.results, asked):
            echo(line, err=True)
