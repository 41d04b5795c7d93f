"""``dqa eval``: let deciders decide questions on databases, and score every decision."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dqa.cli import options
from dqa.cli.fields import EVALUATING, with_options
from dqa.cli.help import QUESTIONS
from dqa.cli.options import option
from dqa.cli.output import echo, echo_json, echo_report
from dqa.cli.progress import Progress
from dqa.cli.questions import AnyQuestionOptions, options_of
from dqa.cli.resuming import given_by, how_to_follow, how_to_resume
from dqa.core.errors import BudgetSpentError, UsageError
from dqa.core.text import counted
from dqa.evaluation.options import CallOptions, RunOptions
from dqa.evaluation.spec import RunSpec

if TYPE_CHECKING:
    from dqa.api.runs import Run

INTERRUPTED = 130
"""As of any program that Ctrl-C ended."""


@with_options(
    spec_fields=EVALUATING, calling=CallOptions, questions=AnyQuestionOptions, running=RunOptions
)
def evaluate(  # noqa: PLR0913  (one parameter per option)
    *,
    context: typer.Context,
    scenarios: options.Scenarios = None,
    questions: AnyQuestionOptions,
    limit: Annotated[int | None, option("--limit N", QUESTIONS, least=1)] = None,
    spec: Annotated[Path | None, option("--spec FILE", QUESTIONS)] = None,
    spec_fields: dict[str, Any],
    calling: CallOptions,
    running: RunOptions,
    strict: options.Strict = False,
    out: options.Out = None,
    resume: options.Resume = None,
    retry_failed: options.RetryFailed = False,
    verbose: options.Verbose = False,
    as_json: options.AsJson = False,
) -> None:
    """Let deciders decide questions on databases, and print how often each was right.

    Exit code 1 if a decision could not be judged; the last lines say how to resume the run.

    Parameters
    ----------
    limit
        Most questions of each scenario.
    spec
        What to evaluate, as YAML or JSON ('dqa formats spec' has its fields); options on the
        command line take precedence.
    """
    from dqa.api.evaluating import evaluate as evaluate_all

    given = given_by(context)
    if {"model", "models"} <= given.keys():
        raise UsageError("Give --model or --models, not both.")
    if resume is not None:
        how = how_to_resume(resume, given)
    elif spec is not None:
        how = how_to_follow(spec, given)
    else:
        named = options.scenarios_in(scenarios)
        seed = spec_fields["seed"]
        source = questions.source(seed, named, limit, strict=strict, decides=True)
        how = {"what": source, "options": running, "calls": calling, **spec_fields}
    stored = out if resume is None else resume
    with Progress(verbose=verbose) as progress:
        try:
            run = evaluate_all(
                **how,
                out=stored,
                resume=resume is not None,
                retry_failed=retry_failed,
                watcher=progress,
            )
        except KeyboardInterrupt:
            leave(progress, stored)
            raise typer.Exit(INTERRUPTED) from None
    finish(run, as_json=as_json)
    if not as_json:
        _print_next_steps(run)


def finish(run: Run, *, as_json: bool, games: bool = False) -> None:
    """Print the results of a run, and what failed."""
    if run.made == 0 and run.place is not None:
        done = (
            "was played already: nothing is played"
            if games
            else "was made already: nothing is asked"
        )
        echo(f"{run.place} {done} again.", err=True)
    if as_json:
        echo_json(run.figures().to_json())
    else:
        echo_report(run)
    complain(run)


def leave(progress: Progress, out: str | None, *, games: bool = False) -> None:
    """Print how to resume an interrupted run, and end it even if it waits for a reply."""
    what, made = ("game", "played") if games else ("decision", "made")
    made = f"Interrupted: {progress.done} of {counted(progress.total, what)} were {made}"
    if out is None:
        echo(f"{made} and are lost; --out DIR would have kept them.", err=True)
    else:
        from dqa.evaluation.location import locate_run
        from dqa.report.hints import resume_command

        place = locate_run(out)
        how = f"'{resume_command(place, games=games)}'"
        if place.name is None:
            how = "The same command"
        echo(f"{made} and are kept. {how} goes on.", err=True)
    if any(thread.name.startswith("dqa-worker") for thread in threading.enumerate()):
        # A worker inside a driver's native code may crash an orderly shutdown of the interpreter.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(INTERRUPTED)


def complain(run: Run) -> None:
    """Print on stderr what failed and how to resume; exit code 1 if anything failed."""
    from dqa.report.tables import crash_lines, failures

    for line in failures(run.results):
        echo(f"failed: {line}", err=True)
    for line in crash_lines(run.crashed, run.place, repeated=run.is_repeated):
        echo(f"crashed: {line}", err=True)
    further = run.how_to_go_on()
    if run.stopped_by is not None:
        raise BudgetSpentError(f"{run.stopped_by} {further}")
    if further is not None:
        echo(f"not judged: {further}", err=True)
        raise typer.Exit(1)


def _print_next_steps(run: Run) -> None:
    """Print on stderr what can be done with a stored run that has no failures."""
    from dqa.report.next_steps import next_steps

    if run.place is not None and not any(result.outcome.repeated for result in run.results):
        named = options_of(run.spec.questions) if isinstance(run.spec, RunSpec) else ()
        for line in next_steps(run.place, run.results, named or None):
            echo(line, err=True)
