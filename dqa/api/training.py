"""Train players of worlds: programs that learn from a seed, stored in the user's cache."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from dqa import plugins
from dqa.core.errors import InfrastructureError, UnknownNameError, UsageError
from dqa.core.files import require_new_file
from dqa.core.interpreters import describe_exit, start_process
from dqa.core.records import Record
from dqa.worlds.training import SMALL, Trainer, is_kept, learn, watch_training, write_weights
from dqa.worlds.watching import TrainingWatcher


class TrainedPlayer(Record):
    """A player that was trained, or that was stored already.

    Attributes
    ----------
    world, player
        Their names.
    seed, iterations
        What it was trained with.
    file
        Where it is stored.
    was_kept
        Whether it was stored already, so that nothing was trained.
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
        Seed of the training.
    budget
        How long: ``"small"``, as for games, ``"full"``, or a number of iterations.
    out
        A new file for the weights, in addition to the cache.
    watcher
        Receives the progress.

    Raises
    ------
    UnknownNameError
        There is no such world or player.
    UsageError
        The player does not learn, there is no such budget, `out` exists already, or a library that
        the training needs is missing.
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
    if target is not None:
        write_weights(target, learnt.weights, trainer.about(seed, iterations))
    return TrainedPlayer(
        world=world,
        player=player,
        seed=seed,
        iterations=iterations,
        file=str(target or learnt.file),
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
    """Train several players, each in its own process, and yield each when it is done.

    Parameters
    ----------
    world
        By name.
    players
        By name; by default all that learn.
    seed, budget
        As in `train_player`.
    workers
        How many are trained at once.

    Raises
    ------
    UnknownNameError, UsageError, OSError
        As `train_player`; wrong names and budgets before anything is trained.
    """
    if workers < 1:
        raise UsageError(f"workers (--workers) must be 1 or more, not {workers}.")
    named = players if players is not None else learning_players(world)
    for player in named:
        _trainer(world, player).iterations(budget)
    with closing(_train_at_once(world, named, seed, budget, workers)) as ended:
        for _, trained in ended:
            if isinstance(trained, Exception):
                raise trained
            yield trained


def train_missing(world: str, players: Iterable[str], seed: int, watcher: TrainingWatcher) -> None:
    """Train players that are not stored yet at once, one for each processor.

    The caller that makes a player trains one that is missing alone. It also meets the error of a
    training that failed here.

    Parameters
    ----------
    world
        By name.
    players
        By name; those that do not learn are left out.
    seed
        Seed of the training.
    watcher
        Receives the progress.
    """
    policies = plugins.world(world).policies
    trainers = {name: policies[name].trainer for name in players if name in policies}
    missing = [
        name for name, found in trainers.items() if found is not None and not is_kept(found, seed)
    ]
    most = min(processors(), len(missing))
    if most > 1:
        watcher.training(tuple(missing))
        with closing(_train_at_once(world, missing, seed, SMALL, most)) as ended:
            for player, _ in ended:
                watcher.trained(player)


def processors() -> int:
    """Return how many processors this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)  # not every system has it
    return (os.cpu_count() or 1) if allowed is None else len(allowed(0))


def _train_at_once(
    world: str, players: Iterable[str], seed: int, budget: str | int, workers: int
) -> Generator[tuple[str, TrainedPlayer | Exception], None, None]:
    """Train each player in its own process; yield its name with the player or the error."""
    waiting = list(dict.fromkeys(players))
    running: dict[Any, tuple[str, BaseProcess]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                player = waiting.pop(0)
                process, connection = start_process(
                    *(_train, world, player, seed, budget), environment=os.environ, preload=None
                )
                running[connection] = player, process
            for ended in wait(running):
                player, process = running[ended]
                trained = _receive(player, process, ended)
                del running[ended]
                yield player, trained
    finally:
        for _, process in running.values():
            process.terminate()
            process.join()


def _receive(
    player: str,
    process: BaseProcess,
    connection: Any,  # noqa: ANN401  (see `wait`)
) -> TrainedPlayer | Exception:
    """Return what a process has sent."""
    try:
        trained: TrainedPlayer | Exception = connection.recv()
    except EOFError:
        process.join()
        how = describe_exit(process.exitcode)
        return InfrastructureError(f"The process that trained '{player}' ended: {how}.")
    finally:
        connection.close()
    return trained


def _train(connection: Connection, world: str, player: str, seed: int, budget: str | int) -> None:
    """Train a player, in its own process, and send it or the error."""
    trained: TrainedPlayer | Exception
    try:
        trained = train_player(world, player, seed=seed, budget=budget)
    except Exception as error:  # noqa: BLE001  (raised again by the parent)
        trained = error
    connection.send(trained)


def learning_players(world: str) -> tuple[str, ...]:
    """Return the players of a world that learn; `UsageError` if there is none."""
    policies = plugins.world(world).policies
    learning = tuple(made.name for made in policies.values() if made.trainer is not None)
    if not learning:
        raise UsageError(
            f"No player of '{world}' learns, so there is nothing to train: "
            f"{', '.join(policies) or 'no program'} plays it as it is."
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
