"""Train learning players, and store them in the user's cache.

The result of a training depends only on the player's settings, the budget and the seed. The name of
the player's file contains a hash of all three. If the file is missing or damaged, the player is
trained again. The file contains arrays (`Weights`), which NumPy reads without pickle.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dqa.core.context import ContextValue
from dqa.core.errors import DataError, UsageError
from dqa.core.files import make_private_folder, read_bytes, write_private
from dqa.worlds.base import Policy, PolicyFactory
from dqa.worlds.watching import TrainingWatcher

Weights: TypeAlias = Mapping[str, NDArray[Any]]
"""The result of a training, as arrays by name."""

SMALL: Final = "small"
FULL: Final = "full"
CACHE_VARIABLE: Final = "DQA_CACHE"
"""The environment variable with the folder of trained players."""
_lock: Final = Lock()


@dataclass(frozen=True, slots=True)
class Trainer:
    """The training of a player of a world.

    Attributes
    ----------
    world, player
        The names of the world and of the player.
    version
        The version of the training code. It must be increased if the same budget and seed lead to
        different weights.
    budgets
        The number of iterations of each named budget, including `SMALL` and `FULL`.
    train
        A function that returns the weights. Its arguments are the seed, the number of iterations,
        and a function that receives the number of finished iterations. Equal seeds and numbers of
        iterations give equal weights.
    play
        A function that returns the player, given the player's weights. It raises `IndexError`,
        `KeyError` or `ValueError` if the weights are invalid.
    settings
        All other values on which the result of the training depends, as JSON values.
    """

    world: str
    player: str
    version: int
    budgets: Mapping[str, int]
    train: Callable[[int, int, Callable[[int], None]], Weights]
    play: Callable[[Weights], Policy]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def iterations(self, budget: str | int) -> int:
        """Return the number of iterations of a budget, which is a name or a number from 1.

        Raise `UsageError` for an invalid budget.
        """
        text = str(budget)
        if text in self.budgets:
            return self.budgets[text]
        if text.isdecimal() and text.isascii() and int(text) > 0:
            return int(text)
        known = ", ".join(f"'{name}' ({count})" for name, count in self.budgets.items())
        raise UsageError(
            f"'{text}' is not a budget for training '{self.player}': give {known}, or a number of "
            "iterations."
        )

    def file(self, seed: int, iterations: int) -> Path:
        """Return the file of the player in the cache."""
        content = [self.world, self.player, self.version, dict(self.settings), iterations, seed]
        digest = blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=6).hexdigest()
        name = f"{self.player}-{iterations}-seed-{seed}-{digest}.npz"
        return cache_folder() / "players" / self.world / name


_watcher = ContextValue("training watcher", TrainingWatcher())
watch_training = _watcher.use
"""A context manager that reports all trainings in its block to a watcher."""


@dataclass(frozen=True, slots=True)
class Learnt:
    """A trained player.

    Attributes
    ----------
    file
        The file of the player in the cache.
    weights
        The result of the training.
    was_cached
        Whether the player was read from the cache.
    """

    file: Path
    weights: Weights
    was_cached: bool


def learning_player(description: str, trainer: Trainer) -> PolicyFactory:
    """Return a learning player's factory, which trains the player if necessary (budget `SMALL`)."""

    def make(seed: int) -> Policy:
        return trainer.play(learn(trainer, seed).weights)

    return PolicyFactory(trainer.player, description, make, trainer)


def learn(trainer: Trainer, seed: int = 0, budget: str | int = SMALL) -> Learnt:
    """Return a trained player from the cache. Train a missing player first, and store it.

    Parameters
    ----------
    trainer
        The training of the player.
    seed
        The seed of the training.
    budget
        A name of `Trainer.budgets`, or a number of iterations.

    Raises
    ------
    UsageError
        The budget is invalid, or a library for the training is missing.
    OSError
        The cache cannot be written.
    """
    iterations = trainer.iterations(budget)
    file = trainer.file(seed, iterations)
    watch = _watcher.get()
    with _lock:  # only one thread trains a player
        if file.exists():
            try:
                weights = read_weights(file)
                trainer.play(weights)
            except (DataError, IndexError, KeyError, ValueError) as error:
                watch.unreadable(
                    f"The file {file} cannot be used, so '{trainer.player}' is trained again: "
                    f"{error}"
                )
            else:
                return Learnt(file, weights, was_cached=True)
        watch.training((trainer.player,))
        try:
            weights = trainer.train(seed, iterations, lambda done: watch.advanced(done, iterations))
        finally:
            watch.trained(trainer.player)
        make_private_folder(file.parent)
        write_weights(file, weights)
        return Learnt(file, weights, was_cached=False)


# --- files ---


def cache_folder() -> Path:
    """Return the cache folder: ``DQA_CACHE``, or ``dqa`` in the user's cache folder."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named).expanduser()
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG specification requires that relative paths are ignored.
    return (base if base.is_absolute() else Path.home() / ".cache") / "dqa"


def write_weights(file: Path, weights: Weights) -> None:
    """Write weights to a file, and replace an existing file atomically."""
    content = BytesIO()
    arrays: dict[str, Any] = dict(weights)
    np.savez(content, **arrays)
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        write_private(part, content.getvalue())
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)


def read_weights(file: Path) -> Weights:
    """Return the weights of a file. Raise `DataError` if it is damaged."""
    try:
        with np.load(BytesIO(read_bytes(file)), allow_pickle=False) as opened:
            arrays = dict(opened)
    except Exception as error:  # a damaged archive can raise anything
        raise DataError(f"{file} is damaged, or it is not a trained player ({error}).") from error
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise DataError(f"{file} is damaged: it contains a value that is not a number.")
    return arrays


def hash_weights(weights: Weights) -> str:
    """Return the hash of the names, shapes and numbers of weights, as 32 hexadecimal digits."""
    digest = blake2b(digest_size=16)
    for name, array in sorted(weights.items()):
        digest.update(json.dumps([name, array.dtype.str, array.shape]).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
