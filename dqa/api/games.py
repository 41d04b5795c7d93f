"""Play games and tournaments, and train players."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from dqa import plugins
from dqa.api.reporting import view_paper
from dqa.api.running import Named, StoredWork, name_objects
from dqa.api.runs import Run
from dqa.api.watching import Watcher
from dqa.core.errors import PluginError, UnknownNameError, UsageError
from dqa.core.files import require_new_file
from dqa.core.records import Record
from dqa.evaluation.executors import thread_executor
from dqa.evaluation.games import CannotPlayError, prepare_games
from dqa.evaluation.location import FOLDER_RUN, RunLocation, locate_run
from dqa.evaluation.options import CallOptions, RunOptions
from dqa.evaluation.papers import Publication
from dqa.evaluation.play import GameWorker
from dqa.evaluation.play_spec import PlaySpec, all_pairs
from dqa.evaluation.record import RunRecord
from dqa.evaluation.writable import require_writable
from dqa.worlds.base import PolicyDecider, count_players
from dqa.worlds.history import History
from dqa.worlds.training import SMALL, Trainer, learn, watch_training, write_weights
from dqa.worlds.watching import TrainingWatcher

HISTORY = "history.db"
"""The file in a run's folder with the events of its games."""


def play(  # noqa: PLR0913  (each is a question of its own to the caller)
    world: PlaySpec | str | None = None,
    players: Named | Sequence[Named] = (),
    opponents: Named | Sequence[Named] = (),
    *,
    out: RunLocation | Path | str | None = None,
    resume: bool = False,
    retry_failed: bool = False,
    options: RunOptions | None = None,
    calls: CallOptions | None = None,
    watcher: Watcher | None = None,
    **fields: Any,  # noqa: ANN401  (fields of the spec)
) -> Run:
    """Play games of a world, against opponents or alone, and store them.

    Parameters
    ----------
    world
        The name of a world, or a spec. `fields` replace fields of the spec. To resume a run, this
        argument may be left out.
    players, opponents
        Programs of the world, or deciders. Each is a name or an object. Every player plays against
        every opponent. A world for one player has no opponents.
    out
        Where the run is stored; see `out` of `dqa.evaluate`. A repeated call resumes the run. If
        `out` contains a run with other settings, an error is raised. A file next to the run
        contains all events of the games, which players can query. For a run in memory or on a
        server, this file is temporary.
    resume
        Whether to resume the run at `out` with its recorded settings.
    retry_failed
        Whether to repeat games of a stored run that ended because of a server failure or a bug.
    options, calls
        Options of the run, and options of model calls. Results do not depend on these options.
    watcher
        Receives the progress.
    **fields
        Further fields of a `PlaySpec`: games, mirror, reference, seed, model, settings, ...

    Returns
    -------
    Run
        The games; `Run.games` has the summary statistics.

    Raises
    ------
    UsageError
        An argument is wrong.
    CrashError
        Too many games crashed.
    """
    work = StoredWork(out, options, calls, watcher, resume=resume, retry_failed=retry_failed)
    if work.options.engine != "local" or work.options.processes > 1:
        raise UsageError(
            "Games run in this process: leave out engine (--engine) and processes (--processes). "
            "To use several processes, start the same command several times."
        )
    (names, others), named, objects = name_objects(fields, players, opponents)
    if names:
        named["pairs"] = all_pairs(names, others)
    elif others:
        raise UsageError(
            "Name both the players (players, --player) and the opponents (--opponent)."
        )
    spec = _spec(world, named, work.earlier)
    with watch_training(work.watcher):
        setup = prepare_games(spec, calls=work.calls, resumed=work.resumed, given=objects)
    with ExitStack() as opened:
        with work.storing(spec, setup.content_hash, spec.size, objects, uuid4().hex) as store:
            executor = None
            if store.done < spec.size:  # a finished run does not need the history
                where = _locate_history(store.location, opened)
                log = History(where, isolation=work.options.isolation, run=store.record.history)
                # Programs only compute, so several threads would slow them down.
                deciders = setup.deciders[0].values()
                is_computing = all(isinstance(one, PolicyDecider) for one in deciders)
                threads = 1 if is_computing else work.options.workers
                executor = thread_executor(GameWorker(setup, log), threads)
            results = work.decide(store, setup, executor)
        return work.finish(store, results)


def _spec(
    world: PlaySpec | str | None, fields: dict[str, Any], earlier: RunRecord | None
) -> PlaySpec:
    """Return the spec. Missing arguments come from the run to resume."""
    if isinstance(world, PlaySpec):
        return world.changed(**fields)
    if world is not None:
        fields["world"] = world
    if earlier is not None:
        if not isinstance(earlier.spec, PlaySpec):
            raise UsageError(
                "This is a run of questions, not of games: resume it with 'dqa eval --resume'."
            )
        return earlier.spec.changed(**fields)
    if not {"world", "pairs"} <= fields.keys():
        raise UsageError(
            "Name a world (--world) and a player (--player). A world for two players also needs an "
            "opponent (--opponent). 'dqa list' and 'dqa list --worlds' show the names."
        )
    return PlaySpec(**fields)


def _locate_history(location: RunLocation | None, opened: ExitStack) -> Path:
    """Return the file of a run's history."""
    if location is not None and location.folder is not None:
        return location.folder / HISTORY
    if location is not None and location.file is not None:
        file, name = location.file, quote(location.name or FOLDER_RUN, safe=" ")
        return file.with_name(f"{file.stem}.{name}.{HISTORY}")
    return Path(opened.enter_context(TemporaryDirectory(prefix="dqa-"))) / HISTORY


class TrainedPlayer(Record):
    """A trained player.

    Attributes
    ----------
    world, player
        The names of the world and the player.
    seed, iterations
        The seed of the training and the number of its iterations.
    file
        The file with the weights.
    was_cached
        Whether the player was read from the cache instead of being trained.
    """

    world: str
    player: str
    seed: int
    iterations: int
    file: str
    was_cached: bool


def train_player(  # noqa: PLR0913  (each is a question of its own to the caller)
    world: str,
    player: str,
    *,
    seed: int = 0,
    budget: str | int = SMALL,
    out: str | Path | None = None,
    watcher: TrainingWatcher | None = None,
) -> TrainedPlayer:
    """Train a player of a world, or read the trained player from the user's cache.

    The same player, budget and seed give the same weights.

    Parameters
    ----------
    world, player
        The names of the world and the player.
    seed
        The seed of the training.
    budget
        The length of the training: ``"small"`` (the default in games), ``"full"``, or a number of
        iterations.
    out
        A new file for the weights, in addition to the cache.
    watcher
        Receives the progress.

    Raises
    ------
    UnknownNameError
        The world or the player does not exist.
    UsageError
        The player cannot be trained, the budget is invalid, `out` exists already, or a library
        that the training needs is missing.
    OSError
        The cache, or `out`, cannot be written.
    """
    trainer = _trainer(world, player)
    iterations = trainer.iterations(budget)
    if out is not None:
        require_new_file(Path(out))
    with watch_training(watcher or TrainingWatcher()):
        learnt = learn(trainer, seed, iterations)
    if out is not None:
        write_weights(Path(out), learnt.weights)
    return TrainedPlayer(
        world=world,
        player=player,
        seed=seed,
        iterations=iterations,
        file=str(out or learnt.file),
        was_cached=learnt.was_cached,
    )


def learning_players(world: str) -> tuple[str, ...]:
    """Return the trainable players of a world. Raise `UsageError` if there are none."""
    policies = plugins.world(world).policies
    learning = tuple(policy.name for policy in policies.values() if policy.trainer is not None)
    if not learning:
        programs = f" Its programs need no training: {', '.join(policies)}." if policies else ""
        raise UsageError(f"The world '{world}' has no player that learns.{programs}")
    return learning


def _trainer(world: str, player: str) -> Trainer:
    policies = plugins.world(world).policies
    if player not in policies:
        raise UnknownNameError("player", player, policies)
    trainer = policies[player].trainer
    if trainer is None:
        learning = ", ".join(learning_players(world))
        raise UsageError(
            f"The player '{player}' needs no training. Players of '{world}' that learn: {learning}."
        )
    return trainer


@dataclass(frozen=True)
class Tournament:
    """The games of one world, compared with the tables of papers.

    Attributes
    ----------
    run
        The games.
    views
        For each paper with tables about this world: the paper's tables, with the rows of the run.
    left_out
        The players in papers' tables that this installation cannot run, each with the reason.
    """

    run: Run
    views: tuple[Publication, ...]
    left_out: tuple[str, ...] = ()


def play_tournament(
    world: str,
    players: Sequence[Named] = (),
    opponents: Sequence[Named] = (),
    *,
    out: RunLocation | Path | str | None = None,
    watcher: Watcher | None = None,
    **how: Any,  # noqa: ANN401  (as `dqa.play`)
) -> Tournament:
    """Play every player against every opponent, and compare the results with papers.

    In a world for one player, every player plays alone.

    Parameters
    ----------
    world
        The name of the world.
    players, opponents
        The contestants. By default, all players and opponents from the papers' tables of this
        world, if their packages are installed. A world for one player has no opponents.
    out, watcher
        See `dqa.play`. A repeated call resumes an unfinished run.
    **how
        Further arguments of `dqa.play` and fields of a `PlaySpec`. By default, games of two players
        are mirrored, and decisions are compared with the reference player that the papers use.

    Raises
    ------
    UsageError
        No player is named, and no player in a paper's table can play. See also the errors of
        `dqa.play`.
    """
    require_writable(None if out is None else locate_run(out))
    factory = plugins.world(world)
    is_alone = count_players(factory) == 1
    tables = [table for paper in _papers() for table in paper.tables if table.world == world]
    rows = [] if players else [row.decider for table in tables for row in table.rows if row.decider]
    faced = [] if is_alone or opponents else [one for table in tables for one in table.opponents]
    references = [table.reference for table in tables if table.reference in factory.policies]
    if "reference" in how:
        references = []
    how.setdefault("mirror", not is_alone)
    problems: dict[str, str] = {}
    run: Run | None = None
    while run is None:
        playing = players or [name for name in dict.fromkeys(rows) if name not in problems]
        against = opponents or [name for name in dict.fromkeys(faced) if name not in problems]
        if not (playing and (against or is_alone)):
            names = "--player" if is_alone else "--player, --opponent"
            reasons = "".join(f" {name}: {problem}" for name, problem in problems.items())
            raise UsageError(
                f"No player in the papers' tables for the world '{world}' can play here: give the "
                f"names of the players ({names}).{reasons}"
            )
        if references:
            how["reference"] = next((name for name in references if name not in problems), None)
        try:
            run = play(world, playing, against, out=out, watcher=watcher, **how)
        except CannotPlayError as error:  # raised before the first game
            if error.player in problems or error.player not in {*rows, *faced, *references}:
                raise
            problems[error.player] = str(error)
    views = [view_paper(run, one.name) for one in _papers() if world in one.worlds and run.results]
    left_out = (f"{name}: {why}" for name, why in problems.items() if name in {*rows, *faced})
    return Tournament(run, tuple(views), tuple(left_out))


def _papers() -> Iterator[Publication]:
    for name in plugins.names("publication"):
        with suppress(PluginError):  # 'dqa list' says why a package cannot be loaded
            yield plugins.publication(name)
