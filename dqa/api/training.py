"""Training players of worlds: programs that learn, from a seed, kept in the user's cache."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path

from dqa import plugins
from dqa.core.errors import UnknownNameError, UsageError
from dqa.core.paths import require_new_file
from dqa.core.records import Record
from dqa.worlds.training import (
    SMALL,
    Trainer,
    TrainingWatcher,
    learn,
    watch_training,
    write_weights,
)

__all__ = [
    "TrainedPlayer",
    "TrainingWatcher",
    "learning_players",
    "train_player",
    "train_players",
]


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
    # A fresh interpreter each: a forked one would inherit threads of linear algebra half-way.
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
    return _trained(pool, [(world, player, seed, budget) for player in named])


def _trained(
    pool: ProcessPoolExecutor, jobs: Sequence[tuple[str, str, int, str | int]]
) -> Iterator[TrainedPlayer]:
    with closing(_Cancelling(pool)), pool:
        for done in as_completed([pool.submit(_train_one, *job) for job in jobs]):
            yield done.result()


class _Cancelling:
    """Cancels what has not begun, where a caller takes no more or one training failed."""

    def __init__(self, pool: ProcessPoolExecutor) -> None:
        self._pool = pool

    def close(self) -> None:
        """Cancel it."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _train_one(world: str, player: str, seed: int, budget: str | int) -> TrainedPlayer:
    return train_player(world, player, seed=seed, budget=budget)


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
