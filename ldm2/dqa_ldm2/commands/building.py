"""``dqa memory build`` and ``dqa memory refine``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from dqa.cli import options
from dqa.cli.completion import by_name
from dqa.cli.fields import BaseUrl, Model, with_options
from dqa.cli.help import LIMITS, MODELS, OUTPUT, QUESTIONS
from dqa.cli.output import echo, echo_json
from dqa.cli.questions import QuestionOptions
from dqa.core.decision import Usage
from dqa.core.errors import UsageError
from dqa.core.text import counted
from dqa.evaluation.options import CallOptions
from dqa_ldm2.commands import queries
from dqa_ldm2.progress import Progress
from dqa_ldm2.settings import RefiningSettings

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from dqa.core.events import Event
    from dqa_ldm2.building import Asked
    from dqa_ldm2.refining.report import RefinedGoal

World = Annotated[
    str | None,
    typer.Option(
        "--world",
        metavar="NAME",
        help="World of one player; 'dqa list' has the worlds.",
        autocompletion=by_name("world"),
        rich_help_panel=QUESTIONS,
    ),
]
Games = Annotated[
    int | None,
    typer.Option("--games", metavar="N", min=1, help="How many games.", rich_help_panel=QUESTIONS),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed",
        metavar="N",
        min=0,
        help="Seed of the first game, from which on they are counted, and of a scripted model.",
        rich_help_panel=QUESTIONS,
    ),
]
MemoryAt = Annotated[
    str,
    typer.Option(
        "--memory",
        metavar="FILE|URL",
        help="The memory: a file, or a database's URL.",
        rich_help_panel=OUTPUT,
    ),
]
OfWorld = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A setting of the world, WORLD.NAME=VALUE; may be given several times.",
        rich_help_panel=QUESTIONS,
    ),
]


@with_options(calling=CallOptions)
def build(  # noqa: PLR0913  (one parameter an option)
    *,
    world: World = None,
    games: Games = None,
    run: queries.Runs = None,
    keep_all: queries.KeepAll = False,
    seed: Seed = 0,
    memory: MemoryAt,
    player: Annotated[
        str,
        typer.Option(
            "--player",
            metavar="NAME",
            help="Which of the world's programs is remembered; 'dqa list --worlds' has them.",
            rich_help_panel=QUESTIONS,
        ),
    ] = "expert",
    batch: Annotated[
        int,
        typer.Option(
            "--batch",
            metavar="B",
            min=1,
            help="How many games make a batch memory, which decides in a process of its own.",
            rich_help_panel=LIMITS,
        ),
    ] = 50,
    model: Model = "scripted:analyst",
    base_url: BaseUrl = None,
    settings: OfWorld = None,
    calling: CallOptions,
    as_json: options.AsJson = False,
) -> None:
    """Form a memory from an expert's games of a world, or from the decisions of earlier runs.

    What was done becomes tuples of goal, history, observation and action; the model summarises the
    histories, and names the types of goals and observations by which they are found.
    """
    from dqa_ldm2.building import build_memory

    queries.require_one_origin(world, games, run)
    if world is None or games is None:
        queries.refuse_of_worlds(player=player, settings=settings)
        asked = _asked(model, base_url, seed, calling)
        queries.build_of_runs(
            *(run or (), memory, asked, ShownProgress()),
            batch=batch,
            keep_all=keep_all,
            as_json=as_json,
        )
        return
    with ShownProgress() as progress:
        report = build_memory(
            world,
            memory,
            games=games,
            seed=seed,
            batch=batch,
            player=player,
            asked=_asked(model, base_url, seed, calling),
            settings=settings_of(world, settings),
            progress=progress,
        )
    if as_json:
        echo_json(report.to_json())
        return
    echo(f"{report.memory}: by {report.model}, {counted(report.requests, 'reply', 'replies')}")
    for line in report.formed.lines():
        echo(line)
    queries.tell_mended(report)


@with_options(calling=CallOptions)
def refine(  # noqa: PLR0913  (one parameter an option)
    *,
    world: World = None,
    games: Games = None,
    generate: queries.Generate = None,
    questions: queries.Questions = None,
    scenarios: options.Scenarios = None,
    seed: Seed = 100_000,
    memory: MemoryAt,
    paths: Annotated[
        int | None,
        typer.Option(
            "--paths",
            metavar="N",
            min=1,
            help="n, how many paths are explored at once (4).",
            rich_help_panel=LIMITS,
        ),
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option(
            "--depth",
            metavar="N",
            min=1,
            help="Most steps of a path (30; of questions 5).",
            rich_help_panel=LIMITS,
        ),
    ] = None,
    majority: Annotated[
        float | None,
        typer.Option(
            "--majority",
            metavar="X",
            min=0.01,
            max=1.0,
            help="Share of retrieved actions that has to agree for nothing to be asked (0.8).",
            rich_help_panel=LIMITS,
        ),
    ] = None,
    retrieved: Annotated[
        int | None,
        typer.Option(
            "--retrieved",
            metavar="K",
            min=1,
            help="k, how many remembered tuples a prompt shows (5; of questions 20).",
            rich_help_panel=MODELS,
        ),
    ] = None,
    model: Model = "scripted:analyst",
    base_url: BaseUrl = None,
    settings: OfWorld = None,
    calling: CallOptions,
    as_json: options.AsJson = False,
) -> None:
    """Refine a memory by exploring games of a world, or questions.

    Where a path brings more than what the memory leads to, its steps from the key step on are
    added, as a version that can be looked at and undone.
    """
    from dqa_ldm2.building import refine_memory

    queries.require_one_origin(world, games, generate, questions)
    given = {"paths": paths, "depth": depth, "majority": majority, "retrieved": retrieved}
    named = {name: value for name, value in given.items() if value is not None}
    if world is None or games is None:
        queries.refine_of_questions(
            QuestionOptions(generate=generate, generated=questions),
            options.scenarios_in(scenarios),
            memory,
            _asked(model, base_url, seed, calling),
            ShownProgress(),
            seed=seed,
            named=named,
            as_json=as_json,
        )
        return
    with ShownProgress() as progress:
        report = refine_memory(
            world,
            memory,
            games=games,
            seed=seed,
            refining=RefiningSettings.model_validate(named),
            asked=_asked(model, base_url, seed, calling),
            settings=settings_of(world, settings),
            progress=progress,
            done=None if as_json else progress.refined,
        )
    if as_json:
        echo_json(report.to_json())
        return
    calls = report.calls
    echo(
        f"{report.memory}: {report.improved} of {counted(len(report.goals), 'game')} brought more "
        f"than before, {counted(report.added, 'tuple')} added, by {report.model} "
        f"({calls.exploring} replies on exploring, {calls.comparing} on comparing, {calls.adding} "
        "on adding)"
    )
    if report.corrected:
        echo(f"warning: key steps that the model told wrong: {report.corrected}", err=True)
    if report.failed:
        echo(f"warning: paths that the world ended with an error: {report.failed}", err=True)


def settings_of(world: str, given: list[str] | None) -> dict[str, str]:
    """Return the settings of a world that are given as ``WORLD.NAME=VALUE``."""
    found: dict[str, str] = {}
    for one in given or ():
        name, is_given, value = one.partition("=")
        of, _, setting = name.partition(".")
        if not is_given or of != world or not setting:
            raise UsageError(
                f"--set {one}: write a setting of the world as {world}.NAME=VALUE ('dqa list' has "
                "their names)."
            )
        found[setting] = value
    return found


def _asked(model: str, base_url: str | None, seed: int, calling: CallOptions) -> Asked:
    """Connect the model, and see that somebody is there before anything is played."""
    from dqa.models.registry import Connection, chat_model, check_reachable
    from dqa_ldm2.building import Asked

    cassette = calling.cassette((model,), resume=False)
    connection = Connection(base_url, calling.timeout, cassette, calling.reply_limit)
    made = chat_model(model, connection, seed)
    check_reachable(model, made)
    return Asked(made, model, seed, calling.policy(seed, Usage))


class ShownProgress(Progress):
    """Shows on stderr how far it is, on a terminal; says each kind of failing call once."""

    def __init__(self) -> None:
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._said: set[str] = set()

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich import progress as bar
            from rich.console import Console

            self._bar = bar.Progress(console=Console(stderr=True))
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def started(self, what: str, total: int) -> None:
        """Begin a bar."""
        if self._bar is not None:
            self._task = self._bar.add_task(what, total=total)

    def advanced(self) -> None:
        """Show one more."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, advance=1)

    def happened(self, event: Event) -> None:
        """Say the first of each kind of fault at once: what follows waits."""
        told: Any = event
        if event.kind == "fault" and told.fault not in self._said:
            self._said.add(told.fault)
            echo(f"warning: {told.message}", err=True)

    def refined(self, goal: RefinedGoal) -> None:
        """Say what a game or a question came to."""
        what = "no more than before"
        if goal.key_step is not None:
            what = f"{goal.best_reward or 0:.3g} in place of {goal.ground_reward or 0:.3g}"
            what += f", {counted(goal.added, 'tuple')} from step {goal.key_step.key_step} added"
        if goal.failed:
            what += f"; paths that an error ended: {len(goal.failed)}, as {goal.failed[0]}"
        echo(f"{goal.source}: {what}", err=True)
