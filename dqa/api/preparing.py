"""Trains the players that a tournament lacks, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from dqa import plugins
from dqa.worlds.training import TrainingWatcher, is_kept

if TYPE_CHECKING:
    from dqa.api.watching import Watcher

_LOOK_SECONDS = 0.2
"""How often it is looked whether a training has ended."""


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
    if most > 1 and sys.executable:
        watcher.training(tuple(missing))
        _train_at_once(world, missing, seed, most, watcher)


def _train_at_once(
    world: str, players: Sequence[str], seed: int, most: int, watcher: Watcher
) -> None:
    waiting = list(players)
    running: dict[str, subprocess.Popen[bytes]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < most:
                name = waiting.pop(0)
                running[name] = _start(world, name, seed)
            for name, process in list(running.items()):
                try:
                    process.wait(_LOOK_SECONDS)
                except subprocess.TimeoutExpired:
                    continue
                del running[name]
                watcher.trained(name)
    finally:
        for process in running.values():
            process.terminate()
        for process in running.values():
            process.wait()


def _start(world: str, player: str, seed: int) -> subprocess.Popen[bytes]:
    """Start the command: a fresh interpreter, which needs nothing of the caller's program."""
    named = ("--world", world, "--player", player, "--seed", str(seed))
    return subprocess.Popen(  # noqa: S603  (this interpreter, and names without a shell)
        [sys.executable, "-m", "dqa", "train", *named, "--json"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def processors() -> int:
    """Return how many processors this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)  # not every system has it
    return (os.cpu_count() or 1) if allowed is None else len(allowed(0))
