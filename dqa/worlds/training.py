"""Players that learn: trained once, stored in the user's cache, and read from there.

The result of a training depends only on the player's settings, the budget and the seed. A hash of
them is in the name of the file. A missing or damaged file leads to a new training. A stored player
is arrays (`Weights`), which NumPy reads without pickle.
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
    """How a player of a world learns.

    Attributes
    ----------
    world, player
        Their names.
    version
        The version of the training code; it changes if the same budget and seed give other weights.
    budgets
        Iterations by name, `SMALL` and `FULL` among them.
    train
        Trains. Its arguments are the seed, the number of iterations, and a function to call with
        the number of finished ones. The same seed and number give the same weights.
    play
        Makes the player of weights; an `IndexError`, `KeyError` or `ValueError` for wrong ones.
    settings
        All else that determines the result, as JSON values.
    """

    world: str
    player: str
    version: int
    budgets: Mapping[str, int]
    train: Callable[[int, int, Callable[[int], None]], Weights]
    play: Callable[[Weights], Policy]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def iterations(self, budget: str | int) -> int:
        """Return the iterations of a budget: a name, or a number from 1; else a `UsageError`."""
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
"""Report the trainings within a block to a watcher."""


@dataclass(frozen=True, slots=True)
class Learnt:
    """A player that was trained, or read back.

    Attributes
    ----------
    file
        Its file in the cache.
    weights
        The result of the training.
    was_kept
        Whether the cache had it already.
    """

    file: Path
    weights: Weights
    was_kept: bool


def learning_player(description: str, trainer: Trainer) -> PolicyFactory:
    """Return the factory of a player that learns: `make` trains it with the budget `SMALL`."""

    def make(seed: int) -> Policy:
        return trainer.play(learn(trainer, seed).weights)

    return PolicyFactory(trainer.player, description, make, trainer)


def learn(trainer: Trainer, seed: int = 0, budget: str | int = SMALL) -> Learnt:
    """Read a trained player from the cache; train and store it if it is missing.

    Parameters
    ----------
    trainer
        How it learns.
    seed
        Seed of the training.
    budget
        A name of `Trainer.budgets`, or a number of iterations.

    Raises
    ------
    UsageError
        There is no such budget, or a library that the training needs is missing.
    OSError
        The cache cannot be written.
    """
    iterations = trainer.iterations(budget)
    file = trainer.file(seed, iterations)
    watcher = _watcher.get()
    with _lock:  # two threads that want the same player get one training
        if file.exists():
            try:
                weights = read_weights(file)
                trainer.play(weights)
            except (DataError, IndexError, KeyError, ValueError) as error:
                watcher.unreadable(
                    f"{file} cannot be used, and '{trainer.player}' is trained again: {error}"
                )
            else:
                return Learnt(file, weights, was_kept=True)
        watcher.training((trainer.player,))
        try:
            weights = trainer.train(
                seed, iterations, lambda done: watcher.advanced(done, iterations)
            )
        finally:
            watcher.trained(trainer.player)
        make_private_folder(file.parent)
        write_weights(file, weights)
        return Learnt(file, weights, was_kept=False)


# --- files ---


def cache_folder() -> Path:
    """Return the folder of trained players: ``DQA_CACHE``, or one in the user's cache folder."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named).expanduser()
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # By the XDG specification, a relative path does not count.
    return (base if base.is_absolute() else Path.home() / ".cache") / "dqa"


def write_weights(file: Path, weights: Weights) -> None:
    """Write weights; replace the file as a whole."""
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
    """Return the weights of a file; `DataError` if it is damaged or not all values are numbers."""
    try:
        with np.load(BytesIO(read_bytes(file)), allow_pickle=False) as opened:
            arrays = {name: opened[name] for name in opened.files}
    except Exception as error:  # a damaged archive can raise anything
        raise DataError(f"{file}: it is not a trained player, or damaged ({error}).") from error
    for name, array in arrays.items():
        if array.dtype.kind not in "fiu" or not np.isfinite(array).all():
            raise DataError(f"{file}: '{name}' has a value that is not a number.")
    return arrays


def hash_weights(weights: Weights) -> str:
    """Return the hash of the names, shapes and numbers of weights, as 32 hexadecimal digits."""
    digest = blake2b(digest_size=16)
    for name, array in sorted(weights.items()):
        digest.update(json.dumps([name, array.dtype.str, array.shape]).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
