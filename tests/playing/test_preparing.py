"""Players that a tournament lacks are trained at once, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dqa
from dqa import plugins
from dqa.api import training
from dqa.api.training import train_missing
from dqa.api.watching import Watcher
from dqa.worlds.base import Policy, WorldFactory
from dqa.worlds.training import Trainer, Weights, is_kept, learn, learning_player


class Told(Watcher):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.said: list[object] = []

    def training(self, players: Sequence[str]) -> None:
        """Keep whose training began."""
        self.said.append(tuple(players))

    def trained(self, player: str) -> None:
        """Keep whose training ended."""
        self.said.append(player)


def train(seed: int, iterations: int, advance: Callable[[int], None]) -> Weights:
    """Learn nothing."""
    advance(iterations)
    return {"seed": np.array([seed])}


def trainer(name: str, play: Callable[[Weights], Policy]) -> Trainer:
    """Return how a player learns nothing."""
    return Trainer("kuhn", name, 1, {"small": 2, "full": 3}, train, play)


@pytest.fixture
def started(
    duel: WorldFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[tuple[str, Any]]]:
    """Let four players of Kuhn poker learn, and commands do nothing; return what was started."""
    monkeypatch.setenv("DQA_CACHE", str(tmp_path))
    known = next(iter(duel.policies.values()))
    learning = {
        name: learning_player("It learns nothing.", trainer(name, lambda _: known.make(0)))
        for name in ("ann", "ben", "cleo", "dan")
    }
    world = replace(duel, policies={**duel.policies, **learning})
    monkeypatch.setattr(plugins, "world", lambda _: world)
    monkeypatch.setattr(training, "processors", lambda: 2)
    found: list[tuple[str, Any]] = []

    class Process(subprocess.Popen[bytes]):
        """A process with the methods of multiprocessing that training uses."""

        def __init__(self, code: str) -> None:
            super().__init__([sys.executable, "-c", code])
            self.sentinel = os.pidfd_open(self.pid)

        def join(self) -> None:
            self.wait()

    def start(_: object, *arguments: object, **__: object) -> tuple[Process, Connection]:
        at_once = [one for _, one in found if one.poll() is None]
        world, player, seed, _budget = arguments
        assert (world, seed, len(at_once) < 2) == ("kuhn", 7, True)
        process = Process("import time; time.sleep(60)" if player == "dan" else "")
        found.append((str(player), process))
        return process, Pipe()[0]

    monkeypatch.setattr(training, "start_process", start)
    yield found
    for _, process in found:
        process.wait()
        os.close(process.sentinel)


def test_what_is_missing_is_trained_at_once(started: list[tuple[str, Any]]) -> None:
    """Nobody who is kept, or learns nothing; and one alone is left to whoever plays."""
    of = plugins.world("kuhn").policies["ann"].trainer
    assert of is not None
    assert not is_kept(of, 7)
    learn(of, 7)
    assert is_kept(of, 7)
    assert not is_kept(of, 8)
    told = Told()
    train_missing("kuhn", ("ann", "ben", "eager", "nobody", "cleo", "ben"), 7, told)
    assert [name for name, _ in started] == ["ben", "cleo"]
    assert told.said[0] == ("ben", "cleo")
    assert set(told.said[1:]) == {"ben", "cleo"}
    train_missing("kuhn", ("ann", "ben"), 7, told)
    assert len(started) == 2


def test_an_interrupt_ends_what_is_trained(started: list[tuple[str, Any]]) -> None:
    """No process stays behind."""

    class Interrupted(Told):
        def trained(self, player: str) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_missing("kuhn", ("ben", "dan", "cleo"), 7, Interrupted())
    assert [name for name, _ in started] == ["ben", "dan"]
    assert all(process.poll() is not None for _, process in started)


@pytest.mark.slow
def test_a_training_that_fails_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It is begun again in this process, which meets the same error."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("DQA_CACHE", str(tmp_path / "file"))
    with pytest.raises(FileExistsError):
        list(dqa.train_players("holdem", ["cfr"], budget=1))
