"""Training players of worlds: programs that learn, from a seed, kept in the user's cache."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING

from dqa import plugins
from dqa.core.errors import UnknownNameError, UsageError
from dqa.core.files import require_new_file
from dqa.core.interpreters import start_process
from dqa.core.records import Record
from dqa.worlds.training import (
    SMALL,
    Trainer,
    TrainingWatcher,
    is_kept,
    learn,
    watch_training,
    write_weights,
)

if TYPE_CHECKING:
    from dqa.api.watching import Watcher

__all__ = [
    "ToldTraining",
    "TrainedPlayer",
    "TrainingWatcher",
    "learning_players",
    "train_missing",
    "train_player",
    "train_players",
]


class ToldTraining(TrainingWatcher):
    """Tells the watcher of a run what is trained for it."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._player = ""

    def started(self, player: str, iterations: int) -> None:
        """Tell that a player is trained."""
        del iterations
        self._player = player
        self._watcher.training((player,))

    def finished(self) -> None:
        """Tell that it is."""
        self._watcher.trained(self._player)

    def warned(self, text: str) -> None:
        """Tell of a kept player that cannot be read."""
        self._watcher.unreadable(text)


class TrainedPlayer(Record):
    """A player that was trained, or that was kept already.

    Attributes
    ----------
    world, player
        Their names.
    seed, iterations
        What it was trained with.
    file
        Where it is kept.
    was_kept
        Whether it was there already, so that nothing was trained.
    """

    world: str
    player: str
    seed: int
    iterations: int
    file: str
    was_kept: bool


def train_player(  # noqa: PLR0913  (each is a question of its own to the caller)
    world: str,
    player: str,
    *,
    seed: int = 0,
    budget: str | int = SMALL,
    out: str | Path | None = None,
    watcher: TrainingWatcher | None = None,
) -> TrainedPlayer:
    """Train a player of a world, unless the user's cache has it already.

    The same player, budget and seed give the same weights.

    Parameters
    ----------
    world, player
        By name.
    seed
        Of the training.
    budget
        How long: ``"small"``, by which games are played, ``"full"``, or a number of iterations.
    out
        A new file to write what was learnt to, beside the cache.
    watcher
        Is told how far it is.

    Raises
    ------
    UnknownNameError
        There is no such world or player.
    UsageError
        The player does not learn, the budget is none, `out` is there already, or a library that the
        training needs is missing.
    OSError
        The cache, or `out`, cannot be written.
    """
    trainer = _trainer(world, player)
    iterations = trainer.iterations(budget)
    target = None if out is None else Path(out)
    if target is not None:
        require_new_file(target)
    with watch_training(watcher or TrainingWatcher()):
        learnt = learn(trainer, seed, iterations)
    file = learnt.file
    if target is not None:
        write_weights(target, learnt.weights, trainer.about(seed, iterations))
        file = target
    return TrainedPlayer(
        world=world,
        player=player,
        seed=seed,
        iterations=iterations,
        file=str(file),
        was_kept=learnt.was_kept,
    )


def train_players(
    world: str,
    players: Sequence[str] | None = None,
    *,
    seed: int = 0,
    budget: str | int = SMALL,
    workers: int = 1,
) -> Iterator[TrainedPlayer]:
    """Train several players, each in a process of its own, and yield each when it is done.

    Parameters
    ----------
    world
        By name.
    players
        By name; by default all that learn.
    seed, budget
        As `train_player` has them.
    workers
        How many are trained at once.

    Raises
    ------
    UnknownNameError, UsageError, OSError
        As `train_player`, before anything is trained where that is known.
    """
    if workers < 1:
        raise UsageError(f"workers (--workers) must be 1 or more, not {workers}.")
    named = players if players is not None else learning_players(world)
    for player in named:
        _trainer(world, player).iterations(budget)
    return _trained(world, named, seed, budget, workers)


def _trained(
    world: str, players: Sequence[str], seed: int, budget: str | int, workers: int
) -> Iterator[TrainedPlayer]:
    kept = {name for name in players if is_kept(_trainer(world, name), seed, budget)}
    with closing(_train_at_once(world, players, seed, budget, workers)) as ended:
        for name in ended:
            trained = train_player(world, name, seed=seed, budget=budget)  # reads what is kept
            yield trained.model_copy(update={"was_kept": name in kept})


def train_missing(world: str, players: Iterable[str], seed: int, watcher: Watcher) -> None:
    """Train players that are not kept yet at once, as many as there are processors.

    One player alone is left to whoever makes it. So is one whose training fails: it fails there
    again, and is told.

    Parameters
    ----------
    world
        By name.
    players
        By name; those that do not learn are left out.
    seed
        Of the training.
    watcher
        Is told how far it is.
    """
    policies = plugins.world(world).policies
    missing = [
        name
        for name in dict.fromkeys(players)
        if name in policies
        and (trainer := policies[name].trainer) is not None
        and not is_kept(trainer, seed)
    ]
    most = min(processors(), len(missing))
    if most > 1:
        watcher.training(tuple(missing))
        with closing(_train_at_once(world, missing, seed, SMALL, most)) as ended:
            for player in ended:
                watcher.trained(player)


def processors() -> int:
    """Return how many processors this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)  # not every system has it
    return (os.cpu_count() or 1) if allowed is None else len(allowed(0))


def _train_at_once(
    world: str, players: Iterable[str], seed: int, budget: str | int, workers: int
) -> Generator[str, None, None]:
    """Run ``dqa train`` for several players at once, and yield each when its process has ended.

    Whoever uses a player whose training failed trains it again, and meets the error. Processes
    that still run when the caller takes no more are ended.
    """
    waiting = list(dict.fromkeys(players))
    running: dict[str, BaseProcess] = {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                name = waiting.pop(0)
                running[name], connection = start_process(
                    _train, world, name, seed, budget, environment=os.environ, preload=None
                )
                connection.close()
            ended = wait([process.sentinel for process in running.values()])
            for name in [name for name, process in running.items() if process.sentinel in ended]:
                del running[name]
                yield name
    finally:
        for process in running.values():
            process.terminate()
            process.join()


def _train(_connection: Connection, world: str, player: str, seed: int, budget: str | int) -> None:
    """Train a player, in a process of its own."""
    train_player(world, player, seed=seed, budget=budget)


def learning_players(world: str) -> tuple[str, ...]:
    """Return the players of a world that learn.

    Raises
    ------
    UnknownNameError
        There is no such world.
    UsageError
        None of its players learns.
    """
    policies = plugins.world(world).policies
    learning = tuple(made.name for made in policies.values() if made.trainer is not None)
    if not learning:
        raise UsageError(
            f"No player of '{world}' learns, so there is nothing to train: "
            f"{', '.join(policies) or 'nobody'} plays it as it is."
        )
    return learning


def _trainer(world: str, player: str) -> Trainer:
    policies = plugins.world(world).policies
    if player not in policies:
        raise UnknownNameError(f"player of '{world}' called", player, policies)
    trainer = policies[player].trainer
    if trainer is None:
        learning = ", ".join(learning_players(world))
        raise UsageError(
            f"'{player}' plays '{world}' without any training; these learn: {learning}."
        )
    return trainer
