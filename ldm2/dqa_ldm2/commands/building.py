"""``dqa memory build`` and ``dqa memory refine``."""

from __future__ import annotations

import itertools
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from dqa.cli import options
from dqa.cli.help import LIMITS, MODELS, OUTPUT, QUESTIONS
from dqa.cli.options import option, pairs_in
from dqa.cli.output import echo, echo_json
from dqa.cli.progress import Progress
from dqa.core.decision import Usage
from dqa.core.recorder import watched_by
from dqa.core.text import counted
from dqa.evaluation.options import CallOptions
from dqa_ldm2.settings import PRESETS, Preset, RefiningSettings

if TYPE_CHECKING:
    from dqa_ldm2.formation import ModelUse
    from dqa_ldm2.refinement import RefinedGoal

World = Annotated[
    str, option("--world NAME", QUESTIONS, "World for one player; 'dqa list' shows the worlds.")
]
Games = Annotated[int, option("--games N", QUESTIONS, "Number of games.", least=1)]
Seed = Annotated[
    int, option("--seed N", QUESTIONS, "Seed of the first game, and of a scripted model.", least=0)
]
MemoryAt = Annotated[
    str, option("--memory FILE|URL", OUTPUT, "The memory: a file, or the URL of a database.")
]
OfWorld = Annotated[
    list[str] | None,
    option("--set NAME=VALUE", QUESTIONS, "A setting of the world: WORLD.NAME=VALUE. Repeatable."),
]

AsInPaper = Annotated[Preset, option(f"--preset {'|'.join(PRESETS)}", MODELS)]


def build(  # noqa: PLR0913  (one parameter per option)
    *,
    world: World,
    games: Games,
    seed: Seed = 0,
    memory: MemoryAt,
    player: Annotated[str | None, option("--player NAME", QUESTIONS)] = None,
    batch: Annotated[int | None, option("--batch B", LIMITS, least=1)] = None,
    preset: AsInPaper = "default",
    model: str = "scripted:analyst",
    base_url: str | None = None,
    settings: OfWorld = None,
    calling: CallOptions,
    as_json: options.AsJson = False,
) -> None:
    """Form a memory from games that a program plays in a world.

    The steps become tuples of goal, history, subgoals, observation and action. The model writes the
    histories and subgoals, and names the types of goals and observations.

    Parameters
    ----------
    player
        Program of the world that plays; 'dqa list --worlds' shows the programs. Default:
        the first of expert, rule and analyst that the world has.
    batch
        Number of games in a batch memory. LDM2 decides every question once with each batch memory.
        Default: the number of the preset, or 50.
    preset
        The paper's settings for a world: the number of games in a batch, and whether subgoals are
        judged.
    """
    from dqa_ldm2.building import build_memory

    with _Progress() as shown, watched_by(shown):
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
            progress=shown.show,
        )
    if as_json:
        echo_json(asdict(report))
        return
    echo(f"{report.memory}: by {report.model}, {counted(report.requests, 'reply', 'replies')}")
    echo(*report.lines())
    for what, count in (
        ("histories that only list the actions, because no reply could be used", report.unusable),
        ("steps without subgoals, because no reply could be used", report.unjudged),
        (
            "texts whose type was found by comparing words, because the reply gave no type",
            report.forgotten,
        ),
    ):
        if count:
            echo(f"warning: {what}: {count}", err=True)


def refine(  # noqa: PLR0913  (one parameter per option)
    *,
    world: World,
    games: Games,
    seed: Seed = 100_000,
    memory: MemoryAt,
    preset: AsInPaper = "default",
    refining: RefiningSettings,
    model: str = "scripted:analyst",
    base_url: str | None = None,
    settings: OfWorld = None,
    calling: CallOptions,
    as_json: options.AsJson = False,
) -> None:
    """Refine a memory by exploring games of a world.

    LDM2 tries several paths through each game. One of these paths imitates the memory most
    confidently. If another path has a larger reward, its steps are added to the memory, from the
    key step on. The key step is the step that makes the path better. The steps of a game form a
    version of the memory, which can be undone.

    Parameters
    ----------
    preset
        The paper's settings for a world, which define whether subgoals are judged.
    """
    from dqa_ldm2.building import refine_memory

    count = itertools.count(1)

    def done(goal: RefinedGoal) -> None:
        shown.show("Exploring", next(count), games)
        if not as_json:
            echo(_result_line(goal), err=True)

    with _Progress() as shown, watched_by(shown):
        shown.show("Exploring", 0, games)
        report = refine_memory(
            world,
            memory,
            games=games,
            seed=seed,
            preset=preset,
            refining=refining,
            use=_model_use(model, base_url, seed, calling),
            settings=_settings_of(world, settings),
            done=done,
        )
    if as_json:
        echo_json(report.to_json())
        return
    calls, games_played = report.calls, counted(len(report.goals), "game")
    echo(
        f"{report.memory}: found a better path in {report.improved} of {games_played} and added "
        f"{counted(report.added, 'tuple')}. Replies of {report.model}: {calls['exploring']} for "
        f"exploring, {calls['comparing']} for comparing, {calls['adding']} for adding."
    )
    if report.failed:
        echo(f"warning: errors that ended a path: {report.failed}", err=True)


def _settings_of(world: str, texts: list[str] | None) -> dict[str, str]:
    values = pairs_in("--set", texts or (), f"{world}.NAME=VALUE")
    return {name.removeprefix(f"{world}."): value for name, value in values.items()}


def _model_use(model: str, base_url: str | None, seed: int, calling: CallOptions) -> ModelUse:
    """Connect the model, and check that it can be reached."""
    from dqa.models.registry import Connection, chat_model, check_reachable
    from dqa_ldm2.formation import ModelUse

    cassette = calling.cassette((model,), resume=False)
    connection = Connection(base_url, calling.timeout, cassette)
    model_ = chat_model(model, connection, seed)
    check_reachable(model, model_)
    return ModelUse(model_, model, seed, calling.policy(seed, Usage))


def _result_line(goal: RefinedGoal) -> str:
    line = f"{goal.source}: no larger reward"
    if goal.key_step is not None:
        before, after = goal.ground_reward or 0, goal.best_reward or 0
        line = f"{goal.source}: reward {after:.3g} instead of {before:.3g}; "
        line += f"added {counted(goal.added, 'tuple')} from step {goal.key_step} on"
    if goal.failed:
        line += f"; errors that ended a path: {len(goal.failed)}, such as {goal.failed[0]}"
    return line


class _Progress(Progress):
    """Show the progress of games and trajectories.

    The first failed model call of each kind is shown.
    """

    _what = ""

    def show(self, what: str, done: int, total: int) -> None:
        """Show the progress of playing, exploring or another activity."""
        if what != self._what:
            self._start(what, total)
            self._what = what
        self._bar.update(self._task, completed=done, total=total)
