"""Past decisions as memory, behind ``dqa memory build`` and ``dqa memory refine``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dqa.cli.help import QUESTIONS
from dqa.cli.output import echo, echo_json
from dqa.cli.questions import QuestionOptions
from dqa.core.errors import UsageError
from dqa.core.text import counted

if TYPE_CHECKING:
    from dqa_ldm2.building import Asked, BuildReport
    from dqa_ldm2.commands.building import ShownProgress
    from dqa_ldm2.indexer import AskedIndexer
    from dqa_ldm2.refining.report import RefinedGoal

Runs = Annotated[
    list[str] | None,
    typer.Option(
        "--run",
        metavar="RUN",
        help="Run whose decisions are remembered, of any agent: a folder, a run of a store, or the "
        "file of 'dqa ask --trace'; may be given several times.",
        rich_help_panel=QUESTIONS,
    ),
]
KeepAll = Annotated[
    bool,
    typer.Option(
        "--all",
        help="Keep wrong decisions of --run as well, which are counted and never shown, and those "
        "that nobody judged.",
        rich_help_panel=QUESTIONS,
    ),
]
Generate = Annotated[
    int | None,
    typer.Option(
        "--generate",
        metavar="N",
        min=1,
        help="Explore N generated questions of each scenario, in place of a world's games.",
        rich_help_panel=QUESTIONS,
    ),
]
Questions = Annotated[
    Path | None,
    typer.Option(
        "--questions",
        metavar="DIR",
        help="Explore the questions in a folder that 'dqa generate' wrote.",
        rich_help_panel=QUESTIONS,
    ),
]


def require_one_origin(world: str | None, games: int | None, *others: object) -> None:
    """Raise `UsageError` where it is not said once what is remembered, or explored."""
    given = [other for other in others if other]
    if (world is None) == (not given) or len(given) > 1:
        raise UsageError(
            "Say once what it is about: --world NAME with --games N, or for past decisions --run "
            "RUN to build, and --generate N or --questions DIR to refine."
        )
    if (world is None) != (games is None):
        raise UsageError("--world NAME and --games N go together.")


def refuse_of_worlds(*, player: str, settings: Sequence[str] | None) -> None:
    """Raise `UsageError` where something is given that is of worlds alone."""
    given = ["--player"] if player != "expert" else []
    given += ["--set"] if settings else []
    if given:
        raise UsageError(
            f"{' and '.join(given)} say how a world is played: leave them out with --run, or name "
            "a world (--world)."
        )


def tell_mended(indexer: AskedIndexer | BuildReport) -> None:
    """Say what of histories and types no reply told."""
    if indexer.unusable:
        told = f"histories that no reply told, so they list what was done: {indexer.unusable}"
        echo(f"warning: {told}", err=True)
    if indexer.forgotten:
        told = f"without a type in any reply, so of type 'other': {indexer.forgotten}"
        echo(f"warning: {told}", err=True)


def build_of_runs(  # noqa: PLR0913  (each is an option of its own)
    runs: Sequence[str],
    memory: str,
    asked: Asked,
    progress: ShownProgress,
    *,
    batch: int,
    keep_all: bool,
    as_json: bool,
) -> None:
    """Form a memory from runs, and say what became of them."""
    from dqa.api.stored import read_run
    from dqa_ldm2.indexer import AskedIndexer
    from dqa_ldm2.memory.opening import open_memory
    from dqa_ldm2.queries.building import form_gathered, gather

    gathered = gather([read_run(run) for run in runs], keep_all=keep_all)
    model, name = asked.connected()
    with progress, open_memory(memory, create=True) as opened:
        indexer = AskedIndexer(model, asked.max_failures, asked.calls, progress.happened)
        report = form_gathered(opened, gathered, indexer, model=name, batch_size=batch)
        location = opened.location
    if as_json:
        built = report.built
        told: dict[str, Any] = {
            "memory": location,
            "model": name,
            "trajectories": built.trajectories,
            "there_before": built.there,
            "tuples": built.tuples,
            "batches": list(built.batches),
            "forgotten": indexer.forgotten,
            "unusable": indexer.unusable,
            "requests": indexer.requests,
            "skipped": {run: one.skipped for run, one in report.gathered.items()},
        }
        echo_json(told)
        return
    echo(f"{location}: by {name}, {counted(indexer.requests, 'reply', 'replies')}")
    for line in report.lines():
        echo(line)
    tell_mended(indexer)


def refine_of_questions(  # noqa: PLR0913  (each is an option of its own)
    options: QuestionOptions,
    scenarios: tuple[str, ...] | None,
    memory: str,
    asked: Asked,
    progress: ShownProgress,
    *,
    seed: int,
    named: Mapping[str, float],
    as_json: bool,
) -> None:
    """Refine a memory on questions, and say what was better."""
    from dqa.deciders.base import Settings
    from dqa_ldm2.memory.opening import open_memory
    from dqa_ldm2.queries.building import REFINING, refine_on_questions

    questions = options.source(seed, scenarios).read()
    model, name = asked.connected()

    def done(goal: RefinedGoal) -> None:
        progress.advanced()
        if not as_json:
            progress.refined(goal)

    with progress, open_memory(memory) as opened:
        progress.started("Exploring", len(questions.questions))
        report = refine_on_questions(
            opened,
            questions,
            model,
            model_name=name,
            refining=REFINING.model_copy(update=dict(named)),
            settings=Settings(calls=asked.calls),
            done=done,
            told=progress.happened,
        )
    if as_json:
        echo_json(report.to_json())
        return
    if report.failed:
        echo(f"warning: paths that an error ended: {report.failed}", err=True)
    echo(
        f"{report.memory}: {report.improved} of {counted(len(report.goals), 'question')} were "
        f"decided better than before, {counted(report.added, 'tuple')} added, by {report.model} "
        f"({counted(report.calls.exploring, 'reply', 'replies')} on exploring)"
    )
