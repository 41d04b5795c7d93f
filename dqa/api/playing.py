"""Playing: contestants play games of a world, and every game is kept."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias
from uuid import uuid4

from dqa.api.evaluating import Spending, Told, handling_errors, lost_usage, name_models
from dqa.api.runs import Run
from dqa.api.training import ToldTraining
from dqa.api.watching import Watcher
from dqa.core.decider import Decider
from dqa.core.errors import UsageError
from dqa.core.secrets import redact
from dqa.deciders.base import DeciderFactory
from dqa.evaluation.connecting import GivenObjects
from dqa.evaluation.executors import ThreadExecutor
from dqa.evaluation.location import RunLocation, locate_run
from dqa.evaluation.options import DEFAULT_CALLS, DEFAULT_RUN, CallOptions, RunOptions
from dqa.evaluation.playing.run import GameWorker
from dqa.evaluation.playing.setup import GameSetup, build_games
from dqa.evaluation.playing.spec import PlaySpec, all_pairs
from dqa.evaluation.prompts import prompts_of
from dqa.evaluation.record import GamesRecord, RunRecord, now, versions
from dqa.evaluation.results import Result
from dqa.evaluation.run_files import require_writable
from dqa.evaluation.runner import run_tasks
from dqa.evaluation.store import RunStore
from dqa.evaluation.stored_runs import RunReader
from dqa.worlds.history import History
from dqa.worlds.training import watch_training

Contestant: TypeAlias = str | Decider | DeciderFactory
"""Who plays: a program of the world or a decider by name, or a decider itself."""

HISTORY = "history.db"
"""What the events of a run's games are called in its folder."""


def play(  # noqa: PLR0913  (each is a question of its own to the caller)
    world: PlaySpec | str | None = None,
    players: Contestant | Sequence[Contestant] = (),
    opponents: Contestant | Sequence[Contestant] = (),
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
    """Let players play games of a world, against opponents or alone, and keep every game.

    Parameters
    ----------
    world
        By name; or a whole spec, of which `fields` change what they name. A run that goes on
        knows it.
    players, opponents
        Every player plays every opponent: programs of the world, or deciders (`Contestant`). In a
        world of one player there are no opponents.
    out
        Where the run is kept: a folder, or a store, as of `dqa.evaluate`. The same call goes on
        with its own run; a run with other settings is refused.
    resume
        Whether to go on with the run that `out` holds. All that it began with is known from there.
    retry_failed
        Whether a run in a store plays again what a failing server or a bug ended.
    history
        The database of all events that players read: a SQLite file, or a URL. By default beside the
        run; of a run that is kept nowhere, or on a server, a temporary file. A run that goes on
        knows it, but for the password of a URL.
    options, calls
        How the run goes about its work, and how models are called: no result depends on these.
    watcher
        Is told how far the run is.
    **fields
        The other fields of a `PlaySpec`: games, mirror, reference, seed, model, settings, ...

    Returns
    -------
    Run
        Every game; `Run.games` has the figures.

    Raises
    ------
    UsageError
        Something cannot be as it is asked for.
    CrashError
        Too many games crashed.
    """
    if resume and out is None:
        raise UsageError("resume (--resume) continues a stored run: name it as out (--out).")
    location = None if out is None else locate_run(out)
    earlier = None
    if resume and location is not None:
        stored = RunReader(location)
        location, earlier = stored.location, stored.record
    options = options or (DEFAULT_RUN if earlier is None else earlier.options)
    if options.engine != "local" or options.processes > 1:
        raise UsageError(
            "Games are played by this process: leave out engine (--engine) and processes "
            "(--processes). Several processes, each with the same command, may play one run."
        )
    calls = calls or (DEFAULT_CALLS if earlier is None else earlier.calls)
    named_fields, chats = name_models(fields)
    spec, given = _spec(world, players, opponents, named_fields, earlier)
    watcher = watcher or Watcher()
    require_writable(location)
    spending = Spending(location)
    with ExitStack() as opened:
        kept = _History(history, opened)
        with watch_training(ToldTraining(watcher)):
            setup = build_games(
                spec,
                calls=calls,
                resumed=spending if spending.is_resumed(calls, resume=resume) else None,
                given=GivenObjects(given, chats),
            )
        record = RunRecord(
            spec=spec,
            content_hash=setup.content_hash,
            planned=spec.size,
            began=now(),
            options=options,
            calls=calls,
            versions=versions(),
            games=GamesRecord(run=uuid4().hex, history=kept.told, weights=dict(setup.weights)),
        )
        spending.require_own_recording(record)
        is_folder = location is not None and location.folder is not None
        retry_failed = retry_failed or resume or is_folder
        store = RunStore(location, record, retry_failed=retry_failed)
        spending.follow(store)
        results = _make(setup, store, options, kept, watcher)
    return Run(
        results,
        spec,
        store.location,
        spec.size,
        tuple(store.crashed),
        prices=calls.prices,
        abandoned=lost_usage(store, calls),
        made=store.added,
    )


def _spec(
    world: PlaySpec | str | None,
    players: Contestant | Sequence[Contestant],
    opponents: Contestant | Sequence[Contestant],
    fields: Mapping[str, Any],
    earlier: RunRecord | None,
) -> tuple[PlaySpec, Mapping[str, Decider | DeciderFactory]]:
    """Return what is played, and who of those that play is no name."""
    given: dict[str, Decider | DeciderFactory] = {}
    sides = []
    for named in (players, opponents):
        several = (named,) if isinstance(named, str | Decider | DeciderFactory) else tuple(named)
        given |= {one.name: one for one in several if not isinstance(one, str)}
        sides.append(tuple(one if isinstance(one, str) else one.name for one in several))
    changed = dict(fields)
    if sides[0]:
        changed["pairs"] = all_pairs(*sides)
    elif sides[1]:
        raise UsageError(
            "Give both who plays (players, --player) and against whom (opponents, --opponent)."
        )
    if isinstance(world, PlaySpec):
        return world.changed(**changed), given
    if world is not None:
        changed["world"] = world
    if earlier is not None:
        if not isinstance(earlier.spec, PlaySpec):
            raise UsageError("This is a run of questions: 'dqa eval --resume' goes on with it.")
        return earlier.spec.changed(**changed), given
    if "world" not in changed or "pairs" not in changed:
        raise UsageError(
            "Say what is played: a world (--world), a player (--player) and, where it is played by "
            "two, an opponent (--opponent); 'dqa list' and 'dqa list --worlds' have them."
        )
    return PlaySpec(**changed), given


class _History:
    """Where the events of a run's games are written: where a user says, beside it, or nowhere."""

    def __init__(self, named: Path | str | None, opened: ExitStack) -> None:
        self._named = None if named is None else str(named)
        if self._named is not None and "://" not in self._named:
            self._named = os.path.abspath(self._named)  # noqa: PTH100  (links stay as they are)
        self._opened = opened
        self._run = ""

    @property
    def told(self) -> str | None:
        """Where it was named to be, without a password."""
        return None if self._named is None else redact(self._named)

    def follow(self, record: GamesRecord | None) -> None:
        """Be the history that a run has, which may have begun earlier.

        Raises
        ------
        UsageError
            It is at a URL whose password nobody knows by now.
        """
        if record is None:
            return
        self._run = record.run
        if self._named is None and record.history is not None:
            if "***" in record.history:
                raise UsageError(
                    f"The history of this run is {record.history}, whose password is kept nowhere: "
                    "give the whole URL (--history) to go on."
                )
            self._named = record.history

    def location_of(self, location: RunLocation | None) -> str:
        """Return where it is, for a run at a location."""
        if self._named is not None:
            return self._named
        if location is not None and location.folder is not None:
            return str(location.folder / HISTORY)
        if location is not None and location.file is not None:
            file = location.file
            return str(file.with_name(f"{file.stem}.{location.name}.{HISTORY}"))
        return str(Path(self._opened.enter_context(TemporaryDirectory(prefix="dqa-"))) / HISTORY)

    def open(self, location: RunLocation | None, options: RunOptions) -> History:
        """Open it."""
        where = self.location_of(location)
        return History(where, isolation=options.isolation, run=self._run)


def _make(
    setup: GameSetup, store: RunStore, options: RunOptions, history: _History, watching: Watcher
) -> tuple[Result, ...]:
    """Play every game that the store lacks, and return the results of all."""
    with handling_errors(store):
        history.follow(store.record.games)
        setup = setup.with_history(history.location_of(store.location))
        if setup.connected is not None:
            store.add_context(prompts_of(setup.connected.makers))
        watching.playing(setup, store.done)
        store.on_elsewhere = watching.decided_elsewhere
        if store.done == setup.spec.size:
            return store.results()
        if setup.connected is not None:
            setup.connected.check_reachable()
        worker = GameWorker(setup, history.open(store.location, options), options.isolation)
        return run_tasks(
            [setup.task_of(game) for game in setup.games],
            ThreadExecutor(worker, options.workers),
            store,
            watching.decided,
            watcher=Told(watching),
            fail_fast=options.fail_fast,
        )
