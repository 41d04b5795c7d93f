"""``dqa memory build`` and ``dqa memory refine``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from dqa.cli import options
from dqa.cli.completion import by_name, one_of
from dqa.cli.fields import BaseUrl, Model, with_options
from dqa.cli.help import LIMITS, MODELS, OUTPUT, QUESTIONS
from dqa.cli.options import option, pairs_in
from dqa.cli.output import echo, echo_json
from dqa.cli.progress import Bar
from dqa.cli.questions import QuestionOptions
from dqa.core.decision import Usage
from dqa.core.errors import UsageError
from dqa.core.events import Event, FaultEvent
from dqa.core.recorder import DecisionWatcher, watched_by
from dqa.core.text import counted
from dqa.evaluation.options import CallOptions
from dqa_ldm2.settings import PRESETS, Preset, RefiningSettings

if TYPE_CHECKING:
    from dqa_ldm2.formation import FormationReport, ModelUse
    from dqa_ldm2.refinement import RefinedGoal, RefinementReport

World = Annotated[
    str | None,
    option(
        "--world NAME",
        QUESTIONS,
        "World of one player; 'dqa list' has the worlds.",
        complete=by_name("world"),
    ),
]
Games = Annotated[int | None, option("--games N", QUESTIONS, "Number of games.", least=1)]
Seed = Annotated[
    int,
    option("--seed N", QUESTIONS, "Seed of the first game, and of a scripted model.", least=0),
]
MemoryAt = Annotated[
    str, option("--memory FILE|URL", OUTPUT, "The memory: a file, or a database's URL.")
]
OfWorld = Annotated[
    list[str] | None,
    option("--set NAME=VALUE", QUESTIONS, "A setting of the world, WORLD.NAME=VALUE; repeatable."),
]

AsInPaper = Annotated[
    Preset, option(f"--preset {'|'.join(PRESETS)}", MODELS, complete=one_of(tuple(PRESETS)))
]


@with_options(calling=CallOptions)
def build(  # noqa: PLR0913  (one parameter per option)
    *,
    world: World = None,
    games: Games = None,
    run: Annotated[list[str] | None, option("--run RUN", QUESTIONS)] = None,
    keep_all: Annotated[bool, option("--all", QUESTIONS)] = False,
    seed: Seed = 0,
    memory: MemoryAt,
    player: Annotated[str | None, option("--player NAME", QUESTIONS)] = None,
    batch: Annotated[int | None, option("--batch B", LIMITS, least=1)] = None,
    preset: AsInPaper = "default",
    model: Model = "scripted:analyst",
    base_url: BaseUrl = None,
    settings: OfWorld = None,
    calling: CallOptions,
    as_json: options.AsJson = False,
) -> None:
    """Form a memory from a program's games of a world, or from the decisions of earlier runs.

    The steps become tuples of goal, history, subgoals, observation and action. The model writes the
    histories and subgoals, and names the types by which tuples are found.

    Parameters
    ----------
    run
        Run whose decisions are remembered: a folder, a run of a store, or the file of 'dqa ask
        --trace'; repeatable.
    keep_all
        Keep wrong decisions of --run as well, which are counted and never shown, and those without
        a verdict.
    player
        Program of the world that plays (expert, or that of the preset); 'dqa list --worlds' has
        them.
    batch
        Games of a batch memory, each of which decides in its own process (50).
    preset
        The paper's settings for one of its worlds: the size of a batch, whether subgoals are
        judged, and for the shop a program that does not know the product.
    """
    from dqa_ldm2.building import build_memory

    _require_one_origin(world, games, run)
    if world is None or games is None:
        if player is not None or settings or preset != "default":
            raise UsageError(
                "--player, --set and --preset are for a world: leave them out with --run, or name "
                "a world (--world)."
            )
        use = _model_use(model, base_url, seed, calling)
        report, lines, skipped = _build_from_runs(run or [], memory, use, batch, keep_all=keep_all)
    else:
        bar = _Bar()
        with bar, watched_by(_Faults()):
            report = build_memory(
                world,
                memory,
                games=games,
                seed=seed,
                batch=batch,
                preset=preset,
                player=player,
                use=_model_use(model, base_url, seed, calling),
                settings=_settings_of(world, settings),
                progress=bar.show,
            )
        lines, skipped = [], {}
    if as_json:
        echo_json(report.to_json() | ({"runs": skipped} if skipped else {}))
        return
    echo(f"{report.memory}: by {report.model}, {counted(report.requests, 'reply', 'replies')}")
    echo(*lines, *report.lines())
    for what, count in (
        ("histories that no reply gave, so they list the actions", report.unusable),
        ("steps whose subgoals no reply judged, so they have none", report.unjudged),
        ("texts that no reply gave a type, so they have the nearest one", report.forgotten),
    ):
        if count:
            echo(f"warning: {what}: {count}", err=True)


@with_options(calling=CallOptions)
def refine(  # noqa: PLR0913  (one parameter per option)
    *,
    world: World = None,
    games: Games = None,
    generate: Annotated[int | None, option("--generate N", QUESTIONS, least=1)] = None,
    questions: Annotated[Path | None, option("--questions DIR", QUESTIONS)] = None,
    scenarios: options.Scenarios = None,
    seed: Seed = 100_000,
    memory: MemoryAt,
    preset: AsInPaper = "default",
    paths: Annotated[int | None, option("--paths N", LIMITS, least=1, most=64)] = None,
    depth: Annotated[int | None, option("--depth N", LIMITS, least=1, most=1_000)] = None,
    majority: Annotated[float | None, option("--majority X", LIMITS, least=0.01, most=1.0)] = None,
    retrieved: Annotated[int | None, option("--retrieved K", MODELS, least=1, most=100)] = None,
    model: Model = "scripted:analyst",
    base_url: BaseUrl = None,
    settings: OfWorld = None,
    calling: CallOptions,
    as_json: options.AsJson = False,
) -> None:
    """Refine a memory by exploring games of a world, or questions.

    If a path has a larger reward than the memory leads to, its steps from the key step on are
    added, as a version that can be undone.

    Parameters
    ----------
    generate
        Explore N generated questions of each scenario instead of games.
    questions
        Explore the questions in a folder that 'dqa generate' wrote.
    preset
        The paper's settings for one of its worlds: whether subgoals are judged.
    paths
        n, the most paths at once (4).
    depth
        Most steps of a path (30; of questions 5).
    majority
        Share of the retrieved actions that must agree for no request (0.8).
    retrieved
        k, how many remembered tuples a prompt shows (5; of questions 20).
    """
    _require_one_origin(world, games, generate, questions)
    given = {"paths": paths, "depth": depth, "majority": majority, "retrieved": retrieved}
    own = {name: value for name, value in given.items() if value is not None}
    use = _model_use(model, base_url, seed, calling)
    bar = _Bar()

    def done(goal: RefinedGoal) -> None:
        bar.advance()
        if not as_json:
            echo(_told(goal), err=True)

    with bar, watched_by(_Faults()):
        if world is None or games is None:
            if settings or preset != "default":
                raise UsageError(
                    "--set and --preset are for a world: leave them out, or name one (--world)."
                )
            source = QuestionOptions(generate=generate, generated=questions)
            read = source.source(seed, options.scenarios_in(scenarios)).read()
            bar.start("Exploring", len(read.questions))
            report = _refine_on_questions(memory, read, use, own, done)
        else:
            from dqa_ldm2.building import refine_memory

            bar.start("Exploring", games)
            report = refine_memory(
                world,
                memory,
                games=games,
                seed=seed,
                preset=preset,
                refining=RefiningSettings.model_validate(own),
                use=use,
                settings=_settings_of(world, settings),
                done=done,
            )
    if as_json:
        echo_json(report.to_json())
        return
    calls = report.calls
    what = counted(len(report.goals), "question" if world is None else "game")
    echo(
        f"{report.memory}: {report.improved} of {what} brought more than before, "
        f"{counted(report.added, 'tuple')} added, by {report.model} ({calls['exploring']} replies "
        f"on exploring, {calls['comparing']} on comparing, {calls['adding']} on adding)"
    )
    if report.failed:
        echo(f"warning: paths that an error ended: {report.failed}", err=True)


def _build_from_runs(
    runs: list[str], memory: str, use: ModelUse, batch: int | None, *, keep_all: bool
) -> tuple[FormationReport, list[str], dict[str, Any]]:
    """Form a memory from runs; return also what was read of each, as lines and by run."""
    from dqa.api.stored import read_run
    from dqa_ldm2.memory import open_memory
    from dqa_ldm2.queries.past_decisions import form_from_runs, gather

    gathered = gather([read_run(run) for run in runs], keep_all=keep_all)
    with watched_by(_Faults()), open_memory(memory, create=True) as opened:
        report = form_from_runs(opened, gathered, use, batch_size=batch or 50)
    lines = [f"{name}: {line}" for name, one in gathered.items() for line in one.lines()]
    return report, lines, {name: dict(one.skipped) for name, one in gathered.items()}


def _refine_on_questions(
    memory: str,
    questions: Any,  # noqa: ANN401  (a QuestionSet, which is not imported for the help)
    use: ModelUse,
    own: dict[str, float],
    done: Any,  # noqa: ANN401  (as in `refine_on_questions`)
) -> RefinementReport:
    from dqa_ldm2.memory import open_memory
    from dqa_ldm2.queries.past_decisions import REFINING, refine_on_questions

    with open_memory(memory) as opened:
        refining = REFINING.model_copy(update=own)
        return refine_on_questions(opened, questions, use, refining=refining, done=done)


def _require_one_origin(world: str | None, games: int | None, *others: object) -> None:
    """Raise `UsageError` unless exactly one source is named."""
    given = [other for other in others if other]
    if (world is None) == (not given) or len(given) > 1:
        raise UsageError(
            "Name one source: --world NAME with --games N, or for past decisions --run RUN to "
            "build, and --generate N or --questions DIR to refine."
        )
    if (world is None) != (games is None):
        raise UsageError("--world NAME and --games N go together.")


def _settings_of(world: str, given: list[str] | None) -> dict[str, str]:
    """Return the settings of a world, given as ``WORLD.NAME=VALUE``."""
    found: dict[str, str] = {}
    for name, value in pairs_in("--set", given or (), f"{world}.NAME=VALUE").items():
        of, _, setting = name.partition(".")
        if of != world or not setting:
            raise UsageError(
                f"--set {name}: write a setting of the world as {world}.NAME=VALUE ('dqa list' has "
                "their names)."
            )
        found[setting] = value
    return found


def _model_use(model: str, base_url: str | None, seed: int, calling: CallOptions) -> ModelUse:
    """Connect the model, and check that it can be reached."""
    from dqa.models.registry import Connection, chat_model, check_reachable
    from dqa_ldm2.formation import ModelUse

    cassette = calling.cassette((model,), resume=False)
    connection = Connection(base_url, calling.timeout, cassette, calling.reply_limit)
    made = chat_model(model, connection, seed)
    check_reachable(model, made)
    return ModelUse(made, model, seed, calling.policy(seed, Usage))


def _told(goal: RefinedGoal) -> str:
    """Return the result of a game or a question as a line."""
    told = "no more than before"
    if goal.key_step is not None:
        told = f"{goal.best_reward or 0:.3g} in place of {goal.ground_reward or 0:.3g}"
        told += f", {counted(goal.added, 'tuple')} from step {goal.key_step} added"
    if goal.failed:
        told += f"; paths that an error ended: {len(goal.failed)}, such as {goal.failed[0]}"
    return f"{goal.source}: {told}"


class _Bar(Bar):
    """A progress bar of several parts."""

    _what = ""

    def show(self, what: str, done: int, total: int) -> None:
        """Show how much of a part is done."""
        if what != self._what:
            self.start(what, total, done - 1)
            self._what = what
        self.advance()


class _Faults(DecisionWatcher):
    """Warns once of each kind of failing call, while the next attempt waits."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def happened(self, event: Event, usage: Usage) -> None:
        """Warn of a fault."""
        del usage
        if isinstance(event, FaultEvent) and event.fault not in self._known:
            self._known.add(event.fault)
            echo(f"warning: {event.message}", err=True)
