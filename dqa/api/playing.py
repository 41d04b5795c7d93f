"""Play: contestants play games of a world, and every game is stored."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from dqa.api.running import Named, StoredWork, name_deciders, name_models
from dqa.api.runs import Run
from dqa.api.watching import Watcher
from dqa.core.decider import Decider
from dqa.core.errors import UsageError
from dqa.core.secrets import redact
from dqa.deciders.base import DeciderFactory
from dqa.evaluation.connecting import GivenObjects
from dqa.evaluation.executors import ThreadExecutor
from dqa.evaluation.location import RunLocation
from dqa.evaluation.options import CallOptions, RunOptions
from dqa.evaluation.playing.run import GameWorker
from dqa.evaluation.playing.setup import build_games
from dqa.evaluation.playing.spec import PlaySpec, all_pairs
from dqa.evaluation.record import GamesRecord, RunRecord
from dqa.worlds.history import History
from dqa.worlds.training import watch_training

HISTORY = "history.db"
"""The file of a run's folder with the events of its games."""


def play(  # noqa: PLR0913  (each is a question of its own to the caller)
    world: PlaySpec | str | None = None,
    players: Named | Sequence[Named] = (),
    opponents: Named | Sequence[Named] = (),
    *,
    out: RunLocation | Path | str | None = None,
    resume: bool = False,
    retry_failed: bool = False,
    history: Path | str | None = None,
    options: RunOptions | None = None,
    calls: CallOptions | None = None,
    watcher: Watcher | None = None,
    **fields: Any,  # noqa: ANN401  (fields of the spec)
) -> Run:
    """Let players play games of a world, against opponents or alone, and store every game.

    Parameters
    ----------
    world
        By name; or a whole spec, of which `fields` change what they name. A run that resumes knows
        it.
    players, opponents
        Every player plays every opponent: programs of the world or deciders, as names or objects.
        In a world of one player there are no opponents.
    out
        Where the run is stored, as in `dqa.evaluate`. The same call resumes its own run; a run
        with other settings is refused.
    resume
        Whether to resume the run at `out`, which has recorded all that it began with.
    retry_failed
        Whether a run in a store plays again what a failing server or a bug ended.
    history
        The database of all events that players read: a SQLite file, or a URL. By default next to
        the run; a temporary file for a run in memory or on a server. A run that resumes knows it,
        but not the password of a URL.
    options, calls
        How the run works, and how models are called; no result depends on these.
    watcher
        Receives the progress.
    **fields
        The other fields of a `PlaySpec`: games, mirror, reference, seed, model, settings, ...

    Returns
    -------
    Run
        Every game; `Run.games` has the figures.

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
            "Games are played by this process: leave out engine (--engine) and processes "
            "(--processes). Several processes, each with the same command, may play one run."
        )
    named_fields, chats = name_models(fields)
    spec, given = _spec(world, players, opponents, named_fields, work.earlier)
    with watch_training(work.watcher):
        setup = build_games(
            spec,
            calls=work.calls,
            resumed=work.used_elsewhere if work.may_continue_recording else None,
            given=GivenObjects(given, chats),
        )
    named = None if history is None else _absolute(str(history))
    told = None if named is None else redact(named)
    games = GamesRecord(run=uuid4().hex, history=told, weights=dict(setup.weights))
    with ExitStack() as opened:
        with work.storing(spec, setup.content_hash, spec.size, games) as store:
            games = store.record.games or games
            where = named or _locate_history(games.history, store.location, opened)
            setup = setup.with_history(where)
            work.watcher.playing(setup, store.done)
            if store.done == spec.size:
                return work.finish(store, store.results())
            log = History(where, isolation=work.options.isolation, run=games.run)
            worker = GameWorker(setup, log)
            executor = ThreadExecutor(worker, work.options.workers)
            tasks = [setup.task_of(game) for game in setup.games]
            results = work.decide(store, tasks, executor, setup.connected)
        return work.finish(store, results)


def _spec(
    world: PlaySpec | str | None,
    players: Named | Sequence[Named],
    opponents: Named | Sequence[Named],
    fields: Mapping[str, Any],
    earlier: RunRecord | None,
) -> tuple[PlaySpec, Mapping[str, Decider | DeciderFactory]]:
    """Return what is played, and the contestants that are objects."""
    (players, given), (opponents, others) = name_deciders(players), name_deciders(opponents)
    given |= others
    changed = dict(fields)
    if players:
        changed["pairs"] = all_pairs(players, opponents)
    elif opponents:
        raise UsageError(
            "Give both who plays (players, --player) and against whom (opponents, --opponent)."
        )
    if isinstance(world, PlaySpec):
        return world.changed(**changed), given
    if world is not None:
        changed["world"] = world
    if earlier is not None:
        if not isinstance(earlier.spec, PlaySpec):
            raise UsageError("This is a run of questions: 'dqa eval --resume' resumes it.")
        return earlier.spec.changed(**changed), given
    if "world" not in changed or "pairs" not in changed:
        raise UsageError(
            "Say what is played: a world (--world), a player (--player) and, where it is played by "
            "two, an opponent (--opponent); 'dqa list' and 'dqa list --worlds' have them."
        )
    return PlaySpec(**changed), given


def _absolute(location: str) -> str:
    # A link stays a link.
    return location if "://" in location else os.path.abspath(location)  # noqa: PTH100


def _locate_history(recorded: str | None, location: RunLocation | None, opened: ExitStack) -> str:
    """Return the location of a history that the caller did not name."""
    if recorded is not None:
        if "***" in recorded:
            raise UsageError(
                f"The history of this run is {recorded}, whose password is not stored: give the "
                "whole URL (--history) to resume it."
            )
        return recorded
    if location is not None and location.folder is not None:
        return str(location.folder / HISTORY)
    if location is not None and location.file is not None:
        file = location.file
        return str(file.with_name(f"{file.stem}.{location.name}.{HISTORY}"))
    return str(Path(opened.enter_context(TemporaryDirectory(prefix="dqa-"))) / HISTORY)
