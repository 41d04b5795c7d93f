"""``dqa eval``: let deciders decide questions on databases, and score every decision."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dqa.cli import options
from dqa.cli.bundles import with_options
from dqa.cli.completion import by_model, by_name
from dqa.cli.help import DATABASES, MODELS, OUTPUT, QUESTIONS
from dqa.cli.output import echo, echo_json, echo_report
from dqa.cli.progress import Progress
from dqa.cli.resuming import each_of, given_by, how_to_follow, how_to_resume
from dqa.cli.shared_bundles import AnyQuestionOptions, DecidingOptions
from dqa.core.errors import BudgetSpentError
from dqa.core.text import counted
from dqa.evaluation.options import CallOptions, RunOptions

if TYPE_CHECKING:
    from dqa.api.runs import Run

_INTERRUPTED = 130


@with_options(
    asking=DecidingOptions,
    calling=CallOptions,
    questions=AnyQuestionOptions,
    running=RunOptions,
)
def evaluate(  # noqa: PLR0913  (one parameter an option)
    *,
    context: typer.Context,
    deciders: Annotated[
        str | None,
        typer.Option(
            "--deciders",
            metavar="NAMES",
            help="Deciders, separated by commas; by default those that packages name for it.",
            autocompletion=by_name("decider", listed=True),
            rich_help_panel=MODELS,
        ),
    ] = None,
    models: Annotated[
        str | None,
        typer.Option(
            "--models",
            metavar="NAMES",
            help="Several chat models in place of --model, separated by commas: every decider asks "
            "each of them.",
            autocompletion=by_model,
            rich_help_panel=MODELS,
        ),
    ] = None,
    epochs: Annotated[
        int,
        typer.Option(
            "--epochs",
            metavar="N",
            min=1,
            help="How often each question is asked, with the seeds that follow --seed.",
            rich_help_panel=QUESTIONS,
        ),
    ] = 1,
    scenarios: options.Scenarios = None,
    databases: Annotated[
        str | None,
        typer.Option(
            "--databases",
            metavar="NAMES",
            help="Where questions' databases are loaded, separated by commas: embedded ones by "
            "name, servers by URL, or by name with the URL in DQA_NAME_URL; by default "
            "sqlite,ladybug.",
            autocompletion=by_name("database", listed=True),
            rich_help_panel=DATABASES,
        ),
    ] = None,
    asking: DecidingOptions,
    calling: CallOptions,
    questions: AnyQuestionOptions,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            metavar="N",
            min=1,
            help="Most questions of each scenario.",
            rich_help_panel=QUESTIONS,
        ),
    ] = None,
    spec: Annotated[
        Path | None,
        typer.Option(
            "--spec",
            metavar="FILE",
            help="What to evaluate, as YAML or JSON ('dqa formats spec' has its fields); options "
            "beside it go first.",
            rich_help_panel=QUESTIONS,
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            metavar="DIR|STORE",
            help="New folder for results, traces and settings; or a store, runs.db or a database's "
            "URL, with #NAME for the run: there the same command goes on with it.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(
            "--resume",
            metavar="RUN",
            help="Go on with this run, as it began; needs no other option.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    retry_failed: Annotated[
        bool,
        typer.Option(
            "--retry-failed",
            help="Ask again what a failing server or a bug ended; --resume does.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    running: RunOptions,
    policy: options.Policy = None,
    rule_set: options.RuleSet = None,
    strict_official: Annotated[
        bool,
        typer.Option(
            "--strict-official",
            help="Only the official answer counts as right, no tie of the best.",
            rich_help_panel=QUESTIONS,
        ),
    ] = False,
    strict: options.Strict = False,
    verbose: options.Verbose = False,
    as_json: options.AsJson = False,
) -> None:
    """Let deciders decide questions on databases, and print how often each was right.

    Exit code 1 where a decision could not be judged; the last lines say how the run goes on.
    """
    from dqa.api.evaluating import evaluate as evaluate_all

    how: dict[str, Any]
    if resume is not None:
        how = how_to_resume(resume, given_by(context))
    elif spec is not None:
        how = how_to_follow(spec, given_by(context))
    else:
        how = {
            "what": questions.source(
                asking.seed, options.scenarios_in(scenarios), limit, strict=strict, decides=True
            ),
            "deciders": () if deciders is None else options.names_in("--deciders", deciders),
            "options": running,
            "calls": calling,
            "strict_official": strict_official,
            "policy": policy,
            "epochs": epochs,
            **asking.fields(rule_set, reads=True),
        }
        if databases is not None:
            how["databases"] = options.names_in("--databases", databases)
        if models is not None:
            how |= each_of(given_by(context))
    kept = out if resume is None else resume
    with Progress(verbose=verbose) as progress:
        try:
            run = evaluate_all(
                **how,
                out=kept,
                resume=resume is not None,
                retry_failed=retry_failed,
                watcher=progress,
            )
        except KeyboardInterrupt:
            leave(progress, kept)
            raise typer.Exit(_INTERRUPTED) from None
    if run.made == 0 and run.place is not None:
        echo(f"{run.place} was made already: nothing is asked again.", err=True)
    if as_json:
        echo_json(run.figures().to_json())
    else:
        echo_report(run)
    complain(run)
    if not as_json:
        _tell_what_next(run)


def leave(progress: Progress, out: str | None, *, games: bool = False) -> None:
    """Say how an interrupted run can go on, and end it even where a reply is still awaited."""
    what, made = ("game", "played") if games else ("decision", "made")
    made = f"Interrupted: {progress.done} of {counted(progress.total, what)} were {made}"
    if out is None:
        echo(f"{made} and are lost; --out DIR would have kept them.", err=True)
    else:
        from dqa.evaluation.stores.places import StorePlace, place_of
        from dqa.report.hints import resume_command

        place = place_of(out)
        how = f"'{resume_command(place, games=games)}'"
        if isinstance(place, StorePlace) and place.name is None:
            how = "The same command"
        echo(f"{made} and are kept. {how} goes on.", err=True)
    if any(thread.name.startswith("dqa-worker") for thread in threading.enumerate()):
        # A worker inside a driver's native code may crash an orderly shutdown of the interpreter.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_INTERRUPTED)


def complain(run: Run) -> None:
    """Say on stderr what failed and how the run goes on; exit code 1 where anything did."""
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


def _tell_what_next(run: Run) -> None:
    """Say on stderr what can be done with a kept run, where nothing about it is amiss."""
    from dqa.report.next_steps import next_steps

    if run.place is not None and not any(result.outcome.repeated for result in run.results):
        for line in next_steps(run.place, run.results):
            echo(line, err=True)
